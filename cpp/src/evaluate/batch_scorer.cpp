#include "evaluate/batch_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/geometric_mean.hpp"
#include "numeric/skipped_value.hpp"

namespace exactk {
namespace {

std::size_t max_cutoff_count(const Plan& plan) {
  std::size_t cutoffs = 0;
  for (const CutoffSet& cutoff_set : plan.cutoff_sets)
    cutoffs = std::max(cutoffs, cutoff_set.cutoffs().size());
  return cutoffs;
}

// Numbers the micro values in order.
std::vector<std::size_t> rows_of_micro_values(std::span<const PlannedValue> values) {
  std::vector<std::size_t> rows;
  std::size_t next = 0;
  for (const PlannedValue& value : values) {
    rows.push_back(next);
    if (value.rules.average == Average::micro) ++next;
  }
  return rows;
}

// Counts hits for rows x cutoffs.
void count_hits(std::span<const HitRow> rows, const CutoffSet& cutoff_set,
                std::vector<HitCounts>& hit_counts, const Run& run) {
  const std::size_t cutoffs = cutoff_set.cutoffs().size();
  hit_counts.resize(rows.size() * cutoffs);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cutoff_set.count_hits(rows[i], std::span(hit_counts).subspan(i * cutoffs, cutoffs), run);
  }
}

constexpr Count kMillion = 1'000'000;

// Returns the difference of two ratios in millionths, capped at 1000 so that sums do not overflow.
Count spread_of(const Ratio& one, const Ratio& other) {
  if (one.denominator == 0 || other.denominator == 0) return 0;
  const double spread =
      std::abs(one.numerator / one.denominator - other.numerator / other.denominator);
  return static_cast<Count>(std::min(spread, 1000.0) * static_cast<double>(kMillion));
}

// Whether two ratios of a user contribute the same to the average.
bool is_same_value(const Ratio& one, const Ratio& other, Average average) {
  const bool is_same = one.numerator == other.numerator && one.denominator == other.denominator;
  if (is_same || average == Average::micro) return is_same;
  if (one.denominator == 0 || other.denominator == 0) return one.denominator == other.denominator;
  return one.numerator / one.denominator == other.numerator / other.denominator;
}

// Whether a tie that reaches above the cutoff mixes hits with other items.
bool has_mixed_tie(const HitRow& row, Count cutoff) {
  return std::ranges::any_of(row.tied_hits, [&](const TiedHits& tied) {
    return tied.hits < tied.tie.size() && tied.tie.first < cutoff;
  });
}

Count first_tied_rank(const ListRow& list) {
  return list.tied_ranks.empty() ? 0 : list.tied_ranks.front();
}

// Whether the order of ties may change the value at the cutoff: that of the items above it only if
// ranks matter.
bool may_depend_on_ties(const MetricInfo& info, const ListRow& list, Count cutoff) {
  if (!info.discounted && !info.reads_list_ranks) {
    return std::ranges::binary_search(list.tied_ranks, cutoff);
  }
  const Count first = first_tied_rank(list);
  return first > 0 && first <= cutoff;
}

}  // namespace

BatchScorer::BatchScorer(const Job& job)
    : job_(job),
      ratio_rows_(rows_of_micro_values(job.request.values)),
      ratios_(max_cutoff_count(job.plan)),
      values_(job.request.values.size()),
      extreme_ratios_{BatchRatios(max_cutoff_count(job.plan)),
                      BatchRatios(max_cutoff_count(job.plan))},
      sums_(make_accumulators(job)),
      item_counters_(make_item_counters(job)),
      group_counters_(make_group_counters(job)) {}

Violation BatchScorer::score(std::span<const Pass> passes, JudgedBatch& batch, Tally& tally) {
  users_ = batch.users;
  weights_.clear();
  if (job_.request.weights) {
    for (const Count user : users_) {
      weights_.push_back((*job_.request.weights)[static_cast<std::size_t>(user)]);
    }
  }
  Violation gravest = Violation::none;
  for (std::size_t rules_index = 0; rules_index < batch.hit_rows.size(); ++rules_index) {
    gravest = std::min(gravest, score_under(rules_index, passes, batch, tally));
  }
  return gravest;
}

void BatchScorer::score_patterns(const PatternValues& values, Rows rows,
                                 std::span<const Count> users, Tally& tally) {
  std::size_t cutoff_set_index = job_.plan.cutoff_sets.size();  // the previous set; none yet
  for (const Pass& pass : values.passes) {
    if (pass.cutoff_set_index != cutoff_set_index) {
      cutoff_set_index = pass.cutoff_set_index;
      count_hits(rows, job_.plan.cutoff_sets[cutoff_set_index], hit_counts_, job_.run);
    }
    compute_ratios(pass, rows, {}, hit_counts_, ratios_);
    compute_values(pass);
    count_undefined(pass, rows, [&](std::size_t row) { return users[row]; }, tally);
    for (const std::size_t output : pass.outputs) {
      sums_[output].add_repeated(values_[output].first(rows.size()), users, job_.kernels);
    }
  }
}

Violation BatchScorer::score_under(std::size_t rules_index, std::span<const Pass> passes,
                                   JudgedBatch& batch, Tally& tally) {
  const Rows rows = batch.hit_rows[rules_index].rows();
  const Lists lists = batch.list_rows[rules_index].rows();
  irregular_users_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_regular(presence_of(job_.request, users_[i]), rows[i])) irregular_users_.push_back(i);
  }
  Violation gravest = Violation::none;
  std::size_t cutoff_set_index = job_.plan.cutoff_sets.size();  // the previous set; none yet
  for (const Pass& pass : passes) {
    if (pass.judging_rules_index != rules_index) continue;
    if (pass.cutoff_set_index != cutoff_set_index) {
      cutoff_set_index = pass.cutoff_set_index;
      count_hits(rows, job_.plan.cutoff_sets[cutoff_set_index], hit_counts_, job_.run);
    }
    compute_ratios(pass, rows, lists, hit_counts_, ratios_);
    compute_values(pass);
    const Violation violation =
        std::min({apply_policies(pass, rows), check_item_count(pass, rows),
                  check_items(pass, rows, lists), check_item_values(pass, rows)});
    if (violation == Violation::none) reduce(pass, rows);  // otherwise the values may be anything
    const auto is_counted = [&](std::size_t user) {
      return Count{is_in_population(pass.rules.users, presence_of(job_.request, users_[user]))};
    };
    count_undefined(pass, rows, is_counted, tally);
    if (reads_list(*pass.info)) {
      count_tied_lists(pass, rows, lists, tally);
    } else if (is_strict(pass.rules.ties) && !batch.tied_users.empty() && !pass.info->is_given) {
      score_extremes(pass, rules_index, batch);
      const Rows best_rows = batch.extreme_rows.front()[rules_index].rows();
      count_tie_dependent(pass, rows, batch.tied_users, best_rows, tally);
    }
    gravest = std::min(gravest, violation);
  }
  for (std::size_t i = 0; i < job_.plan.list_counts.size(); ++i) {
    if (job_.plan.list_counts[i].judging_rules_index != rules_index) continue;
    gravest = std::min(gravest, count_lists(i, rows, lists));
  }
  return gravest;
}

void BatchScorer::compute_ratios(const Pass& pass, Rows rows, Lists lists,
                                 std::span<const HitCounts> hit_counts, BatchRatios& ratios) const {
  if (pass.info->is_given) {
    read_given(pass, ratios);
    return;
  }
  pass.score({.rows = rows,
              .cutoffs = job_.plan.cutoff_sets[pass.cutoff_set_index].cutoffs(),
              .hit_counts = hit_counts,
              .rules = pass.rules,
              .discounts = job_.discounts[pass.discounts_index],
              .parameter = pass.parameter,
              .run = job_.run,
              .lists = lists,
              .item_values = pass.item_values,
              .distances = pass.distances.get(),
              .tags = pass.tags.get()},
             ratios);
}

// Reads what the request gives of the users.
void BatchScorer::read_given(const Pass& pass, BatchRatios& ratios) const {
  const auto size = static_cast<std::size_t>(job_.request.truth.row_count());
  const auto parts =
      job_.request.given.subspan(2 * static_cast<std::size_t>(pass.parameter) * size, 2 * size);
  for (std::size_t output = 0; output < pass.outputs.size(); ++output) {
    for (std::size_t i = 0; i < users_.size(); ++i) {
      const auto user = static_cast<std::size_t>(users_[i]);
      ratios.numerators[output][i] = parts[user];
      ratios.denominators[output][i] = parts[size + user];
    }
  }
}

void BatchScorer::compute_values(const Pass& pass) {
  const double undefined = undefined_value(pass.rules.undefined);
  for (std::size_t i = 0; i < pass.outputs.size(); ++i) {
    job_.kernels.divide(ratios_.numerators[i].data(), ratios_.denominators[i].data(), undefined,
                        values_[pass.outputs[i]].data());
  }
}

UserPolicy BatchScorer::policy_of(const Pass& pass, Rows rows, std::size_t index) const {
  return user_policy(*pass.info, pass.rules, presence_of(job_.request, users_[index]), rows[index]);
}

// Replaces the computed values of irregular users by those of the convention.
Violation BatchScorer::apply_policies(const Pass& pass, Rows rows) {
  Violation gravest = Violation::none;
  for (const std::size_t user : irregular_users_) {
    const UserPolicy policy = policy_of(pass, rows, user);
    if (policy.empty == Empty::error) gravest = std::min(gravest, policy.violation);
    if (policy.empty == Empty::compute) continue;
    for (const std::size_t output : pass.outputs) {
      values_[output][user] = fixed_value(policy.empty);
    }
  }
  return gravest;
}

// Whether some user's relevant items and misses outnumber the given number of items. Misses grow
// with the cutoff, so the last one decides.
Violation BatchScorer::check_item_count(const Pass& pass, Rows rows) const {
  if (!pass.info->takes_item_count) return Violation::none;
  const std::span<const Count> cutoffs = job_.plan.cutoff_sets[pass.cutoff_set_index].cutoffs();
  for (std::size_t user = 0; user < rows.size(); ++user) {
    if (policy_of(pass, rows, user).empty != Empty::compute) continue;
    const HitCounts& hits = hit_counts_[(user + 1) * cutoffs.size() - 1];
    const CutoffCounts counts = cutoff_counts(rows[user], cutoffs.back(), hits);
    const Count min_items = counts.relevant + counts.list_length - counts.hits;
    if (static_cast<double>(min_items) > pass.parameter) return Violation::too_few_items;
  }
  return Violation::none;
}

// Whether some user's list has an item, down to the last cutoff, that the convention refuses.
Violation BatchScorer::check_items(const Pass& pass, Rows rows, Lists lists) const {
  if (!reads_list(*pass.info)) return Violation::none;
  const bool has_catalogue = pass.info->walks_list;
  const bool refuses_foreign = has_catalogue && pass.rules.foreign_items == ForeignItems::raise;
  const bool refuses_unseen =
      pass.needs.popularity && pass.rules.unseen_items == UnseenItems::raise;
  const bool counts_foreign = pass.rules.foreign_items == ForeignItems::count;
  const bool refuses_ties = pass.rules.ties == Ties::raise;
  const Count depth = job_.plan.cutoff_sets[pass.cutoff_set_index].cutoffs().back();
  const auto is_read = [&](Count rank) { return rank > 0 && rank <= depth; };
  const auto refuses_features = [&](const ListRow& list) {
    if (!pass.distances && !pass.tags) return false;
    const auto size = std::min(list.items.size(), static_cast<std::size_t>(depth));
    const auto is_refused = [&](ItemNumber item) {
      return refuses_for_features(pass, item, job_.catalogue.foreign());
    };
    return std::ranges::any_of(list.items.first(size), is_refused) ||
           (pass.needs.history && std::ranges::any_of(list.history, is_refused));
  };
  Violation gravest = Violation::none;
  for (std::size_t user = 0; user < lists.size(); ++user) {
    const bool has_foreign = is_read(lists[user].first_foreign);
    const bool has_unseen = is_read(lists[user].first_unseen) || (counts_foreign && has_foreign);
    Violation violation = Violation::none;
    if (refuses_features(lists[user])) violation = Violation::missing_features;
    if (refuses_unseen && has_unseen) violation = Violation::unseen_item;
    if (refuses_foreign && has_foreign) violation = Violation::foreign_item;
    if (refuses_ties && is_read(first_tied_rank(lists[user]))) violation = Violation::tied_list;
    if (violation == Violation::none) continue;
    if (policy_of(pass, rows, user).empty != Empty::compute) continue;
    gravest = std::min(gravest, violation);
  }
  return gravest;
}

// Whether some user's relevant item has no value that the metric needs.
Violation BatchScorer::check_item_values(const Pass& pass, Rows rows) const {
  if (!pass.reads_values()) return Violation::none;
  for (std::size_t user = 0; user < rows.size(); ++user) {
    if (rows[user].lacks_values && policy_of(pass, rows, user).empty == Empty::compute)
      return Violation::missing_value;
  }
  return Violation::none;
}

Violation BatchScorer::count_lists(std::size_t list_count_index, Rows rows, Lists lists) {
  const ListCount& list_count = job_.plan.list_counts[list_count_index];
  const bool refuses_foreign = list_count.rules->foreign_items == ForeignItems::raise;
  Violation gravest = Violation::none;
  for (std::size_t user = 0; user < rows.size(); ++user) {
    if (!has_counted_list(*list_count.rules, presence_of(job_.request, users_[user]), rows[user]))
      continue;
    const auto is_read = [&](Count rank) { return rank > 0 && rank <= list_count.depth; };
    if (list_count.rules->ties == Ties::raise && is_read(first_tied_rank(lists[user]))) {
      gravest = Violation::tied_list;
    } else if (refuses_foreign && is_read(lists[user].first_foreign)) {
      gravest = std::min(gravest, Violation::foreign_item);
    }
    if (gravest != Violation::none) continue;  // the counts may be anything
    if (list_count_index < item_counters_.size()) {
      item_counters_[list_count_index].add(lists[user]);
    } else {
      group_counters_[list_count_index - item_counters_.size()].add(lists[user]);
    }
  }
  return gravest;
}

// Counts the users, as many as `users_of` says of each row, who have 0 / 0 though neither their
// list nor their truth is empty.
template <class UsersOf>
void BatchScorer::count_undefined(const Pass& pass, Rows rows, UsersOf users_of,
                                  Tally& tally) const {
  for (std::size_t output = 0; output < pass.outputs.size(); ++output) {
    const auto divisors = std::span(ratios_.denominators[output]).first(rows.size());
    if (std::ranges::count(divisors, 0.0) == 0) continue;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const bool is_empty =
          rows[row].is_empty || (pass.info->reads_truth && rows[row].relevant == 0);
      if (divisors[row] != 0 || is_empty) continue;
      tally.undefined.resize(job_.request.values.size());
      tally.undefined[pass.outputs[output]] += users_of(row);
    }
  }
}

// Whether the user is in the sums of a micro average.
bool BatchScorer::is_summed(const Pass& pass, std::size_t output_index, Rows rows,
                            std::size_t user) const {
  if (policy_of(pass, rows, user).empty != Empty::compute) return false;
  const bool leaves_out = pass.info->weighs_users && pass.rules.undefined == Undefined::skip;
  return !leaves_out || ratios_.denominators[output_index][user] != 0;
}

void BatchScorer::reduce(const Pass& pass, Rows rows) {
  for (std::size_t i = 0; i < pass.outputs.size(); ++i) {
    const std::size_t output = pass.outputs[i];
    if (!job_.request.per_user.empty()) write_per_user(output);
    if (pass.rules.average != Average::micro) {
      const auto terms = values_[output].first(users_.size());
      if (pass.rules.average == Average::geometric) {
        std::ranges::transform(terms, terms.begin(), geometric_term);
      }
      sums_[output].add(terms, weights_, job_.kernels);
      continue;
    }
    if (!job_.request.ratios.empty()) write_ratios(pass, i, rows);
    for (std::size_t user = 0; user < users_.size(); ++user) {
      if (!is_summed(pass, i, rows, user)) continue;
      sums_[output].add_ratio(ratios_.numerators[i][user], ratios_.denominators[i][user],
                              weights_.empty() ? 1 : weights_[user]);
    }
  }
}

void BatchScorer::write_per_user(std::size_t output) {
  const auto size = static_cast<std::size_t>(job_.request.truth.row_count());
  const std::span<double> row = job_.request.per_user.subspan(output * size, size);
  const std::span<const double> values = values_[output];
  for (std::size_t i = 0; i < users_.size(); ++i) {
    const bool skips_user = is_skipped(values[i]);
    row[static_cast<std::size_t>(users_[i])] =
        skips_user ? std::numeric_limits<double>::quiet_NaN() : values[i];
  }
}

void BatchScorer::write_ratios(const Pass& pass, std::size_t output_index, Rows rows) {
  const auto size = static_cast<std::size_t>(job_.request.truth.row_count());
  const std::size_t row = ratio_rows_[pass.outputs[output_index]];
  const std::span<double> parts = job_.request.ratios.subspan(2 * row * size, 2 * size);
  const double left_out = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < users_.size(); ++i) {
    const bool is_kept = is_summed(pass, output_index, rows, i);
    const auto user = static_cast<std::size_t>(users_[i]);
    parts[user] = is_kept ? ratios_.numerators[output_index][i] : left_out;
    parts[size + user] = is_kept ? ratios_.denominators[output_index][i] : left_out;
  }
}

// Counts the users whose value may depend on the order of ties in the list. How much, is unknown.
void BatchScorer::count_tied_lists(const Pass& pass, Rows rows, Lists lists, Tally& tally) const {
  const std::span<const Count> cutoffs = job_.plan.cutoff_sets[pass.cutoff_set_index].cutoffs();
  for (std::size_t user = 0; user < lists.size(); ++user) {
    if (lists[user].tied_ranks.empty()) continue;
    if (policy_of(pass, rows, user).empty != Empty::compute) continue;
    tally.tie_dependent.resize(job_.request.values.size());
    tally.tie_spread.resize(job_.request.values.size());
    for (std::size_t output = 0; output < pass.outputs.size(); ++output) {
      if (!may_depend_on_ties(*pass.info, lists[user], cutoffs[output])) continue;
      ++tally.tie_dependent[pass.outputs[output]];
      tally.tie_spread[pass.outputs[output]] += kMillion;
    }
  }
}

void BatchScorer::score_extremes(const Pass& pass, std::size_t rules_index, JudgedBatch& batch) {
  const CutoffSet& cutoff_set = job_.plan.cutoff_sets[pass.cutoff_set_index];
  for (std::size_t extreme = 0; extreme < extreme_ratios_.size(); ++extreme) {
    const Rows rows = batch.extreme_rows[extreme][rules_index].rows();
    count_hits(rows, cutoff_set, extreme_hit_counts_, job_.run);
    compute_ratios(pass, rows, {}, extreme_hit_counts_, extreme_ratios_[extreme]);
  }
}

// Counts the users whose value depends on the order of ties. The value of any order lies between
// the two extremes, except for a mean over the hits, which falls both if a hit comes later and if
// another hit comes late. For such a mean, every tie that mixes hits with other items counts.
void BatchScorer::count_tie_dependent(const Pass& pass, Rows rows,
                                      std::span<const std::size_t> tied_users, Rows best_rows,
                                      Tally& tally) const {
  tally.tie_dependent.resize(job_.request.values.size());
  tally.tie_spread.resize(job_.request.values.size());
  const std::span<const Count> cutoffs = job_.plan.cutoff_sets[pass.cutoff_set_index].cutoffs();
  for (std::size_t i = 0; i < tied_users.size(); ++i) {
    if (policy_of(pass, rows, tied_users[i]).empty != Empty::compute) continue;
    for (std::size_t output = 0; output < pass.outputs.size(); ++output) {
      const auto ratio_of = [&](const BatchRatios& ratios) {
        return Ratio{ratios.numerators[output][i], ratios.denominators[output][i]};
      };
      const bool is_mixed = pass.is_mean_over_hits && has_mixed_tie(best_rows[i], cutoffs[output]);
      const Ratio best = ratio_of(extreme_ratios_.front());
      const Ratio worst = ratio_of(extreme_ratios_.back());
      if (!is_mixed && is_same_value(best, worst, pass.rules.average)) continue;
      ++tally.tie_dependent[pass.outputs[output]];
      tally.tie_spread[pass.outputs[output]] += is_mixed ? kMillion : spread_of(best, worst);
    }
  }
}

}  // namespace exactk
