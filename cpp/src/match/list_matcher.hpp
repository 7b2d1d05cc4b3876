// Rankings given as ids, best first: ranks the list, less what is excluded, and finds the user's
// truth in it. A glance at an id's mark decides nearly all of the list; what is left is compared.
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

// A place of the list that holds an item of the user's truth.
struct Match {
  Count rank;
  Count entry;  // the first entry of the truth that names the item; 0 if it is not asked for
  bool repeat;  // the item stood higher in the list already
};

struct Matches {
  std::vector<Match> found;  // by rank
  std::vector<Tie> ties;     // beside these, where scores rank and ties are asked for
  // Beside the truth, the first entry of the same item. Empty if each entry is the first.
  std::vector<Count> first_entry;
  std::vector<Count> excluded;        // entries whose item is excluded
  Count truth_size = 0;               // entries
  Count truth_duplicates = 0;         // of these, those that repeat an earlier one
  Count list_length = 0;              // after the excluded items are taken out
  Count list_duplicates = 0;          // items of the list that repeat an earlier one
  Count excluded_recommended = 0;     // items of the list that were taken out
  Offset first_truth_duplicate = -1;  // positions within the row as given
  Offset first_list_duplicate = -1;
  std::vector<Count> unscored;  // entries whose item has no score, where scores rank
};

// Where in a list, whatever its order, stands what matters of it: positions, ascending.
struct ItemPositions {
  std::vector<std::int64_t> wanted;    // of items of the truth that are not excluded
  std::vector<std::int64_t> excluded;  // of excluded items
  std::vector<Count> absent;           // entries of the truth whose item is not in the list
  Count duplicates = 0;                // items that repeat an earlier one
  Offset first_duplicate = -1;
};

class ListMatcher {
 public:
  // `id_bits`: the bitwise "or" of all ids that will come. `entries`: whether it matters which
  // entry of the truth a match is.
  ListMatcher(std::uint64_t id_bits, bool entries) : marks_(id_bits), entries_(entries) {}

  // The returned reference is valid until the next call.
  template <class Id>
  const Matches& match(std::span<const std::int64_t> truth, std::span<const Id> list,
                       std::span<const std::int64_t> exclude, const Checkpoint& checkpoint);

  // The same of what is ranked already, less what is excluded.
  const Matches& match(std::span<const std::int64_t> truth, const RankedList& ranked,
                       std::span<const std::int64_t> exclude, const Checkpoint& checkpoint);

  // Before a list is ranked. `entries` must have been asked for. Valid until the next list.
  const ItemPositions& locate(std::span<const std::int64_t> truth,
                              std::span<const std::int64_t> list,
                              std::span<const std::int64_t> exclude, const Checkpoint& checkpoint);
  // What is ranked of the list that was placed last.
  const Matches& match_located(std::span<const std::int64_t> truth, const RankedList& ranked,
                               std::span<const std::int64_t> exclude, const Checkpoint& checkpoint);

 private:
  using Ids = std::span<const std::int64_t>;

  // An index that is built when a user first needs it.
  template <class Id>
  Offset find(IdIndex& index, bool& built, std::span<const Id> ids, std::uint64_t id) {
    if (!built) index.build(ids, *checkpoint_);
    built = true;
    return index.find(ids, id);
  }
  // The first entry of the id, or -1.
  Offset find_in_truth(std::uint64_t id) {
    if (!truth_remembered_) return find(truth_index_, truth_built_, truth_, id);
    const std::size_t entry = marks_.recall(id);
    const bool right = entry < truth_.size() && std::cmp_equal(truth_[entry], id);
    return right ? static_cast<Offset>(entry) : -1;
  }
  bool is_excluded(std::uint64_t id) {
    return !exclude_.empty() && find(exclude_index_, exclude_built_, exclude_, id) >= 0;
  }

  void start(Ids truth, std::size_t list_size, Ids exclude, const Checkpoint& checkpoint);
  void mark_truth();
  void mark_excluded();
  void find_duplicates_in_truth();
  template <class Id>
  bool is_repeat(std::span<const Id> list, std::size_t position);
  template <class Id>
  void resolve(std::span<const Id> list, std::size_t position, Mark before);
  void resolve_position(Ids list, std::size_t position, Mark before);

  SeenFilter marks_;
  bool entries_;
  IdIndex truth_index_;
  IdIndex exclude_index_;
  IdIndex list_index_;
  std::vector<std::int64_t> both_;  // excluded ids at whose place something is wanted
  Matches matches_;
  ItemPositions positions_;
  std::vector<std::uint8_t> present_;  // beside the truth: whether the list has the item
  // The user at hand.
  Ids truth_;
  Ids exclude_;
  const Checkpoint* checkpoint_ = nullptr;
  bool truth_remembered_ = false;  // by the marks
  bool truth_built_ = false;
  bool exclude_built_ = false;
  bool list_built_ = false;
  std::size_t scanned_ = 0;
};

// Whether the item stands higher in the list: by a look at all of these, as long as such looks
// cost less than an index.
template <class Id>
bool ListMatcher::is_repeat(std::span<const Id> list, std::size_t position) {
  if (marks_.exact()) return true;
  const Id id = list[position];
  scanned_ += position;
  if (list.size() > kChunk || scanned_ > 16 * list.size()) {
    const Offset first = find(list_index_, list_built_, list, static_cast<std::uint64_t>(id));
    return first >= 0 && std::cmp_less(first, position);
  }
  const auto above = list.first(position);
  return std::ranges::find(above, id) != above.end();
}

// An item of the list whose place was marked before: by itself, or by another that shares it.
template <class Id>
void ListMatcher::resolve(std::span<const Id> list, std::size_t position, Mark before) {
  const auto id = static_cast<std::uint64_t>(list[position]);
  // Whether the mark tells all there is to know.
  const bool certain = marks_.exact() && before != Mark::listed;
  const bool repeat = before == Mark::listed && is_repeat(list, position);
  if (repeat && matches_.list_duplicates++ == 0) {
    matches_.first_list_duplicate = static_cast<Offset>(position);
  }
  if (before != Mark::wanted && (certain || is_excluded(id))) {
    ++matches_.excluded_recommended;
    return;
  }
  if (before == Mark::excluded) return;
  const Offset entry = certain && !entries_ ? 0 : find_in_truth(id);
  if (entry < 0) return;
  const auto rank = static_cast<Count>(position) + 1 - matches_.excluded_recommended;
  matches_.found.push_back({rank, entry, repeat});
}

template <class Id>
const Matches& ListMatcher::match(std::span<const std::int64_t> truth, std::span<const Id> list,
                                  std::span<const std::int64_t> exclude,
                                  const Checkpoint& checkpoint) {
  start(truth, list.size(), exclude, checkpoint);
  mark_truth();
  mark_excluded();
  in_chunks(list.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const Collision collision : marks_.mark(list.subspan(begin, end - begin), Mark::listed)) {
      resolve(list, begin + collision.position(), marks_.before(collision.code()));
    }
  });
  matches_.list_length = static_cast<Count>(list.size()) - matches_.excluded_recommended;
  return matches_;
}

}  // namespace exactk
