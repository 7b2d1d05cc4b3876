// What ranking a user's scores gives: as much of the list as the metrics need.
#pragma once

#include <cstdint>
#include <span>

#include "metrik/types.hpp"

namespace metrik {

struct Ranked {
  std::span<const std::int64_t> items;  // best first
  std::span<const Offset> places;       // beside the items: within the row, as it is stored
  std::span<const Count> ranks;         // beside the items; empty: 1, 2, 3, ...
  Count length = 0;                     // of the whole list
  Count scored = 0;                     // items with ids from here on have no score
};

}  // namespace metrik
