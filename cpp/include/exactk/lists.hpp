// Checks of lists that do not depend on their use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "exactk/types.hpp"

namespace exactk {

// What a long check may use, and whom it lets speak meanwhile.
struct Execution {
  int threads = 1;
  std::function<void()> poll = [] {};  // called often by the calling thread; throws to cancel
};

// Throws InputError unless `threads` is from 1 to kMaxThreads. Every function that starts threads
// calls it.
void check_threads(int threads);

// Throws InputError unless offsets, lengths and presence are what they must be, and ids lie in
// [0, 2^63). Returns the bitwise "or" of the ids.
std::uint64_t validate_lists(const Lists& lists, const std::string& argument,
                             const Execution& execution = {});

// Throws InputError unless there is one finite grade an item. The lists are valid.
void validate_grades(std::span<const double> grades, const Lists& truth,
                     const Execution& execution = {});

// The length of each row of a padded matrix, less the -1 at its end; none if no row is padded. A -1
// further up is left for validate_lists to find.
[[nodiscard]] std::vector<Offset> padded_lengths(const ItemArray& items, Count rows, Count columns,
                                                 const std::string& argument);

}  // namespace exactk
