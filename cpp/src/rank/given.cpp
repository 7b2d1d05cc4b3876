#include "rank/given.hpp"

#include <random>

namespace metrik {

GivenRanking::GivenRanking() {
  static const std::uint64_t process_seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
  }();
  seed_ = process_seed;
}

}  // namespace metrik
