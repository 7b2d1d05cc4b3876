// Checks of lists that do not depend on their use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "exactk/types.hpp"

namespace exactk {

// The threads that a long call may use, and the callback that it polls.
struct Execution {
  int threads = 1;
  std::function<void()> poll = [] {};  // called often by the calling thread; throws to cancel
};

// Throws InputError if `threads` is not in [1, kMaxThreads]. Every function that starts threads
// calls it.
void check_threads(int threads);

// Throws InputError if offsets, lengths or presence are invalid or an id is outside [0, 2^63).
// Returns the bitwise "or" of the ids.
std::uint64_t validate_lists(const Lists& lists, const std::string& argument,
                             const Execution& execution = {});

// Throws InputError unless there is one finite grade per item. Requires valid lists.
void validate_grades(std::span<const double> grades, const Lists& truth,
                     const Execution& execution = {});

// Returns the length of each row of a padded matrix without its trailing -1s, or nothing if no row
// is padded. A -1 elsewhere is left for validate_lists to report.
[[nodiscard]] std::vector<Offset> padded_lengths(const ItemArray& items, Count rows, Count columns,
                                                 const std::string& argument);

}  // namespace exactk
