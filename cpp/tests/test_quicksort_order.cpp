#include "common.hpp"
#include "exactk/quicksort_order.hpp"

namespace exactk {
namespace {

using Positions = std::vector<std::int64_t>;

Positions order_of(const std::vector<double>& numbers, const std::vector<Count>& lengths) {
  return quicksort_order(numbers, lengths, {.threads = 1, .poll = [] {}});
}

Positions order_of_row(const std::vector<double>& numbers) {
  return order_of(numbers, {std::ssize(numbers)});
}

TEST_CASE("ties are left as Numba leaves them") {
  CHECK(order_of_row(std::vector<double>(16)) ==
        Positions{14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15});
  std::vector<double> numbers;
  for (int i = 0; i < 24; ++i) numbers.push_back(i * 7 % 5);
  CHECK(order_of_row(numbers) == Positions{0,  20, 15, 5, 10, 18, 13, 8,  23, 3, 6,  11,
                                           16, 1,  21, 9, 4,  14, 19, 12, 17, 2, 22, 7});
}

TEST_CASE("short rows keep the order of ties") {
  CHECK(order_of_row({2, 1, 2, 1, 1}) == Positions{1, 3, 4, 0, 2});
  CHECK(order_of({1, 0, 3, 3, 2}, {2, 0, 3}) == Positions{1, 0, 2, 0, 1});
  CHECK(order_of({}, {}).empty());
}

TEST_CASE("numbers ascend, and NaN is last") {
  std::mt19937_64 random(3);
  for (const int distinct : {1, 2, 20, 100'000}) {
    for (const std::size_t size : {15U, 16U, 17U, 100U, 3000U}) {
      CAPTURE(distinct);
      CAPTURE(size);
      std::vector<double> numbers(size);
      for (double& number : numbers)
        number = static_cast<double>(random() % static_cast<unsigned>(distinct));
      numbers[size / 2] = std::numeric_limits<double>::quiet_NaN();
      Positions order = order_of_row(numbers);
      CHECK(std::isnan(numbers[static_cast<std::size_t>(order.back())]));
      CHECK(std::ranges::is_sorted(order.begin(), order.end() - 1, {}, [&](std::int64_t position) {
        return numbers[static_cast<std::size_t>(position)];
      }));
      std::ranges::sort(order);
      for (std::size_t i = 0; i < size; ++i) CHECK(order[i] == static_cast<std::int64_t>(i));
    }
  }
}

TEST_CASE("F02: lengths must be those of the numbers") {
  CHECK_THROWS_AS(order_of({1, 2}, {1}), InputError);
  CHECK_THROWS_AS(order_of({1, 2}, {3}), InputError);
  CHECK_THROWS_AS(order_of({1, 2}, {3, -1}), InputError);
  CHECK_THROWS_AS(order_of({1, 2}, {std::numeric_limits<Count>::max(), 2}), InputError);
}

}  // namespace
}  // namespace exactk
