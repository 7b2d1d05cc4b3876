// The lists themselves beside what is known of each item, for metrics that callers compute.
#pragma once

#include <cstdint>
#include <span>

#include "exactk/evaluate.hpp"
#include "exactk/types.hpp"

namespace exactk {

// What is written of some users, one after another: arrays of users x k, row by row, where column i
// is rank i + 1.
struct JudgedLists {
  std::span<std::int64_t> items;  // -1: no item has the rank
  std::span<double> grades;       // NaN: no item has the rank, or it is not judged
  std::span<std::uint8_t> hits;   // 1: the item is relevant
  std::span<Count> lengths;       // one per user: items down to rank k
  std::span<Count> relevant;      // one per user: relevant items of the truth
  Count first_user = 0;
};

// Judges each user's list under the rules of the request's only value, whose cutoff is k. No policy
// for users applies. Throws InputError as `evaluate` does, and if scores are ranked with ties in no
// order of their own.
void judge_lists(const Request& request, const JudgedLists& judged);

}  // namespace exactk
