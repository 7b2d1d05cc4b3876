// Radix sort of many elements by an unsigned code. No branch depends on the codes, whereas a
// comparison sort mispredicts every other comparison.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/run.hpp"

namespace exactk {

// Sorts a few elements by the highest of the bits in which their codes differ, which tell most
// apart, and then by insertion. Elements of equal codes keep their order. Returns false, with the
// elements in some order, if these bits tell too few apart.
template <class T, class CodeOf>
bool sort_by_high_bits(std::vector<T>& elements, std::vector<T>& buffer, const CodeOf& code_of) {
  using Code = decltype(code_of(elements.front()));
  constexpr std::size_t kPasses = 3;
  constexpr int kDigitWidth = 8;
  constexpr std::size_t kDigitValues = std::size_t{1} << kDigitWidth;
  constexpr int kWidth = kPasses * kDigitWidth;
  constexpr std::size_t kMostMoves = 4;  // per element
  const Code first_code = code_of(elements.front());
  Code differing = 0;
  for (const T& element : elements) differing |= code_of(element) ^ first_code;
  const int shift = std::max(static_cast<int>(std::bit_width(differing)) - kWidth, 0);
  const auto digit_of = [&](const T& element, std::size_t pass) -> std::size_t {
    return code_of(element) >> (shift + static_cast<int>(pass) * kDigitWidth) &
           Code{kDigitValues - 1};
  };
  buffer.resize(elements.size());
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    std::array<std::uint32_t, kDigitValues> offsets{};
    for (const T& element : elements) ++offsets[digit_of(element, pass)];
    std::uint32_t offset = 0;
    for (std::uint32_t& count : offsets) offset += std::exchange(count, offset);
    for (const T& element : elements) buffer[offsets[digit_of(element, pass)]++] = element;
    elements.swap(buffer);
  }
  std::size_t moves = 0;
  for (std::size_t i = 1; i < elements.size() && moves <= kMostMoves * elements.size(); ++i) {
    const T element = elements[i];
    std::size_t to = i;
    for (; to > 0 && code_of(elements[to - 1]) > code_of(element); --to) {
      elements[to] = elements[to - 1];
    }
    elements[to] = element;
    moves += i - to;
  }
  return moves <= kMostMoves * elements.size();
}

// Sorts by code_of(element), ascending, in one stable pass per digit from the least significant on.
// Skips digits that all elements share. `buffer` is scratch space and grows to the number of
// elements.
template <class T, class CodeOf>
void radix_sort(std::vector<T>& elements, std::vector<T>& buffer, const CodeOf& code_of,
                const Run& run) {
  using Code = decltype(code_of(elements.front()));
  constexpr unsigned kDigitWidth = 8;
  constexpr std::size_t kDigitValues = std::size_t{1} << kDigitWidth;
  constexpr std::size_t kDigits = std::numeric_limits<Code>::digits / kDigitWidth;
  const auto digit_of = [](Code code, std::size_t digit) -> std::size_t {
    return code >> (digit * kDigitWidth) & Code{kDigitValues - 1};
  };
  const std::size_t size = elements.size();
  if (size < 2) return;
  constexpr std::size_t kFew = 4096;
  if (size <= kFew && sort_by_high_bits(elements, buffer, code_of)) return;
  std::array<std::array<std::size_t, kDigitValues>, kDigits> counts{};
  in_chunks(size, run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Code code = code_of(elements[i]);
      for (std::size_t digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(code, digit)];
    }
  });
  buffer.resize(std::min(buffer.size(), size));
  grow(buffer, size, T{}, run);
  const Code first_code = code_of(elements.front());
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    auto& offsets = counts[digit];  // destination of the next element with each digit
    if (offsets[digit_of(first_code, digit)] == size) continue;
    std::size_t offset = 0;
    for (std::size_t& count : offsets) offset += std::exchange(count, offset);
    in_chunks(size, run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        buffer[offsets[digit_of(code_of(elements[i]), digit)]++] = elements[i];
      }
    });
    elements.swap(buffer);
  }
}

}  // namespace exactk
