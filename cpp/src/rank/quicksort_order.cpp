#include "exactk/quicksort_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/read_once.hpp"
#include "base/run.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

constexpr std::size_t kFewest = 16;  // shorter ranges are sorted by insertion

// Sorts the positions of one row. Ranges are at least one long, and end is behind their last.
class RowSorter {
 public:
  RowSorter(std::span<const double> numbers, std::span<std::int64_t> order, const Run& run)
      : numbers_(numbers), order_(order), run_(run) {}

  void sort() {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    std::vector<std::pair<std::size_t, std::size_t>> ranges{{0, order_.size()}};
    while (!ranges.empty()) {
      auto [begin, end] = ranges.back();
      ranges.pop_back();
      while (end - begin >= kFewest) {
        const std::size_t pivot = partition(begin, end);
        // The longer part later, so that there are few ranges.
        if (end - 1 - pivot > pivot - begin) {
          ranges.emplace_back(pivot + 1, end);
          end = pivot;
        } else {
          ranges.emplace_back(begin, pivot);
          begin = pivot + 1;
        }
      }
      insert_each(begin, end);
    }
  }

 private:
  [[nodiscard]] bool is_less(std::size_t one, std::size_t other) const {
    return precedes(number_at(one), number_at(other));
  }
  [[nodiscard]] static bool precedes(double one, double other) {
    return std::isnan(other) ? !std::isnan(one) : one < other;
  }
  [[nodiscard]] double number_at(std::size_t index) const {
    return read_once(numbers_[static_cast<std::size_t>(order_[index])]);
  }
  void swap(std::size_t one, std::size_t other) { std::swap(order_[one], order_[other]); }

  // Puts smaller numbers before the median of the first, middle and last one, larger ones after it,
  // and returns its index.
  std::size_t partition(std::size_t begin, std::size_t end) {
    count(end - begin);
    const std::size_t last = end - 1;
    const std::size_t middle = (begin + last) / 2;
    if (is_less(middle, begin)) swap(begin, middle);
    if (is_less(last, middle)) swap(middle, last);
    if (is_less(middle, begin)) swap(begin, middle);
    const double pivot = number_at(middle);
    swap(middle, last);
    std::size_t left = begin;
    std::size_t right = last;  // behind the rest that is not compared yet
    while (true) {
      while (left < last && precedes(number_at(left), pivot)) ++left;
      while (right > begin && precedes(pivot, number_at(right - 1))) --right;
      if (left + 1 >= right) break;
      swap(left, right - 1);
      ++left;
      --right;
    }
    swap(left, last);
    return left;
  }

  // Sorts a short range, or one that is empty; equal numbers stay in their order.
  void insert_each(std::size_t begin, std::size_t end) {
    for (std::size_t next = begin + 1; next < end; ++next) {
      for (std::size_t index = next; index > begin && is_less(index, index - 1); --index)
        swap(index, index - 1);
    }
  }

  void count(std::size_t compared) {
    compared_ += compared;
    if (compared_ < kChunk) return;
    compared_ = 0;
    run_.checkpoint();
  }

  std::span<const double> numbers_;
  std::span<std::int64_t> order_;
  const Run& run_;
  std::size_t compared_ = 0;
};

void check_lengths(std::span<const Count> lengths, std::size_t numbers) {
  std::size_t rest = numbers;
  for (const Count length : lengths) {
    if (length < 0 || std::cmp_greater(length, rest)) {
      throw InputError({.argument = "lengths",
                        .expected = "lengths of rows of " + std::to_string(numbers) + " numbers",
                        .found = std::to_string(length)});
    }
    rest -= static_cast<std::size_t>(length);
  }
  if (rest == 0) return;
  throw InputError({.argument = "lengths",
                    .expected = "rows of " + std::to_string(numbers) + " numbers",
                    .found = std::to_string(numbers - rest)});
}

}  // namespace

std::vector<std::int64_t> quicksort_order(std::span<const double> numbers,
                                          std::span<const Count> lengths,
                                          const Execution& execution) {
  check_lengths(lengths, numbers.size());
  const Run run(execution);
  std::vector<std::int64_t> order;
  grow(order, numbers.size(), std::int64_t{0}, run);
  std::size_t begin = 0;
  for (const Count length : lengths) {
    const auto size = static_cast<std::size_t>(length);
    RowSorter(numbers.subspan(begin, size), std::span(order).subspan(begin, size), run).sort();
    begin += size;
    run.checkpoint();
  }
  return order;
}

}  // namespace exactk
