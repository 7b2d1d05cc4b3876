// Input rules whose violations only reading the lists reveals.
#pragma once

#include <cstdint>

namespace exactk {

// Gravest first.
enum class Violation : std::uint8_t {
  nan_score,
  duplicate_truth,
  duplicate_items,
  duplicate_base_items,
  tied_repeat,
  tied_score,
  tied_list,
  foreign_item,
  unseen_item,
  missing_features,
  missing_value,
  empty_truth,
  missing_list,
  empty_list,
  too_few_items,
  none
};

}  // namespace exactk
