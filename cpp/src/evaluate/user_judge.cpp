#include "evaluate/user_judge.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace exactk {
namespace {

// Whether some value or item tally has `raise` as its choice of the field.
template <class Choice>
bool raises(const Plan& plan, Choice HitFields::* field) {
  const auto raises_for = [&](const Rules& rules) { return rules.*field == Choice::raise; };
  return std::ranges::any_of(plan.passes, raises_for, &Pass::rules) ||
         std::ranges::any_of(plan.list_counts, [&](const ListCount& list_count) {
           return raises_for(*list_count.rules);
         });
}

}  // namespace

std::optional<Tie> first_forbidden_tie(const Plan& plan, const Matches& matches) {
  for (const Tie& tie : matches.ties) {
    if (tie.first > plan.tie_free_depth) break;
    if (tie.size() > 1) return tie;
  }
  return std::nullopt;
}

UserJudge::UserJudge(const Job& job)
    : job_(job),
      matcher_(job),
      judge_(job.run),
      lists_(job, matcher_, judge_),
      extreme_rules_{job.plan.judging_rules, job.plan.judging_rules} {
  for (JudgingRules& rules : extreme_rules_.front()) rules.ties = Ties::optimistic;
  for (JudgingRules& rules : extreme_rules_.back()) rules.ties = Ties::pessimistic;
}

// Returns the rule that the user matched last breaks, if any.
Violation UserJudge::check_matches(const Matches& matches, Ties ties) {
  if (matches.truth_duplicates > 0 && raises(job_.plan, &Rules::duplicate_truth)) {
    return Violation::duplicate_truth;
  }
  if (matches.list_duplicates > 0 && raises(job_.plan, &Rules::duplicate_items)) {
    return Violation::duplicate_items;
  }
  if (ties == Ties::expected && !matcher_.find_tied_repeats().empty()) {
    return Violation::tied_repeat;
  }
  return first_forbidden_tie(job_.plan, matches) ? Violation::tied_score : Violation::none;
}

Violation UserJudge::judge(Count user, JudgedBatch& batch, Tally& tally) {
  const Plan& plan = job_.plan;
  if (matcher_.open(user) && raises(plan, &Rules::nan)) return Violation::nan_score;
  const std::span<const double> values = matcher_.values();
  const std::span<const std::uint64_t> groups = matcher_.item_groups();
  bool may_depend = false;
  lists_.start_user();
  for (const Ties ties : plan.ties) {
    const Matches& matches = matcher_.match(ties);
    may_depend = may_depend || matcher_.may_depend_on_ties(ties);
    const Violation violation = check_matches(matches, ties);
    if (violation != Violation::none) return violation;
    for (std::size_t index = 0; index < plan.judging_rules.size(); ++index) {
      const JudgingRules& rules = plan.judging_rules[index];
      if (ranking_ties(rules.ties) != ties) continue;
      const HitRow& row =
          judge_.judge(rules, matches, matcher_.grades(), batch.hit_rows[index], values, groups);
      if (index == plan.tally_rules_index) add_to_tally(user, matches, row, tally);
      if (plan.reads_lists(index)) {
        lists_.add_list(user, matches, index, row, batch.list_rows[index]);
      }
    }
  }
  if (lists_.base_fails()) return Violation::duplicate_base_items;
  lists_.add_to_tally(tally);
  if (may_depend) judge_extremes(values, groups, batch);
  batch.users.push_back(user);
  return Violation::none;
}

Violation UserJudge::judge_list(Count user, const JudgedLists& judged) {
  const Plan& plan = job_.plan;
  if (matcher_.open(user) && raises(plan, &Rules::nan)) return Violation::nan_score;
  const Ties ties = plan.ties.front();
  matcher_.keep_removed_positions();
  const Matches& matches = matcher_.match(ties);
  const Violation violation = check_matches(matches, ties);
  if (violation != Violation::none) return violation;
  const JudgingRules& rules = plan.judging_rules.front();
  list_rows_.clear();
  const HitRow& row =
      judge_.judge(rules, matches, matcher_.grades(), list_rows_, matcher_.values());
  const auto index = static_cast<std::size_t>(user - judged.first_user);
  judged.relevant[index] = row.relevant;
  judged.lengths[index] = row.length_at(plan.depth);
  const auto cells = [&](auto columns) {
    const auto k = static_cast<std::size_t>(plan.depth);
    return columns.subspan(index * k, k);
  };
  const auto grades = cells(judged.grades);
  const auto hits = cells(judged.hits);
  fill(grades, std::numeric_limits<double>::quiet_NaN(), job_.run);
  fill(hits, std::uint8_t{0}, job_.run);
  const bool condenses = rules.unjudged == Unjudged::remove;
  const Matches& ranked = condenses ? judge_.condensed() : matches;
  judge_.for_each_judged(rules, ranked, [&](std::size_t i, const Judge::Entry& entry) {
    const Count rank = ranked.hits[i].rank;
    if (rank > plan.depth) return;
    grades[static_cast<std::size_t>(rank - 1)] = entry.grade;
    hits[static_cast<std::size_t>(rank - 1)] = entry.relevant ? 1 : 0;
  });
  if (condenses) {
    matcher_.read_judged(ranked, cells(judged.items));
  } else {
    matcher_.read_list(matches, ties, cells(judged.items));
  }
  return Violation::none;
}

// Judges the user twice: with the relevant items of each tie first, and last.
void UserJudge::judge_extremes(std::span<const double> values,
                               std::span<const std::uint64_t> groups, JudgedBatch& batch) {
  const Matches& matches = matcher_.match(Ties::expected);
  for (std::size_t extreme = 0; extreme < extreme_rules_.size(); ++extreme) {
    const std::vector<JudgingRules>& rules = extreme_rules_[extreme];
    for (std::size_t index = 0; index < rules.size(); ++index) {
      judge_.judge(rules[index], matches, matcher_.grades(), batch.extreme_rows[extreme][index],
                   values, groups);
    }
  }
  batch.tied_users.push_back(batch.users.size());
}

void UserJudge::add_to_tally(Count user, const Matches& matches, const HitRow& row, Tally& tally) {
  const Presence presence = presence_of(job_.request, user);
  tally.empty_truth += presence.in_truth && row.relevant == 0 ? 1 : 0;
  tally.empty_predictions += presence.in_predictions && row.is_empty ? 1 : 0;
  tally.missing_lists += presence.in_truth && !presence.in_predictions ? 1 : 0;
  tally.missing_truth += presence.in_predictions && !presence.in_truth ? 1 : 0;
  tally.duplicates += matches.list_duplicates;
  tally.excluded_recommended += matches.excluded_recommended;
  if (!matches.excluded_entries.empty())
    tally.relevant_excluded += judge_.count_relevant(matches, matches.excluded_entries);
  if (!presence.in_predictions) return;
  // Scores are ranked only down to the last rank that a value asks for.
  tally.longest_list = std::max(tally.longest_list, std::min(row.depth(), job_.plan.depth));
  if (!matcher_.has_scores()) return;
  tally.relevant_not_rankable += judge_.count_relevant(matches, matches.unscored_entries) +
                                 judge_.count_relevant(matches, matcher_.find_masked_entries());
  const std::optional<Count> candidates = matcher_.candidate_count();
  if (!candidates) return;
  ++tally.candidate_users;
  tally.candidates += *candidates;
  tally.fewest_candidates = std::min(tally.fewest_candidates, *candidates);
  tally.most_candidates = std::max(tally.most_candidates, *candidates);
}

}  // namespace exactk
