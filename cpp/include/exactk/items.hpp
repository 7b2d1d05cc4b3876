// What is known of the items that could be recommended.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "exactk/types.hpp"

namespace exactk {

// The largest catalogue.
inline constexpr Count kMaxItems = (Count{1} << 31U) - 3;

inline constexpr Count kUnknownUsers = -1;

// Features are at most this large, so that sums over pairs of items leave room for their squares.
inline constexpr double kMaxFeature = 0x1p64;

// The features of the items of a catalogue, in its order: vectors, or sparse rows.
struct ItemFeatures {
  Count width = 0;                           // numbers of a vector, or columns
  std::span<const std::uint8_t> is_missing;  // items without features
  // Items x width. Empty: the rows are sparse.
  std::variant<std::span<const double>, std::span<const float>> vectors = {};
  std::span<const Offset> indptr = {};
  std::span<const std::int64_t> columns = {};  // ascending in each row
  std::span<const double> weights = {};        // parallel to the columns
  bool are_sets = false;                       // of tags: there are no weights
  // The column of each item, -1 if it has none, where the vectors may be a matrix of distances.
  // Empty: they may not.
  std::span<const Offset> item_columns = {};

  [[nodiscard]] bool are_sparse() const noexcept { return !indptr.empty(); }
};

// Groups of items that values are of, one for each bit of a word.
inline constexpr Count kMaxItemGroups = 64;
inline constexpr Count kAllItems = -1;

// The group whose relevant items a value is of. Other items are as if they were not in the truth;
// or, for the share that the group has in the value of all items, they are in it, but no hits.
struct ItemGroupRule {
  Count group = kAllItems;
  bool is_share = false;

  [[nodiscard]] bool has_all_items() const noexcept { return group == kAllItems; }
  [[nodiscard]] bool has(std::uint64_t groups_of_item) const noexcept {
    return (groups_of_item >> static_cast<unsigned>(group) & 1U) != 0;
  }
  friend bool operator==(const ItemGroupRule&, const ItemGroupRule&) = default;
};

// The catalogue. Items of equal popularity are ordered by position.
struct Items {
  std::span<const std::int64_t> ids;    // distinct
  std::span<const Count> users;         // distinct users of each item in train; empty: not known
  std::span<const Count> interactions;  // rows of each item in train; empty: not known
  std::span<const double> values = {};  // of each item, NaN: none; empty: no item has one
  Count train_users = kUnknownUsers;    // distinct users of train
  bool is_train = false;                // the catalogue is the items of train, as none was given
  std::span<const Count> groups =
      {};  // the group of each item, in [0, group_count), or -1 for none
  Count group_count = 0;
  std::optional<ItemFeatures> features = {};
  // By item, and last for all items outside the catalogue: the groups that have it, as bits.
  // Empty: no value is of a group of items.
  std::span<const std::uint64_t> group_bits = {};
};

}  // namespace exactk
