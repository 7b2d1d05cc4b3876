// How often the items of each group are recommended, at which ranks: metrics of groups of items are
// computed from that.
#pragma once

#include <vector>

#include "exactk/types.hpp"

namespace exactk {

struct GroupTally {
  Count lists = 0;            // that are counted, empty ones included
  std::vector<Count> counts;  // ranks x groups, down to the last rank of an item that has a group
  // By group: items that lists could have counted, one per list and item. Empty for metrics that
  // read no history; the others count no item of it.
  std::vector<Count> possible;
  // By rank, down to the last one of a tie: lists whose items tie there with the next rank; if
  // ranks matter, lists whose first tie is there.
  std::vector<Count> tied_lists;
};

}  // namespace exactk
