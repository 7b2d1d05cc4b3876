// Rankings given as ids, best first: ranks the list, less what is excluded, and finds the user's
// truth in it by an exact compare behind a hash.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "metrik/types.hpp"

namespace metrik {

// A place of the list that holds an item of the user's truth.
struct Match {
  Count rank;
  Count entry;  // the first entry of the truth that names the item
  bool repeat;  // the item stood higher in the list already
};

struct Matches {
  std::vector<Match> found;           // by rank
  std::vector<Count> first_entry;     // beside the truth: the first entry of the same item
  std::vector<Count> excluded;        // entries whose item is excluded
  Count truth_duplicates = 0;         // entries that repeat an earlier one
  Count list_length = 0;              // after the excluded items are taken out
  Count list_duplicates = 0;          // items of the list that repeat an earlier one
  Count excluded_recommended = 0;     // items of the list that were taken out
  Offset first_truth_duplicate = -1;  // positions within the row as given
  Offset first_list_duplicate = -1;
};

// One user's ids in a hash table that is emptied by counting on: no clearing between users.
class GivenRanking {
 public:
  GivenRanking();

  // The returned reference is valid until the next call.
  template <class TruthId, class ListId, class ExcludeId>
  const Matches& match(std::span<const TruthId> truth, std::span<const ListId> list,
                       std::span<const ExcludeId> exclude);

 private:
  using Id = std::uint64_t;
  struct Slot {
    Id id = 0;
    std::uint32_t generation = 0;  // of the user who filled the slot
    bool excluded = false;
    bool listed = false;
    Count entry = -1;  // of the truth; -1: not in the truth
  };

  void start_user(std::size_t ids);
  Slot& slot_of(Id id) noexcept;

  std::vector<Slot> slots_;
  std::uint64_t mask_ = 0;
  std::uint64_t seed_;
  std::uint32_t generation_ = 0;
  Matches matches_;
};

// Only as much of the table as the user needs, so that small users stay in cache after a large one.
inline void GivenRanking::start_user(std::size_t ids) {
  const std::size_t size = std::bit_ceil(2 * ids + 2);
  mask_ = size - 1;
  if (slots_.size() < size || generation_ == std::numeric_limits<std::uint32_t>::max()) {
    slots_.assign(std::max(size, slots_.size()), Slot{});
    generation_ = 0;
  }
  ++generation_;
}

// The slot that holds the id, made for it if there is none. The hash is keyed by a secret of the
// process, so that nobody can craft ids that meet in one slot.
inline GivenRanking::Slot& GivenRanking::slot_of(Id id) noexcept {
  std::uint64_t hash = (id ^ seed_) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ (hash >> 32U)) * 0xd6e8feb86659fd93U;
  std::uint64_t place = (hash ^ (hash >> 32U)) & mask_;
  while (slots_[place].generation == generation_ && slots_[place].id != id) {
    place = (place + 1) & mask_;
  }
  Slot& slot = slots_[place];
  if (slot.generation != generation_) slot = {.id = id, .generation = generation_};
  return slot;
}

template <class TruthId, class ListId, class ExcludeId>
const Matches& GivenRanking::match(std::span<const TruthId> truth, std::span<const ListId> list,
                                   std::span<const ExcludeId> exclude) {
  start_user(truth.size() + list.size() + exclude.size());
  matches_.found.clear();
  matches_.excluded.clear();
  matches_.first_entry.resize(truth.size());
  matches_.truth_duplicates = matches_.list_duplicates = matches_.excluded_recommended = 0;
  matches_.first_truth_duplicate = matches_.first_list_duplicate = -1;

  for (const ExcludeId id : exclude) slot_of(static_cast<Id>(id)).excluded = true;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    Slot& slot = slot_of(static_cast<Id>(truth[i]));
    const auto entry = static_cast<Count>(i);
    if (slot.entry < 0) {
      slot.entry = entry;
    } else if (matches_.truth_duplicates++ == 0) {
      matches_.first_truth_duplicate = entry;
    }
    matches_.first_entry[i] = slot.entry;
    if (slot.excluded) matches_.excluded.push_back(entry);
  }
  Count rank = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Slot& slot = slot_of(static_cast<Id>(list[i]));
    const bool repeat = slot.listed;
    slot.listed = true;
    if (repeat && matches_.list_duplicates++ == 0) {
      matches_.first_list_duplicate = static_cast<Offset>(i);
    }
    if (slot.excluded) {
      ++matches_.excluded_recommended;
      continue;
    }
    ++rank;
    if (slot.entry >= 0) matches_.found.push_back({rank, slot.entry, repeat});
  }
  matches_.list_length = rank;
  return matches_;
}

}  // namespace metrik
