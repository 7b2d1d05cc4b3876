// The order of a sort that is not stable, and that ranx ranks with.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/error.hpp"
#include "gil.hpp"

namespace exactk::bindings {
namespace {

constexpr std::size_t kFewest = 16;  // shorter ranges are sorted by insertion
constexpr std::size_t kComparedBetweenPolls = std::size_t{1} << 20U;  // some milliseconds

// Sorts positions as Numba's argsort does: ties depend on the numbers alone.
class Quicksort {
 public:
  explicit Quicksort(std::span<const double> numbers)
      : numbers_(numbers.begin(), numbers.end()), order_(numbers.size()) {}

  void sort_row(std::size_t row_begin, std::size_t row_end) {
    const auto row = std::span(order_).subspan(row_begin, row_end - row_begin);
    std::iota(row.begin(), row.end(), static_cast<std::int64_t>(row_begin));
    std::vector<std::pair<std::size_t, std::size_t>> ranges{{row_begin, row_end}};
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
    for (std::int64_t& position : row) position -= static_cast<std::int64_t>(row_begin);
  }
  [[nodiscard]] std::vector<std::int64_t>&& take_order() noexcept { return std::move(order_); }

 private:
  // NaN is last.
  [[nodiscard]] static bool precedes(double one, double other) {
    return std::isnan(other) ? !std::isnan(one) : one < other;
  }
  [[nodiscard]] double number_at(std::size_t index) const {
    return numbers_[static_cast<std::size_t>(order_[index])];
  }
  void put_in_order(std::size_t one, std::size_t other) {
    if (precedes(number_at(other), number_at(one))) std::swap(order_[one], order_[other]);
  }

  // Puts smaller numbers before the median of the first, middle and last one, larger ones after it,
  // and returns its index.
  std::size_t partition(std::size_t begin, std::size_t end) {
    poll(end - begin);
    const std::size_t last = end - 1;
    const std::size_t middle = (begin + last) / 2;
    put_in_order(begin, middle);
    put_in_order(middle, last);
    put_in_order(begin, middle);
    const double pivot = number_at(middle);
    std::swap(order_[middle], order_[last]);
    std::size_t left = begin;
    std::size_t right = last;  // behind the rest that is not compared yet
    while (true) {
      while (left < last && precedes(number_at(left), pivot)) ++left;
      while (right > begin && precedes(pivot, number_at(right - 1))) --right;
      if (left + 1 >= right) break;
      std::swap(order_[left], order_[right - 1]);
      ++left;
      --right;
    }
    std::swap(order_[left], order_[last]);
    return left;
  }

  // Sorts a short range, or one that is empty; equal numbers stay in their order.
  void insert_each(std::size_t begin, std::size_t end) {
    poll(end - begin);
    for (std::size_t next = begin + 1; next < end; ++next) {
      for (std::size_t index = next; index > begin; --index) {
        if (!precedes(number_at(index), number_at(index - 1))) break;
        std::swap(order_[index], order_[index - 1]);
      }
    }
  }

  void poll(std::size_t compared) {
    compared_ += compared;
    if (compared_ < kComparedBetweenPolls) return;
    compared_ = 0;
    poll_signals();
  }

  std::vector<double> numbers_;  // a copy, which no thread changes
  std::vector<std::int64_t> order_;
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

py::array_t<std::int64_t> quicksort_order(const py::array& numbers, const py::array& lengths) {
  const auto values = view<double>(numbers, "numbers");
  const auto row_lengths = snapshot<Count>(lengths, "lengths");
  check_lengths(row_lengths, values.size());
  std::vector<std::int64_t> order = [&] {
    const GilRelease release;
    Quicksort quicksort(values);
    std::size_t begin = 0;
    for (const Count length : row_lengths) {
      const std::size_t end = begin + static_cast<std::size_t>(length);
      quicksort.sort_row(begin, end);
      begin = end;
    }
    return quicksort.take_order();
  }();
  return array_of(std::move(order));
}

}  // namespace

void bind_quicksort_order(py::module_& module) {
  module.def("quicksort_order", &quicksort_order, py::arg("numbers").noconvert(),
             py::arg("lengths").noconvert(),
             "Return the positions of each row's numbers in ascending order, with ties as Numba's "
             "argsort leaves them; rows have these lengths.");
}

}  // namespace exactk::bindings
