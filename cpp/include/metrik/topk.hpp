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

struct TopKRequest {
  ScoreMatrix scores;
  Count k = 0;
  std::optional<Lists> exclude;
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  std::span<std::int64_t> items;  // users x k: best first, then -1
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};  // called often by the calling thread; throws to cancel
};

// Throws InputError where the request is malformed, or a score is NaN and must not be.
void topk(const TopKRequest& request);

}  // namespace metrik
