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
#include "exactk/group_tally.hpp"
#include "exactk/histories.hpp"
#include "exactk/isa.hpp"
#include "exactk/item_tally.hpp"
#include "exactk/items.hpp"
#include "exactk/scores.hpp"
#include "exactk/types.hpp"

namespace exactk {

// One value to report: a metric at a cutoff under resolved rules.
struct PlannedValue {
  std::string metric;
  Count cutoff = kNoCutoff;
  double parameter = 0;
  Rules rules;
  ItemGroupRule item_group = {};
};

// The predictions: ranked lists, or scores to rank the items by.
using Predictions = std::variant<Lists, ScoreMatrix, SparseScores, Embeddings>;

// Whether only some items may be ranked; the tally then counts candidates.
[[nodiscard]] bool has_candidates(const Predictions& predictions) noexcept;

struct Request {
  Lists truth;
  std::span<const double> grades = {};  // parallel to truth.items; empty: every grade is 1
  Predictions predictions;
  std::optional<Lists> exclude = {};
  std::optional<Items> items = {};          // for metrics that read the items of the list
  std::optional<Histories> histories = {};  // for metrics that read what users have in train
  std::optional<Lists> base = {};  // of other predictions, for metrics that compare lists with them
  std::optional<std::span<const double>> weights = {};  // one per user; nullopt: every weight is 1
  // The group of each user, in [0, group_count); empty: group 0.
  std::span<const Offset> groups = {};
  Count group_count = 1;
  std::span<const PlannedValue> values = {};
  std::span<const ItemTallyRequest> item_tallies = {};
  // For metrics of groups of items: each at the last of its cutoffs.
  std::span<const PlannedValue> group_tallies = {};
  // Given values x 2 x users: numerators and denominators, of users whom the convention computes.
  std::span<const double> given = {};
  Rules tally_rules = {};           // rules by which the tally calls an item relevant
  std::span<double> per_user = {};  // values x users, one row per value; empty: not kept
  // Micro values x 2 x users: numerators and denominators, NaN for users who are left out of the
  // sums. Empty: not kept.
  std::span<double> ratios = {};
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if not null, incremented as threads finish users
};

// The sums behind one value, which merge exactly with those of other users.
struct Sums {
  Count users = 0;      // users that the value was computed for
  Count undefined = 0;  // those of them whose value is NaN
  // Sum of weight x value (macro), weight x numerator (micro) or weight x logarithm (geometric).
  ExactInteger total;
  ExactInteger squares;  // sum of weight x value^2 or weight x logarithm^2; unused for micro
  ExactInteger weight;   // sum of weight, or of weight x denominator (micro)
};

// Counts of users and items made during the pass.
struct Tally {
  Count empty_truth = 0;
  Count empty_predictions = 0;
  Count missing_lists = 0;
  Count missing_truth = 0;
  Count duplicates = 0;
  Count excluded_recommended = 0;
  Count relevant_excluded = 0;
  Count relevant_not_rankable = 0;
  // Items at the ranks that a metric of the list reads, each once per user: those outside the
  // catalogue, and those of the catalogue that are not in train.
  Count foreign_recommended = 0;
  Count unseen_recommended = 0;
  // The greatest rank of an item that is not excluded, over all users, up to the largest rank that
  // a value needs.
  Count longest_list = 0;
  // Per value: users whose value depends on the order of ties, or may do so if a metric reads the
  // items of the list. Empty if no values can be tied.
  std::vector<Count> tie_dependent;
  // Per value: the difference between the two extremes, summed over these users, in millionths.
  std::vector<Count> tie_spread;
  // Per value: users whose ratio is 0 / 0 although they have a list and, if the metric reads the
  // truth, relevant items: what policies of users do not decide. Empty if there are none.
  std::vector<Count> undefined;
  // Candidates that are not excluded, over the users present in the predictions.
  Count candidates = 0;
  Count candidate_users = 0;
  Count fewest_candidates = kNoCutoff;  // of any one user
  Count most_candidates = 0;

  void add(const Tally& other);
};

struct Result {
  std::vector<Sums> sums;  // groups x values
  Tally tally;
  std::vector<ItemTally> item_tallies;    // each of all users, then of each group
  std::vector<GroupTally> group_tallies;  // likewise
};

// Throws InputError before any thread starts if the request is malformed, and after the pass if
// lists break a rule that only reading them reveals (repeated items, `error` policies).
[[nodiscard]] Result evaluate(const Request& request);

}  // namespace exactk
