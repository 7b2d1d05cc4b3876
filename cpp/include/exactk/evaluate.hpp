// Evaluation: the request, and the exact sums that answer it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "exactk/conventions.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/isa.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// One value to report: a metric at a cutoff under resolved rules.
struct PlannedValue {
  std::string metric;
  Count cutoff = kNoCutoff;
  double parameter = 0;
  Rules rules;
};

// What was recommended: lists, or scores to rank the items by.
using Predictions = std::variant<Lists, ScoreMatrix, SparseScores, Embeddings>;

// Whether only some items may be ranked, which the tally counts.
[[nodiscard]] bool has_candidates(const Predictions& predictions) noexcept;

struct Request {
  Lists truth;
  std::span<const double> grades;  // beside truth.items; empty: every grade is 1
  Predictions predictions;
  std::optional<Lists> exclude;
  std::optional<std::span<const double>> weights;  // one a user; without them every weight is 1
  std::span<const Offset> groups;  // the group of each user, in [0, group_count); empty: group 0
  Count group_count = 1;
  std::span<const PlannedValue> values;
  Rules tally_rules;           // under which the tally calls an item relevant
  std::span<double> per_user;  // values x users, one row a value; empty: not kept
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if any, users are added as threads finish them
};

// What one value is made of: sums that merge exactly with those of other users.
struct Sums {
  Count users = 0;      // that the value was computed for
  Count undefined = 0;  // of these, how many are NaN
  // Of weight x value (macro), weight x numerator (micro) or weight x logarithm (geometric).
  ExactInteger total;
  ExactInteger squares;  // of weight x value x value, or its logarithm (but for micro)
  ExactInteger weight;   // of weight, or weight x denominator (micro)
};

// Counts of users and items made on the way.
struct Tally {
  Count empty_truth = 0;
  Count empty_predictions = 0;
  Count missing_predictions = 0;
  Count missing_truth = 0;
  Count duplicates = 0;
  Count excluded_recommended = 0;
  Count relevant_excluded = 0;
  Count relevant_not_rankable = 0;
  // Of any user: the rank of the last item that is not excluded, at most the last rank asked for.
  Count longest_list = 0;
  // By value: users whose value another order of tied items changes. Empty where none can be tied.
  std::vector<Count> tie_dependent;
  // By value: how far apart the two extremes are, summed over these users, in millionths.
  std::vector<Count> tie_spread;
  // Candidates that are not excluded, of the users present in the predictions.
  Count candidates = 0;
  Count candidate_users = 0;
  Count fewest_candidates = kNoCutoff;  // of a user
  Count most_candidates = 0;

  void add(const Tally& other);
};

struct Result {
  std::vector<Sums> sums;  // groups x values
  Tally tally;
};

// Throws InputError before any thread starts where the request is malformed, and after the pass
// where lists break a rule that only reading them shows (repeated items, `error` policies).
[[nodiscard]] Result evaluate(const Request& request);

}  // namespace exactk
