// Checks that requests share.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/run.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Weights are 0, or between its inverse and this: room for the square of a sum of 2^40 of them.
inline constexpr double kMaxWeight = 0x1p256;

// Counts bad elements and finds the first, so that a message can state both.
template <class Range, class Bad>
struct Search {
  Count count = 0;
  Offset first = -1;

  Search(const Range& range, const Bad& bad, const Run& run) {
    in_chunks(range.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (bad(range[i]) && count++ == 0) first = static_cast<Offset>(i);
      }
    });
  }
};

// Returns the name of an element of an argument, such as tables[2].
inline std::string element(const std::string& argument, std::size_t index) {
  return argument + "[" + std::to_string(index) + "]";
}

// Throws InputError unless `size` is `expected`; `what` describes the elements that are counted.
void check_size(std::size_t size, Count expected, const std::string& argument,
                const std::string& what);

// Throws InputError unless there is one valid weight per user.
void check_weights(std::span<const double> weights, Count users, const Run& run);

// Throws InputError unless there are at most as many codes as users, and one code per user, each
// below their number. `noun` is what a code stands for, and `argument` is its plural.
void check_codes(std::span<const Offset> codes, Count code_count, Count users,
                 const std::string& noun, const Run& run);

}  // namespace exactk
