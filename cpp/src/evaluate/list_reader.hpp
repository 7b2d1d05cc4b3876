// Reads the lists of users for the metrics of their items: as numbers in the catalogue, with their
// ranks in the base list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/job.hpp"
#include "evaluate/user_matcher.hpp"
#include "exactk/evaluate.hpp"
#include "judge/hit_row.hpp"
#include "judge/judge.hpp"
#include "judge/list_row.hpp"
#include "match/id_index.hpp"
#include "match/list_matcher.hpp"

namespace exactk {

class ListReader {
 public:
  ListReader(const Job& job, UserMatcher& matcher, const Judge& judge)
      : job_(job),
        matcher_(matcher),
        judge_(judge),
        base_matcher_(job.id_bits, /*needs_entries=*/true, job.run) {
    if (job.plan.collapses_repeats) base_matcher_.collapse_repeats();
  }

  // Forgets the lists of the previous user.
  void start_user() noexcept {
    foreign_items_.clear();
    unseen_items_.clear();
    base_fails_ = false;
  }
  // Adds the list of the user matched last, who has been judged under the rules, down to the last
  // rank that a metric reads.
  void add_list(Count user, const Matches& matches, std::size_t rules_index, const HitRow& row,
                ListRows& rows);
  // Whether the base list of the user has repeats under rules that refuse them.
  [[nodiscard]] bool base_fails() const noexcept { return base_fails_; }
  // Adds the distinct items of the user's lists that are outside the catalogue, or not in train.
  void add_to_tally(Tally& tally) {
    if (!foreign_items_.empty()) tally.foreign_recommended += count_distinct(foreign_items_);
    if (!unseen_items_.empty()) tally.unseen_recommended += count_distinct(unseen_items_);
  }

  // Matches the user's base list with the list read last. Valid until the next call of any member.
  const Matches& match_base(Count user);

 private:
  void add_numbers(std::span<const std::int64_t> items, bool has_repeats, ListRows& rows);
  void note_relevant(Count user, const Matches& matches, const JudgingRules& rules, ListRows& rows);
  bool add_base_ranks(Count user, std::span<const std::int64_t> items, bool has_repeats,
                      ListRows& rows);
  void note_unusual_items(std::span<ItemNumber> numbers, ListRows& rows);
  template <class Cell>
  void leave_out_repeats(std::span<Cell> cells, Cell left_out);
  [[nodiscard]] Count count_distinct(std::span<const std::int64_t> items);

  const Job& job_;
  UserMatcher& matcher_;
  const Judge& judge_;
  ListMatcher base_matcher_;
  std::vector<std::int64_t> list_items_;    // of the list read last, by rank
  std::vector<std::int64_t> listed_items_;  // of these, without ranks that have no item
  std::vector<Count> base_ranks_;           // parallel to them
  bool base_fails_ = false;
  IdIndex list_index_;  // of these, or of some of them
  // Of the user's lists that a metric reads, perhaps repeated.
  std::vector<std::int64_t> foreign_items_;
  std::vector<std::int64_t> unseen_items_;
  std::vector<ItemNumber> relevant_;            // of the list read last: items of the catalogue
  std::vector<std::int64_t> foreign_relevant_;  // and the others
};

}  // namespace exactk
