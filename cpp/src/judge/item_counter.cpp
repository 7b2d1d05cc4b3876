#include "judge/item_counter.hpp"

#include <algorithm>
#include <utility>

namespace exactk {
namespace {

constexpr unsigned kLengthBits = 32;  // lists have at most 2^31 items

}  // namespace

ItemCounter::ItemCounter(const ItemTallyRequest& request, Count items, const Run& run)
    : run_(run),
      request_(request),
      items_(static_cast<std::size_t>(items)),
      counts_(request.cutoffs.size(), std::vector<std::uint32_t>(items_)),
      tied_lists_(request.cutoffs.size()),
      list_lengths_(request.cutoffs.size()),
      short_lists_(request.cutoffs.size()),
      lengths_(request.cutoffs.size()) {}

// Returns the row of an item outside the catalogue.
std::size_t ItemCounter::row_of_foreign(std::int64_t item) {
  return foreign_rows_.try_emplace(item, items_ + foreign_rows_.size()).first->second;
}

void ItemCounter::count_item(std::size_t row, std::size_t interval) {
  std::vector<std::uint32_t>& counts = counts_[interval];
  if (row >= counts.size()) counts.resize(row + 1);
  ++counts[row];
}

void ItemCounter::count_lists(std::size_t column, Count length) {
  std::vector<Count>& lists = list_lengths_[column];
  const auto index = static_cast<std::size_t>(length);
  if (index >= lists.size()) lists.resize(index + 1);
  ++lists[index];
}

// They count at all cutoffs.
void ItemCounter::add_relevant(const ListRow& list) {
  in_chunks(list.relevant.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (const ItemNumber item : list.relevant.subspan(begin, end - begin)) count_item(item, 0);
  });
  std::size_t size = list.relevant.size();
  if (request_.rules.foreign_items != ForeignItems::ignore) {
    in_chunks(list.foreign_relevant.size(), run_, [&](std::size_t begin, std::size_t end) {
      for (const std::int64_t item : list.foreign_relevant.subspan(begin, end - begin)) {
        count_item(row_of_foreign(item), 0);
      }
    });
    size += list.foreign_relevant.size();
  }
  for (std::size_t column = 0; column < request_.cutoffs.size(); ++column) {
    count_lists(column, static_cast<Count>(size));
  }
}

void ItemCounter::add(const ListRow& list) {
  if (request_.counted == Counted::relevant) {
    add_relevant(list);
    return;
  }
  const bool only_hits = request_.counted == Counted::hits;
  const bool by_rank = request_.counted == Counted::ranks;
  const std::vector<Count>& cutoffs = request_.cutoffs;
  rows_.clear();
  std::size_t length = 0;  // items that count
  std::size_t foreign = 0;
  std::size_t begin = 0;
  for (std::size_t column = 0; column < cutoffs.size(); ++column) {
    const auto size = static_cast<Count>(list.items.size());
    const auto end = static_cast<std::size_t>(std::min(cutoffs[column], size));
    for (std::size_t i = begin; i < end; ++i) {
      if (i % kChunk == kChunk - 1) run_.checkpoint();
      std::size_t row = list.items[i];
      if (row >= items_) {
        if (row > items_) continue;
        const std::int64_t item = list.foreign_items[foreign++];
        if (request_.rules.foreign_items != ForeignItems::count) continue;
        if (only_hits && !std::ranges::binary_search(list.foreign_relevant, item)) continue;
        row = row_of_foreign(item);
      } else if (only_hits && !std::ranges::binary_search(list.relevant, list.items[i])) {
        continue;
      }
      count_item(row, column);
      ++length;
      if (request_.has_short_lists) rows_.push_back(row);
    }
    begin = std::max(begin, end);
    lengths_[column] = length;
    count_lists(column, static_cast<Count>(length));
    const auto tied = std::ranges::lower_bound(list.tied_ranks, cutoffs[column]);
    const bool is_tied = tied != list.tied_ranks.end() && *tied == cutoffs[column];
    if (is_tied && (!by_rank || tied == list.tied_ranks.begin())) ++tied_lists_[column];
  }
  if (request_.has_short_lists) count_short_lists();
}

void ItemCounter::count_short_lists() {
  for (std::size_t column = 0; column < lengths_.size(); ++column) {
    const std::size_t length = lengths_[column];
    if (std::cmp_greater_equal(length, request_.cutoffs[column])) continue;
    in_chunks(length, run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        ++short_lists_[column][(static_cast<ShortKey>(rows_[i]) << kLengthBits) | length];
      }
    });
  }
}

void ItemCounter::clear() noexcept {
  for (std::vector<std::uint32_t>& counts : counts_) {
    counts.resize(items_);
    std::ranges::fill(counts, 0);
  }
  std::ranges::fill(tied_lists_, 0);
  for (std::vector<Count>& lists : list_lengths_) lists.clear();
  for (auto& of_column : short_lists_) of_column.clear();
  foreign_rows_.clear();
}

void ItemCounter::add(const ItemCounter& other) {
  if (other.list_lengths_.front().empty()) return;              // it has counted no list
  std::vector<std::size_t> row_of(other.foreign_rows_.size());  // by foreign row of the other
  for (const auto& [item, row] : other.foreign_rows_) row_of[row - items_] = row_of_foreign(item);
  const auto row_here = [&](std::size_t row) { return row < items_ ? row : row_of[row - items_]; };
  for (std::size_t interval = 0; interval < counts_.size(); ++interval) {
    const std::vector<std::uint32_t>& from = other.counts_[interval];
    std::vector<std::uint32_t>& to = counts_[interval];
    to.resize(std::max(to.size(), items_ + foreign_rows_.size()));
    in_chunks(from.size(), run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) to[row_here(row)] += from[row];
    });
  }
  for (std::size_t column = 0; column < list_lengths_.size(); ++column) {
    tied_lists_[column] += other.tied_lists_[column];
    std::vector<Count>& lists = list_lengths_[column];
    const std::vector<Count>& others = other.list_lengths_[column];
    lists.resize(std::max(lists.size(), others.size()));
    for (std::size_t i = 0; i < others.size(); ++i) lists[i] += others[i];
    std::size_t entries = 0;
    for (const auto& [key, count] : other.short_lists_[column]) {
      if (++entries % kChunk == 0) run_.checkpoint();
      const auto row = static_cast<std::size_t>(key >> kLengthBits);
      const ShortKey length = key & ((ShortKey{1} << kLengthBits) - 1);
      short_lists_[column][(static_cast<ShortKey>(row_here(row)) << kLengthBits) | length] += count;
    }
  }
}

ItemTally ItemCounter::tally() const {
  const std::size_t columns = counts_.size();
  const std::size_t rows = items_ + foreign_rows_.size();
  ItemTally tally{.counts = {},
                  .foreign_items = {},
                  .tied_lists = tied_lists_,
                  .list_lengths = list_lengths_,
                  .short_lists = {}};
  std::vector<std::size_t> order(foreign_rows_.size());  // rows of the result, by foreign row
  for (const auto& [item, row] : foreign_rows_) {
    order[row - items_] = items_ + tally.foreign_items.size();
    tally.foreign_items.push_back(item);
  }
  const auto row_there = [&](std::size_t row) { return row < items_ ? row : order[row - items_]; };
  grow(tally.counts, rows * columns, Count{0}, run_);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row % kChunk == kChunk - 1) run_.checkpoint();
    Count sum = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      if (row < counts_[column].size()) sum += counts_[column][row];
      tally.counts[row_there(row) * columns + column] = sum;
    }
  }
  for (const auto& of_column : short_lists_) {
    std::vector<ShortLists>& short_lists = tally.short_lists.emplace_back();
    for (const auto& [key, count] : of_column) {
      if (short_lists.size() % kChunk == kChunk - 1) run_.checkpoint();
      const auto row = static_cast<std::size_t>(key >> kLengthBits);
      const auto length = static_cast<Count>(key & ((ShortKey{1} << kLengthBits) - 1));
      short_lists.push_back({static_cast<Count>(row_there(row)), length, count});
    }
  }
  return tally;
}

}  // namespace exactk
