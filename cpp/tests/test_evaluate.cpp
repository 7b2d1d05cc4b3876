#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "exactk/error.hpp"
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

struct GoldenValue {
  PlannedValue value;
  std::vector<double> users;  // u1 to u5
  double mean;
};

void check_golden(const std::vector<GoldenValue>& values) {
  Input input = golden();
  for (const GoldenValue& golden_value : values) input.values.push_back(golden_value.value);
  const auto table = input.table();
  const Result result = input.run();
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(values[i].value.metric);
    for (std::size_t user = 0; user < 5; ++user) {
      CAPTURE(user);
      const double expected = values[i].users[user];
      if (std::isnan(expected)) {
        CHECK(std::isnan(table[i][user]));
      } else {
        CHECK(table[i][user] == about(expected));
      }
    }
    CHECK(mean(result.sums[i]) == about(values[i].mean));
  }
}

TEST_CASE("the golden case under the standard rules") {
  check_golden({
      {value("precision", 5), {.4, .6, .2, 0, kNan}, .3},
      {value("recall", 5), {1, .375, 1, 0, kNan}, .59375},
      {value("average_precision", 5), {.75, .353333333, .5, 0, kNan}, .400833333},
      {value("ndcg", 5), {.877215315, .514771441, .630929754, 0, kNan}, .505729127},
      {value("reciprocal_rank", 5), {1, .5, .5, 0, kNan}, .5},
      {value("hit_rate", 5), {1, 1, 1, 0, kNan}, .75},
      {value("f1", 5), {.571428571, .461538462, .333333333, 0, kNan}, .341575092},
      {value("dcg", 5), {1.430676558, 1.517782720, .630929754, 0, kNan}, .894847258},
      {value("r_precision", 5), {.5, .375, 0, 0, kNan}, .21875},
      {value("average_recall", 5), {.75, .15, 1, 0, kNan}, .475},
      {value("num_hits", 5), {2, 3, 1, 0, kNan}, 1.5},
      {value("num_relevant", 5), {2, 8, 1, 2, kNan}, 3.25},
      {value("num_recommended", 5), {5, 5, 3, 0, kNan}, 3.25},
      {value("judged", 5), {.4, .6, .2, 0, kNan}, .3},
      {value("bpref", 5), {1, .375, 1, 0, kNan}, .59375},
      {value("fbeta", 5, {}, 2), {.769230769, .405405405, .555555556, 0, kNan}, .432547933},
      {value("rbp", 5, {}, .5), {.5625, .40625, .25, 0, kNan}, .3046875},
      {value("mean_precision", 5), {.546666667, .453333333, .256666667, 0, kNan}, .314166667},
      {value("set_average_precision", 5), {.4, .225, .2, 0, kNan}, .20625},
      {value("err", 5, {}, 1), {.5625, .358333333, .25, 0, kNan}, .292708333},
      {value("list_auc", 5, {}, 12), {.9, .40625, .909090909, .5, kNan}, .678835227},
  });
}

TEST_CASE("the golden case under other rules") {
  const auto rules = [](const std::function<void(Rules&)>& change) {
    Rules changed;
    change(changed);
    return changed;
  };
  const auto over_both = [](Rules& r) { r.users = Users::both; };
  check_golden({
      {value("precision", 5, rules(over_both)), {.4, .6, .2, kNan, kNan}, .4},
      {value("recall", 5, rules(over_both)), {1, .375, 1, kNan, kNan}, .791666667},
      {value("ndcg", 5, rules(over_both)),
       {.877215315, .514771441, .630929754, kNan, kNan},
       .674305503},
      {value("recall", 5, rules([](Rules& r) {
               r.users = Users::both;
               r.empty_truth = Empty::one;
             })),
       {1, .375, 1, kNan, kNan},
       .791666667},
      {value("precision", 5, rules([](Rules& r) {
               r.precision_over = Over::list;
               r.missing_list = Empty::skip;
             })),
       {.4, .6, .333333333, kNan, kNan},
       .444444444},
      {value("precision", 5, rules([](Rules& r) { r.precision_over = Over::min_cutoff_relevant; })),
       {1, .6, 1, 0, kNan},
       .65},
      {value("recall", 5, rules([](Rules& r) { r.recall_over = Over::min_cutoff_relevant; })),
       {1, .6, 1, 0, kNan},
       .65},
      {value("average_precision", 5, rules([](Rules& r) { r.ap_over = Over::relevant; })),
       {.75, .220833333, .5, 0, kNan},
       .367708333},
      {value("average_precision", 5, rules([](Rules& r) { r.ap_over = Over::hits; })),
       {.75, .588888889, .5, 0, kNan},
       .459722222},
      {value("average_precision", 5, rules([](Rules& r) { r.ap_over = Over::cutoff; })),
       {.3, .353333333, .1, 0, kNan},
       .188333333},
      {value("ndcg", 5, rules([](Rules& r) {
               r.ideal_over = Over::cutoff;
               r.gain = Gain::binary;
             })),
       {.485229, .514771, .213986, 0, kNan},
       .3034965},
      // The ideal uses all eight relevant items of u2, though the cutoff is lower.
      {value("ndcg", 2, rules([](Rules& r) { r.ideal_over = Over::all_judged; })),
       {.613147193, .159589077, .630929754, 0, kNan},
       .350916506},
      {value("ndcg", 5, rules([](Rules& r) { r.discount = Discount::log2_floored; })),
       {.75, .578842, 1, 0, kNan},
       .5822105},
      // All users count: u4 without a list, u5 without truth.
      {value("recall", 5, rules([](Rules& r) {
               r.users = Users::union_;
               r.empty_truth = Empty::one;
             })),
       {1, .375, 1, 0, 1},
       .675},
      {value("recall", 5, rules([](Rules& r) {
               r.users = Users::predictions;
               r.empty_truth = Empty::zero;
             })),
       {1, .375, 1, kNan, 0},
       .59375},
      {value("recall", 5, rules([](Rules& r) { r.missing_list = Empty::one; })),
       {1, .375, 1, 1, kNan},
       .84375},
      {value("recall", 5, rules([](Rules& r) {
               r.users = Users::union_;
               r.empty_truth = Empty::compute;
               r.undefined = Undefined::one;
             })),
       {1, .375, 1, 0, 1},
       .675},
      {value("precision", 5, rules([](Rules& r) {
               r.users = Users::union_;
               r.empty_truth = Empty::compute;
             })),
       {.4, .6, .2, 0, 0},
       .24},
  });
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

TEST_CASE("several cutoffs in any order, and no cutoff") {
  Input input = golden();
  input.values = {value("precision", 5), value("precision", 1), value("recall"),
                  value("precision", 2), value("precision"),    value("recall", 2),
                  value("precision", 5), value("ndcg", 100)};
  auto table = input.table();
  for (std::vector<double>& row : table) row.pop_back();  // u5 is NaN everywhere
  CHECK(table[0] == table[6]);
  CHECK(table[0][1] == .6);
  CHECK(table[1][0] == 1);
  CHECK(table[1][1] == 0);
  CHECK(table[3][1] == .5);
  CHECK(table[5][2] == 1);
  CHECK(table[2][1] == .375);
  CHECK(table[4][2] == 1.0 / 3);  // without a cutoff the divisor is the length of the list
  CHECK(table[7][2] == about(.630929754));
}

TEST_CASE("fbeta is precision at beta 0 and recall at beta infinity") {
  Input input = golden();
  input.values = {value("fbeta", 5, {}, 0),         value("precision", 5),
                  value("fbeta", 5, {}, kInfinity), value("recall", 5),
                  value("fbeta", 5, {}, 1),         value("f1", 5),
                  value("fbeta", 5, {}, 1e200)};
  auto table = input.table();
  for (std::vector<double>& row : table) row.pop_back();  // u5 is NaN everywhere
  CHECK(table[0] == table[1]);
  CHECK(table[2] == table[3]);
  CHECK(table[4] == table[5]);
  CHECK(table[6] == table[3]);
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

TEST_CASE("the users' numerators and denominators of micro averages are kept if asked for") {
  Rules rules;
  rules.average = Average::micro;
  rules.empty_truth = Empty::skip;
  Input input{.truth = lists({{1, 2}, {}, {3}}), .predictions = lists({{2, 5}, {1}, {4, 3}})};
  input.values = {value("precision", 2, rules), value("precision", 2), value("recall", 1, rules)};
  input.ratios.assign(12, -1);
  static_cast<void>(input.run());
  const std::vector<double> expected = {1, kNan, 1, 2, kNan, 2, 1, kNan, 0, 2, kNan, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::isnan(input.ratios[i]) == std::isnan(expected[i]));
    if (!std::isnan(expected[i])) CHECK(input.ratios[i] == expected[i]);
  }
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

TEST_CASE("undefined ratios") {
  // A user with a list but no relevant items: recall is 0 / 0.
  Input input{.truth = lists({{}, {1}}), .predictions = lists({{1, 2}, {1, 2}})};
  Rules rules;
  rules.empty_truth = Empty::compute;
  for (const Undefined undefined :
       {Undefined::zero, Undefined::one, Undefined::nan, Undefined::skip}) {
    rules.undefined = undefined;
    input.values.push_back(value("recall", 5, rules));
  }
  const auto table = input.table();
  CHECK(table[0][0] == 0);
  CHECK(table[1][0] == 1);
  CHECK(std::isnan(table[2][0]));
  CHECK(std::isnan(table[3][0]));
  const Result result = input.run();
  const auto check = [&](std::size_t i, Count users, Count undefined, double total) {
    CAPTURE(i);
    CHECK(result.sums[i].users == users);
    CHECK(result.sums[i].undefined == undefined);
    CHECK(real(result.sums[i].total) == total);
  };
  check(0, 2, 0, 1);
  check(1, 2, 0, 2);
  check(2, 2, 1, 1);
  check(3, 1, 0, 1);
}

TEST_CASE("sums hold the values, their squares and the weights") {
  Input input = golden();
  input.values = {value("precision", 5), value("dcg", 5)};
  Result result = input.run();
  CHECK(result.sums[0].users == 4);
  CHECK(result.sums[0].total.scale == 80);
  CHECK(result.sums[1].total.scale == 1074);
  CHECK(real(result.sums[0].total) == about(1.2));
  CHECK(real(result.sums[0].squares) == about(.56));
  CHECK(real(result.sums[0].weight) == 0);  // without weights the divisor is the number of users

  input.weights = {{2, .5, 0, 1, 100}};
  result = input.run();
  CHECK(result.sums[0].users == 4);
  CHECK(real(result.sums[0].total) == about(1.1));
  CHECK(real(result.sums[0].squares) == about(.5));
  CHECK(real(result.sums[0].weight) == 3.5);
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

TEST_CASE("micro averages are weighted too") {
  Rules rules;
  rules.average = Average::micro;
  Input input = golden();
  input.values = {value("recall", 5, rules)};
  input.weights = {{2, .5, 3, 4, 7}};
  const Result result = input.run();
  CHECK(real(result.sums[0].total) == (2 * 2) + (.5 * 3) + (3 * 1));
  CHECK(real(result.sums[0].weight) == (2 * 2) + (.5 * 8) + (3 * 1) + (4 * 2));
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

TEST_CASE("excluded items do not count towards the cutoff") {
  Input input{.truth = lists({{5, 6}}),
              .predictions = lists({{1, 5, 2, 6, 3}}),
              .exclude = lists({{1, 2, 99}}),
              .values = {value("precision", 2), value("reciprocal_rank"), value("precision", 5)}};
  const auto table = input.table();
  CHECK(table[0][0] == 1);
  CHECK(table[1][0] == 1);
  CHECK(table[2][0] == .4);
}

TEST_CASE("graded gains") {
  Input input{.truth = lists({{1, 2, 3}}), .grades = {1, 3, 0}, .predictions = lists({{3, 1, 2}})};
  Rules exponential;
  exponential.gain = Gain::exp2;
  Rules table_rules;
  table_rules.gain = Gain::table;
  table_rules.gain_table = {0, 1, 5, 8};
  input.values = {value("dcg", 3),
                  value("dcg", 3, exponential),
                  value("dcg", 3, table_rules),
                  value("ndcg", 3),
                  value("ndcg", 1),
                  value("bpref"),
                  value("judged", 3)};
  const auto table = input.table();
  const double second = 1 / std::log2(3);
  CHECK(table[0][0] == about(second + 1.5));
  CHECK(table[1][0] == about(second + 3.5));
  CHECK(table[2][0] == about(second + 4));
  CHECK(table[3][0] == about((second + 1.5) / (3 + second)));
  CHECK(table[4][0] == 0);
  CHECK(table[5][0] == 0);
  CHECK(table[6][0] == 1);
}

TEST_CASE("bpref counts the judged non-relevant items above each hit, up to |T|") {
  // Two relevant items, 1 and 2, and three judged non-relevant ones.
  Input input{.truth = lists({{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {1, 2, 3}}),
              .grades = {1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0},
              .predictions = lists({{3, 1, 9, 4, 5, 2}, {9, 1, 8, 2}, {3, 1, 2}}),
              .values = {value("bpref"), value("bpref", 2)}};
  const auto table = input.table();
  CHECK(table[0] == std::vector<double>{.25, 1, 0});
  CHECK(table[1] == std::vector<double>{.25, .5, 0});
}

TEST_CASE("items with negative grades are judged or unjudged, and gain nothing") {
  Rules unjudged;
  unjudged.negative_grades = NegativeGrades::unjudged;
  Rules zero_gain;
  zero_gain.negative_grades = NegativeGrades::zero_gain;
  Rules relevant = zero_gain;  // and of gain 0
  relevant.min_grade = -1;
  Input input{.truth = lists({{1, 2, 3, 4}}),
              .grades = {2, -1, 0, 1},
              .predictions = lists({{2, 1, 3, 4}}),
              .values = {value("bpref"), value("bpref", kNoCutoff, unjudged),
                         value("bpref", kNoCutoff, zero_gain), value("judged", 4),
                         value("judged", 4, unjudged), value("dcg", 4, unjudged),
                         value("dcg", 4, zero_gain), value("dcg", 4, relevant),
                         value("precision", 4, relevant)}};
  const auto table = input.table();
  const double gained = 2 / std::log2(3) + 1 / std::log2(5);
  CHECK(table[0][0] == about(.25));
  CHECK(table[1][0] == about(.5));
  CHECK(table[2][0] == about(.25));
  CHECK(table[3][0] == 1);
  CHECK(table[4][0] == about(.75));
  CHECK(table[5][0] == about(gained));
  CHECK(table[6][0] == about(gained));
  CHECK(table[7][0] == about(gained));
  CHECK(table[8][0] == 1);
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

TEST_CASE("predictions with every id type") {
  const auto reciprocal_rank = [](OwnedItems items) {
    Input input{.truth = lists({{7}}),
                .predictions = {.items = std::move(items), .indptr = {0, 3}},
                .values = {value("reciprocal_rank")}};
    return input.table()[0][0];
  };
  CHECK(reciprocal_rank(std::vector<std::int32_t>{1, 7, 2}) == .5);
  CHECK(reciprocal_rank(std::vector<std::int64_t>{1, 7, 2}) == .5);
  CHECK(reciprocal_rank(std::vector<std::uint32_t>{1, 7, 2}) == .5);
  CHECK(reciprocal_rank(std::vector<std::uint64_t>{1, 7, 2}) == .5);
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
