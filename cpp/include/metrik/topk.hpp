// The best items of each user.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "metrik/conventions.hpp"
#include "metrik/isa.hpp"
#include "metrik/scores.hpp"
#include "metrik/types.hpp"

namespace metrik {

[[nodiscard]] Count users_of(const Scored& scores);

struct TopKRequest {
  Scored scores;
  Count k = 0;
  std::optional<Lists> exclude;
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  // users x k: where the best items stand, best first, then -1. Of a matrix, their columns; of
  // candidates, their offsets in the arrays.
  std::span<std::int64_t> places;
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};  // called often by the calling thread; throws to cancel
};

// Throws InputError where the request is malformed, a score is NaN and must not be, or a candidate
// is repeated.
void topk(const TopKRequest& request);

}  // namespace metrik
