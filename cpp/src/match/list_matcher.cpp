#include "match/list_matcher.hpp"

#include <algorithm>
#include <cstdint>

namespace exactk {

void ListMatcher::start(Ids truth, std::size_t list_size, Ids exclude,
                        const Checkpoint& checkpoint) {
  truth_ = truth;
  exclude_ = exclude;
  checkpoint_ = &checkpoint;
  truth_built_ = exclude_built_ = list_built_ = false;
  scanned_ = 0;
  matches_.found.clear();
  matches_.ties.clear();
  if (list_size > kChunk) matches_.found.reserve(std::min(truth.size(), list_size));
  matches_.first_entry.clear();
  matches_.excluded.clear();
  matches_.unscored.clear();
  matches_.truth_size = static_cast<Count>(truth.size());
  matches_.truth_duplicates = matches_.list_duplicates = matches_.excluded_recommended = 0;
  matches_.first_truth_duplicate = matches_.first_list_duplicate = -1;
  marks_.start(truth.size() + list_size + exclude.size(), checkpoint);
}

void ListMatcher::mark_truth() {
  bool suspects = false;
  in_chunks(truth_.size(), *checkpoint_, [&](std::size_t begin, std::size_t end) {
    suspects = !marks_.mark(truth_.subspan(begin, end - begin), Mark::wanted).empty() || suspects;
  });
  // Where each entry has a place of its own, the place remembers it; else there is an index.
  truth_remembered_ =
      !suspects && (entries_ || !marks_.exact()) && marks_.can_remember(truth_.size());
  if (truth_remembered_) marks_.remember(truth_, *checkpoint_);
  if (suspects) find_duplicates_in_truth();
}

void ListMatcher::find_duplicates_in_truth() {
  matches_.first_entry.reserve(truth_.size());
  in_chunks(truth_.size(), *checkpoint_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto entry = static_cast<Offset>(i);
      const Offset found = find_in_truth(static_cast<std::uint64_t>(truth_[i]));
      const Offset first = found < 0 || found > entry ? entry : found;  // if it changes meanwhile
      matches_.first_entry.push_back(first);
      if (first != entry && matches_.truth_duplicates++ == 0) {
        matches_.first_truth_duplicate = entry;
      }
    }
  });
  if (matches_.truth_duplicates == 0) matches_.first_entry.clear();
}

void ListMatcher::mark_excluded() {
  both_.clear();
  in_chunks(exclude_.size(), *checkpoint_, [&](std::size_t begin, std::size_t end) {
    const Ids ids = exclude_.subspan(begin, end - begin);
    for (const Collision collision : marks_.mark(ids, Mark::excluded)) {
      if (marks_.before(collision.code()) == Mark::wanted)
        both_.push_back(ids[collision.position()]);
    }
  });
  if (both_.empty()) return;
  in_chunks(both_.size(), *checkpoint_, [&](std::size_t begin, std::size_t end) {
    marks_.mark(Ids(both_).subspan(begin, end - begin), Mark::wanted_and_excluded);
  });
  in_chunks(truth_.size(), *checkpoint_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_excluded(static_cast<std::uint64_t>(truth_[i]))) {
        matches_.excluded.push_back(static_cast<Count>(i));
      }
    }
  });
}

const Matches& ListMatcher::match(Ids truth, const RankedList& ranked, Ids exclude,
                                  const Checkpoint& checkpoint) {
  match(truth, ranked.items, exclude, checkpoint);
  matches_.list_length = ranked.length;
  if (!ranked.ranks.empty()) {
    in_chunks(matches_.found.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
      for (Match& match : std::span(matches_.found).subspan(begin, end - begin)) {
        const auto place = static_cast<std::size_t>(match.rank - 1);
        match.rank = ranked.ranks[place];
        if (!ranked.ties.empty()) matches_.ties.push_back(ranked.ties[place]);
      }
    });
  }
  in_chunks(truth.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (truth[i] >= ranked.scored) matches_.unscored.push_back(static_cast<Count>(i));
    }
  });
  return matches_;
}

// As a match is resolved, and at which position.
void ListMatcher::resolve_position(Ids list, std::size_t position, Mark before) {
  const std::size_t found = matches_.found.size();
  const Count excluded = matches_.excluded_recommended;
  resolve(list, position, before);
  if (matches_.found.size() > found) {
    positions_.wanted.push_back(static_cast<std::int64_t>(position));
    present_[static_cast<std::size_t>(matches_.found.back().entry)] = 1;
  } else if (matches_.excluded_recommended > excluded) {
    positions_.excluded.push_back(static_cast<std::int64_t>(position));
    if (both_.empty()) return;  // no item of the truth is excluded
    const Offset entry = find_in_truth(static_cast<std::uint64_t>(list[position]));
    if (entry >= 0) present_[static_cast<std::size_t>(entry)] = 1;
  }
}

const ItemPositions& ListMatcher::locate(Ids truth, Ids list, Ids exclude,
                                         const Checkpoint& checkpoint) {
  positions_.wanted.clear();
  positions_.excluded.clear();
  positions_.absent.clear();
  present_.clear();
  grow(present_, truth.size(), std::uint8_t{0}, checkpoint);
  start(truth, list.size(), exclude, checkpoint);
  mark_truth();
  mark_excluded();
  in_chunks(list.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (const Collision collision : marks_.mark(list.subspan(begin, end - begin), Mark::listed)) {
      resolve_position(list, begin + collision.position(), marks_.before(collision.code()));
    }
  });
  positions_.duplicates = matches_.list_duplicates;
  positions_.first_duplicate = matches_.first_list_duplicate;
  in_chunks(truth.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (present_[i] == 0) positions_.absent.push_back(static_cast<Count>(i));
    }
  });
  return positions_;
}

const Matches& ListMatcher::match_located(Ids truth, const RankedList& ranked, Ids exclude,
                                          const Checkpoint& checkpoint) {
  match(truth, ranked, exclude, checkpoint);
  matches_.list_duplicates = positions_.duplicates;
  matches_.first_list_duplicate = positions_.first_duplicate;
  matches_.unscored = positions_.absent;
  return matches_;
}

}  // namespace exactk
