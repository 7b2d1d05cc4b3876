// What is known of the items that could be recommended.
#pragma once

#include <cstdint>
#include <span>

#include "exactk/types.hpp"

namespace exactk {

// The largest catalogue.
inline constexpr Count kMaxItems = (Count{1} << 31U) - 3;

inline constexpr Count kUnknownUsers = -1;

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
};

}  // namespace exactk
