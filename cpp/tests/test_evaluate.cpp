#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

TEST_CASE("sums of weighted values hold every bit of the products") {
  // Precisions of 1/3, 2/3 and 1 and reciprocals of primes as weights: no product is a double.
  Input input{.truth = lists({{1}, {1, 2}, {1, 2, 3}}),
              .predictions = lists({{1, 8, 9}, {1, 2, 9}, {1, 2, 3}}),
              .weights = {{1.0 / 7, 1.0 / 11, 0x1p-256}},
              .values = {value("precision", 3)}};
  const std::vector<double> values = input.table()[0];
  const Sums sums = input.run().sums[0];
  const std::size_t size = sums.total.bytes.size();
  Integer total(size);
  Integer squares(size);
  Integer weight(size);
  constexpr int kScale = 1074;
  for (std::size_t user = 0; user < values.size(); ++user) {
    const double user_weight = input.weights->at(user);
    weight.add(Integer::scaled(user_weight, kScale, size));
    total.add(Integer::scaled(user_weight, kScale / 2, size)
                  .times(Integer::scaled(values[user], kScale / 2, size)));
    const Integer third = Integer::scaled(values[user], kScale / 3, size);
    squares.add(Integer::scaled(user_weight, kScale / 3, size).times(third).times(third));
  }
  CHECK(sums.total.bytes == total.bytes());
  CHECK(sums.squares.bytes == squares.bytes());
  CHECK(sums.weight.bytes == weight.bytes());
}

TEST_CASE("squares are those of the values that are summed") {
  Input input{
      .truth = lists({{1}}), .predictions = lists({{1, 8, 9}}), .values = {value("precision", 3)}};
  const Sums sums = input.run().sums[0];
  const Integer third = Integer::scaled(1.0 / 3, sums.total.scale, sums.squares.bytes.size());
  CHECK(sums.squares.scale == 2 * sums.total.scale);
  CHECK(sums.squares.bytes == third.times(third).bytes());
}

TEST_CASE("rounding never leads above 1") {
  // In this order the sum of nearly equal gains is an ulp above that of the ideal order.
  Input input{.truth = lists({{0, 1, 2, 3}}),
              .grades = {3.1, 3.1000000000000005, 3.1000000000000005, 3.0999999999999996},
              .predictions = lists({{0, 1, 2, 3}}),
              .values = {value("ndcg", 10), value("ndcg")}};
  const auto table = input.table();
  CHECK(table[0][0] == 1);
  CHECK(table[1][0] == 1);

  Row items(400);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::int64_t>(i);
  for (int percent = 0; percent < 100; ++percent) {
    CAPTURE(percent);
    Input perfect{.truth = lists({items}),
                  .predictions = lists({items}),
                  .values = {value("rbp", kNoCutoff, {}, percent / 100.0)}};
    CHECK(perfect.table()[0][0] <= 1);
  }
}

TEST_CASE("finished users are counted, and none after a broken rule") {
  constexpr std::size_t kManyUsers = 100'000;
  const std::vector<Row> rows(kManyUsers, Row{1, 2, 3});
  Input input{.truth = lists(rows), .predictions = lists(rows), .values = {value("precision", 2)}};
  std::atomic<Count> finished = 0;
  input.finished = &finished;
  for (const int threads : {1, 2, 7}) {
    input.threads = threads;
    finished = 0;
    static_cast<void>(input.run());
    CHECK(finished == kManyUsers);
  }
  input.threads = 1;
  input.predictions.ids()[1] = 1;
  finished = 0;
  CHECK_THROWS_AS(static_cast<void>(input.run()), InputError);
  CHECK(finished == 1);
}

}  // namespace
}  // namespace exactk
