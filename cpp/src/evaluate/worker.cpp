#include "evaluate/worker.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <variant>

#include "numeric/geometric_mean.hpp"

namespace exactk {
namespace {

std::size_t longest_cutoff_set(const Plan& plan) {
  std::size_t cutoffs = 0;
  for (const CutoffSet& cutoff_set : plan.cutoff_sets)
    cutoffs = std::max(cutoffs, cutoff_set.cutoffs().size());
  return cutoffs;
}

// The ranks of the truth cost the same however deep they lie, and a list as much as it is long.
bool is_shallow(const Plan& plan, Count items) {
  return plan.depth <= std::clamp<Count>(items / 8, 1024, 16384);
}

// Whether the user's list is to be had for less than the ranks of the truth.
template <class Ranking>
bool prefers_list(const Plan& plan, const Ranking& ranking, Ties ties) {
  const auto items = static_cast<Count>(ranking.row().size());
  if (!is_strict(ties) || !is_shallow(plan, items)) return false;
  // One deeper, to see what is tied with the last.
  return !ranking.knows_standings() || ranking.knows_best(plan.depth + 1, ties);
}

}  // namespace

const Lists* lists_of(const Predictions& predictions) noexcept {
  const auto* candidates = std::get_if<SparseScores>(&predictions);
  return candidates != nullptr ? &candidates->items : std::get_if<Lists>(&predictions);
}

std::vector<Exactness> exactness_of_values(const Job& job) {
  std::vector<Exactness> exactness(job.request.values.size());
  for (const Run& run : job.plan.runs) {
    Exactness own = run.unit_range ? Exactness::unit : Exactness::any;
    if (run.rules.average == Average::geometric) own = Exactness::any;
    if (job.request.weights || run.rules.average == Average::micro) own = Exactness::weighing;
    for (const std::size_t output : run.outputs) exactness[output] = own;
  }
  return exactness;
}

std::vector<Accumulator> accumulators(const Job& job) {
  const std::vector<Exactness> exactness = exactness_of_values(job);
  return {exactness.begin(), exactness.end()};
}

// The list if that is short and strict, else the ranks of the truth, and so much of the list as
// shows which ties the cutoffs split.
ScreeningRequest wanted_of(const Job& job) {
  const auto* source = std::get_if<Embeddings>(&job.request.predictions);
  const Plan& plan = job.plan;
  if (source == nullptr || plan.ties.empty()) return {};
  const auto is_highest = [](Ties ties) { return ties == Ties::highest_id; };
  const auto first = std::ranges::find_if(plan.ties, is_strict);
  const bool listed = first != plan.ties.end() && is_shallow(plan, source->items.rows);
  ScreeningRequest wanted;
  if (!plan.cutoffs.empty()) wanted.depth = plan.cutoffs.back() + 1;
  if (listed) wanted.depth = plan.depth + 1;
  wanted.highest = listed && is_highest(*first);
  const bool suffices = listed && std::ranges::all_of(plan.ties, [&](Ties ties) {
                          return is_strict(ties) && is_highest(ties) == wanted.highest;
                        });
  if (!suffices) wanted.truth = &job.request.truth;
  return Screening::pays(*source, wanted) ? wanted : ScreeningRequest{};
}

Worker::Worker(const Job& job)
    : job_(job),
      ranking_(job.id_bits, !job.request.grades.empty() || has_candidates(job.request.predictions)),
      rows_(job.plan.judging_rules.size()),
      scores_(longest_cutoff_set(job.plan)),
      values_(job.request.values.size()),
      sums_(accumulators(job)) {
  users_.reserve(kBatch);
  std::visit(
      [&]<class Source>(const Source& source) {
        if constexpr (!std::is_same_v<Source, Lists>) {
          scores_ranking_.emplace(make_score_ranker(source, job.kernels));
        }
      },
      job.request.predictions);
  const ScreeningRequest wanted = wanted_of(job);
  if (wanted.nothing()) return;
  screening_.emplace(std::get<Embeddings>(job.request.predictions), job.lengths, wanted,
                     job.kernels);
}

void Worker::prepare(std::span<const Count> users, const Checkpoint& checkpoint) {
  if (screening_) screening_->screen(users, job_.request.exclude, checkpoint);
}

void Worker::clear() noexcept {
  for (Accumulator& sums : sums_) sums.clear();
  tally_ = {};
}

Presence Worker::presence(Count user) const noexcept {
  const Lists* lists = lists_of(job_.request.predictions);
  return {job_.request.truth.has(user), lists == nullptr || lists->has(user)};
}

std::span<const double> Worker::grades_of(Count user) const {
  if (job_.request.grades.empty()) return {};
  return row_of(job_.request.grades, job_.request.truth, user);
}

std::span<const std::int64_t> Worker::excluded_of(Count user) const {
  if (!job_.request.exclude) return {};
  return row_of_int64(*job_.request.exclude, user);
}

// Reads the user's scores, if there are any. Returns whether one is NaN.
bool Worker::start(Count user, const Checkpoint& checkpoint) {
  if (!scores_ranking_) return false;
  return std::visit(
      [&](auto& ranking) {
        places_ = exactk::start(ranking, ranking_, user, row_of_int64(job_.request.truth, user),
                                excluded_of(user), checkpoint);
        if (screening_) ranking.know(screening_->found_of(user));
        return ranking.has_nan();
      },
      *scores_ranking_);
}

const Matches& Worker::match(Count user, Ties ties, const Checkpoint& checkpoint) {
  const auto truth = row_of_int64(job_.request.truth, user);
  const auto exclude = excluded_of(user);
  if (scores_ranking_) {
    const auto wanted = places_ == nullptr ? truth : std::span(places_->wanted);
    const RankedList ranked = std::visit(
        [&](auto& ranking) {
          return prefers_list(job_.plan, ranking, ties)
                     ? ranking.best(job_.plan.depth + 1, ties, checkpoint)
                     : ranking.ranks_of(wanted, ties, checkpoint);
        },
        *scores_ranking_);
    return places_ == nullptr ? ranking_.match(truth, ranked, exclude, checkpoint)
                              : ranking_.match_located(truth, ranked, exclude, checkpoint);
  }
  const auto& lists = std::get<Lists>(job_.request.predictions);
  return std::visit(
      [&](const auto& items) -> const Matches& {
        return ranking_.match(truth, row_of(items, lists, user), exclude, checkpoint);
      },
      lists.items);
}

const Matches& Worker::match(Count user, const Checkpoint& checkpoint) {
  start(user, checkpoint);
  const std::vector<Ties>& ties = job_.plan.ties;
  const bool told = std::ranges::find(ties, Ties::expected) != ties.end();
  return match(user, told ? Ties::expected : ties.front(), checkpoint);
}

Count Worker::count_nan(Count user, Offset& first, const Checkpoint& checkpoint) {
  if (!start(user, checkpoint) || !scores_ranking_) return 0;
  return std::visit([&](auto& ranking) { return ranking.count_nan(first, checkpoint); },
                    *scores_ranking_);
}

template <class Choice>
bool Worker::raises(Choice Rules::* field) const {
  return std::ranges::any_of(job_.plan.runs,
                             [&](const Run& run) { return run.rules.*field == Choice::raise; });
}

// The tally ranks too.
bool Worker::refuses_nan() const {
  return job_.request.tally_rules.nan == NanScores::raise || raises(&Rules::nan);
}

Violation Worker::add_user(Count user, const Checkpoint& checkpoint) {
  const Violation violation = judge(user, checkpoint);
  if (violation != Violation::none) {  // some judging_rules may have a row of the user
    clear_rows();
    return violation;
  }
  users_.push_back(user);
  const bool full = std::ranges::any_of(rows_, [](const auto& rows) { return rows.full(); });
  return full ? flush(checkpoint) : Violation::none;
}

Violation Worker::judge(Count user, const Checkpoint& checkpoint) {
  if (start(user, checkpoint) && refuses_nan()) return Violation::nan_score;
  for (const Ties ties : job_.plan.ties) {
    const Matches& matches = match(user, ties, checkpoint);
    if (matches.truth_duplicates > 0 && raises(&Rules::duplicate_truth)) {
      return Violation::duplicate_truth;
    }
    if (matches.list_duplicates > 0 && raises(&Rules::duplicate_items)) {
      return Violation::duplicate_items;
    }
    if (first_tied(matches)) return Violation::tied_score;
    for (std::size_t rules_index = 0; rules_index < rows_.size(); ++rules_index) {
      if (ranked_for(job_.plan.judging_rules[rules_index].ties) != ties) continue;
      const HitRow& row = judge_.judge(job_.plan.judging_rules[rules_index], matches,
                                       grades_of(user), rows_[rules_index], checkpoint);
      if (rules_index == job_.plan.tally_rules_index) count(user, matches, row);
    }
  }
  count_split_ties(checkpoint);
  return Violation::none;
}

void Worker::clear_rows() noexcept {
  for (auto& rows : rows_) rows.clear();
  users_.clear();
}

void Worker::count_split_ties(const Checkpoint& checkpoint) {
  if (!scores_ranking_) return;
  const std::vector<Count>& cutoffs = job_.plan.cutoffs;
  std::visit([&](auto& ranking) { ranking.find_split_ties(cutoffs, split_, checkpoint); },
             *scores_ranking_);
  tally_.tied_at_cutoff.resize(cutoffs.size());
  for (std::size_t i = 0; i < cutoffs.size(); ++i) tally_.tied_at_cutoff[i] += split_[i] ? 1 : 0;
}

std::optional<Tie> Worker::first_tied(const Matches& matches) const {
  for (const Tie& tie : matches.ties) {
    if (tie.first > job_.plan.tie_free_depth) break;
    if (tie.size() > 1) return tie;
  }
  return std::nullopt;
}

void Worker::count(Count user, const Matches& matches, const HitRow& row) {
  const Presence present = presence(user);
  tally_.empty_truth += present.in_truth && row.relevant == 0 ? 1 : 0;
  tally_.empty_predictions += present.in_predictions && row.recommended == 0 ? 1 : 0;
  tally_.missing_predictions += present.in_truth && !present.in_predictions ? 1 : 0;
  tally_.missing_truth += present.in_predictions && !present.in_truth ? 1 : 0;
  tally_.duplicates += matches.list_duplicates;
  tally_.excluded_recommended += matches.excluded_recommended;
  tally_.relevant_excluded += judge_.count_relevant(matches, matches.excluded);
  if (!present.in_predictions) return;
  tally_.relevant_not_rankable += judge_.count_relevant(matches, matches.unscored);
  if (places_ != nullptr) count_candidates();
}

void Worker::count_candidates() {
  if (!scores_ranking_) return;
  const Count candidates =
      std::visit([](const auto& ranking) { return ranking.candidates(); }, *scores_ranking_);
  ++tally_.candidate_users;
  tally_.candidates += candidates;
  tally_.fewest_candidates = std::min(tally_.fewest_candidates, candidates);
  tally_.most_candidates = std::max(tally_.most_candidates, candidates);
}

Violation Worker::flush(const Checkpoint& checkpoint) {
  weights_.clear();
  if (job_.request.weights) {
    for (const Count user : users_) {
      weights_.push_back((*job_.request.weights)[static_cast<std::size_t>(user)]);
    }
  }
  Violation gravest = Violation::none;
  for (std::size_t rules_index = 0; rules_index < rows_.size(); ++rules_index) {
    gravest = std::min(gravest, flush_rules(rules_index, checkpoint));
  }
  clear_rows();
  return gravest;
}

Violation Worker::flush_rules(std::size_t rules_index, const Checkpoint& checkpoint) {
  const std::span<const HitRow> rows = rows_[rules_index].all();
  odd_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_plain(presence(users_[i]), rows[i])) odd_.push_back(i);
  }
  Violation gravest = Violation::none;
  std::size_t cutoff_set = job_.plan.cutoff_sets.size();  // the last; none yet
  for (const Run& run : job_.plan.runs) {
    if (run.rules_index != rules_index) continue;
    if (run.cutoff_set != cutoff_set) {
      cutoff_set = run.cutoff_set;
      count_down(rows, job_.plan.cutoff_sets[cutoff_set], checkpoint);
    }
    score(run, rows, checkpoint);
    const Violation violation = std::min(apply_policies(run, rows), check_catalogue(run, rows));
    if (violation == Violation::none) reduce(run, rows);  // else the values may be any numbers
    gravest = std::min(gravest, violation);
  }
  return gravest;
}

void Worker::count_down(std::span<const HitRow> rows, const CutoffSet& cutoff_set,
                        const Checkpoint& checkpoint) {
  const std::size_t cutoffs = cutoff_set.cutoffs().size();
  reached_.resize(rows.size() * cutoffs);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cutoff_set.fill(rows[i], std::span(reached_).subspan(i * cutoffs, cutoffs), checkpoint);
  }
}

void Worker::score(const Run& run, std::span<const HitRow> rows, const Checkpoint& checkpoint) {
  run.score({.rows = rows,
             .cutoffs = job_.plan.cutoff_sets[run.cutoff_set].cutoffs(),
             .reached = reached_,
             .rules = run.rules,
             .discounts = job_.discounts[static_cast<std::size_t>(run.rules.discount)],
             .parameter = run.parameter,
             .checkpoint = checkpoint},
            scores_);
  const double by_zero = undefined_value(run.rules.undefined);
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    job_.kernels.divide(scores_.numerators[i].data(), scores_.denominators[i].data(), by_zero,
                        values_[run.outputs[i]].data());
  }
}

// Gives odd users what the convention says, instead of what was computed.
Violation Worker::apply_policies(const Run& run, std::span<const HitRow> rows) {
  Violation gravest = Violation::none;
  for (const std::size_t user : odd_) {
    const Verdict outcome = verdict(run.rules, presence(users_[user]), rows[user]);
    if (outcome.empty == Empty::error) gravest = std::min(gravest, outcome.violation);
    if (outcome.empty == Empty::compute) continue;
    for (const std::size_t output : run.outputs) {
      values_[output][user] = fixed_value(outcome.empty);
    }
  }
  return gravest;
}

// Whether some user's relevant items and misses are more than the items there are said to be. The
// misses are the most at the last cutoff.
Violation Worker::check_catalogue(const Run& run, std::span<const HitRow> rows) const {
  if (!run.info->of_catalogue) return Violation::none;
  const std::span<const Count> cutoffs = job_.plan.cutoff_sets[run.cutoff_set].cutoffs();
  for (std::size_t user = 0; user < rows.size(); ++user) {
    const Verdict outcome = verdict(run.rules, presence(users_[user]), rows[user]);
    if (outcome.empty != Empty::compute) continue;
    const Reached& reached = reached_[(user + 1) * cutoffs.size() - 1];
    const Depth depth = depth_of(rows[user], cutoffs.back(), reached);
    const Count known = depth.relevant + depth.list - depth.hits;
    if (static_cast<double>(known) > run.parameter) return Violation::small_catalogue;
  }
  return Violation::none;
}

void Worker::reduce(const Run& run, std::span<const HitRow> rows) {
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    const std::size_t output = run.outputs[i];
    if (!job_.request.per_user.empty()) keep(output);
    if (run.rules.average != Average::micro) {
      const auto terms = values_[output].first(users_.size());
      if (run.rules.average == Average::geometric) {
        std::ranges::transform(terms, terms.begin(), geometric_term);
      }
      sums_[output].add(terms, weights_, job_.kernels);
      continue;
    }
    for (std::size_t user = 0; user < users_.size(); ++user) {
      const Verdict outcome = verdict(run.rules, presence(users_[user]), rows[user]);
      if (outcome.empty != Empty::compute) continue;
      sums_[output].add_ratio(scores_.numerators[i][user], scores_.denominators[i][user],
                              weights_.empty() ? 1 : weights_[user]);
    }
  }
}

void Worker::keep(std::size_t output) {
  const auto size = static_cast<std::size_t>(job_.request.truth.rows());
  const std::span<double> kept = job_.request.per_user.subspan(output * size, size);
  const std::span<const double> values = values_[output];
  for (std::size_t i = 0; i < users_.size(); ++i) {
    const bool skipped = is_skipped(values[i]);
    kept[static_cast<std::size_t>(users_[i])] =
        skipped ? std::numeric_limits<double>::quiet_NaN() : values[i];
  }
}

}  // namespace exactk
