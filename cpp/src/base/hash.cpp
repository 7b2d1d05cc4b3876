#include "base/hash.hpp"

#include <random>

namespace exactk {
namespace {

std::uint64_t random_bits(std::random_device& device) {
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

Secrets draw_secrets() {
  std::random_device device;
  const std::uint64_t first = random_bits(device) | 1U;
  return {.first = first, .second = random_bits(device) | 1U};
}

}  // namespace exactk
