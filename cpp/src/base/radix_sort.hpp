// Radix sort of many elements by an unsigned code. No branch depends on the codes, whereas a
// comparison sort mispredicts every other comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/checkpoint.hpp"

namespace exactk {

// Sorts by code_of(element), ascending, in one stable pass per digit from the least significant on.
// Skips digits that all elements share. `buffer` is scratch space and grows to the number of
// elements.
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
    auto& offsets = counts[digit];  // destination of the next element with each digit
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
