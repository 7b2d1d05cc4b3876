// Judges users one by one.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/job.hpp"
#include "evaluate/judged_batch.hpp"
#include "evaluate/list_reader.hpp"
#include "evaluate/user_matcher.hpp"
#include "evaluate/violations.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/judged_lists.hpp"
#include "judge/judge.hpp"
#include "match/list_matcher.hpp"
#include "rank/ranked_list.hpp"

namespace exactk {

class UserJudge {
 public:
  explicit UserJudge(const Job& job);
  UserJudge(const UserJudge&) = delete;  // members refer to each other
  UserJudge& operator=(const UserJudge&) = delete;

  [[nodiscard]] UserMatcher& matcher() noexcept { return matcher_; }
  [[nodiscard]] ListReader& lists() noexcept { return lists_; }

  // Adds the user to the batch and to the tally. Returns the rule that the user breaks, if any; the
  // batch may then hold rows of the user and must be cleared.
  Violation judge(Count user, JudgedBatch& batch, Tally& tally);

  // Writes the user's row of the judged lists, for a plan of one value: its items, grades and hits.
  // Returns the rule that the user breaks, if any.
  Violation judge_list(Count user, const JudgedLists& judged);

 private:
  Violation check_matches(const Matches& matches, Ties ties);
  void judge_extremes(std::span<const double> values, std::span<const std::uint64_t> groups,
                      JudgedBatch& batch);
  void add_to_tally(Count user, const Matches& matches, const HitRow& row, Tally& tally);

  const Job& job_;
  UserMatcher matcher_;
  Judge judge_;
  ListReader lists_;
  // The plan's rules except for ties: relevant items first, and last.
  std::array<std::vector<JudgingRules>, 2> extreme_rules_;
  HitRows list_rows_;  // of the user whose list is judged
};

// Returns the first tie of an item of the truth down to the rank at which ties are refused.
[[nodiscard]] std::optional<Tie> first_forbidden_tie(const Plan& plan, const Matches& matches);

}  // namespace exactk
