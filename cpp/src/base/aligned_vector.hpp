// Vectors whose elements begin with a cache line, so that no load or store of a kernel crosses one.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace exactk {

template <class T>
struct LineAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): as allocators have it
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class Other>
  explicit LineAllocator(const LineAllocator<Other>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(size * sizeof(T), kLine));
  }
  void deallocate(T* elements, std::size_t /*size*/) noexcept {
    ::operator delete(elements, kLine);
  }
  bool operator==(const LineAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, LineAllocator<T>>;

}  // namespace exactk
