// The work of one thread: judges users one by one, and scores them in batches.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "evaluate/batch_scorer.hpp"
#include "evaluate/job.hpp"
#include "evaluate/judged_batch.hpp"
#include "evaluate/plain_users.hpp"
#include "evaluate/user_judge.hpp"
#include "evaluate/violations.hpp"
#include "exactk/evaluate.hpp"

namespace exactk {

class Worker {
 public:
  explicit Worker(const Job& job)
      : passes_(job.plan.passes), judge_(job), scorer_(job), batch_(job.plan.judging_rules.size()) {
    if (PlainUsers::are_likely(job)) plain_users_.emplace(job);
  }

  [[nodiscard]] UserJudge& judge() noexcept { return judge_; }

  // Adds a user to the batch. Returns the rule that this user or one of the batch breaks, if any.
  Violation add_user(Count user) {
    if (plain_users_ && plain_users_->add(user, scorer_, tally_)) return Violation::none;
    const Violation violation = judge_.judge(user, batch_, tally_);
    if (violation != Violation::none) {
      batch_.clear();
      return violation;
    }
    return batch_.is_full() ? score_batch() : Violation::none;
  }

  // Scores and sums all users added. Returns the gravest rule that one of them breaks, if any.
  Violation finish_users() {
    if (plain_users_) plain_users_->score(scorer_, tally_);
    return score_batch();
  }

  // Sums over the users scored since the last `clear`.
  [[nodiscard]] const std::vector<Accumulator>& sums() const noexcept { return scorer_.sums(); }
  // Counts of the items of these users.
  [[nodiscard]] const std::vector<ItemCounter>& item_counters() const noexcept {
    return scorer_.item_counters();
  }
  [[nodiscard]] const std::vector<GroupCounter>& group_counters() const noexcept {
    return scorer_.group_counters();
  }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  void clear() noexcept {
    scorer_.clear();
    tally_ = {};
  }

 private:
  // Scores and sums the users of the batch, and empties it.
  Violation score_batch() {
    const Violation violation = scorer_.score(passes_, batch_, tally_);
    batch_.clear();
    return violation;
  }

  std::span<const Pass> passes_;
  UserJudge judge_;
  BatchScorer scorer_;
  std::optional<PlainUsers> plain_users_;  // if there may be some
  JudgedBatch batch_;                      // of the other users
  Tally tally_;
};

}  // namespace exactk
