#include "base/checks.hpp"

#include <algorithm>
#include <utility>

#include "exactk/error.hpp"

namespace exactk {

void check_size(std::size_t size, Count expected, const std::string& argument,
                const std::string& what) {
  if (std::cmp_equal(size, expected)) return;
  throw InputError({.argument = argument,
                    .expected = what + " (" + std::to_string(expected) + ")",
                    .found = std::to_string(size)});
}

void check_weights(std::span<const double> weights, Count users, const Run& run) {
  check_size(weights.size(), users, "weights", "one weight per user");
  const auto bad = [](double weight) {
    return weight != 0 && !(weight >= 1 / kMaxWeight && weight <= kMaxWeight);
  };
  refuse_bad(weights, bad, "weights",
             "non-negative weights, at most 2^256 (and from 2^-256 unless 0)", run, &Fault::row);
}

void check_codes(std::span<const Offset> codes, Count code_count, Count users,
                 const std::string& noun, const Run& run) {
  const std::string argument = noun + "s";
  if (code_count < 1 || code_count > std::max(users, Count{1})) {
    throw InputError({.argument = argument,
                      .expected = "from 1 " + noun + " to one " + noun + " per user",
                      .found = std::to_string(code_count)});
  }
  if (codes.empty()) return;
  check_size(codes.size(), users, argument, "one " + noun + " per user");
  const auto bad = [&](Offset code) { return code < 0 || code >= code_count; };
  refuse_bad(codes, bad, argument, noun + " numbers below " + std::to_string(code_count), run,
             &Fault::row);
}

}  // namespace exactk
