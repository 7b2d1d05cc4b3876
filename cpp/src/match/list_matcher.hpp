// Matches a list of ids, best first, with a user's truth: takes out excluded items, and repeats if
// these are collapsed, ranks the rest, and finds the truth's items among them. The slot of an id
// decides nearly all of the list; only collisions are compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/run.hpp"
#include "exactk/types.hpp"
#include "match/id_index.hpp"
#include "match/seen_filter.hpp"
#include "rank/ranked_list.hpp"

namespace exactk {

// A position of the list whose item is in the user's truth.
struct Match {
  Count rank;
  Count entry;     // first entry of the truth that names the item; 0 if entries are not needed
  bool is_repeat;  // the item also occurs higher in the list
};

struct Matches {
  std::vector<Match> hits;  // by rank
  std::vector<Tie> ties;    // parallel to hits, if scores rank and ties are requested
  // Per entry, the first entry of the same item. Empty if no item repeats.
  std::vector<Count> first_entry;
  std::vector<Count> excluded_entries;  // entries whose item is excluded
  Count truth_size = 0;                 // number of entries
  Count truth_duplicates = 0;           // entries that repeat an earlier one
  Count list_length = 0;                // without removed items
  // Ranks of the remaining items, if the list has ranks: each removed item moves those below it up.
  std::vector<Count> list_ranks;
  Count list_duplicates = 0;          // items of the list that repeat an earlier one
  Count excluded_recommended = 0;     // excluded items of the list
  Offset first_truth_duplicate = -1;  // positions within the stored row
  Offset first_list_duplicate = -1;
  std::vector<Count> unscored_entries;  // entries whose item has no score, if scores rank
  // Items of the list that have no rank: excluded ones, and repeats if these are collapsed.
  Count removed = 0;
  std::vector<std::size_t> removed_positions;  // ascending; only if asked, or the list has ranks
};

// Ascending positions of the relevant parts of a list in any order.
struct ItemPositions {
  std::vector<std::int64_t> truth;     // of items of the truth that are not excluded
  std::vector<Count> entries;          // parallel to `truth`: the item's first entry
  std::vector<std::int64_t> excluded;  // of excluded items, then those that `leave_out` adds
  std::vector<Count> absent_entries;   // entries of the truth whose item is not in the list
  Count duplicates = 0;                // items that repeat an earlier one
  Offset first_duplicate = -1;
};

class ListMatcher {
 public:
  // `id_bits`: the bitwise "or" of all ids to come. `needs_entries`: whether the caller needs the
  // truth entry of each match.
  ListMatcher(std::uint64_t id_bits, bool needs_entries, const Run& run)
      : run_(run), seen_filter_(id_bits, run), needs_entries_(needs_entries) {}

  // From now on, lists keep the positions of their removed items.
  void keep_removed_positions() noexcept { keeps_removed_positions_ = true; }
  // From now on, items that repeat an earlier one are removed from lists that `match` reads.
  void collapse_repeats() noexcept { collapses_repeats_ = true; }

  // `ranks`: ascending ranks of the list's items; empty: 1, 2, 3, ... The result is valid until the
  // next call.
  template <class Id>
  const Matches& match(std::span<const std::int64_t> truth, std::span<const Id> list,
                       std::span<const Count> ranks, std::span<const std::int64_t> exclude);
  template <class Id>
  const Matches& match(std::span<const std::int64_t> truth, std::span<const Id> list,
                       std::span<const std::int64_t> exclude) {
    return match(truth, list, {}, exclude);
  }

  // Matches a list ranked by scores, which has no excluded items: by the entries that it carries,
  // otherwise by its items.
  const Matches& match(std::span<const std::int64_t> truth, const RankedList& ranked,
                       std::span<const std::int64_t> exclude);

  // Locates items before the list is ranked. Requires `needs_entries`. Valid until the next list.
  const ItemPositions& find_item_positions(std::span<const std::int64_t> truth,
                                           std::span<const std::int64_t> list,
                                           std::span<const std::int64_t> exclude);
  // Treats these positions of the list located last as excluded. Ascending.
  void leave_out(std::span<const std::int64_t> positions);
  // Matches a ranking of the list located last, by the entries that it carries. Can be called
  // repeatedly.
  const Matches& match_located(const RankedList& ranked);

 private:
  using Ids = std::span<const std::int64_t>;

  // Finds the id with an index that is built on first use per user.
  template <class Id>
  Offset find_indexed(IdIndex& index, bool& has_index, std::span<const Id> ids, std::uint64_t id) {
    if (!has_index) index.build(ids, run_);
    has_index = true;
    return index.find(ids, id);
  }
  // Returns the first entry of the id, or -1.
  Offset find_in_truth(std::uint64_t id) {
    if (!has_stored_truth_) return find_indexed(truth_index_, has_truth_index_, truth_, id);
    const std::size_t entry = seen_filter_.stored_position(id);
    const bool is_match = entry < truth_.size() && std::cmp_equal(truth_[entry], id);
    return is_match ? static_cast<Offset>(entry) : -1;
  }
  bool is_excluded(std::uint64_t id) {
    return !exclude_.empty() && find_indexed(exclude_index_, has_exclude_index_, exclude_, id) >= 0;
  }

  void reset(Ids truth, std::size_t list_size, Ids exclude);
  bool mark_truth();
  void store_truth();
  void mark_excluded();
  void find_duplicates_in_truth();
  template <class Id>
  bool is_repeat(std::span<const Id> list, std::size_t position);
  template <class Id>
  void resolve_collision(std::span<const Id> list, std::size_t position, Mark previous);
  void locate_collision(Ids list, std::size_t position, Mark previous);
  void remove(std::size_t position);
  void list_remaining_ranks();
  void add_carried_hits(const RankedList& ranked, bool may_repeat);

  const Run& run_;
  SeenFilter seen_filter_;
  bool needs_entries_;
  bool keeps_removed_positions_ = false;
  bool collapses_repeats_ = false;
  IdIndex truth_index_;
  IdIndex exclude_index_;
  IdIndex list_index_;
  std::vector<std::int64_t> truth_and_excluded_;  // excluded ids whose slot has an id of the truth
  Matches matches_;
  ItemPositions positions_;
  std::vector<std::uint8_t> in_list_;  // per entry: whether the list so far has the item
  // Per-user state.
  Ids truth_;
  Ids exclude_;
  std::span<const Count> given_ranks_;  // of the list; empty: 1, 2, 3, ...
  bool has_stored_truth_ = false;       // beside the slots
  bool has_truth_index_ = false;
  bool has_exclude_index_ = false;
  bool has_list_index_ = false;
  std::size_t scanned_items_ = 0;
};

// Whether the item also occurs higher in the list. Scans these items as long as scans cost less
// than an index.
template <class Id>
bool ListMatcher::is_repeat(std::span<const Id> list, std::size_t position) {
  if (seen_filter_.is_exact()) return true;
  const Id id = list[position];
  scanned_items_ += position;
  if (list.size() > kChunk || scanned_items_ > 16 * list.size()) {
    const Offset first =
        find_indexed(list_index_, has_list_index_, list, static_cast<std::uint64_t>(id));
    return first >= 0 && std::cmp_less(first, position);
  }
  const auto above = list.first(position);
  return std::ranges::find(above, id) != above.end();
}

// Handles an item of the list whose slot was already marked, by the same or another id.
template <class Id>
void ListMatcher::resolve_collision(std::span<const Id> list, std::size_t position, Mark previous) {
  const auto id = static_cast<std::uint64_t>(list[position]);
  // Whether the mark alone decides.
  const bool is_certain = seen_filter_.is_exact() && previous != Mark::listed;
  const bool repeat = previous == Mark::listed && is_repeat(list, position);
  if (repeat && matches_.list_duplicates++ == 0) {
    matches_.first_list_duplicate = static_cast<Offset>(position);
  }
  if (repeat && collapses_repeats_) {
    remove(position);
    return;
  }
  if (previous != Mark::truth && (is_certain || is_excluded(id))) {
    ++matches_.excluded_recommended;
    remove(position);
    return;
  }
  if (previous == Mark::excluded) return;
  const Offset entry = is_certain && !needs_entries_ ? 0 : find_in_truth(id);
  if (entry < 0) return;
  const Count rank =
      given_ranks_.empty() ? static_cast<Count>(position) + 1 : given_ranks_[position];
  matches_.hits.push_back({rank - matches_.removed, entry, repeat});
}

template <class Id>
const Matches& ListMatcher::match(std::span<const std::int64_t> truth, std::span<const Id> list,
                                  std::span<const Count> ranks,
                                  std::span<const std::int64_t> exclude) {
  reset(truth, list.size(), exclude);
  given_ranks_ = ranks;
  if (mark_truth()) store_truth();
  mark_excluded();
  in_chunks(list.size(), run_, [this, list](std::size_t begin, std::size_t end) {
    for (const Collision collision :
         seen_filter_.mark(list.subspan(begin, end - begin), Mark::listed)) {
      resolve_collision(list, begin + collision.position(),
                        seen_filter_.previous_mark(collision.previous_byte()));
    }
  });
  matches_.list_length = static_cast<Count>(list.size()) - matches_.removed;
  if (!ranks.empty()) list_remaining_ranks();
  return matches_;
}

}  // namespace exactk
