#include "match/list_matcher.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace exactk {

void ListMatcher::reset(Ids truth, std::size_t list_size, Ids exclude) {
  truth_ = truth;
  exclude_ = exclude;
  has_stored_truth_ = has_truth_index_ = has_exclude_index_ = has_list_index_ = false;
  scanned_items_ = 0;
  matches_.hits.clear();
  matches_.ties.clear();
  if (list_size > kChunk) matches_.hits.reserve(std::min(truth.size(), list_size));
  matches_.first_entry.clear();
  matches_.excluded_entries.clear();
  matches_.unscored_entries.clear();
  matches_.list_ranks.clear();
  given_ranks_ = {};
  matches_.removed_positions.clear();
  matches_.truth_size = static_cast<Count>(truth.size());
  matches_.truth_duplicates = matches_.list_duplicates = matches_.excluded_recommended = 0;
  matches_.removed = 0;
  matches_.first_truth_duplicate = matches_.first_list_duplicate = -1;
  seen_filter_.reset(truth.size() + list_size + exclude.size(), !exclude.empty());
}

// Marks the truth. Returns whether each entry has a slot of its own.
bool ListMatcher::mark_truth() {
  bool has_collisions = false;
  in_chunks(truth_.size(), run_, [&](std::size_t begin, std::size_t end) {
    has_collisions = !seen_filter_.mark(truth_.subspan(begin, end - begin), Mark::truth).empty() ||
                     has_collisions;
  });
  if (has_collisions) find_duplicates_in_truth();
  return !has_collisions;
}

// Stores each entry's position beside its slot if there is room; otherwise an index finds it.
// Requires one slot per entry.
void ListMatcher::store_truth() {
  has_stored_truth_ = (needs_entries_ || !seen_filter_.is_exact()) &&
                      seen_filter_.can_store_positions(truth_.size());
  if (has_stored_truth_) seen_filter_.store_positions(truth_);
}

void ListMatcher::find_duplicates_in_truth() {
  matches_.first_entry.reserve(truth_.size());
  in_chunks(truth_.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto entry = static_cast<Offset>(i);
      const Offset match = find_in_truth(static_cast<std::uint64_t>(truth_[i]));
      const Offset first = match < 0 || match > entry ? entry : match;  // in case it changes
      matches_.first_entry.push_back(first);
      if (first != entry && matches_.truth_duplicates++ == 0) {
        matches_.first_truth_duplicate = entry;
      }
    }
  });
  if (matches_.truth_duplicates == 0) matches_.first_entry.clear();
}

void ListMatcher::mark_excluded() {
  truth_and_excluded_.clear();
  in_chunks(exclude_.size(), run_, [&](std::size_t begin, std::size_t end) {
    const Ids ids = exclude_.subspan(begin, end - begin);
    for (const Collision collision : seen_filter_.mark(ids, Mark::excluded)) {
      if (seen_filter_.previous_mark(collision.previous_byte()) == Mark::truth)
        truth_and_excluded_.push_back(ids[collision.position()]);
    }
  });
  if (truth_and_excluded_.empty()) return;
  in_chunks(truth_and_excluded_.size(), run_, [&](std::size_t begin, std::size_t end) {
    seen_filter_.mark(Ids(truth_and_excluded_).subspan(begin, end - begin),
                      Mark::truth_and_excluded);
  });
  in_chunks(truth_.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_excluded(static_cast<std::uint64_t>(truth_[i]))) {
        matches_.excluded_entries.push_back(static_cast<Count>(i));
      }
    }
  });
}

// Leaves the item of the list without a rank.
void ListMatcher::remove(std::size_t position) {
  ++matches_.removed;
  if (keeps_removed_positions_ || !given_ranks_.empty()) {
    matches_.removed_positions.push_back(position);
  }
}

// Lists the ranks of the items that are not removed.
void ListMatcher::list_remaining_ranks() {
  std::size_t removed = 0;
  in_chunks(given_ranks_.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t position = begin; position < end; ++position) {
      if (removed < matches_.removed_positions.size() &&
          matches_.removed_positions[removed] == position) {
        ++removed;
      } else {
        matches_.list_ranks.push_back(given_ranks_[position] - static_cast<Count>(removed));
      }
    }
  });
}

// `may_repeat`: whether several items may share an entry.
void ListMatcher::add_carried_hits(const RankedList& ranked, bool may_repeat) {
  const std::size_t size = ranked.entries.size();
  if (size > kChunk) matches_.hits.reserve(size);
  in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Count entry = ranked.entries[i];
      if (entry == RankedList::kNoEntry) continue;
      const Count rank = ranked.ranks.empty() ? static_cast<Count>(i) + 1 : ranked.ranks[i];
      const bool is_repeat =
          may_repeat && std::exchange(in_list_[static_cast<std::size_t>(entry)], 1) != 0;
      matches_.hits.push_back({rank, entry, is_repeat});
      if (!ranked.ties.empty()) matches_.ties.push_back(ranked.ties[i]);
    }
  });
}

const Matches& ListMatcher::match(Ids truth, const RankedList& ranked, Ids exclude) {
  // The ranking has left out the excluded items, so they need no marks.
  if (ranked.entries.empty()) {
    match(truth, ranked.offsets, {});
  } else {
    reset(truth, 0, {});
    mark_truth();
    add_carried_hits(ranked, false);
  }
  exclude_ = exclude;
  matches_.list_length = ranked.length;
  in_chunks(truth.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t id = truth[i];
      const bool is_scored = id < ranked.scored_end;
      const auto entry = static_cast<Count>(i);
      if (!is_scored) matches_.unscored_entries.push_back(entry);
      if (is_scored ? ranked.excludes(id) : is_excluded(static_cast<std::uint64_t>(id)))
        matches_.excluded_entries.push_back(entry);
    }
  });
  return matches_;
}

// Resolves the collision, and stores its position if the item is in the truth or excluded.
void ListMatcher::locate_collision(Ids list, std::size_t position, Mark previous) {
  const std::size_t hits = matches_.hits.size();
  const Count excluded = matches_.excluded_recommended;
  resolve_collision(list, position, previous);
  if (matches_.hits.size() > hits) {
    const Count entry = matches_.hits.back().entry;
    positions_.truth.push_back(static_cast<std::int64_t>(position));
    positions_.entries.push_back(entry);
    in_list_[static_cast<std::size_t>(entry)] = 1;
  } else if (matches_.excluded_recommended > excluded) {
    positions_.excluded.push_back(static_cast<std::int64_t>(position));
    if (truth_and_excluded_.empty()) return;  // no item of the truth is excluded
    const Offset entry = find_in_truth(static_cast<std::uint64_t>(list[position]));
    if (entry >= 0) in_list_[static_cast<std::size_t>(entry)] = 1;
  }
}

const ItemPositions& ListMatcher::find_item_positions(Ids truth, Ids list, Ids exclude) {
  positions_.truth.clear();
  positions_.entries.clear();
  positions_.excluded.clear();
  positions_.absent_entries.clear();
  in_list_.clear();
  grow(in_list_, truth.size(), std::uint8_t{0}, run_);
  reset(truth, list.size(), exclude);
  if (mark_truth()) store_truth();
  mark_excluded();
  in_chunks(list.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (const Collision collision :
         seen_filter_.mark(list.subspan(begin, end - begin), Mark::listed)) {
      locate_collision(list, begin + collision.position(),
                       seen_filter_.previous_mark(collision.previous_byte()));
    }
  });
  positions_.duplicates = matches_.list_duplicates;
  positions_.first_duplicate = matches_.first_list_duplicate;
  in_chunks(truth.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (in_list_[i] == 0) positions_.absent_entries.push_back(static_cast<Count>(i));
    }
  });
  return positions_;
}

void ListMatcher::leave_out(std::span<const std::int64_t> positions) {
  const std::size_t size = positions_.truth.size();
  std::size_t kept = 0;
  in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (std::ranges::binary_search(positions, positions_.truth[i])) continue;
      positions_.truth[kept] = positions_.truth[i];
      positions_.entries[kept++] = positions_.entries[i];
    }
  });
  positions_.truth.resize(kept);
  positions_.entries.resize(kept);
  in_chunks(positions.size(), run_, [&](std::size_t begin, std::size_t end) {
    const auto chunk = positions.subspan(begin, end - begin);
    positions_.excluded.insert(positions_.excluded.end(), chunk.begin(), chunk.end());
  });
}

// Keeps the facts about the truth alone that find_item_positions has established.
const Matches& ListMatcher::match_located(const RankedList& ranked) {
  const bool may_repeat = positions_.duplicates > 0;
  if (may_repeat) {
    in_chunks(in_list_.size(), run_, [&](std::size_t begin, std::size_t end) {
      std::ranges::fill(std::span(in_list_).subspan(begin, end - begin), std::uint8_t{0});
    });
  }
  matches_.hits.clear();
  matches_.ties.clear();
  add_carried_hits(ranked, may_repeat);
  matches_.list_length = ranked.length;
  matches_.list_duplicates = positions_.duplicates;
  matches_.first_list_duplicate = positions_.first_duplicate;
  matches_.excluded_recommended = 0;
  matches_.unscored_entries = positions_.absent_entries;
  return matches_;
}

}  // namespace exactk
