#include "evaluate/list_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <variant>

namespace exactk {

void ListReader::add_list(Count user, const Matches& matches, std::size_t rules_index,
                          const HitRow& row, ListRows& rows) {
  const JudgingRules& rules = job_.plan.judging_rules[rules_index];
  const Count list_depth = std::min(job_.plan.list_depths[rules_index], row.depth());
  const Count base_depth = std::min(job_.plan.base_depths[rules_index], row.depth());
  const bool has_repeats =
      matches.list_duplicates > 0 && rules.duplicate_items == Duplicates::first;
  list_items_.clear();
  grow(list_items_, static_cast<std::size_t>(std::max(list_depth, base_depth)), std::int64_t{-1},
       job_.run);
  matcher_.read_list(matches, rules.ties, list_items_);
  const std::span<const std::int64_t> items = list_items_;
  add_numbers(items.first(static_cast<std::size_t>(list_depth)), has_repeats, rows);
  matcher_.for_each_tied_rank(items.size(), [&](Count rank) { rows.add_tied_rank(rank); });
  if (job_.request.histories) rows.set_history(job_.request.histories->of_user(user));
  if (job_.plan.reads_relevant[rules_index]) note_relevant(user, matches, rules, rows);
  if (job_.plan.base_depths[rules_index] == 0) return;
  const bool base_repeats =
      add_base_ranks(user, items.first(static_cast<std::size_t>(base_depth)), has_repeats, rows);
  base_fails_ = base_fails_ || (base_repeats && rules.duplicate_items == Duplicates::raise);
}

// Adds a row with the items' numbers in the catalogue.
void ListReader::add_numbers(std::span<const std::int64_t> items, bool has_repeats,
                             ListRows& rows) {
  const std::span<ItemNumber> numbers = rows.add(items.size(), job_.run);
  const ItemNumber foreign = job_.catalogue.foreign();
  in_chunks(numbers.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      numbers[i] = items[i] < 0 ? foreign + 1
                                : job_.catalogue.find_marked(static_cast<std::uint64_t>(items[i]));
    }
  });
  if (has_repeats) leave_out_repeats(numbers, foreign + 1);
  note_unusual_items(numbers, rows);
}

// Notes which items of the list are outside the catalogue, or not in train: for the user, and in
// the last row. Takes the marks off the numbers.
void ListReader::note_unusual_items(std::span<ItemNumber> numbers, ListRows& rows) {
  Count first_foreign = 0;
  Count first_unseen = 0;
  in_chunks(numbers.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto rank = static_cast<Count>(i) + 1;
      if (numbers[i] == job_.catalogue.foreign()) {
        if (first_foreign == 0) first_foreign = rank;
        rows.add_foreign_item(list_items_[i]);
        foreign_items_.push_back(list_items_[i]);
      } else if ((numbers[i] & kUnseen) != 0) {
        numbers[i] &= ~kUnseen;
        if (first_unseen == 0) first_unseen = rank;
        unseen_items_.push_back(list_items_[i]);
      }
    }
  });
  rows.set_first_ranks(first_foreign, first_unseen);
}

// Notes the relevant items, in the last row.
void ListReader::note_relevant(Count user, const Matches& matches, const JudgingRules& rules,
                               ListRows& rows) {
  relevant_.clear();
  foreign_relevant_.clear();
  const Lists& truth = job_.request.truth;
  const auto note = [&](const auto& items) {
    judge_.for_each_relevant(rules, matches, [&](std::size_t entry) {
      const auto item = static_cast<std::int64_t>(items[entry]);
      const ItemNumber number = job_.catalogue.find(static_cast<std::uint64_t>(item));
      if (number < job_.catalogue.foreign()) {
        relevant_.push_back(number);
      } else {
        foreign_relevant_.push_back(item);
      }
    });
  };
  std::visit([&](const auto& ids) { note(row_slice(ids, truth, user)); }, truth.items);
  sort(std::span(relevant_), std::less<>(), job_.run);
  sort(std::span(foreign_relevant_), std::less<>(), job_.run);
  rows.set_relevant(relevant_, foreign_relevant_);
}

// Adds the items' ranks in the base list to the row added last. Returns whether the base list has
// repeats.
bool ListReader::add_base_ranks(Count user, std::span<const std::int64_t> items, bool has_repeats,
                                ListRows& rows) {
  const std::span<Count> ranks = rows.add_base_ranks(items.size(), job_.run);
  const Matches& matches = match_base(user);
  base_ranks_.clear();
  grow(base_ranks_, listed_items_.size(), ListRow::kNotInBase, job_.run);
  for (std::size_t i = 0; i < matches.hits.size(); ++i) {
    if (i % kChunk == kChunk - 1) job_.run.checkpoint();
    Count& rank = base_ranks_[static_cast<std::size_t>(matches.hits[i].entry)];
    if (rank == ListRow::kNotInBase) rank = matches.hits[i].rank;
  }
  std::size_t entry = 0;
  in_chunks(ranks.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ranks[i] = ListRow::kNotCounted;
      if (items[i] < 0) continue;
      const std::size_t first = matches.first_entry.empty()
                                    ? entry
                                    : static_cast<std::size_t>(matches.first_entry[entry]);
      ranks[i] = base_ranks_[first];
      ++entry;
    }
  });
  if (has_repeats) leave_out_repeats(ranks, ListRow::kNotCounted);
  return matches.list_duplicates > 0;
}

const Matches& ListReader::match_base(Count user) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): a metric reads it, so it was validated
  const Lists& base = *job_.request.base;
  listed_items_.clear();
  std::ranges::copy_if(list_items_, std::back_inserter(listed_items_),
                       [](std::int64_t item) { return item >= 0; });
  const std::span<const Count> ranks =
      base.ranks.empty() ? base.ranks : row_slice(base.ranks, base, user);
  return std::visit(
      [&](const auto& ids) -> const Matches& {
        return base_matcher_.match(listed_items_, row_slice(ids, base, user), ranks,
                                   matcher_.excluded_items());
      },
      base.items);
}

// Leaves out the items of the list read last that occur higher in it. The cells are parallel to its
// first items.
template <class Cell>
void ListReader::leave_out_repeats(std::span<Cell> cells, Cell left_out) {
  const std::span<const std::int64_t> items = list_items_;
  list_index_.build(items, job_.run);
  in_chunks(cells.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Offset first = list_index_.find(items, static_cast<std::uint64_t>(items[i]));
      if (std::cmp_less(first, i)) cells[i] = left_out;
    }
  });
}

Count ListReader::count_distinct(std::span<const std::int64_t> items) {
  if (items.size() < 2) return static_cast<Count>(items.size());
  Count distinct = 0;
  list_index_.build(items, job_.run);
  in_chunks(items.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Offset first = list_index_.find(items, static_cast<std::uint64_t>(items[i]));
      distinct += std::cmp_equal(first, i) ? 1 : 0;
    }
  });
  return distinct;
}

}  // namespace exactk
