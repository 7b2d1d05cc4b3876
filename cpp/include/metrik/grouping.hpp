// From rows in any order to the rows of each user.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "metrik/keys.hpp"
#include "metrik/lists.hpp"
#include "metrik/types.hpp"

namespace metrik {

struct Grouping {
  std::vector<Offset> indptr;  // where the rows of each user begin, once they stand user by user
  // Which row stands where then: those of a user in the order in which they came. Empty if all
  // rows stand so already.
  std::vector<Offset> order;
};

// Rows belong to `users` users, by number.
[[nodiscard]] Grouping group_rows(std::span<const KeyNumber> numbers, Count users,
                                  const std::string& argument, const Effort& effort);

using Ranks = std::variant<std::span<const std::int64_t>, std::span<const double>>;

// Orders the rows of each user by their ranks, the lowest first. Throws InputError at two of one
// rank, or NaN.
void order_by_rank(Grouping& grouping, const Ranks& ranks, const std::string& argument,
                   const Effort& effort);

}  // namespace metrik
