#include <doctest/doctest.h>

#include <algorithm>
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

#include "metrik/error.hpp"
#include "metrik/evaluate.hpp"
#include "metrik/lists.hpp"
#include "metrik/metrics.hpp"
#include "support.hpp"

namespace metrik {
namespace {

using tests::Integer;
using tests::real;

using Row = std::vector<std::int64_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

using Items = std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>,
                           std::vector<std::uint32_t>, std::vector<std::uint64_t>>;

// Lists that own their arrays.
struct Owned {
  Items items;
  std::vector<Offset> indptr;
  std::vector<Offset> lengths = {};
  std::vector<std::uint8_t> present = {};

  [[nodiscard]] Lists view() const {
    const ItemArray array = std::visit(
        [](const auto& ids) -> ItemArray { return std::span(ids.data(), ids.size()); }, items);
    return {.items = array, .indptr = indptr, .lengths = lengths, .present = present};
  }
  [[nodiscard]] Row& ids() { return std::get<Row>(items); }
};

Owned lists(const std::vector<Row>& rows) {
  Owned owned{.items = Row{}, .indptr = {0}};
  for (const Row& row : rows) {
    owned.ids().insert(owned.ids().end(), row.begin(), row.end());
    owned.indptr.push_back(static_cast<Offset>(owned.ids().size()));
  }
  return owned;
}

// A request that owns what it looks at.
struct Input {
  Owned truth;
  std::vector<double> grades = {};
  Owned predictions;
  std::optional<Owned> exclude = {};
  std::optional<std::vector<double>> weights = {};
  std::vector<Offset> groups = {};
  Count group_count = 1;
  std::vector<PlannedValue> values = {};
  Rules tally_rules = {};
  std::vector<double> per_user = {};
  int threads = 1;
  std::function<void()> poll = [] {};

  Result run() {
    std::optional<Lists> excluded;
    if (exclude) excluded = exclude->view();
    std::optional<std::span<const double>> weighted;
    if (weights) weighted = *weights;
    return evaluate({.truth = truth.view(),
                     .grades = grades,
                     .predictions = predictions.view(),
                     .exclude = excluded,
                     .weights = weighted,
                     .groups = groups,
                     .group_count = group_count,
                     .values = values,
                     .tally_rules = tally_rules,
                     .per_user = per_user,
                     .threads = threads,
                     .poll = poll});
  }
  // One row a value.
  std::vector<std::vector<double>> table() {
    const auto users = truth.indptr.size() - 1;
    per_user.assign(values.size() * users, -1);
    static_cast<void>(run());
    std::vector<std::vector<double>> rows;
    for (auto at = per_user.begin(); at != per_user.end();) {
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(users));
      at += static_cast<std::ptrdiff_t>(users);
    }
    return rows;
  }
};

PlannedValue value(std::string metric, Count cutoff = kNoCutoff, Rules rules = {},
                   double parameter = 1) {
  return {.metric = std::move(metric),
          .cutoff = cutoff,
          .parameter = parameter,
          .rules = std::move(rules)};
}

double mean(const Sums& sums) { return real(sums.total) / static_cast<double>(sums.users); }

constexpr double kTolerance = 1e-6;  // of numbers that are written with six digits
doctest::Approx about(double expected) { return doctest::Approx(expected).epsilon(kTolerance); }

// CONVENTIONS.md, section 1: u1 and u2 as usual, u3 with a list shorter than k, u4 without a list,
// u5 without truth.
Input golden() {
  Owned truth = lists({{1, 4}, {11, 12, 13, 14, 15, 16, 17, 18}, {21}, {1, 2}, {}});
  Owned predictions = lists({{1, 2, 3, 4, 5}, {1, 11, 12, 2, 13}, {2, 21, 3}, {}, {1, 2, 3, 4, 5}});
  truth.present = {1, 1, 1, 1, 0};
  predictions.present = {1, 1, 1, 0, 1};
  return {.truth = std::move(truth), .predictions = std::move(predictions)};
}

struct Wanted {
  PlannedValue value;
  std::vector<double> users;  // u1 to u5
  double mean;
};

void check_golden(const std::vector<Wanted>& wanted) {
  Input input = golden();
  for (const Wanted& one : wanted) input.values.push_back(one.value);
  const auto table = input.table();
  const Result result = input.run();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(wanted[i].value.metric);
    for (std::size_t user = 0; user < 5; ++user) {
      CAPTURE(user);
      const double expected = wanted[i].users[user];
      if (std::isnan(expected)) {
        CHECK(std::isnan(table[i][user]));
      } else {
        CHECK(table[i][user] == about(expected));
      }
    }
    CHECK(mean(result.sums[i]) == about(wanted[i].mean));
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
      // The ideal of all eight relevant items of u2, though the cutoff is below them.
      {value("ndcg", 2, rules([](Rules& r) { r.ideal_over = Over::all_judged; })),
       {.613147193, .159589077, .630929754, 0, kNan},
       .350916506},
      {value("ndcg", 5, rules([](Rules& r) { r.discount = Discount::log2_floored; })),
       {.75, .578842, 1, 0, kNan},
       .5822105},
      // Everybody counts: u4 without a list, u5 without truth.
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

TEST_CASE("several cutoffs in any order, and none") {
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
  CHECK(table[4][2] == 1.0 / 3);  // without a cutoff the list is what was asked for
  CHECK(table[7][2] == about(.630929754));
}

TEST_CASE("fbeta reaches precision at 0 and recall at infinity") {
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

TEST_CASE("undefined ratios") {
  // A user with a list and nothing relevant: recall is 0 / 0.
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
    const double one = input.weights->at(user);
    weight.add(Integer::scaled(one, kScale, size));
    total.add(Integer::scaled(one, kScale / 2, size)
                  .times(Integer::scaled(values[user], kScale / 2, size)));
    const Integer third = Integer::scaled(values[user], kScale / 3, size);
    squares.add(Integer::scaled(one, kScale / 3, size).times(third).times(third));
  }
  CHECK(sums.total.bytes == total.bytes());
  CHECK(sums.squares.bytes == squares.bytes());
  CHECK(sums.weight.bytes == weight.bytes());
}

TEST_CASE("squares are those of the values as they are summed") {
  Input input{
      .truth = lists({{1}}), .predictions = lists({{1, 8, 9}}), .values = {value("precision", 3)}};
  const Sums sums = input.run().sums[0];
  const Integer third = Integer::scaled(1.0 / 3, sums.total.scale, sums.squares.bytes.size());
  CHECK(sums.squares.scale == 2 * sums.total.scale);
  CHECK(sums.squares.bytes == third.times(third).bytes());
}

TEST_CASE("no rounding leads beyond 1") {
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

TEST_CASE("repeated items that count may lead beyond 1, and are summed without a bound") {
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

TEST_CASE("the tally counts what was seen") {
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
  const Tally seen = other.run().tally;
  CHECK(seen.empty_truth == 2);  // the second user, and the third, whose item has grade 1
  CHECK(seen.empty_predictions == 1);
  CHECK(seen.missing_predictions == 0);
  CHECK(seen.missing_truth == 0);
  CHECK(seen.duplicates == 1);
  CHECK(seen.excluded_recommended == 4);
  CHECK(seen.relevant_excluded == 1);
}

TEST_CASE("excluded items do not fill places before the cut") {
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

TEST_CASE("a padded matrix is read as far as its lengths") {
  Input input{.truth = lists({{1}, {2}, {3}}),
              .predictions = {.items = Row{1, -1, -1, 4, 2, 3, -1, -1, -1},
                              .indptr = {0, 3, 6, 9},
                              .lengths = {1, 3, 0}},
              .values = {value("reciprocal_rank"), value("num_recommended")}};
  const auto table = input.table();
  CHECK(table[0] == std::vector<double>{1, .5, 0});
  CHECK(table[1] == std::vector<double>{1, 3, 0});
}

TEST_CASE("predictions of every type of id") {
  const auto reciprocal_rank = [](Items items) {
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

TEST_CASE("no users at all") {
  Input input{.truth = lists({}), .predictions = lists({}), .values = {value("precision", 5)}};
  input.threads = 3;
  const Result result = input.run();
  REQUIRE(result.sums.size() == 1);
  CHECK(result.sums[0].users == 0);
  CHECK(real(result.sums[0].total) == 0);
}

// --- the same bytes whatever the threads, groups and splits ---

// All metrics at two cutoffs, under two sets of rules, on lists of which every kind occurs.
Input random_input(std::size_t users, bool weighted) {
  std::mt19937_64 random(7);
  const auto draw = [&](std::size_t most) {
    Row row(random() % (most + 1));
    for (std::int64_t& id : row) id = static_cast<std::int64_t>(random() % 60);
    return row;
  };
  std::vector<Row> truth;
  std::vector<Row> predictions;
  std::vector<Row> exclude;
  Input input{.truth = {}, .predictions = {}};
  if (weighted) input.weights.emplace();
  for (std::size_t user = 0; user < users; ++user) {
    truth.push_back(draw(12));
    predictions.push_back(draw(30));
    exclude.push_back(draw(4));
    for (std::size_t i = 0; i < truth.back().size(); ++i) {
      input.grades.push_back(static_cast<double>(random() % 5));
    }
    if (weighted) input.weights->push_back(static_cast<double>(random() % 1000) / 7);
  }
  input.truth = lists(truth);
  input.predictions = lists(predictions);
  input.exclude = lists(exclude);
  Rules rules;
  rules.duplicate_items = Duplicates::first;
  rules.duplicate_truth = Duplicates::max;
  input.tally_rules = rules;
  Rules other = rules;
  other.duplicate_items = Duplicates::count;
  other.duplicate_truth = Duplicates::count;
  other.gain = Gain::exp2;
  other.users = Users::union_;
  other.empty_truth = Empty::compute;
  other.undefined = Undefined::nan;
  other.min_grade = 2;
  Rules micro = rules;
  micro.average = Average::micro;
  for (const MetricInfo& info : metric_table()) {
    for (const Count cutoff : {Count{3}, kNoCutoff}) {
      const double parameter = info.parameter.name.empty() ? 0 : info.parameter.standard;
      const std::string name(info.name);
      input.values.push_back(value(name, cutoff, rules, parameter));
      input.values.push_back(value(name, cutoff, other, parameter));
      if (info.micro) input.values.push_back(value(name, cutoff, micro, parameter));
    }
  }
  return input;
}

void check_equal(const ExactInteger& found, const ExactInteger& expected) {
  CHECK(found.scale == expected.scale);
  CHECK(found.bytes == expected.bytes);
}

void check_equal(const std::vector<Sums>& found, const std::vector<Sums>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].users == expected[i].users);
    CHECK(found[i].undefined == expected[i].undefined);
    check_equal(found[i].total, expected[i].total);
    check_equal(found[i].squares, expected[i].squares);
    check_equal(found[i].weight, expected[i].weight);
  }
}

void check_equal(const Tally& found, const Tally& expected) {
  CHECK(found.empty_truth == expected.empty_truth);
  CHECK(found.empty_predictions == expected.empty_predictions);
  CHECK(found.missing_predictions == expected.missing_predictions);
  CHECK(found.missing_truth == expected.missing_truth);
  CHECK(found.duplicates == expected.duplicates);
  CHECK(found.excluded_recommended == expected.excluded_recommended);
  CHECK(found.relevant_excluded == expected.relevant_excluded);
}

// NaN equals NaN here.
bool same_numbers(std::span<const double> found, std::span<const double> expected) {
  return std::ranges::equal(found, expected, [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  });
}

void add_to(ExactInteger& sum, const ExactInteger& term) {
  REQUIRE(sum.scale == term.scale);
  Integer integer(sum);
  integer.add(Integer(term));
  sum.bytes = integer.bytes();
}

void add_to(std::vector<Sums>& sums, std::span<const Sums> terms) {
  if (sums.empty()) {
    sums.assign(terms.begin(), terms.end());
    return;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].users += terms[i].users;
    sums[i].undefined += terms[i].undefined;
    add_to(sums[i].total, terms[i].total);
    add_to(sums[i].squares, terms[i].squares);
    add_to(sums[i].weight, terms[i].weight);
  }
}

Owned rows_of(const Owned& whole, std::size_t begin, std::size_t end) {
  const auto& ids = std::get<Row>(whole.items);
  const Offset first = whole.indptr[begin];
  Owned part{.items = Row(ids.begin() + first, ids.begin() + whole.indptr[end]), .indptr = {}};
  for (std::size_t i = begin; i <= end; ++i) part.indptr.push_back(whole.indptr[i] - first);
  return part;
}

Input users_of(const Input& whole, std::size_t begin, std::size_t end) {
  Input part = whole;
  part.truth = rows_of(whole.truth, begin, end);
  part.predictions = rows_of(whole.predictions, begin, end);
  part.exclude = rows_of(*whole.exclude, begin, end);
  part.grades.assign(whole.grades.begin() + whole.truth.indptr[begin],
                     whole.grades.begin() + whole.truth.indptr[end]);
  if (whole.weights) {
    part.weights->assign(whole.weights->begin() + static_cast<std::ptrdiff_t>(begin),
                         whole.weights->begin() + static_cast<std::ptrdiff_t>(end));
  }
  return part;
}

TEST_CASE("any number of threads gives the same bytes") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    Input input = random_input(4000, weighted);
    const auto table = input.table();
    const Result expected = input.run();
    for (const int threads : {1, 2, 3, 7}) {
      CAPTURE(threads);
      input.threads = threads;
      const Result result = input.run();
      check_equal(result.sums, expected.sums);
      check_equal(result.tally, expected.tally);
      const auto again = input.table();
      for (std::size_t i = 0; i < table.size(); ++i) CHECK(same_numbers(again[i], table[i]));
    }
  }
}

TEST_CASE("the sums of a split add up to those of the whole") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const Input whole = random_input(700, weighted);
    Input input = whole;
    const Result expected = input.run();
    for (const std::vector<std::size_t>& cuts :
         std::vector<std::vector<std::size_t>>{{0, 350, 700}, {0, 1, 2, 699, 700}, {0, 0, 700}}) {
      std::vector<Sums> sums;
      Tally tally;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        Input part = users_of(whole, cuts[i], cuts[i + 1]);
        const Result result = part.run();
        add_to(sums, result.sums);
        tally.add(result.tally);
      }
      check_equal(sums, expected.sums);
      check_equal(tally, expected.tally);
    }
  }
}

TEST_CASE("groups hold the sums of their users") {
  constexpr Count kGroups = 4;  // the last stays empty
  constexpr std::size_t kUsers = 600;
  for (const bool weighted : {false, true}) {
    const Input whole = random_input(kUsers, weighted);
    Input input = whole;
    const Result ungrouped = input.run();
    input.group_count = kGroups;
    for (std::size_t user = 0; user < kUsers; ++user) {
      input.groups.push_back(static_cast<Offset>(user * user % 3));
    }
    for (const int threads : {1, 3}) {
      CAPTURE(threads);
      input.threads = threads;
      const Result result = input.run();
      const std::size_t values = input.values.size();
      REQUIRE(result.sums.size() == values * kGroups);
      check_equal(result.tally, ungrouped.tally);

      std::vector<Sums> sums;
      for (std::size_t group = 0; group < kGroups; ++group) {
        const std::span<const Sums> of_group(result.sums.data() + group * values, values);
        add_to(sums, of_group);
        std::vector<Sums> expected;
        for (std::size_t user = 0; user < kUsers; ++user) {
          if (user * user % 3 != group) continue;
          Input alone = users_of(whole, user, user + 1);
          add_to(expected, alone.run().sums);
        }
        if (expected.empty()) {
          CHECK(std::ranges::all_of(of_group, [](const Sums& one) {
            return one.users == 0 && real(one.total) == 0 && real(one.weight) == 0;
          }));
        } else {
          check_equal({of_group.begin(), of_group.end()}, expected);
        }
      }
      check_equal(sums, ungrouped.sums);
    }
  }
}

TEST_CASE("per-user values do not depend on the company") {
  const Input whole = random_input(50, false);
  Input input = whole;
  const auto table = input.table();
  for (std::size_t user = 0; user < 50; ++user) {
    CAPTURE(user);
    Input alone = users_of(whole, user, user + 1);
    const auto row = alone.table();
    for (std::size_t i = 0; i < table.size(); ++i) {
      CHECK(same_numbers(row[i], std::span(&table[i][user], 1)));
    }
  }
}

TEST_CASE("metrics that promise the unit range keep it under any divisors") {
  Input input = random_input(300, false);
  input.values.clear();
  Rules rules;
  rules.duplicate_items = Duplicates::first;
  rules.duplicate_truth = Duplicates::count;
  const std::span<const ConventionField> fields = convention_fields();
  for (const std::string_view name : {"precision_over", "recall_over", "ap_over", "ideal_over"}) {
    const auto field = std::ranges::find(fields, name, &ConventionField::name);
    REQUIRE(field != fields.end());
    for (const std::uint8_t choice : field->choices) {
      Rules changed = rules;
      field->set(changed, choice);
      if (changed.ideal_over == Over::cutoff) changed.gain = Gain::binary;
      for (const MetricInfo& info : metric_table()) {
        if (!info.unit_range) continue;
        for (const Count cutoff : {1, 5, 100}) {
          input.values.push_back(
              value(std::string(info.name), cutoff, changed, info.parameter.standard));
        }
      }
    }
  }
  const auto table = input.table();
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    CAPTURE(input.values[i].metric);
    CHECK(std::ranges::all_of(
        table[i], [](double one) { return std::isnan(one) || (one >= 0 && one <= 1); }));
  }
}

TEST_CASE("what poll throws ends the evaluation") {
  Input input = random_input(30000, false);
  input.poll = [] { throw std::runtime_error("cancelled"); };
  for (const int threads : {1, 2}) {
    input.threads = threads;
    CHECK_THROWS_WITH_AS(input.run(), "cancelled", std::runtime_error);
  }
}

// --- what must be refused ---

struct Place {
  Count row = -1;
  Offset position = -1;
  Count count = 1;
};

// Runs what must fail and returns its fault.
template <class Call>
Fault fault_of(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const InputError& error) {
    CHECK(std::string_view(error.what()).starts_with(error.fault().argument + ": expected "));
    return error.fault();
  }
  FAIL_CHECK("nothing was thrown");
  return {};
}

void check_fault(const Fault& fault, const std::string& argument, const Place& place) {
  CAPTURE(fault.expected);
  CAPTURE(fault.found);
  CHECK(fault.argument == argument);
  CHECK(fault.row == place.row);
  CHECK(fault.position == place.position);
  CHECK(fault.count == place.count);
  CHECK_FALSE(fault.expected.empty());
  CHECK_FALSE(fault.found.empty());
}

// A small request that is right; three users of two, one and two relevant items.
Input sound() {
  return {.truth = lists({{1, 2}, {3}, {4, 5}}),
          .grades = {1, 2, 1, 0, 3},
          .predictions = lists({{2, 9}, {}, {5, 4, 1}}),
          .exclude = lists({{7}, {}, {8, 9}}),
          .weights = {{1, 2, 3}},
          .groups = {0, 1, 0},
          .group_count = 2,
          .values = {value("ndcg", 5), value("precision", 5)}};
}

struct Broken {
  std::string name;
  std::function<void(Input&)> change;
  std::string argument;
  Place place = {};
};

void check_all(const std::vector<Broken>& broken) {
  for (const Broken& one : broken) {
    CAPTURE(one.name);
    for (const int threads : {1, 3}) {
      Input input = sound();
      input.threads = threads;
      one.change(input);
      check_fault(fault_of([&] { return input.run(); }), one.argument, one.place);
    }
  }
}

// The change applied to the rules of the first value, which is nDCG@5.
std::function<void(Input&)> ruled(const std::function<void(Rules&)>& change) {
  return [change](Input& input) { change(input.values[0].rules); };
}

TEST_CASE("the sound request is accepted") {
  Input input = sound();
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("malformed lists are refused") {
  check_all({
      {"truth without offsets", [](Input& in) { in.truth.indptr.clear(); }, "truth"},
      {"predictions without offsets", [](Input& in) { in.predictions.indptr.clear(); },
       "predictions"},
      {"begins above 0", [](Input& in) { in.truth.indptr[0] = 1; }, "truth", {-1, 0}},
      {"begins below 0", [](Input& in) { in.predictions.indptr[0] = -1; }, "predictions", {-1, 0}},
      {"decreases", [](Input& in) { in.truth.indptr = {0, 3, 2, 5}; }, "truth", {-1, 2}},
      {"turns negative", [](Input& in) { in.exclude->indptr = {0, -5, 1, 3}; }, "exclude", {-1, 1}},
      {"ends early", [](Input& in) { in.truth.indptr = {0, 1, 2, 4}; }, "truth", {-1, 3}},
      {"ends late", [](Input& in) { in.predictions.indptr.back() = 6; }, "predictions", {-1, 3}},
      {"ends far beyond",
       [](Input& in) { in.predictions.indptr.back() = std::numeric_limits<Offset>::max(); },
       "predictions",
       {-1, 3}},
      {"too few lengths", [](Input& in) { in.predictions.lengths = {1, 0}; }, "predictions"},
      {"too many lengths", [](Input& in) { in.truth.lengths = {1, 1, 1, 0}; }, "truth"},
      {"a length beyond its row",
       [](Input& in) { in.predictions.lengths = {2, 0, 4}; },
       "predictions",
       {2}},
      {"a negative length", [](Input& in) { in.truth.lengths = {2, -1, 1}; }, "truth", {1}},
      {"too few present", [](Input& in) { in.truth.present = {1, 1}; }, "truth"},
      {"too many present", [](Input& in) { in.predictions.present = {1, 1, 1, 1}; }, "predictions"},
      {"items of an absent user",
       [](Input& in) { in.predictions.present = {1, 0, 0}; },
       "predictions",
       {2}},
      {"other rows in predictions", [](Input& in) { in.predictions = lists({{2}, {1}}); },
       "predictions"},
      {"other rows in exclude", [](Input& in) { in.exclude = lists({{2}, {1}, {}, {}}); },
       "exclude"},
      {"truth of another type",
       [](Input& in) { in.truth.items = std::vector<std::int32_t>{1, 2, 3, 4, 5}; }, "truth"},
      {"exclude of another type",
       [](Input& in) { in.exclude->items = std::vector<std::uint64_t>{7, 8, 9}; }, "exclude"},
  });
}

TEST_CASE("ids outside [0, 2^63) are refused") {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  check_all({
      {"truth", [](Input& in) { in.truth.ids()[4] = -1; }, "truth", {2, 1}},
      {"several",
       [](Input& in) { in.predictions.ids() = {2, -7, 5, kFirst, -1}; },
       "predictions",
       {0, 1, 3}},
      {"exclude", [](Input& in) { in.exclude->ids()[1] = -1; }, "exclude", {2, 0}},
      {"int32",
       [](Input& in) { in.predictions.items = std::vector<std::int32_t>{2, 9, 5, -1, 1}; },
       "predictions",
       {2, 1}},
      {"uint64",
       [](Input& in) {
         in.predictions.items = std::vector<std::uint64_t>{2, 9, 5, 4, std::uint64_t{1} << 63U};
       },
       "predictions",
       {2, 2}},
      {"within the lengths",
       [](Input& in) {
         in.predictions.ids() = {2, -1, -1, 4, -1};
         in.predictions.lengths = {1, 0, 2};
       },
       "predictions",
       {2, 0}},
  });
  Input input = sound();
  input.predictions.items =
      std::vector<std::uint64_t>{2, 9, 5, 4, (std::uint64_t{1} << 63U) - 1};  // the last legal id
  CHECK_NOTHROW(static_cast<void>(input.run()));
  input = sound();
  input.predictions.items =
      std::vector<std::uint32_t>{2, 9, 5, 4, std::numeric_limits<std::uint32_t>::max()};
  CHECK_NOTHROW(static_cast<void>(input.run()));
  input = sound();
  input.predictions.ids() = {2, -1, 5, 4, -9};  // what lies beyond the lengths is nobody's
  input.predictions.lengths = {1, 0, 2};
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("malformed grades, weights and groups are refused") {
  check_all({
      {"too few grades", [](Input& in) { in.grades.pop_back(); }, "truth"},
      {"too many grades", [](Input& in) { in.grades.push_back(1); }, "truth"},
      {"NaN grade", [](Input& in) { in.grades[3] = kNan; }, "truth", {2, 0}},
      {"infinite grades",
       [](Input& in) { in.grades = {1, kInfinity, -kInfinity, 1, kNan}; },
       "truth",
       {0, 1, 3}},
      {"too few weights", [](Input& in) { in.weights->pop_back(); }, "weights"},
      {"no weights but given", [](Input& in) { in.weights->clear(); }, "weights"},
      {"too many weights", [](Input& in) { in.weights->push_back(1); }, "weights"},
      {"negative weight", [](Input& in) { in.weights->at(1) = -kSmallest; }, "weights", {1}},
      {"a weight too small to multiply exactly",
       [](Input& in) { in.weights->at(1) = 0x1.fp-257; },
       "weights",
       {1}},
      {"NaN and infinite weight",
       [](Input& in) { in.weights = {{1, kNan, kInfinity}}; },
       "weights",
       {1, -1, 2}},
      {"huge weight", [](Input& in) { in.weights->at(2) = 0x1.1p256; }, "weights", {2}},
      {"no group", [](Input& in) { in.group_count = 0; }, "groups"},
      {"negative count of groups", [](Input& in) { in.group_count = -1; }, "groups"},
      {"more groups than users", [](Input& in) { in.group_count = 4; }, "groups"},
      {"too few groups", [](Input& in) { in.groups.pop_back(); }, "groups"},
      {"group out of range", [](Input& in) { in.groups = {0, 2, 5}; }, "groups", {1, -1, 2}},
      {"negative group", [](Input& in) { in.groups[2] = -1; }, "groups", {2}},
      {"no thread", [](Input& in) { in.threads = 0; }, "num_threads"},
      {"negative threads", [](Input& in) { in.threads = -1; }, "num_threads"},
      {"too many threads", [](Input& in) { in.threads = 1025; }, "num_threads"},
      {"per_user of another size", [](Input& in) { in.per_user.assign(5, 0); }, "per_user"},
  });
}

TEST_CASE("grades without a gain are refused") {
  check_all({
      {"negative, linear", [](Input& in) { in.grades[4] = -1; }, "truth", {2, 1}},
      {"huge, linear", [](Input& in) { in.grades[0] = 0x1.1p256; }, "truth", {0, 0}},
      {"negative, exp2",
       [](Input& in) {
         in.values[0].rules.gain = Gain::exp2;
         in.grades = {1, 2, -1, 0, -2};
       },
       "truth",
       {1, 0, 2}},
      {"huge, exp2",
       [](Input& in) {
         in.values[0].rules.gain = Gain::exp2;
         in.grades[3] = 257;
       },
       "truth",
       {2, 0}},
      {"beyond the table",
       [](Input& in) {
         in.values[0].rules.gain = Gain::table;
         in.values[0].rules.gain_table = {0, 1, 2};
       },
       "truth",
       {2, 1}},
      {"not whole, table",
       [](Input& in) {
         in.values[0].rules.gain = Gain::table;
         in.values[0].rules.gain_table = {0, 1, 2, 3};
         in.grades[2] = .5;
       },
       "truth",
       {1, 0}},
      {"no grades and a table without grade 1",
       [](Input& in) {
         in.values[0].rules.gain = Gain::table;
         in.values[0].rules.gain_table = {3};
         in.grades.clear();
       },
       "truth"},
      {"min_grade without grades",
       [](Input& in) {
         in.values[1].rules.min_grade = 1.5;
         in.grades.clear();
       },
       "truth"},
      {"min_grade of the tally without grades",
       [](Input& in) {
         in.tally_rules.min_grade = 1.5;
         in.grades.clear();
       },
       "truth"},
  });
  Input input = sound();
  input.grades[4] = -1;
  input.values = {value("precision", 5)};  // asks for no gains
  CHECK_NOTHROW(static_cast<void>(input.run()));
  input.values = {value("ndcg", 5)};
  input.values[0].rules.gain = Gain::binary;
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("values that no metric can give are refused") {
  const auto planned = [](const PlannedValue& one) {
    return [one](Input& in) { in.values = {one}; };
  };
  check_all({
      {"nothing", [](Input& in) { in.values.clear(); }, "metrics"},
      {"unknown name", planned(value("precison", 5)), "metrics"},
      {"an alias, which the caller resolves", planned(value("ndcg_cut", 5)), "metrics"},
      {"cutoff 0", planned(value("precision", 0)), "metrics"},
      {"negative cutoff", planned(value("precision", -1)), "metrics"},
      {"cutoff 2^31", planned(value("precision", Count{1} << 31U)), "metrics"},
      {"infinite min_grade", ruled([](Rules& r) { r.min_grade = kInfinity; }), "metrics"},
      {"NaN min_grade", ruled([](Rules& r) { r.min_grade = kNan; }), "metrics"},
      {"negative beta", planned(value("fbeta", 5, {}, -1)), "metrics"},
      {"NaN beta", planned(value("fbeta", 5, {}, kNan)), "metrics"},
      {"p of 1", planned(value("rbp", 5, {}, 1)), "metrics"},
      {"no gain table", ruled([](Rules& r) { r.gain = Gain::table; }), "metrics"},
      {"negative gain", ruled([](Rules& r) { r.gain_table = {0, -1}; }), "metrics"},
      {"NaN gain", ruled([](Rules& r) { r.gain_table = {kNan}; }), "metrics"},
      {"huge gain", ruled([](Rules& r) { r.gain_table = {0x1.1p256}; }), "metrics"},
      {"a full-k ideal of graded gains", ruled([](Rules& r) { r.ideal_over = Over::cutoff; }),
       "metrics"},
      {"a full-k ideal without k",
       [](Input& in) {
         in.values[0].cutoff = kNoCutoff;
         in.values[0].rules.ideal_over = Over::cutoff;
         in.values[0].rules.gain = Gain::binary;
       },
       "metrics"},
      {"a full-k ideal of a huge k",
       [](Input& in) {
         in.values[0].cutoff = (Count{1} << 20U) + 1;
         in.values[0].rules.ideal_over = Over::cutoff;
         in.values[0].rules.gain = Gain::binary;
       },
       "metrics"},
  });
  Rules micro;
  micro.average = Average::micro;
  for (const MetricInfo& info : metric_table()) {
    CAPTURE(info.name);
    Input input = sound();
    input.values = {value(std::string(info.name), 5, micro, info.parameter.standard)};
    if (info.micro) {
      CHECK_NOTHROW(static_cast<void>(input.run()));
    } else {
      check_fault(fault_of([&] { return input.run(); }), "metrics", {});
    }
  }
  for (Empty Rules::* const field :
       {&Rules::empty_truth, &Rules::empty_list, &Rules::missing_list}) {
    for (const Empty empty : {Empty::zero, Empty::one}) {
      Input input = sound();
      input.values = {value("precision", 5, micro)};
      input.values[0].rules.*field = empty;
      check_fault(fault_of([&] { return input.run(); }), "metrics", {});
    }
  }
}

TEST_CASE("what only reading the lists shows is refused") {
  const auto ruled_all = [](const std::function<void(Rules&)>& change) {
    return [change](Input& in) {
      for (PlannedValue& one : in.values) change(one.rules);
    };
  };
  check_all({
      {"an item twice in the truth", [](Input& in) { in.truth.ids()[1] = 1; }, "truth", {0, 1}},
      {"an item twice in a list",
       [](Input& in) { in.predictions.ids()[4] = 5; },
       "predictions",
       {2, 2}},
      {"several items repeated, in several lists",
       [](Input& in) { in.predictions.ids() = {2, 2, 4, 4, 4}; },
       "predictions",
       {0, 1, 3}},
      {"the truth is reported before the list",
       [](Input& in) {
         in.predictions.ids() = {2, 2, 4, 4, 4};
         in.truth.ids()[4] = 4;
       },
       "truth",
       {2, 1}},
      {"duplicates before empty lists",
       [&](Input& in) {
         ruled_all([](Rules& r) { r.empty_list = Empty::error; })(in);
         in.predictions.ids()[4] = 5;
       },
       "predictions",
       {2, 2}},
      {"an empty truth",
       [&](Input& in) {
         ruled_all([](Rules& r) { r.empty_truth = Empty::error; })(in);
         in.grades = {1, 2, 0, 0, 0};
       },
       "truth",
       {1, -1, 2}},
      {"an empty list",
       ruled_all([](Rules& r) { r.empty_list = Empty::error; }),
       "predictions",
       {1}},
      {"a missing list",
       [&](Input& in) {
         ruled_all([](Rules& r) { r.missing_list = Empty::error; })(in);
         in.predictions.present = {1, 0, 1};
       },
       "predictions",
       {1}},
      {"a list that is empty once the excluded items are out",
       [&](Input& in) {
         ruled_all([](Rules& r) { r.empty_list = Empty::error; })(in);
         in.exclude = lists({{2, 9}, {}, {}});
       },
       "predictions",
       {0, -1, 2}},
      {"the rules of one value suffice",
       [](Input& in) {
         in.values[0].rules.duplicate_items = Duplicates::first;
         in.predictions.ids()[4] = 5;
       },
       "predictions",
       {2, 2}},
  });
}

TEST_CASE("the first of many faulty users is named whatever the threads") {
  const std::vector<Row> truth(5000, Row{1});
  std::vector<Row> predictions(5000, Row{1, 2, 3});
  for (const std::size_t user : {4000U, 1234U, 4999U, 2500U}) predictions[user] = {1, 2, 1};
  Input input{
      .truth = lists(truth), .predictions = lists(predictions), .values = {value("precision", 5)}};
  for (const int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    input.threads = threads;
    check_fault(fault_of([&] { return input.run(); }), "predictions", {1234, 2, 4});
  }
}

// The report of a fault reads the lists again. By then another thread may have mended them: poll,
// which runs before that, stands for it.
TEST_CASE("lists that change before a fault is reported do no harm") {
  Input input = sound();
  input.predictions.ids()[4] = 5;
  bool mended = false;
  input.poll = [&] {
    input.predictions.ids()[4] = 1;
    mended = true;
  };
  CHECK(fault_of([&] { return input.run(); }).argument == "predictions");
  CHECK(mended);

  input = sound();
  input.truth.ids()[1] = 1;
  input.poll = [&] { input.truth.ids()[1] = 2; };
  CHECK(fault_of([&] { return input.run(); }).argument == "truth");
}

// --- padded matrices ---

TEST_CASE("the filled lengths of a padded matrix") {
  const Row matrix = {1, 2, 3, 4, -1, -1, -1, -1, -1, 5, 6, -1};
  CHECK(padded_lengths(std::span<const std::int64_t>(matrix), 4, 3, "predictions") ==
        std::vector<Offset>{3, 1, 0, 2});
  const std::vector<std::int32_t> narrow = {1, -1};
  CHECK(padded_lengths(std::span<const std::int32_t>(narrow), 2, 1, "predictions") ==
        std::vector<Offset>{1, 0});
  const std::vector<std::uint32_t> whole = {1, std::numeric_limits<std::uint32_t>::max()};
  CHECK(padded_lengths(std::span<const std::uint32_t>(whole), 1, 2, "predictions") ==
        std::vector<Offset>{2});
  CHECK(padded_lengths(std::span<const std::int64_t>(), 3, 0, "predictions") ==
        std::vector<Offset>{0, 0, 0});
  CHECK(padded_lengths(std::span<const std::int64_t>(), 0, 3, "predictions").empty());
}

TEST_CASE("holes in a padded matrix are refused") {
  const Row matrix = {1, 2, -1, 3, -1, -1, -1, -1, 4, 5, -1, 6};
  const auto lengths = [](const Row& items, Count rows, Count columns) {
    return padded_lengths(std::span<const std::int64_t>(items), rows, columns, "predictions");
  };
  check_fault(fault_of([&] { return lengths(matrix, 3, 4); }), "predictions", {0, 2, 2});
  check_fault(fault_of([&] { return lengths(matrix, 4, 3); }), "predictions", {2, 0, 2});
  for (const auto& [rows, columns] : std::vector<std::pair<Count, Count>>{
           {3, 3}, {-1, 12}, {12, -1}, {0, 0}, {(Count{1} << 62U) + 3, 4}}) {
    CAPTURE(rows);
    CHECK(fault_of([&] { return lengths(matrix, rows, columns); }).argument == "predictions");
  }
}

}  // namespace
}  // namespace metrik
