// The order of a sort that is not stable, and that programs rank with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exactk/lists.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Returns, row after row, the positions of each row's numbers in ascending order, NaN last, with
// ties as Numba's argsort leaves them: it is not stable, but a function of the numbers alone. Rows
// have these lengths. Throws InputError unless these are at least 0, and those of all numbers.
[[nodiscard]] std::vector<std::int64_t> quicksort_order(std::span<const double> numbers,
                                                        std::span<const Count> lengths,
                                                        const Execution& execution);

}  // namespace exactk
