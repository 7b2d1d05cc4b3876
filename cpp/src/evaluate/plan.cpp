#include "evaluate/plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "evaluate/value_checks.hpp"
#include "exactk/error.hpp"
#include "metrics/all.hpp"

namespace exactk {
namespace {

// What is given may be of any size, as other people's formulas are.
constexpr std::array<MetricInfo, 2> kGiven = {MetricInfo{.name = kGivenOfJudged,
                                                         .summary = {},
                                                         .formula = {},
                                                         .source = {},
                                                         .unit_range = false,
                                                         .is_given = true},
                                              MetricInfo{.name = kGivenOfLists,
                                                         .summary = {},
                                                         .formula = {},
                                                         .source = {},
                                                         .unit_range = false,
                                                         .reads_truth = false,
                                                         .is_given = true}};

const MetricInfo& find_metric(std::string_view name) {
  const auto given = std::ranges::find(kGiven, name, &MetricInfo::name);
  if (given != kGiven.end()) return *given;
  const auto info = std::ranges::find(AllMetrics::info, name, &MetricInfo::name);
  if (info == AllMetrics::info.end()) {
    throw InputError({.argument = "metrics",
                      .expected = "the name of a metric",
                      .found = "'" + std::string(name) + "'"});
  }
  return *info;
}

// Of a metric that the core computes.
std::size_t metric_index(const MetricInfo& info) {
  return static_cast<std::size_t>(&info - AllMetrics::info.data());
}

bool may_read_values(const MetricInfo& info) {
  return !info.is_given && AllMetrics::kScoreOfValues[metric_index(info)] != nullptr;
}

bool has_expectation(const MetricInfo& info) {
  return !info.is_given && AllMetrics::expected[metric_index(info)] != nullptr;
}

// Returns the function of a metric that the core computes.
ScoreFunction score_function(const MetricInfo& info, const Rules& rules) {
  const bool is_expected = rules.ties == Ties::expected;
  if (rules.weight != Weight::one) {
    const auto& functions =
        is_expected ? AllMetrics::kExpectedOfValues : AllMetrics::kScoreOfValues;
    return functions[metric_index(info)];
  }
  return (is_expected ? AllMetrics::expected : AllMetrics::score)[metric_index(info)];
}

// Returns the value with the rules adapted to its metric.
PlannedValue resolve_value(const MetricInfo& info, PlannedValue value) {
  if (info.pairwise && is_strict(value.rules.ties)) value.rules.ties = Ties::expected;
  if (info.takes_max_grade) value.rules.gain = Gain::exp2;
  if (!may_read_values(info)) value.rules.weight = Weight::one;
  if (!info.uses_gains && value.rules.weight != Weight::one) value.rules.gain = Gain::binary;
  if (!may_condense(info)) value.rules.unjudged = Unjudged::keep;
  return value;
}

// Returns the rules for lists as they are, with the items that are not judged.
Rules of_whole_lists(Rules rules) {
  rules.unjudged = Unjudged::keep;
  return rules;
}

// Whether the values of hits are divided by those of relevant items, not by ranks or 1.
bool is_share_of_values(const MetricInfo& info, const Rules& rules) {
  constexpr std::array<std::pair<std::string_view, Over Rules::*>, 4> kDivisors = {{
      {"precision_over", &Rules::precision_over},
      {"recall_over", &Rules::recall_over},
      {"ap_over", &Rules::ap_over},
      {"ideal_over", &Rules::ideal_over},
  }};
  const auto counts_relevant_items = [&](const auto& divisor) {
    const auto& [field, over] = divisor;
    const bool is_read = std::ranges::find(info.own_fields, field) != info.own_fields.end();
    return is_read && (is_self_normalized(rules.weight) || counts_relevant(rules.*over));
  };
  return std::ranges::any_of(kDivisors, counts_relevant_items);
}

Needs needs_of(const MetricInfo& info, const Rules& rules) {
  const auto has_field = [&](std::string_view field) {
    return std::ranges::find(info.own_fields, field) != info.own_fields.end();
  };
  Needs needs{.popularity = info.reads_popularity,
              .distances = info.reads_features && has_field("distance"),
              .tags = info.reads_features && !has_field("distance"),
              .history = info.reads_history,
              .item_groups = info.of_item_group};
  if (!has_field("serendipity_of")) return needs;
  needs.popularity = rules.serendipity_of == SerendipityOf::popularity;
  needs.distances = needs.history = !needs.popularity;
  return needs;
}

// Returns the index of equivalent judging rules, adding them if missing. If gains do not matter,
// existing rules may differ in them.
std::size_t find_or_add_judging_rules(std::vector<JudgingRules>& judging_rules, const Rules& rules,
                                      bool uses_gains, ItemGroupRule item_group = {}) {
  const JudgingRules requested(rules, uses_gains, item_group);
  const auto match = std::ranges::find_if(judging_rules, [&](const JudgingRules& existing) {
    return uses_gains ? existing == requested : existing.equals_except_gains(requested);
  });
  if (match != judging_rules.end()) return static_cast<std::size_t>(match - judging_rules.begin());
  judging_rules.push_back(requested);
  return judging_rules.size() - 1;
}

void choose_discounts(Plan& plan) {
  plan.discounts.emplace_back();  // of the passes that have none
  for (Pass& pass : plan.passes) {
    if (!pass.info->discounted) continue;
    const DiscountFields& fields = pass.rules;
    const auto match = std::ranges::find(plan.discounts, fields);
    pass.discounts_index = static_cast<std::size_t>(match - plan.discounts.begin());
    if (match == plan.discounts.end()) plan.discounts.push_back(fields);
  }
}

void choose_judging_rules(Plan& plan, const Rules& tally_rules) {
  for (const bool uses_gains :
       {true, false}) {  // so that the second pass can reuse the rules of the first
    for (Pass& pass : plan.passes) {
      if (pass.uses_gains() != uses_gains) continue;
      pass.judging_rules_index =
          find_or_add_judging_rules(plan.judging_rules, pass.rules, uses_gains, pass.item_group);
    }
  }
  for (ListCount& list_count : plan.list_counts) {
    list_count.judging_rules_index =
        find_or_add_judging_rules(plan.judging_rules, of_whole_lists(*list_count.rules), false);
  }
  plan.tally_rules_index =
      find_or_add_judging_rules(plan.judging_rules, of_whole_lists(tally_rules), false);
}

std::size_t find_or_add_cutoff_set(Plan& plan, std::span<const Count> cutoffs) {
  const auto match = std::ranges::find_if(plan.cutoff_sets, [&](const CutoffSet& cutoff_set) {
    return std::ranges::equal(cutoff_set.cutoffs(), cutoffs);
  });
  const auto index = static_cast<std::size_t>(match - plan.cutoff_sets.begin());
  if (match == plan.cutoff_sets.end()) {
    plan.cutoff_sets.emplace_back(std::vector<Count>(cutoffs.begin(), cutoffs.end()));
  }
  return index;
}

void choose_cutoff_sets(Plan& plan, std::span<const std::vector<Count>> cutoffs) {
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    plan.passes[i].cutoff_set_index = find_or_add_cutoff_set(plan, cutoffs[i]);
  }
}

void deepen(std::vector<Count>& depths, std::size_t judging_rules_index, Count depth) {
  Count& deepest = depths[judging_rules_index];
  deepest = std::max(deepest, depth);
}

// Chooses what is read of the truth, and for which ties, and how deep, scores are ranked.
void choose_depths(Plan& plan) {
  plan.list_depths.assign(plan.judging_rules.size(), 0);
  plan.base_depths.assign(plan.judging_rules.size(), 0);
  plan.reads_relevant.assign(plan.judging_rules.size(), false);
  for (const JudgingRules& rules : plan.judging_rules) {
    const Ties ties = ranking_ties(rules.ties);
    if (std::ranges::find(plan.ties, ties) == plan.ties.end()) plan.ties.push_back(ties);
  }
  for (const Pass& pass : plan.passes) {
    const std::span<const Count> cutoffs = plan.cutoff_sets[pass.cutoff_set_index].cutoffs();
    const bool condenses = pass.rules.unjudged == Unjudged::remove;
    plan.ranks_all = plan.ranks_all || condenses;
    plan.depth = std::max(plan.depth, cutoffs.back());
    if (pass.rules.ties == Ties::raise) {
      Count& depth = reads_list(*pass.info) ? plan.tie_free_list_depth : plan.tie_free_depth;
      depth = std::max(depth, condenses ? kNoCutoff : cutoffs.back());
    }
    if (pass.rules.ties == Ties::expected && pass.rules.duplicate_items == Duplicates::first)
      plan.refuses_tied_repeats = true;
    plan.reads_values = plan.reads_values || pass.reads_values();
    plan.item_groups =
        std::max(plan.item_groups, static_cast<std::size_t>(pass.item_group.group + 1));
    if (pass.info->walks_list) deepen(plan.list_depths, pass.judging_rules_index, cutoffs.back());
    if (pass.info->reads_base) deepen(plan.base_depths, pass.judging_rules_index, cutoffs.back());
  }
  for (const ListCount& list_count : plan.list_counts) {
    plan.depth = std::max(plan.depth, list_count.depth);
    deepen(plan.list_depths, list_count.judging_rules_index, list_count.depth);
    if (list_count.reads_relevant) plan.reads_relevant[list_count.judging_rules_index] = true;
    if (list_count.rules->ties == Ties::raise)
      plan.tie_free_list_depth = std::max(plan.tie_free_list_depth, list_count.depth);
  }
}

// Whether repeats are removed from lists. Lists are matched once for all values, so these must
// agree.
bool collapses_repeats(const Plan& plan) {
  const auto collapses = [](const Rules& rules) {
    return rules.duplicate_items == Duplicates::collapse;
  };
  const auto collapses_for_tally = [&](const ListCount& tally) { return collapses(*tally.rules); };
  const auto count = std::ranges::count_if(plan.passes, collapses, &Pass::rules) +
                     std::ranges::count_if(plan.list_counts, collapses_for_tally);
  const auto size = static_cast<std::ptrdiff_t>(plan.passes.size() + plan.list_counts.size());
  if (count == 0 || count == size) return count > 0;
  throw InputError({.argument = "metrics",
                    .expected = "duplicate_items='collapse' for all values or for none",
                    .found = "it for some"});
}

bool is_plain(const Request& request, std::span<const Pass> passes) {
  constexpr Count kFewUsers = 100;  // are judged before the passes are split
  if (request.truth.row_count() <= kFewUsers) return false;
  const bool has_scores = std::holds_alternative<SparseScores>(request.predictions);
  const auto* lists = std::get_if<Lists>(&request.predictions);
  const bool has_lists = lists != nullptr && lists->ranks.empty();
  if (!(has_lists || has_scores) || request.exclude || request.tally_rules.min_grade > 1)
    return false;
  if (!request.grades.empty() || !request.item_tallies.empty() || !request.group_tallies.empty())
    return false;
  return std::ranges::all_of(passes, [](const Pass& pass) {
    const MetricInfo& info = *pass.info;
    const Rules& rules = pass.rules;
    if (info.is_given || reads_list(info) || info.compares_lists || info.takes_item_count)
      return false;
    if (rules.ties == Ties::expected || rules.ties == Ties::optimistic) return false;
    if (rules.unjudged == Unjudged::remove) return false;
    // A share of the precisions reads the ranks of other hits; users without items of the group are
    // to have no pattern.
    const bool needs_whole_list =
        pass.item_group.is_share ? info.averages_precisions : rules.empty_truth != Empty::skip;
    if (!pass.item_group.has_all_items() && needs_whole_list) return false;
    const JudgingRules judging_rules(rules, pass.uses_gains());
    return rules.min_grade <= 1 && !pass.reads_values() && judging_rules.gain_of(1) == 1;
  });
}

// Whether the sums need the values of each user.
bool counts_one_by_one(const Request& request, std::span<const Pass> passes) {
  if (request.weights || !request.per_user.empty() || !request.ratios.empty()) return true;
  return std::ranges::any_of(passes, [](const Pass& pass) {
    return pass.rules.average == Average::micro || pass.rules.average == Average::geometric;
  });
}

std::vector<Pass>& find_or_add_pattern(std::vector<PatternValues>& patterns, HitsRead reads,
                                       Count cutoff, ItemGroupRule item_group) {
  const auto match = std::ranges::find_if(patterns, [&](const PatternValues& existing) {
    return existing.reads == reads && existing.cutoff == cutoff &&
           existing.item_group == item_group;
  });
  if (match != patterns.end()) return match->passes;
  return patterns.emplace_back(reads, cutoff, item_group).passes;
}

// Splits the passes so that all cutoffs of one belong to the same pattern, or to none.
void choose_patterns(Plan& plan) {
  for (const Pass& pass : plan.passes) {
    const std::vector<Count> cutoffs = [&] {  // a copy, as the sets grow
      const auto all = plan.cutoff_sets[pass.cutoff_set_index].cutoffs();
      return std::vector<Count>(all.begin(), all.end());
    }();
    const auto add = [&](std::vector<Pass>& passes, std::size_t begin, std::size_t size) {
      if (size == 0) return;
      Pass& part = passes.emplace_back(pass);
      const auto outputs = std::span(pass.outputs).subspan(begin, size);
      part.outputs.assign(outputs.begin(), outputs.end());
      part.cutoff_set_index = find_or_add_cutoff_set(plan, std::span(cutoffs).subspan(begin, size));
    };
    const auto pattern = [&](HitsRead reads, Count cutoff) -> std::vector<Pass>& {
      return find_or_add_pattern(plan.pattern_values, reads, cutoff, pass.item_group);
    };
    const HitsRead reads = AllMetrics::kHitsRead[metric_index(*pass.info)];
    if (reads == HitsRead::first_rank) {
      add(pattern(reads, 0), 0, cutoffs.size());
      continue;
    }
    const auto low = static_cast<std::size_t>(std::ranges::upper_bound(cutoffs, kPatternRanks) -
                                              cutoffs.begin());
    if (low > 0) add(pattern(HitsRead::ranks, 0), 0, low);
    if (reads == HitsRead::ranks) {
      add(plan.passes_without_pattern, low, cutoffs.size() - low);
      continue;
    }
    for (std::size_t i = low; i < cutoffs.size(); ++i) add(pattern(reads, cutoffs[i]), i, 1);
  }
}

// Returns the order in which one pass reaches the values.
std::vector<std::size_t> order_by_cutoff(std::span<const PlannedValue> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i].cutoff; });
  return order;
}

}  // namespace

Plan make_plan(const Request& request) {
  const std::span<const PlannedValue> values = request.values;
  if (values.empty() && request.item_tallies.empty() && request.group_tallies.empty()) {
    throw InputError({.argument = "metrics", .expected = "at least one metric", .found = "none"});
  }
  Plan plan;
  std::vector<std::vector<Count>> cutoffs;  // parallel to the passes
  for (const std::size_t index : order_by_cutoff(values)) {
    const MetricInfo& info = find_metric(values[index].metric);
    check_requested_ties(info, values[index]);
    const PlannedValue value = resolve_value(info, values[index]);
    const Rules& rules = value.rules;
    auto pass = std::ranges::find_if(plan.passes, [&](const Pass& existing) {
      return existing.info == &info && existing.parameter == value.parameter &&
             existing.rules == rules && existing.item_group == value.item_group;
    });
    if (pass != plan.passes.end()) {
      check_value_at_cutoff(info, has_expectation(info), value);
    } else {
      check_value(info, has_expectation(info), value);
      plan.passes.push_back(
          {.info = &info,
           .score = info.is_given ? nullptr : score_function(info, rules),
           .item_values_of = info.is_given ? nullptr : AllMetrics::kItemValues[metric_index(info)],
           .parameter = value.parameter,
           .rules = rules,
           .judging_rules_index = 0,
           .unit_range =
               rules.duplicate_items != Duplicates::count &&
               (rules.weight == Weight::one ? info.unit_range : is_share_of_values(info, rules)),
           .is_mean_over_hits = is_mean_over_hits(info, rules) ||
                                (info.averages_precisions && value.item_group.is_share),
           .needs = needs_of(info, rules),
           .item_group = value.item_group});
      cutoffs.emplace_back();
      pass = std::prev(plan.passes.end());
    }
    cutoffs[static_cast<std::size_t>(pass - plan.passes.begin())].push_back(value.cutoff);
    pass->outputs.push_back(index);
  }
  for (const ItemTallyRequest& tally : request.item_tallies) {
    check_item_tally(tally);
    const bool reads_list = tally.counted != Counted::relevant;
    plan.list_counts.push_back({.rules = &tally.rules,
                                .depth = reads_list ? tally.cutoffs.back() : 1,
                                .reads_relevant = reads_relevant(tally.counted)});
  }
  for (const PlannedValue& tally : request.group_tallies) {
    const MetricInfo& info = find_metric(tally.metric);
    check_group_tally(info, tally);
    plan.list_counts.push_back({.rules = &tally.rules,
                                .depth = tally.cutoff,
                                .info = &info,
                                .reads_relevant = info.reads_truth});
  }
  check_rules(request.tally_rules, "convention");
  choose_cutoff_sets(plan, cutoffs);
  choose_discounts(plan);
  choose_judging_rules(plan, request.tally_rules);
  choose_depths(plan);
  plan.collapses_repeats = collapses_repeats(plan);
  plan.is_plain = is_plain(request, plan.passes);
  if (!plan.is_plain) return plan;
  if (counts_one_by_one(request, plan.passes)) {
    plan.passes_without_pattern = plan.passes;
  } else {
    choose_patterns(plan);
  }
  // Users of groups of items have patterns alone.
  if (plan.item_groups > 0 && !plan.passes_without_pattern.empty()) plan.is_plain = false;
  return plan;
}

}  // namespace exactk
