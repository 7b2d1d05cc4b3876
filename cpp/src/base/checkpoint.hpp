// Checkpoints of long loops: they let signals be handled and cancel an evaluation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace exactk {

// Returns at once, or throws to end the loop. Cheap enough to call every few thousand elements.
using Checkpoint = std::function<void()>;

// Elements between two checkpoints: a few milliseconds of work, even with a cache miss per element.
inline constexpr std::size_t kChunk = std::size_t{1} << 16U;

// Runs body(begin, end) over [0, size), with a checkpoint after each whole chunk.
template <class Body>
void in_chunks(std::size_t size, const Checkpoint& checkpoint, const Body& body,
               std::size_t chunk_size = kChunk) {
  std::size_t begin = 0;
  for (; size - begin >= chunk_size; begin += chunk_size) {
    body(begin, begin + chunk_size);
    checkpoint();
  }
  if (begin < size) body(begin, size);
}

// Grows the vector to `size` with copies of `value`, checking in between because the first touch of
// gigabytes takes seconds.
template <class T>
void grow(std::vector<T>& elements, std::size_t size, const T& value,
          const Checkpoint& checkpoint) {
  if (size <= elements.size()) return;
  elements.reserve(size);
  in_chunks(size - elements.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    elements.insert(elements.end(), end - begin, value);
  });
}

// Runs a comparison-based algorithm with a checkpoint every kChunk comparisons.
template <class T, class Before, class Algorithm>
void with_counted_comparisons(std::span<T> elements, const Before& before,
                              const Checkpoint& checkpoint, const Algorithm& algorithm) {
  if (elements.size() < kChunk) {
    algorithm(before);
    return;
  }
  std::size_t comparisons = 0;
  algorithm([&](const T& one, const T& other) {
    if (++comparisons % kChunk == 0) checkpoint();
    return before(one, other);
  });
}

template <class T, class Before>
void sort(std::span<T> elements, const Before& before, const Checkpoint& checkpoint) {
  with_counted_comparisons(elements, before, checkpoint,
                           [&](const auto& counted) { std::ranges::sort(elements, counted); });
}

// Partitions like std::nth_element: moves the first `count` elements of the order (at least one) to
// the front, the last of them at the end of that part.
template <class T, class Before>
void move_first(std::span<T> elements, std::size_t count, const Before& before,
                const Checkpoint& checkpoint) {
  const auto last = elements.begin() + static_cast<std::ptrdiff_t>(count - 1);
  with_counted_comparisons(elements, before, checkpoint, [&](const auto& counted) {
    std::ranges::nth_element(elements, last, counted);
  });
}

}  // namespace exactk
