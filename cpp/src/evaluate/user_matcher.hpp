// Matches users one by one: opens the user's list or scores, and finds the truth in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/job.hpp"
#include "exactk/evaluate.hpp"
#include "match/list_matcher.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/ranked_list.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

// All results are valid until the next call of any member.
class UserMatcher {
 public:
  explicit UserMatcher(const Job& job);

  // Screens these users together if that pays. Callers may still skip any of them.
  void prepare(std::span<const Count> users);
  // From now on, lists keep the positions of their removed items.
  void keep_removed_positions() noexcept { list_matcher_.keep_removed_positions(); }
  // Whether the predictions are scores to rank.
  [[nodiscard]] bool has_scores() const noexcept { return ranker_.has_value(); }

  // Selects the user whom the other members are about, and reads the scores, if there are any.
  // Returns whether one is NaN.
  bool open(Count user);

  [[nodiscard]] std::span<const double> grades() const;
  // Returns the values of the items of the truth, NaN for none, if a metric reads them.
  std::span<const double> values();
  // Returns the groups of the items of the truth, as bits, if a value is of one.
  std::span<const std::uint64_t> item_groups();
  [[nodiscard]] std::span<const std::int64_t> excluded_items() const;

  const Matches& match(Ties ties);
  // Matches by an order of ties that the plan asks for.
  const Matches& match();
  // Writes the item of each rank of the list matched last, and -1 where there is none.
  void read_list(const Matches& matches, Ties ties, std::span<std::int64_t> items);

  // The same of a list without its unjudged items.
  void read_judged(const Matches& condensed, std::span<std::int64_t> items);

  // The following are about scores, and find nothing in lists.

  // Counts NaN and sets `first` to the first one.
  Count count_nan(Offset& first);
  // Whether an item of the truth ties with another item, if items were ranked strictly.
  [[nodiscard]] bool may_depend_on_ties(Ties ties);
  // Returns the offsets in the row of the truth's items that repeat within a tie, if the plan
  // refuses them: ascending.
  std::span<const Offset> find_tied_repeats();
  // Calls body(rank) for each of the first `size` items of the list read last that ties with the
  // next one.
  template <class Body>
  void for_each_tied_rank(std::size_t size, const Body& body) const {
    if (!ranker_) return;
    const auto find = [&](const auto& ranker) {
      in_chunks(size, job_.run, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (ranker.ties_with_next(i)) body(static_cast<Count>(i) + 1);
        }
      });
    };
    std::visit(find, *ranker_);
  }
  // Returns the first tie in the list, down to the rank at which ties are refused in lists that a
  // metric reads: the rank of its first item, or 0.
  Count first_tie_of_list();
  // Finds the entries of the truth whose item is left out for scoring -inf or NaN at every position
  // in the row.
  std::span<const Count> find_masked_entries();
  // Returns how many items may be ranked, if not all items of the predictions may.
  [[nodiscard]] std::optional<Count> candidate_count();

 private:
  enum class EntryScore : std::uint8_t { none, masked, other };

  [[nodiscard]] std::span<const std::int64_t> truth() const {
    return int64_row_items(job_.request.truth, user_);
  }
  [[nodiscard]] TruthPositions truth_positions() const;
  const Matches& match_list();
  const Matches& match_scores(AnyScoreRanker& any_ranker, Ties ties);
  void read_scored_list(AnyScoreRanker& any_ranker, Ties ties, std::span<std::int64_t> items);

  const Job& job_;
  ListMatcher list_matcher_;
  std::optional<AnyScoreRanker> ranker_;  // if the predictions are scores
  std::optional<Screening> screening_;    // if it pays
  Count user_ = 0;
  const ItemPositions* item_positions_ = nullptr;  // of the user, if items have ids
  std::vector<double> values_;                     // of the items of the user's truth, NaN: none
  std::vector<std::uint64_t> item_groups_;         // likewise, as bits
  std::vector<Offset> tied_repeats_;
  std::vector<std::int64_t> lower_repeats_;  // positions in the row, if repeats are collapsed
  std::vector<EntryScore> entry_scores_;     // by truth entry
  std::vector<Count> masked_entries_;        // of the truth
};

// Sets all cells to a value.
template <class Cell>
void fill(std::span<Cell> cells, Cell value, const Run& run) {
  in_chunks(cells.size(), run, [&](std::size_t begin, std::size_t end) {
    std::ranges::fill(cells.subspan(begin, end - begin), value);
  });
}

}  // namespace exactk
