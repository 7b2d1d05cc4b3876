#include "rank/index.hpp"

#include <random>

namespace exactk {

std::uint64_t process_secret() {
  static const std::uint64_t secret = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
  }();
  return secret;
}

}  // namespace exactk
