// Replaces operator new of a whole process, by LD_PRELOAD: the n-th call from now on fails, if a
// test asks for it.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations_left = -1;  // before the one that fails; -1: none does
std::atomic<bool> has_failed = false;

bool must_fail() noexcept {
  if (allocations_left < 0 || allocations_left-- != 0) return false;
  has_failed = true;
  return true;
}

}  // namespace

extern "C" void fail_allocation(long n) {
  has_failed = false;
  allocations_left = n;
}
extern "C" int allocation_has_failed() { return has_failed ? 1 : 0; }

void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return must_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  void* const memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  void* const memory =
      must_fail() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
