#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "exactk/evaluate.hpp"
#include "exactk/metrics.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

// The ranks 1, 2, 3, ... of each list's items.
std::vector<double> ranks_of(const OwnedLists& lists) {
  std::vector<double> ranks;
  for (std::size_t user = 0; user + 1 < lists.indptr.size(); ++user) {
    const Offset size = lists.indptr[user + 1] - lists.indptr[user];
    for (Offset rank = 1; rank <= size; ++rank) ranks.push_back(static_cast<double>(rank));
  }
  return ranks;
}

Input two_lists(const std::vector<Row>& one, const std::vector<Row>& other) {
  Input input{.truth = lists(one), .predictions = lists(other)};
  input.grades = ranks_of(input.truth);
  return input;
}

Rules truncated() {
  Rules rules;
  rules.rbo_over = RboOver::truncated;
  return rules;
}

Rules with_undefined(Undefined undefined) {
  Rules rules;
  rules.undefined = undefined;
  return rules;
}

TEST_CASE("metrics of two lists") {
  Input input = two_lists({{1, 2, 3}, {1, 2, 3, 4}, {1, 2}, {}}, {{1, 2, 3}, {2, 1, 9}, {}, {}});
  const Rules nan = with_undefined(Undefined::nan);
  input.values = {value("overlap", 3, nan),        value("jaccard", 3, nan),
                  value("kendall_tau", 3, nan),    value("lip", 1, nan),
                  value("rbo", 3, nan, 0.5),       value("rbo", 2, truncated(), 0.5),
                  value("overlap", kNoCutoff, nan)};
  const auto table = input.table();
  CHECK(table[0][0] == 1);
  CHECK(table[0][1] == about(2.0 / 3));
  CHECK(table[0][2] == 0);
  CHECK(std::isnan(table[0][3]));
  CHECK(table[1][1] == 0.5);
  CHECK(table[2][0] == 1);
  CHECK(table[2][1] == -1);
  CHECK(std::isnan(table[2][2]));
  CHECK(table[3][0] == 0);
  CHECK(table[3][1] == 1);
  CHECK(std::isnan(table[3][2]));
  CHECK(table[4][0] == 1);
  // (1 - p) (1 * 0 + p * 1 + p^2 * 2/3) + p^3 * 2/3
  CHECK(table[4][1] == about(0.5 * (0.5 + 0.25 * 2 / 3) + 0.125 * 2 / 3));
  CHECK(table[4][2] == 0);
  CHECK(table[5][1] == about(0.5 / 1.5));
  CHECK(table[6][1] == 0.5);
}

// Shares must stay in [0, 1], which their sums rely on, whatever the grades are.
TEST_CASE("shares of lists are shares, also where grades are no ranks") {
  for (const std::vector<double>& grades :
       {std::vector<double>{1, 1, 1, 1}, {0, 1, -1, 2}, {0.5, 0.25, 1e70, 3}, {7, 7, 7, 7}}) {
    Input input = two_lists({{1, 2, 3, 4}}, {{4, 3, 1, 9, 2}});
    input.grades = grades;
    for (const Ties ties : {Ties::lowest_id, Ties::shared, Ties::pessimistic}) {
      Rules rules;
      rules.ties = ties;
      rules.min_grade = kAnyGrade;
      rules.negative_grades = NegativeGrades::zero_gain;
      for (const Count cutoff : {Count{1}, Count{2}, Count{4}, kNoCutoff}) {
        for (const MetricInfo& info : metric_table()) {
          if (!info.compares_lists) continue;
          input.values.push_back(value(std::string(info.name), cutoff, rules, 0.5));
        }
      }
    }
    const auto table = input.table();
    for (std::size_t i = 0; i < table.size(); ++i) {
      CAPTURE(input.values[i].metric);
      const double least = input.values[i].metric == "kendall_tau" ? -1 : 0;
      CHECK(table[i][0] >= least);
      if (input.values[i].metric != "lip") CHECK(table[i][0] <= 1);
    }
  }
}

TEST_CASE("unexpectedness compares both lists down to the cutoff") {
  Input input{.truth = lists({{1}, {1}, {1}, {1}}),
              .predictions = lists({{1, 2, 3}, {1, 1, 2}, {}, {7, 8}}),
              .exclude = lists({{9}, {}, {}, {}}),
              .base = lists({{3, 9, 1}, {1, 1}, {1}, {}})};
  Rules rules;
  rules.duplicate_items = Duplicates::first;
  rules.undefined = Undefined::nan;
  Rules counting = rules;
  counting.duplicate_items = Duplicates::count;
  Rules of_cutoff = rules;
  of_cutoff.list_mean_over = Over::cutoff;
  input.values = {value("unexpectedness", 1, rules), value("unexpectedness", 2, rules),
                  value("unexpectedness", kNoCutoff, rules), value("unexpectedness", 3, counting),
                  value("unexpectedness", 4, of_cutoff)};
  const auto rows = input.table();
  CHECK(rows[0][0] == 1);         // {1} beside {3}
  CHECK(rows[1][0] == 0.5);       // {1, 2} beside {3, 1}: 9 is excluded
  CHECK(rows[2][0] == 1.0 / 3);   // {1, 2, 3} beside {3, 1}
  CHECK(rows[2][1] == 0.5);       // the repeat does not count again
  CHECK(rows[3][1] == 1.0 / 3);   // it does
  CHECK(rows[4][0] == 0.5);       // 1 - 2 / 4
  CHECK(std::isnan(rows[2][2]));  // no item
  CHECK(rows[4][2] == 0);         // none of which is unexpected
  CHECK(rows[2][3] == 1);         // nothing was expected
}

TEST_CASE("inversions of many items") {
  constexpr std::int64_t kItems = 100'000;
  Row ascending;
  Row descending;
  for (std::int64_t item = 0; item < kItems; ++item) {
    ascending.push_back(item);
    descending.push_back(kItems - 1 - item);
  }
  Input input = two_lists({ascending, ascending}, {ascending, descending});
  input.values = {value("kendall_tau"), value("rbo", kNoCutoff, {}, 0.9)};
  const auto table = input.table();
  CHECK(table[0] == std::vector<double>{1, -1});
  CHECK(table[1][0] == 1);
  CHECK(table[1][1] < 1e-6);
}

}  // namespace
}  // namespace exactk
