// What most tests include.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "exactk/error.hpp"

namespace exactk::tests {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
inline constexpr double kLargest = std::numeric_limits<double>::max();

// Runs a call that must be refused, and returns its fault.
inline Fault fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    CHECK(std::string_view(error.what()).starts_with(error.fault().argument + ": expected "));
    return error.fault();
  }
  FAIL_CHECK("nothing was refused");
  return {};
}

// Whether all combinations of choices are checked, and not some of them.
inline bool is_night() {
  const char* const share = std::getenv("EXACTK_EXAMPLES");
  return share != nullptr && std::atof(share) >= 1;
}

}  // namespace exactk::tests
