// Arrays that exceed the memory of the machine.
#pragma once

#include <sys/mman.h>

#include "common.hpp"

namespace exactk::tests {

// Virtual memory that takes no space until it is written to.
template <class T>
class SparseItems {
 public:
  explicit SparseItems(std::size_t size) : size_(size) {
    memory_ = mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(memory_ != MAP_FAILED);
  }
  SparseItems(const SparseItems&) = delete;
  SparseItems& operator=(const SparseItems&) = delete;
  ~SparseItems() { munmap(memory_, size_ * sizeof(T)); }

  [[nodiscard]] std::span<T> items() const { return {static_cast<T*>(memory_), size_}; }

 private:
  std::size_t size_;
  void* memory_;
};

}  // namespace exactk::tests
