// Finds the items of a user that a metric refuses, to count them and name the first.
#pragma once

#include <cstdint>

#include "evaluate/job.hpp"
#include "evaluate/user_matcher.hpp"
#include "evaluate/violations.hpp"
#include "exactk/types.hpp"

namespace exactk {

struct RefusedItems {
  Count count = 0;
  std::int64_t first = -1;
  bool is_of_train = false;  // the first one is not recommended, but in train
};

// Finds the items of the user's list that a metric reads and refuses: those outside the catalogue,
// not in train, or without features.
[[nodiscard]] RefusedItems find_refused_items(Violation violation, const Job& job,
                                              UserMatcher& matcher, Count user);

// Finds the distinct relevant items of the user without a value, for the first metric that reads
// values and lacks one.
[[nodiscard]] RefusedItems find_items_without_value(const Job& job, UserMatcher& matcher,
                                                    Count user);

}  // namespace exactk
