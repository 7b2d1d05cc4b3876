#include "evaluate/worker.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "evaluate/tied_repeats.hpp"
#include "numeric/geometric_mean.hpp"

namespace exactk {
namespace {

std::size_t max_cutoff_count(const Plan& plan) {
  std::size_t cutoffs = 0;
  for (const CutoffSet& cutoff_set : plan.cutoff_sets)
    cutoffs = std::max(cutoffs, cutoff_set.cutoffs().size());
  return cutoffs;
}

// The ranks of the truth cost the same however deep they lie, and a list as much as it is long.
bool is_shallow(const Plan& plan, Count items) {
  return plan.depth <= std::clamp<Count>(items / 8, 1024, 16384);
}

// Whether the user's list costs less than the ranks of the truth.
template <class Ranker>
bool prefers_list(const Plan& plan, Ranker& ranker, Ties ties) {
  const auto items = static_cast<Count>(ranker.row().size());
  if (!is_strict(ties) || !is_shallow(plan, items)) return false;
  // One deeper, to see what is tied with the last.
  return !ranker.has_truth_ranks() || ranker.has_best(plan.depth + 1, ties);
}

constexpr Count kMillion = 1'000'000;

// The difference of two ratios in millionths, at most 1000 whole ones, so that sums do not
// overflow.
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

}  // namespace

const Lists* item_lists(const Predictions& predictions) noexcept {
  const auto* sparse_scores = std::get_if<SparseScores>(&predictions);
  return sparse_scores != nullptr ? &sparse_scores->items : std::get_if<Lists>(&predictions);
}

std::vector<Exactness> exactness_of_values(const Job& job) {
  std::vector<Exactness> exactness(job.request.values.size());
  for (const Run& run : job.plan.runs) {
    Exactness value_exactness = run.unit_range ? Exactness::unit : Exactness::any;
    if (run.rules.average == Average::geometric) value_exactness = Exactness::any;
    if (job.request.weights || run.rules.average == Average::micro)
      value_exactness = Exactness::weighing;
    for (const std::size_t output : run.outputs) exactness[output] = value_exactness;
  }
  return exactness;
}

std::vector<Accumulator> make_accumulators(const Job& job) {
  const std::vector<Exactness> exactness = exactness_of_values(job);
  return {exactness.begin(), exactness.end()};
}

// The list if that is short and strict, else the ranks of the truth.
ScreeningRequest screening_request(const Job& job) {
  const auto* source = std::get_if<Embeddings>(&job.request.predictions);
  const Plan& plan = job.plan;
  if (source == nullptr || plan.ties.empty()) return {};
  const auto is_highest = [](Ties ties) { return ties == Ties::highest_id; };
  const auto first_strict = std::ranges::find_if(plan.ties, is_strict);
  const bool from_list = first_strict != plan.ties.end() && is_shallow(plan, source->items.rows);
  ScreeningRequest request;
  if (from_list) request.depth = plan.depth + 1;
  request.highest_first = from_list && is_highest(*first_strict);
  const bool suffices = from_list && std::ranges::all_of(plan.ties, [&](Ties ties) {
                          return is_strict(ties) && is_highest(ties) == request.highest_first;
                        });
  if (!suffices) request.truth = &job.request.truth;
  return Screening::is_worthwhile(*source, request) ? request : ScreeningRequest{};
}

Worker::Worker(const Job& job)
    : job_(job),
      matcher_(job.id_bits, !job.request.grades.empty() || has_candidates(job.request.predictions)),
      hit_rows_(job.plan.judging_rules.size()),
      ratios_(max_cutoff_count(job.plan)),
      values_(job.request.values.size()),
      extremes_{{{{}, {}, {}, BatchRatios(max_cutoff_count(job.plan))},
                 {{}, {}, {}, BatchRatios(max_cutoff_count(job.plan))}}},
      sums_(make_accumulators(job)) {
  users_.reserve(kBatchSize);
  for (std::size_t i = 0; i < extremes_.size(); ++i) {
    extremes_[i].rules = job.plan.judging_rules;
    extremes_[i].rows.resize(job.plan.judging_rules.size());
    for (JudgingRules& rules : extremes_[i].rules) {
      rules.ties = i == 0 ? Ties::optimistic : Ties::pessimistic;
    }
  }
  std::visit(
      [&]<class Source>(const Source& source) {
        if constexpr (!std::is_same_v<Source, Lists>) {
          score_ranker_.emplace(make_score_ranker(source, job.kernels));
        }
      },
      job.request.predictions);
  const ScreeningRequest request = screening_request(job);
  if (request.is_empty()) return;
  screening_.emplace(std::get<Embeddings>(job.request.predictions), job.norms, request,
                     job.kernels);
}

void Worker::prepare(std::span<const Count> users, const Checkpoint& checkpoint) {
  if (screening_) screening_->screen(users, job_.request.exclude, checkpoint);
}

void Worker::clear() noexcept {
  for (Accumulator& sums : sums_) sums.clear();
  tally_ = {};
}

Presence Worker::presence_of(Count user) const noexcept {
  const Lists* lists = item_lists(job_.request.predictions);
  return {job_.request.truth.has(user), lists == nullptr || lists->has(user)};
}

std::span<const double> Worker::grades_of(Count user) const {
  if (job_.request.grades.empty()) return {};
  return row_slice(job_.request.grades, job_.request.truth, user);
}

std::span<const std::int64_t> Worker::excluded_items(Count user) const {
  if (!job_.request.exclude) return {};
  return int64_row_items(*job_.request.exclude, user);
}

// Reads the user's scores, if there are any. Returns whether one is NaN.
bool Worker::open_scores(Count user, const Checkpoint& checkpoint) {
  if (!score_ranker_) return false;
  return std::visit(
      [&](auto& ranker) {
        item_positions_ =
            open_score_row(ranker, matcher_, user, int64_row_items(job_.request.truth, user),
                           excluded_items(user), checkpoint);
        if (screening_) ranker.use_screening(screening_->result_of(user));
        return ranker.row().has_nan();
      },
      *score_ranker_);
}

const Matches& Worker::match(Count user, Ties ties, const Checkpoint& checkpoint) {
  const auto truth = int64_row_items(job_.request.truth, user);
  const auto exclude = excluded_items(user);
  if (score_ranker_) {
    const bool is_located = item_positions_ != nullptr;
    const TruthPositions positions =
        is_located ? TruthPositions{item_positions_->truth, item_positions_->entries}
                   : TruthPositions{.positions = truth};
    const RankedList ranked = std::visit(
        [&](auto& ranker) {
          if (!prefers_list(job_.plan, ranker, ties)) {
            return ranker.ranks_of(positions, ties, checkpoint);
          }
          const Count depth = job_.plan.depth + 1;
          return is_located ? ranker.best(depth, ties, positions, checkpoint)
                            : ranker.best(depth, ties, checkpoint);
        },
        *score_ranker_);
    return is_located ? matcher_.match_located(ranked, checkpoint)
                      : matcher_.match(truth, ranked, exclude, checkpoint);
  }
  const auto& lists = std::get<Lists>(job_.request.predictions);
  return std::visit(
      [&](const auto& items) -> const Matches& {
        const std::span<const Count> ranks =
            lists.ranks.empty() ? lists.ranks : row_slice(lists.ranks, lists, user);
        return matcher_.match(truth, row_slice(items, lists, user), ranks, exclude, checkpoint);
      },
      lists.items);
}

const Matches& Worker::match(Count user, const Checkpoint& checkpoint) {
  open_scores(user, checkpoint);
  const std::vector<Ties>& ties = job_.plan.ties;
  const bool has_expected_ties = std::ranges::find(ties, Ties::expected) != ties.end();
  return match(user, has_expected_ties ? Ties::expected : ties.front(), checkpoint);
}

Count Worker::count_nan(Count user, Offset& first, const Checkpoint& checkpoint) {
  if (!open_scores(user, checkpoint) || !score_ranker_) return 0;
  return std::visit([&](auto& ranker) { return ranker.row().count_nan(first, checkpoint); },
                    *score_ranker_);
}

std::span<const Offset> Worker::find_tied_repeats(const Checkpoint& checkpoint) {
  tied_repeats_.clear();
  if (!job_.plan.refuses_tied_repeats || !score_ranker_ || item_positions_ == nullptr) {
    return tied_repeats_;
  }
  std::visit(
      [&](auto& ranker) {
        exactk::find_tied_repeats(ranker.row(), *item_positions_, tied_repeats_, checkpoint);
      },
      *score_ranker_);
  return tied_repeats_;
}

template <class Choice>
bool Worker::raises(Choice Rules::* field) const {
  return std::ranges::any_of(job_.plan.runs,
                             [&](const Run& run) { return run.rules.*field == Choice::raise; });
}

bool Worker::refuses_nan() const { return raises(&Rules::nan); }

Violation Worker::add_user(Count user, const Checkpoint& checkpoint) {
  const Violation violation = judge(user, checkpoint);
  if (violation != Violation::none) {  // rows under some judging rules may include the user
    clear_rows();
    return violation;
  }
  users_.push_back(user);
  const auto is_full = [](const HitRows& rows) { return rows.is_full(); };
  const bool is_batch_full = std::ranges::any_of(hit_rows_, is_full) ||
                             std::ranges::any_of(extremes_, [&](const Extreme& extreme) {
                               return std::ranges::any_of(extreme.rows, is_full);
                             });
  return is_batch_full ? score_batch(checkpoint) : Violation::none;
}

Violation Worker::judge(Count user, const Checkpoint& checkpoint) {
  if (open_scores(user, checkpoint) && refuses_nan()) return Violation::nan_score;
  bool may_depend = false;
  for (const Ties ties : job_.plan.ties) {
    const Matches& matches = match(user, ties, checkpoint);
    may_depend = may_depend || may_depend_on_ties(user, ties);
    if (matches.truth_duplicates > 0 && raises(&Rules::duplicate_truth)) {
      return Violation::duplicate_truth;
    }
    if (matches.list_duplicates > 0 && raises(&Rules::duplicate_items)) {
      return Violation::duplicate_items;
    }
    if (ties == Ties::expected && !find_tied_repeats(checkpoint).empty()) {
      return Violation::tied_repeat;
    }
    if (first_forbidden_tie(matches)) return Violation::tied_score;
    for (std::size_t rules_index = 0; rules_index < hit_rows_.size(); ++rules_index) {
      if (ranking_ties(job_.plan.judging_rules[rules_index].ties) != ties) continue;
      const HitRow& row = judge_.judge(job_.plan.judging_rules[rules_index], matches,
                                       grades_of(user), hit_rows_[rules_index], checkpoint);
      if (rules_index == job_.plan.tally_rules_index) add_to_tally(user, matches, row, checkpoint);
    }
  }
  if (may_depend) judge_extremes(user, checkpoint);
  return Violation::none;
}

void Worker::clear_rows() noexcept {
  for (auto& rows : hit_rows_) rows.clear();
  users_.clear();
  tied_users_.clear();
  for (Extreme& extreme : extremes_) {
    for (HitRows& rows : extreme.rows) rows.clear();
  }
}

// Whether an item of the truth is tied with another, where the items were ranked strictly.
bool Worker::may_depend_on_ties(Count user, Ties ties) {
  if (!score_ranker_ || !is_strict(ties)) return false;
  const auto truth = int64_row_items(job_.request.truth, user);
  const auto positions = item_positions_ == nullptr ? truth : std::span(item_positions_->truth);
  return std::visit([&](auto& ranker) { return ranker.may_tie(positions); }, *score_ranker_);
}

// Judges the user twice: with the relevant items of each tie first, and last.
void Worker::judge_extremes(Count user, const Checkpoint& checkpoint) {
  const Matches& matches = match(user, Ties::expected, checkpoint);
  for (Extreme& extreme : extremes_) {
    for (std::size_t rules_index = 0; rules_index < extreme.rules.size(); ++rules_index) {
      judge_.judge(extreme.rules[rules_index], matches, grades_of(user), extreme.rows[rules_index],
                   checkpoint);
    }
  }
  tied_users_.push_back(users_.size());
}

std::optional<Tie> Worker::first_forbidden_tie(const Matches& matches) const {
  for (const Tie& tie : matches.ties) {
    if (tie.first > job_.plan.tie_free_depth) break;
    if (tie.size() > 1) return tie;
  }
  return std::nullopt;
}

void Worker::add_to_tally(Count user, const Matches& matches, const HitRow& row,
                          const Checkpoint& checkpoint) {
  const Presence presence = presence_of(user);
  tally_.empty_truth += presence.in_truth && row.relevant == 0 ? 1 : 0;
  tally_.empty_predictions += presence.in_predictions && row.recommended == 0 ? 1 : 0;
  tally_.missing_predictions += presence.in_truth && !presence.in_predictions ? 1 : 0;
  tally_.missing_truth += presence.in_predictions && !presence.in_truth ? 1 : 0;
  tally_.duplicates += matches.list_duplicates;
  tally_.excluded_recommended += matches.excluded_recommended;
  tally_.relevant_excluded += judge_.count_relevant(matches, matches.excluded_entries);
  if (!presence.in_predictions) return;
  // A list of scores is ranked only down to the last rank that a value asks for.
  tally_.longest_list = std::max(tally_.longest_list, std::min(row.depth(), job_.plan.depth));
  tally_.relevant_not_rankable +=
      judge_.count_relevant(matches, matches.unscored_entries) +
      judge_.count_relevant(matches, find_masked_entries(user, checkpoint));
  if (item_positions_ != nullptr) count_candidates();
}

// Finds the entries of the truth whose item is left out because it scores -inf or NaN. Valid until
// the next call.
std::span<const Count> Worker::find_masked_entries(Count user, const Checkpoint& checkpoint) {
  masked_entries_.clear();
  if (!score_ranker_) return masked_entries_;
  const auto truth = int64_row_items(job_.request.truth, user);
  const auto find = [&](auto& ranker) {
    if (!ranker.row().may_mask()) return;
    const auto is_masked = [&](std::int64_t position) {
      return std::cmp_less(position, ranker.row().size()) &&
             ranker.row().is_masked(static_cast<std::size_t>(position));
    };
    entry_scores_.clear();
    grow(entry_scores_, truth.size(), EntryScore::none, checkpoint);
    const auto add = [&](std::size_t entry, std::int64_t position) {
      const EntryScore score = is_masked(position) ? EntryScore::masked : EntryScore::other;
      entry_scores_[entry] = std::max(entry_scores_[entry], score);
    };
    const std::size_t size =
        item_positions_ == nullptr ? truth.size() : item_positions_->truth.size();
    in_chunks(size, checkpoint, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (item_positions_ == nullptr) {
          add(i, truth[i]);
        } else {  // where an item may stand several times
          add(static_cast<std::size_t>(item_positions_->entries[i]), item_positions_->truth[i]);
        }
      }
    });
    in_chunks(truth.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (entry_scores_[i] == EntryScore::masked) {
          masked_entries_.push_back(static_cast<Count>(i));
        }
      }
    });
  };
  std::visit(find, *score_ranker_);
  return masked_entries_;
}

void Worker::count_candidates() {
  if (!score_ranker_) return;
  const Count candidates =
      std::visit([](auto& ranker) { return ranker.row().candidate_count(); }, *score_ranker_);
  ++tally_.candidate_users;
  tally_.candidates += candidates;
  tally_.fewest_candidates = std::min(tally_.fewest_candidates, candidates);
  tally_.most_candidates = std::max(tally_.most_candidates, candidates);
}

Violation Worker::score_batch(const Checkpoint& checkpoint) {
  weights_.clear();
  if (job_.request.weights) {
    for (const Count user : users_) {
      weights_.push_back((*job_.request.weights)[static_cast<std::size_t>(user)]);
    }
  }
  Violation gravest = Violation::none;
  for (std::size_t rules_index = 0; rules_index < hit_rows_.size(); ++rules_index) {
    gravest = std::min(gravest, score_batch_under(rules_index, checkpoint));
  }
  clear_rows();
  return gravest;
}

Violation Worker::score_batch_under(std::size_t rules_index, const Checkpoint& checkpoint) {
  const std::span<const HitRow> rows = hit_rows_[rules_index].rows();
  irregular_users_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_regular(presence_of(users_[i]), rows[i])) irregular_users_.push_back(i);
  }
  Violation gravest = Violation::none;
  std::size_t cutoff_set_index = job_.plan.cutoff_sets.size();  // the last; none yet
  for (const Run& run : job_.plan.runs) {
    if (run.judging_rules_index != rules_index) continue;
    if (run.cutoff_set_index != cutoff_set_index) {
      cutoff_set_index = run.cutoff_set_index;
      count_hits(rows, job_.plan.cutoff_sets[cutoff_set_index], checkpoint);
    }
    score(run, rows, checkpoint);
    const Violation violation = std::min(apply_policies(run, rows), check_item_count(run, rows));
    if (violation == Violation::none) reduce(run, rows);  // else the values may be any numbers
    if (is_strict(run.rules.ties) && !tied_users_.empty()) {
      score_extremes(run, rules_index, checkpoint);
      count_tie_dependent(run, rules_index, rows);
    }
    gravest = std::min(gravest, violation);
  }
  return gravest;
}

void Worker::count_hits(std::span<const HitRow> rows, const CutoffSet& cutoff_set,
                        const Checkpoint& checkpoint) {
  const std::size_t cutoffs = cutoff_set.cutoffs().size();
  hit_counts_.resize(rows.size() * cutoffs);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cutoff_set.count_hits(rows[i], std::span(hit_counts_).subspan(i * cutoffs, cutoffs),
                          checkpoint);
  }
}

void Worker::score(const Run& run, std::span<const HitRow> rows, const Checkpoint& checkpoint) {
  run.score({.rows = rows,
             .cutoffs = job_.plan.cutoff_sets[run.cutoff_set_index].cutoffs(),
             .hit_counts = hit_counts_,
             .rules = run.rules,
             .discounts = job_.discounts[static_cast<std::size_t>(run.rules.discount)],
             .parameter = run.parameter,
             .checkpoint = checkpoint},
            ratios_);
  const double undefined = undefined_value(run.rules.undefined);
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    job_.kernels.divide(ratios_.numerators[i].data(), ratios_.denominators[i].data(), undefined,
                        values_[run.outputs[i]].data());
  }
}

void Worker::score_extremes(const Run& run, std::size_t rules_index, const Checkpoint& checkpoint) {
  const CutoffSet& cutoff_set = job_.plan.cutoff_sets[run.cutoff_set_index];
  const std::size_t cutoffs = cutoff_set.cutoffs().size();
  for (Extreme& extreme : extremes_) {
    const std::span<const HitRow> rows = extreme.rows[rules_index].rows();
    extreme.hit_counts.resize(rows.size() * cutoffs);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      cutoff_set.count_hits(rows[i], std::span(extreme.hit_counts).subspan(i * cutoffs, cutoffs),
                            checkpoint);
    }
    run.score({.rows = rows,
               .cutoffs = cutoff_set.cutoffs(),
               .hit_counts = extreme.hit_counts,
               .rules = run.rules,
               .discounts = job_.discounts[static_cast<std::size_t>(run.rules.discount)],
               .parameter = run.parameter,
               .checkpoint = checkpoint},
              extreme.ratios);
  }
}

// Counts the users whose value depends on the order of ties. Every order's value lies between the
// two extremes, except for a mean over the hits, which falls both where a hit comes later and where
// one more comes late: there, any tie of hits with other items counts.
void Worker::count_tie_dependent(const Run& run, std::size_t rules_index,
                                 std::span<const HitRow> rows) {
  const std::span<const HitRow> best_rows = extremes_[0].rows[rules_index].rows();
  const auto is_mixed_above = [](const HitRow& row, Count cutoff) {
    return std::ranges::any_of(row.tied_hits, [&](const TiedHits& tied) {
      return tied.hits < tied.tie.size() && tied.tie.first < cutoff;
    });
  };
  tally_.tie_dependent.resize(job_.request.values.size());
  tally_.tie_spread.resize(job_.request.values.size());
  for (std::size_t i = 0; i < tied_users_.size(); ++i) {
    const std::size_t user = tied_users_[i];
    const UserPolicy policy = user_policy(run.rules, presence_of(users_[user]), rows[user]);
    if (policy.empty != Empty::compute) continue;
    for (std::size_t output = 0; output < run.outputs.size(); ++output) {
      const auto ratio_of = [&](Extreme& extreme) {
        return Ratio{extreme.ratios.numerators[output][i], extreme.ratios.denominators[output][i]};
      };
      const Count cutoff = job_.plan.cutoff_sets[run.cutoff_set_index].cutoffs()[output];
      const bool is_mixed = run.is_mean_over_hits && is_mixed_above(best_rows[i], cutoff);
      const Ratio best = ratio_of(extremes_[0]);
      const Ratio worst = ratio_of(extremes_[1]);
      if (!is_mixed && is_same_value(best, worst, run.rules.average)) continue;
      ++tally_.tie_dependent[run.outputs[output]];
      tally_.tie_spread[run.outputs[output]] += is_mixed ? kMillion : spread_of(best, worst);
    }
  }
}

// Gives irregular users what the convention says, instead of what was computed.
Violation Worker::apply_policies(const Run& run, std::span<const HitRow> rows) {
  Violation gravest = Violation::none;
  for (const std::size_t user : irregular_users_) {
    const UserPolicy policy = user_policy(run.rules, presence_of(users_[user]), rows[user]);
    if (policy.empty == Empty::error) gravest = std::min(gravest, policy.violation);
    if (policy.empty == Empty::compute) continue;
    for (const std::size_t output : run.outputs) {
      values_[output][user] = fixed_value(policy.empty);
    }
  }
  return gravest;
}

// Whether some user's relevant items and misses are more than the given number of items. The
// misses are the most at the last cutoff.
Violation Worker::check_item_count(const Run& run, std::span<const HitRow> rows) const {
  if (!run.info->takes_item_count) return Violation::none;
  const std::span<const Count> cutoffs = job_.plan.cutoff_sets[run.cutoff_set_index].cutoffs();
  for (std::size_t user = 0; user < rows.size(); ++user) {
    const UserPolicy policy = user_policy(run.rules, presence_of(users_[user]), rows[user]);
    if (policy.empty != Empty::compute) continue;
    const HitCounts& hits = hit_counts_[(user + 1) * cutoffs.size() - 1];
    const CutoffCounts counts = cutoff_counts(rows[user], cutoffs.back(), hits);
    const Count min_items = counts.relevant + counts.list_length - counts.hits;
    if (static_cast<double>(min_items) > run.parameter) return Violation::too_few_items;
  }
  return Violation::none;
}

void Worker::reduce(const Run& run, std::span<const HitRow> rows) {
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    const std::size_t output = run.outputs[i];
    if (!job_.request.per_user.empty()) write_per_user(output);
    if (run.rules.average != Average::micro) {
      const auto terms = values_[output].first(users_.size());
      if (run.rules.average == Average::geometric) {
        std::ranges::transform(terms, terms.begin(), geometric_term);
      }
      sums_[output].add(terms, weights_, job_.kernels);
      continue;
    }
    for (std::size_t user = 0; user < users_.size(); ++user) {
      const UserPolicy policy = user_policy(run.rules, presence_of(users_[user]), rows[user]);
      if (policy.empty != Empty::compute) continue;
      sums_[output].add_ratio(ratios_.numerators[i][user], ratios_.denominators[i][user],
                              weights_.empty() ? 1 : weights_[user]);
    }
  }
}

void Worker::write_per_user(std::size_t output) {
  const auto size = static_cast<std::size_t>(job_.request.truth.row_count());
  const std::span<double> row = job_.request.per_user.subspan(output * size, size);
  const std::span<const double> values = values_[output];
  for (std::size_t i = 0; i < users_.size(); ++i) {
    const bool skips_user = is_skipped(values[i]);
    row[static_cast<std::size_t>(users_[i])] =
        skips_user ? std::numeric_limits<double>::quiet_NaN() : values[i];
  }
}

}  // namespace exactk
