#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/lists.hpp"
#include "exactk/metrics.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

// The golden case of tests/test_golden.py: u1 and u2 are ordinary, u3's list is shorter than k, u4
// has no list, u5 has no truth.
Input golden() {
  OwnedLists truth = lists({{1, 4}, {11, 12, 13, 14, 15, 16, 17, 18}, {21}, {1, 2}, {}});
  OwnedLists predictions =
      lists({{1, 2, 3, 4, 5}, {1, 11, 12, 2, 13}, {2, 21, 3}, {}, {1, 2, 3, 4, 5}});
  truth.present = {1, 1, 1, 1, 0};
  predictions.present = {1, 1, 1, 0, 1};
  return {.truth = std::move(truth), .predictions = std::move(predictions)};
}

TEST_CASE("given numbers are averaged as the convention says") {
  Input input = golden();
  const auto rules = [](Empty empty_truth, Average average) {
    Rules changed;
    changed.users = Users::union_;
    changed.empty_truth = empty_truth;
    changed.average = average;
    return changed;
  };
  const std::string judged(kGivenOfJudged);
  const std::string of_lists(kGivenOfLists);
  input.values = {value(judged, 5, {}, 1), value(of_lists, 5, rules(Empty::skip, {}), 0),
                  value("recall", 5), value(judged, 5, rules(Empty::compute, Average::micro), 1),
                  value(judged, 7, {}, 0)};
  input.given = {-2, 1,  3, 5, 7, 1, 2, 4, 0, 1,    // numerators and denominators of row 0
                 0,  -3, 6, 1, 9, 1, 2, 0, 4, 10};  // and of row 1: 6 / 0 is undefined
  const auto table = input.table();
  CHECK(table[0][1] == -1.5);
  CHECK(table[0][2] == 0);
  CHECK(table[0][3] == .25);
  CHECK(std::isnan(table[0][4]));
  CHECK(table[1] == std::vector<double>{-2, .5, .75, 0, 7});
  CHECK(table[2][1] == .375);
  CHECK(table[4][1] == .5);
  const Result result = input.run();
  CHECK(mean(result.sums[0]) == about((0 - 1.5 + 0 + .25) / 4));
  CHECK(real(result.sums[3].total) == 13);
  CHECK(real(result.sums[3].weight) == 17);
  input.threads = 3;
  CHECK(input.table()[1] == table[1]);
}

TEST_CASE("micro averages are sums of numerators over sums of denominators") {
  Rules rules;
  rules.average = Average::micro;
  Input input = golden();
  input.values = {value("precision", 5, rules), value("recall", 5, rules), value("f1", 5, rules)};
  rules.precision_over = Over::min_cutoff_relevant;
  input.values.push_back(value("precision", 5, rules));
  const Result result = input.run();
  const auto fraction = [&](std::size_t i, double numerator, double denominator) {
    CAPTURE(i);
    CHECK(result.sums[i].users == 4);
    CHECK(real(result.sums[i].total) == numerator);
    CHECK(real(result.sums[i].weight) == denominator);
  };
  fraction(0, 6, 20);
  fraction(1, 6, 13);
  fraction(2, 6, 16.5);
  fraction(3, 6, 10);  // implicit's "precision"
  CHECK(input.table()[1][1] == .375);
}

TEST_CASE("geometric means are sums of logarithms, and each user keeps the plain value") {
  Rules rules;
  rules.average = Average::geometric;
  Input input{.truth = lists({{1}, {2}, {3, 4}, {}}), .predictions = lists({{1}, {}, {3}, {1}})};
  input.values = {value("recall", 5, rules), value("recall", 5)};
  const auto table = input.table();
  CHECK(std::vector(table[0].begin(), table[0].end() - 1) == std::vector<double>{1, 0, .5});
  CHECK(std::isnan(table[0][3]));
  const Result result = input.run();
  CHECK(result.sums[0].users == 3);
  // ln 1 + ln 0.00001 + ln 0.5
  CHECK(real(result.sums[0].total) == -0x1.7069e2aa2aa5bp+3 - 0x1.62e42fefa39efp-1);
  CHECK(real(result.sums[1].total) == 1.5);
  input.weights = {{2, 0, 4, 1}};
  const Result weighted = input.run();
  CHECK(real(weighted.sums[0].total) == -4 * 0x1.62e42fefa39efp-1);
  CHECK(real(weighted.sums[0].weight) == 6);
}

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

TEST_CASE("repeated items that count may lead above 1, and are summed without a bound") {
  Rules rules;
  rules.duplicate_items = Duplicates::count;
  Input input{.truth = lists({{1}}),
              .predictions = lists({{1, 1, 1}}),
              .values = {value("recall", 3, rules), value("ndcg", 2, rules)}};
  const Result result = input.run();
  CHECK(result.sums[0].total.scale == 1074);
  CHECK(real(result.sums[0].total) == 3);
  CHECK(real(result.sums[0].squares) == 9);
  CHECK(real(result.sums[1].total) == about(1.630929754));
}

TEST_CASE("the tally counts users and items") {
  Input input = golden();
  input.values = {value("precision", 5)};
  const Tally tally = input.run().tally;
  CHECK(tally.empty_truth == 0);
  CHECK(tally.empty_predictions == 0);
  CHECK(tally.missing_predictions == 1);
  CHECK(tally.missing_truth == 1);
  CHECK(tally.duplicates == 0);

  Rules rules;
  rules.duplicate_items = Duplicates::first;
  Input other{.truth = lists({{1, 2, 3}, {}, {5}, {6}}),
              .grades = {1, 2, 2, 1, 2},
              .predictions = lists({{1, 1, 2, 9}, {1}, {5, 7}, {}}),
              .exclude = lists({{1, 2}, {}, {7}, {}}),
              .values = {value("precision", 5, rules)}};
  other.tally_rules.min_grade = 2;
  const Tally graded_tally = other.run().tally;
  CHECK(graded_tally.empty_truth == 2);  // the second user, and the third, whose item has grade 1
  CHECK(graded_tally.empty_predictions == 1);
  CHECK(graded_tally.missing_predictions == 0);
  CHECK(graded_tally.missing_truth == 0);
  CHECK(graded_tally.duplicates == 1);
  CHECK(graded_tally.excluded_recommended == 4);
  CHECK(graded_tally.relevant_excluded == 1);
}

TEST_CASE("a padded matrix is read up to its lengths") {
  Input input{.truth = lists({{1}, {2}, {3}}),
              .predictions = {.items = Row{1, -1, -1, 4, 2, 3, -1, -1, -1},
                              .indptr = {0, 3, 6, 9},
                              .lengths = {1, 3, 0}},
              .values = {value("reciprocal_rank"), value("num_recommended")}};
  const auto table = input.table();
  CHECK(table[0] == std::vector<double>{1, .5, 0});
  CHECK(table[1] == std::vector<double>{1, 3, 0});
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

TEST_CASE("no users") {
  Input input{.truth = lists({}), .predictions = lists({}), .values = {value("precision", 5)}};
  input.threads = 3;
  const Result result = input.run();
  REQUIRE(result.sums.size() == 1);
  CHECK(result.sums[0].users == 0);
  CHECK(real(result.sums[0].total) == 0);
}

}  // namespace
}  // namespace exactk
