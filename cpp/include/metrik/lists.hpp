// What can be checked of lists before it is known what they are used for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "metrik/types.hpp"

namespace metrik {

// Throws InputError. Offsets, lengths, presence, and ids in [0, 2^63).
void validate_lists(const Lists& lists, const std::string& argument);

// Throws InputError unless there is one finite grade an item. The lists are valid.
void validate_grades(std::span<const double> grades, const Lists& truth);

// The filled length of each row of a padded matrix: ids, then -1 to the end of the row.
[[nodiscard]] std::vector<Offset> padded_lengths(const ItemArray& items, Count rows, Count columns,
                                                 const std::string& argument);

}  // namespace metrik
