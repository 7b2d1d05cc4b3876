// Sorts many elements by a number that each has, without comparing them: no branch depends on the
// numbers, where a sort by comparisons takes a wrong one at every other comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/checkpoint.hpp"

namespace exactk {

// By code_of(element), an unsigned number, least first: from its last digit to its first, each time
// without changing the order of those that share the digit. A digit that all share is left out.
// `buffer` is what the elements are moved to and fro, as large as they are.
template <class T, class CodeOf>
void radix_sort(std::vector<T>& elements, std::vector<T>& buffer, const CodeOf& code_of,
                const Checkpoint& checkpoint) {
  using Code = decltype(code_of(elements.front()));
  constexpr unsigned kDigitWidth = 8;
  constexpr std::size_t kDigitValues = std::size_t{1} << kDigitWidth;
  constexpr std::size_t kDigits = std::numeric_limits<Code>::digits / kDigitWidth;
  const auto digit_of = [](Code code, std::size_t digit) -> std::size_t {
    return code >> (digit * kDigitWidth) & Code{kDigitValues - 1};
  };
  const std::size_t size = elements.size();
  if (size < 2) return;
  std::array<std::array<std::size_t, kDigitValues>, kDigits> counts{};
  in_chunks(size, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Code code = code_of(elements[i]);
      for (std::size_t digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(code, digit)];
    }
  });
  buffer.resize(std::min(buffer.size(), size));
  grow(buffer, size, T{}, checkpoint);
  const Code first_code = code_of(elements.front());
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    auto& offsets = counts[digit];  // where the next element with a digit goes
    if (offsets[digit_of(first_code, digit)] == size) continue;
    std::size_t offset = 0;
    for (std::size_t& count : offsets) offset += std::exchange(count, offset);
    in_chunks(size, checkpoint, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        buffer[offsets[digit_of(code_of(elements[i]), digit)]++] = elements[i];
      }
    });
    elements.swap(buffer);
  }
}

}  // namespace exactk
