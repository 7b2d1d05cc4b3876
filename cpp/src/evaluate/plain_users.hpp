// Evaluates users under a plain plan whose lists and truths are short, without repeated items and
// tied hits. Kernels find the ranks of the hits. Values that have a pattern are computed once for
// all users who share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/batch_scorer.hpp"
#include "evaluate/job.hpp"
#include "evaluate/judged_batch.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/scores.hpp"
#include "judge/judge.hpp"
#include "match/hit_bits.hpp"
#include "match/short_matcher.hpp"

namespace exactk {

// How many users have each pattern.
class PatternCounts {
 public:
  explicit PatternCounts(const PatternValues& values) : values_(values) {}

  [[nodiscard]] ItemGroupRule item_group() const noexcept { return values_.item_group; }
  void add(std::size_t relevant, HitBits hits);
  // Adds the values of the users, whose lists have `length` items, to the sums; forgets the users.
  void score(Count length, BatchScorer& scorer, Tally& tally);

 private:
  struct Pattern {
    std::uint32_t relevant;  // number of items
    std::uint32_t hits;      // what the values read of them
  };

  const PatternValues& values_;
  // By relevant items, then by hits; empty if no user has that number of relevant items.
  std::array<std::vector<Count>, kShortTruth + 1> users_;
  std::vector<Pattern> patterns_;  // that a user has
  HitRows rows_;
};

// Users whose values are computed one by one.
class WaitingUsers {
 public:
  WaitingUsers(std::span<const Pass> passes, std::size_t judging_rules)
      : passes_(passes), batch_(judging_rules) {}

  struct Entry {
    Count user;
    Count relevant;
    Count length;  // of the list
    HitBits hits;
  };

  void add(const Entry& entry, BatchScorer& scorer, Tally& tally);
  // Adds the values of the users to the sums, and forgets the users.
  void score(BatchScorer& scorer, Tally& tally);

 private:
  static constexpr std::size_t kMost = 512;

  std::span<const Pass> passes_;
  std::vector<Entry> entries_;
  JudgedBatch batch_;
};

// The relevant items of a user that are in a group, and the ranks of those in the list.
struct GroupOfUser {
  std::size_t relevant = 0;
  HitBits hits;
};

class PlainUsers {
 public:
  // Whether many users are likely to be added.
  [[nodiscard]] static bool are_likely(const Job& job);

  explicit PlainUsers(const Job& job);

  // Adds the user if that is possible, and returns whether it is.
  bool add(Count user, BatchScorer& scorer, Tally& tally);
  // Adds the values of all users to the sums, and forgets the users.
  void score(BatchScorer& scorer, Tally& tally);

 private:
  bool rank(Count user, HitBits& hits);
  void find_groups(Count user, std::span<const std::int64_t> truth, HitBits positions);
  void add_to_tally(Count length, Count unscored, Tally& tally) const;

  const Job& job_;
  const Lists& lists_;          // of the predictions
  const SparseScores* scores_;  // null: lists are ranked
  Count length_;                // of the lists whose users are counted, down to the last cutoff
  ShortMatcher matcher_;
  std::vector<PatternCounts> counts_;  // parallel to the plan's pattern values
  std::vector<GroupOfUser> groups_;    // of items that values are of
  WaitingUsers counted_;               // who lack the values without a pattern
  WaitingUsers others_;                // who lack all values
};

}  // namespace exactk
