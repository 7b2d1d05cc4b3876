// Fusion: one ranking of the items that several systems rank for a user.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "exactk/conventions.hpp"
#include "exactk/isa.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// How the values of an item become its fused score. The values of `rrf`, `rbc` and `borda` are
// functions of its ranks, those of the others its normalised scores.
enum class FusionMethod : std::uint8_t { rrf, sum, mnz, anz, max, min, median, rbc, borda };

// How the scores of a system's list are normalised. `rank` and `borda` read only its order.
enum class ScoreNorm : std::uint8_t {
  none,
  min_max,
  max,
  sum,
  z,
  theoretical_min_max,
  rank,
  borda,
  distribution
};

// What counts for an item that a system does not have, in `sum` and `mnz`.
enum class MissingScore : std::uint8_t { zero, lowest };

struct FusionRules {
  FusionMethod method = FusionMethod::rrf;
  ScoreNorm norm = ScoreNorm::none;
  MissingScore missing = MissingScore::zero;
  double rank_constant = 60;  // of rrf
  double persistence = 0.8;   // of rbc
  double power = 1;           // of mnz: that of the number of systems which have an item
  Count depth = kNoCutoff;    // only so many of each list are read
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
};

// The lists of one system, a row per user.
struct FusedSystem {
  std::variant<Lists, SparseScores> lists;
  double weight = 1;  // 0: its items are left out
  double low = 0;     // the lowest possible score, for theoretical_min_max
};

struct FusionRequest {
  std::vector<FusedSystem> systems;
  FusionRules rules;
  Count k = kNoCutoff;  // the most items of a fused list
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if not null, incremented as threads finish users
};

// Fused lists, best first; ties by lowest id.
struct FusedLists {
  std::vector<Offset> indptr;
  std::vector<std::int64_t> items;
  std::vector<double> scores;
  Count split_ties = 0;  // users whose last item ties with one that was cut off
  // By system: whether it has an item of any user that another system has too.
  std::vector<std::uint8_t> shares;
};

// Sums are rounded once, so that a score does not depend on the order of the systems. Throws
// InputError, whose argument names the system as systems[0], if the request is malformed, a list
// has an item twice, or scores are not what the norm and the method need.
[[nodiscard]] FusedLists fuse(const FusionRequest& request);

}  // namespace exactk
