// The plan: the request's values resolved before any user is read, and grouped by shared work.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/checks.hpp"
#include "exactk/evaluate.hpp"
#include "judge/cutoff_set.hpp"
#include "judge/judge.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// What a value needs to know beside the lists.
struct Needs {
  bool popularity = false;
  bool distances = false;  // of items, by their features
  bool tags = false;       // of items
  bool history = false;    // of users
  bool item_groups = false;
};

// Values computed in one pass over a HitRow: one metric and rules at several cutoffs.
struct Pass {
  const MetricInfo* info;
  ScoreFunction score;                // null if the request has the values
  ItemValuesFunction item_values_of;  // null unless the metric reads the items of the list
  double parameter;
  Rules rules;
  std::size_t judging_rules_index;        // index into Plan::judging_rules
  bool unit_range;                        // values are in [0, 1] for all lists
  bool is_mean_over_hits;                 // a late hit may lower the value
  std::size_t cutoff_set_index = 0;       // index into Plan::cutoff_sets
  std::size_t discounts_index = 0;        // index into Plan::discounts
  std::vector<std::size_t> outputs = {};  // per cutoff: index into Request::values
  ItemValues item_values = {};            // of the items of the request
  Needs needs = {};
  std::shared_ptr<const ItemDistances> distances = {};  // if it needs them
  std::shared_ptr<const ItemTags> tags = {};            // likewise
  ItemGroupRule item_group = {};

  // Whether the gains of relevant items are their values.
  [[nodiscard]] bool reads_values() const noexcept { return rules.weight != Weight::one; }
  [[nodiscard]] bool uses_gains() const noexcept { return info->uses_gains || reads_values(); }
};

// Values that are the same for all users with the same number of relevant items, the same length of
// the list, and the same pattern of hits: their ranks down to kPatternRanks, the first of their
// ranks, or how many there are down to the cutoff.
struct PatternValues {
  HitsRead reads;
  Count cutoff;  // of a count
  ItemGroupRule item_group = {};
  std::vector<Pass> passes = {};
};
inline constexpr Count kPatternRanks = 10;

// Whether the item is refused for having no features. `foreign` is the number of an item outside
// the catalogue.
[[nodiscard]] inline bool refuses_for_features(const Pass& pass, ItemNumber item,
                                               ItemNumber foreign) noexcept {
  if (pass.rules.missing_features != MissingFeatures::raise) return false;
  if (!pass.distances && !pass.tags) return false;
  if (item >= foreign) return item == foreign && pass.rules.foreign_items == ForeignItems::count;
  return pass.tags ? !pass.tags->has_features(item) : !pass.distances->has_features(item);
}

// The lists that a tally reads.
struct ListCount {
  const Rules* rules;
  Count depth;                       // the last cutoff
  const MetricInfo* info = nullptr;  // of a group tally
  bool reads_relevant = false;       // of the catalogue
  std::size_t judging_rules_index = 0;
};

struct Plan {
  std::vector<JudgingRules> judging_rules;
  std::size_t tally_rules_index = 0;
  std::vector<Pass> passes;
  std::vector<ListCount> list_counts;  // of the item tallies, then of the group tallies
  std::vector<CutoffSet> cutoff_sets;
  std::vector<DiscountFields> discounts;
  std::vector<Ties> ties;             // for which scores have to be ranked
  Count depth = 0;                    // the last rank that a value asks for
  bool ranks_all = false;             // ranks may move up from any depth
  Count tie_free_depth = 0;           // the last rank at which the truth's items must not tie
  Count tie_free_list_depth = 0;      // likewise of all items of lists that a metric reads
  bool refuses_tied_repeats = false;  // of an item of the truth within a tie
  bool reads_values = false;          // of relevant items
  std::size_t item_groups = 0;        // that values are of
  bool collapses_repeats = false;     // in the lists of all values
  // Whether the values of users without repeated or tied items depend on nothing but the number of
  // relevant items, the length of the list and the ranks of the hits.
  bool is_plain = false;
  // If so: the values that have a pattern, and the others. None has one if users count one by one.
  std::vector<PatternValues> pattern_values = {};
  std::vector<Pass> passes_without_pattern = {};
  // The last rank that a metric reads of the lists, by judging rules; 0 if none.
  std::vector<Count> list_depths = {};
  // By judging rules: whether a metric of all lists reads the relevant items too.
  std::vector<bool> reads_relevant = {};
  // The last rank that a metric compares with the base list, likewise.
  std::vector<Count> base_depths = {};

  // Whether a metric reads the items of the lists judged by these rules.
  [[nodiscard]] bool reads_lists(std::size_t judging_rules_index) const noexcept {
    return list_depths[judging_rules_index] > 0 || base_depths[judging_rules_index] > 0;
  }
  // Whether a metric reads the items of any lists.
  [[nodiscard]] bool reads_any_lists() const noexcept {
    for (std::size_t index = 0; index < judging_rules.size(); ++index) {
      if (reads_lists(index)) return true;
    }
    return false;
  }
};

// Throws InputError if a value asks for something that no metric or rule provides.
[[nodiscard]] Plan make_plan(const Request& request);

}  // namespace exactk
