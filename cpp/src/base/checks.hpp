// Checks that requests share.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/run.hpp"
#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Weights are 0, or between its inverse and this: room for the square of a sum of 2^40 of them.
inline constexpr double kMaxWeight = 0x1p256;
// Gains leave the same room.
inline constexpr double kMaxGain = 0x1p256;

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

// Throws InputError about the elements that are bad, if any; the member of the fault that locates
// the first is its position, or its row.
template <class T, class Bad>
void refuse_bad(std::span<const T> elements, const Bad& bad, const std::string& argument,
                const std::string& expected, const Run& run,
                Offset Fault::* location = &Fault::position) {
  const Search search(elements, bad, run);
  if (search.count == 0) return;
  const T first = elements[static_cast<std::size_t>(search.first)];
  Fault fault{.argument = argument,
              .expected = expected,
              .found = std::is_floating_point_v<T> ? format_number(static_cast<double>(first))
                                                   : std::to_string(first),
              .count = search.count};
  fault.*location = search.first;
  throw InputError(std::move(fault));
}

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
