#include "judge/group_counter.hpp"

#include <algorithm>

namespace exactk {

GroupCounter::GroupCounter(const MetricInfo& info, const Items& items, Count depth, const Run& run)
    : run_(run),
      info_(info),
      group_of_(items.groups),
      groups_(static_cast<std::size_t>(items.group_count)),
      depth_(static_cast<std::size_t>(depth)),
      possible_(info.reads_history ? groups_ : 0) {}

// Whether the metric asks about the item of the catalogue.
bool GroupCounter::reads_item(const ListRow& list, ItemNumber item) const {
  if (info_.reads_history && std::ranges::binary_search(list.history, item)) return false;
  return !info_.reads_truth || std::ranges::binary_search(list.relevant, item);
}

void GroupCounter::count_possible(const ListRow& list) {
  const auto items = info_.reads_truth ? list.relevant : list.history;
  in_chunks(items.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (const ItemNumber item : items.subspan(begin, end - begin)) {
      if (item >= group_of_.size() || group_of_[item] < 0) continue;
      if (info_.reads_truth && !reads_item(list, item)) continue;
      ++possible_[static_cast<std::size_t>(group_of_[item])];
    }
  });
}

// Makes room for the counts at this many ranks, and for as many more as there were, so that lists
// of rising length do not copy the counts again and again.
void GroupCounter::reach(std::size_t ranks) {
  if (ranks * groups_ <= counts_.size()) return;
  const std::size_t doubled = std::min(2 * counts_.size() / groups_, depth_);
  grow(counts_, std::max(ranks, doubled) * groups_, std::uint32_t{0}, run_);
}

void GroupCounter::add(const ListRow& list) {
  ++lists_;
  count_ties(list);
  if (info_.reads_history) count_possible(list);
  const std::size_t size = std::min(list.items.size(), depth_);
  reach(size);
  in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const ItemNumber item = list.items[i];
      if (item >= group_of_.size() || group_of_[item] < 0 || !reads_item(list, item)) continue;
      ++counts_[i * groups_ + static_cast<std::size_t>(group_of_[item])];
    }
  });
}

// Where ranks matter, a value at any cutoff from the first tie on depends on the order; elsewhere,
// one at the cutoff within a tie.
void GroupCounter::count_ties(const ListRow& list) {
  for (const Count rank : list.tied_ranks) {
    const auto index = static_cast<std::size_t>(rank - 1);
    if (index >= depth_) break;
    if (index >= tied_lists_.size()) tied_lists_.resize(index + 1);
    ++tied_lists_[index];
    if (info_.discounted) break;
  }
}

void GroupCounter::clear() noexcept {
  std::ranges::fill(counts_, 0);
  std::ranges::fill(possible_, 0);
  tied_lists_.clear();
  lists_ = 0;
}

void GroupCounter::add(const GroupCounter& other) {
  lists_ += other.lists_;
  for (std::size_t i = 0; i < possible_.size(); ++i) possible_[i] += other.possible_[i];
  tied_lists_.resize(std::max(tied_lists_.size(), other.tied_lists_.size()));
  for (std::size_t i = 0; i < other.tied_lists_.size(); ++i) tied_lists_[i] += other.tied_lists_[i];
  if (other.counts_.size() > counts_.size())
    grow(counts_, other.counts_.size(), std::uint32_t{0}, run_);
  in_chunks(other.counts_.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) counts_[i] += other.counts_[i];
  });
}

GroupTally GroupCounter::tally() const {
  GroupTally tally{.lists = lists_, .counts = {}, .possible = possible_, .tied_lists = tied_lists_};
  std::size_t cells = counts_.size();
  while (cells > 0 && counts_[cells - 1] == 0) --cells;
  const std::size_t ranks = (cells + groups_ - 1) / groups_;
  grow(tally.counts, ranks * groups_, Count{0}, run_);
  in_chunks(tally.counts.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) tally.counts[i] = counts_[i];
  });
  if (info_.reads_history && !info_.reads_truth) {
    for (Count& items : tally.possible) items = -items;
    for (const Count group : group_of_) {
      if (group >= 0) tally.possible[static_cast<std::size_t>(group)] += lists_;
    }
  }
  return tally;
}

}  // namespace exactk
