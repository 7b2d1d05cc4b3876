// Matches a list of ids, best first, with the user's truth: ranks the list, less what is excluded,
// and finds the items of the truth in it. The slot of an id decides nearly all of the list; what is
// left is compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"
#include "match/id_index.hpp"
#include "match/seen_filter.hpp"
#include "rank/ranked_list.hpp"

namespace exactk {

// A position of the list that holds an item of the user's truth.
struct Match {
  Count rank;
  Count entry;     // the first entry of the truth that names the item; 0 if entries are not needed
  bool is_repeat;  // the item stood higher in the list already
};

struct Matches {
  std::vector<Match> hits;  // by rank
  std::vector<Tie> ties;    // of the hits, where scores rank and ties are asked for
  // By entry, the first one of the same item. Empty if each entry is the first.
  std::vector<Count> first_entry;
  std::vector<Count> excluded_entries;  // whose item is excluded
  Count truth_size = 0;                 // entries
  Count truth_duplicates = 0;           // of these, those that repeat an earlier one
  Count list_length = 0;                // after the excluded items are taken out
  // Of the items that are left, where the list has ranks: each excluded item moves those below it
  // up.
  std::vector<Count> list_ranks;
  Count list_duplicates = 0;          // items of the list that repeat an earlier one
  Count excluded_recommended = 0;     // items of the list that were taken out
  Offset first_truth_duplicate = -1;  // positions within the row as it is stored
  Offset first_list_duplicate = -1;
  std::vector<Count> unscored_entries;  // whose item has no score, where scores rank
};

// The positions in a list, whatever its order, of the items that matter: ascending.
struct ItemPositions {
  std::vector<std::int64_t> truth;     // of items of the truth that are not excluded
  std::vector<Count> entries;          // of the truth, by position: the item's first entry
  std::vector<std::int64_t> excluded;  // of excluded items
  std::vector<Count> absent_entries;   // of the truth whose item is not in the list
  Count duplicates = 0;                // items that repeat an earlier one
  Offset first_duplicate = -1;
};

class ListMatcher {
 public:
  // `id_bits`: the bitwise "or" of all ids that will come. `needs_entries`: whether it matters
  // which entry of the truth a match is.
  ListMatcher(std::uint64_t id_bits, bool needs_entries)
      : seen_filter_(id_bits), needs_entries_(needs_entries) {}

  // `ranks`: of the list's items, ascending; if empty, 1, 2, 3, ... The result is valid until the
  // next call.
  template <class Id>
  const Matches& match(std::span<const std::int64_t> truth, std::span<const Id> list,
                       std::span<const Count> ranks, std::span<const std::int64_t> exclude,
                       const Checkpoint& checkpoint);
  template <class Id>
  const Matches& match(std::span<const std::int64_t> truth, std::span<const Id> list,
                       std::span<const std::int64_t> exclude, const Checkpoint& checkpoint) {
    return match(truth, list, {}, exclude, checkpoint);
  }

  // The same of a list that scores rank, where nothing excluded is: by the entries that it carries,
  // else by its items.
  const Matches& match(std::span<const std::int64_t> truth, const RankedList& ranked,
                       std::span<const std::int64_t> exclude, const Checkpoint& checkpoint);

  // Before a list is ranked. `needs_entries` must have been true. Valid until the next list.
  const ItemPositions& find_item_positions(std::span<const std::int64_t> truth,
                                           std::span<const std::int64_t> list,
                                           std::span<const std::int64_t> exclude,
                                           const Checkpoint& checkpoint);
  // What is ranked of the list that was located last, by the entries that it carries. May follow
  // several times.
  const Matches& match_located(const RankedList& ranked, const Checkpoint& checkpoint);

 private:
  using Ids = std::span<const std::int64_t>;

  // Finds the id by an index that is built when a user first needs it.
  template <class Id>
  Offset find_indexed(IdIndex& index, bool& has_index, std::span<const Id> ids, std::uint64_t id) {
    if (!has_index) index.build(ids, *checkpoint_);
    has_index = true;
    return index.find(ids, id);
  }
  // The first entry of the id, or -1.
  Offset find_in_truth(std::uint64_t id) {
    if (!has_stored_truth_) return find_indexed(truth_index_, has_truth_index_, truth_, id);
    const std::size_t entry = seen_filter_.stored_position(id);
    const bool is_match = entry < truth_.size() && std::cmp_equal(truth_[entry], id);
    return is_match ? static_cast<Offset>(entry) : -1;
  }
  bool is_excluded(std::uint64_t id) {
    return !exclude_.empty() && find_indexed(exclude_index_, has_exclude_index_, exclude_, id) >= 0;
  }

  void reset(Ids truth, std::size_t list_size, Ids exclude, const Checkpoint& checkpoint);
  bool mark_truth();
  void store_truth();
  void mark_excluded();
  void find_duplicates_in_truth();
  template <class Id>
  bool is_repeat(std::span<const Id> list, std::size_t position);
  template <class Id>
  void resolve_collision(std::span<const Id> list, std::size_t position, Mark previous);
  void locate_collision(Ids list, std::size_t position, Mark previous);
  void list_remaining_ranks();
  void add_carried_hits(const RankedList& ranked, bool may_repeat, const Checkpoint& checkpoint);

  SeenFilter seen_filter_;
  bool needs_entries_;
  IdIndex truth_index_;
  IdIndex exclude_index_;
  IdIndex list_index_;
  std::vector<std::int64_t> truth_and_excluded_;  // excluded ids whose slot has an id of the truth
  Matches matches_;
  ItemPositions positions_;
  std::vector<std::uint8_t> in_list_;  // beside the truth: whether the list so far has the item
  // Of the current user.
  Ids truth_;
  Ids exclude_;
  std::span<const Count> given_ranks_;           // of the list; empty: 1, 2, 3, ...
  std::vector<std::size_t> excluded_positions_;  // in the list, where it has ranks
  const Checkpoint* checkpoint_ = nullptr;
  bool has_stored_truth_ = false;  // beside the slots
  bool has_truth_index_ = false;
  bool has_exclude_index_ = false;
  bool has_list_index_ = false;
  std::size_t scanned_items_ = 0;
};

// Whether the item stands higher in the list: by a look at all of these, as long as such looks
// cost less than an index.
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

// An item of the list whose slot was marked before: by itself, or by another that shares it.
template <class Id>
void ListMatcher::resolve_collision(std::span<const Id> list, std::size_t position, Mark previous) {
  const auto id = static_cast<std::uint64_t>(list[position]);
  // Whether the mark alone decides.
  const bool is_certain = seen_filter_.is_exact() && previous != Mark::listed;
  const bool repeat = previous == Mark::listed && is_repeat(list, position);
  if (repeat && matches_.list_duplicates++ == 0) {
    matches_.first_list_duplicate = static_cast<Offset>(position);
  }
  if (previous != Mark::truth && (is_certain || is_excluded(id))) {
    ++matches_.excluded_recommended;
    if (!given_ranks_.empty()) excluded_positions_.push_back(position);
    return;
  }
  if (previous == Mark::excluded) return;
  const Offset entry = is_certain && !needs_entries_ ? 0 : find_in_truth(id);
  if (entry < 0) return;
  const Count rank =
      given_ranks_.empty() ? static_cast<Count>(position) + 1 : given_ranks_[position];
  matches_.hits.push_back({rank - matches_.excluded_recommended, entry, repeat});
}

template <class Id>
const Matches& ListMatcher::match(std::span<const std::int64_t> truth, std::span<const Id> list,
                                  std::span<const Count> ranks,
                                  std::span<const std::int64_t> exclude,
                                  const Checkpoint& checkpoint) {
  reset(truth, list.size(), exclude, checkpoint);
  given_ranks_ = ranks;
  if (mark_truth()) store_truth();
  mark_excluded();
  in_chunks(list.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const Collision collision :
         seen_filter_.mark(list.subspan(begin, end - begin), Mark::listed)) {
      resolve_collision(list, begin + collision.position(),
                        seen_filter_.previous_mark(collision.previous_byte()));
    }
  });
  matches_.list_length = static_cast<Count>(list.size()) - matches_.excluded_recommended;
  if (!ranks.empty()) list_remaining_ranks();
  return matches_;
}

}  // namespace exactk
