#include "common.hpp"
#include "exactk/judged_lists.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

// The arrays of judged lists.
struct Cells {
  Cells(std::size_t users, std::size_t k)
      : items(users * k, 99),
        grades(users * k, 99),
        hits(users * k, 99),
        lengths(users, 99),
        relevant(users, 99) {}

  [[nodiscard]] JudgedLists view() {
    return {
        .items = items, .grades = grades, .hits = hits, .lengths = lengths, .relevant = relevant};
  }

  std::vector<std::int64_t> items;
  std::vector<double> grades;
  std::vector<std::uint8_t> hits;
  std::vector<Count> lengths;
  std::vector<Count> relevant;
};

Request request_of(const Input& input, const Predictions& predictions,
                   std::span<const PlannedValue> values) {
  Request request{.truth = input.truth.view(),
                  .grades = input.grades,
                  .predictions = predictions,
                  .exclude = std::nullopt,
                  .weights = std::nullopt,
                  .groups = {},
                  .values = values,
                  .tally_rules = values.empty() ? Rules{} : values.front().rules,
                  .per_user = {},
                  .threads = input.threads,
                  .isa = input.isa};
  if (input.exclude) request.exclude = input.exclude->view();
  return request;
}

Cells judge(const Input& input, const Predictions& predictions, Count k, Rules rules = {}) {
  const std::vector<PlannedValue> values = {value("num_hits", k, std::move(rules))};
  Cells cells(input.truth.indptr.size() - 1, static_cast<std::size_t>(k));
  judge_lists(request_of(input, predictions, values), cells.view());
  return cells;
}

// What the definition says of one user: a list without its excluded items, cut at k, beside the
// grade of each item.
void check_user(const Cells& cells, std::size_t user, Count k, const Row& list,
                const std::map<std::int64_t, double>& grades) {
  CAPTURE(user);
  const auto relevant = std::ranges::count_if(grades, [](auto& one) { return one.second > 0; });
  CHECK(cells.relevant[user] == relevant);
  CHECK(cells.lengths[user] == std::min(k, static_cast<Count>(list.size())));
  const auto ranks = static_cast<std::size_t>(k);
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::size_t cell = user * ranks + i;
    const bool has_item = i < list.size();
    const auto grade = has_item ? grades.find(list[i]) : grades.end();
    CHECK(cells.items[cell] == (has_item ? list[i] : -1));
    CHECK(cells.hits[cell] == (grade != grades.end() && grade->second > 0 ? 1 : 0));
    if (grade == grades.end()) {
      CHECK(std::isnan(cells.grades[cell]));
    } else {
      CHECK(cells.grades[cell] == grade->second);
    }
  }
}

TEST_CASE("judged lists are the lists without excluded items, beside the grades of the truth") {
  std::mt19937 rng(3);
  const auto draw = [&](int below) { return static_cast<std::int64_t>(rng()) % below; };
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const auto users = static_cast<std::size_t>(1 + draw(5));
    const Count k = 1 + draw(6);
    std::vector<Row> truth(users);
    std::vector<Row> lists_of_users(users);
    std::vector<Row> excluded(users);
    std::vector<double> grades;
    std::vector<std::map<std::int64_t, double>> grade_of(users);
    std::vector<Row> expected(users);
    Row pool(12);
    for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = static_cast<std::int64_t>(7 * i);
    for (std::size_t user = 0; user < users; ++user) {
      std::ranges::shuffle(pool, rng);
      truth[user].assign(pool.begin(), pool.begin() + draw(8));
      for (const std::int64_t item : truth[user]) {
        grades.push_back(static_cast<double>(draw(3)));
        grade_of[user][item] = grades.back();
      }
      std::ranges::shuffle(pool, rng);
      lists_of_users[user].assign(pool.begin(), pool.begin() + draw(9));
      std::ranges::shuffle(pool, rng);
      excluded[user].assign(pool.begin(), pool.begin() + draw(5));
      std::ranges::copy_if(lists_of_users[user], std::back_inserter(expected[user]),
                           [&](std::int64_t item) {
                             return std::ranges::find(excluded[user], item) == excluded[user].end();
                           });
    }
    Input input{.truth = lists(truth), .grades = grades, .predictions = lists(lists_of_users)};
    input.exclude = lists(excluded);
    input.threads = 1 + static_cast<int>(draw(3));
    const Cells cells = judge(input, input.predictions.view(), k);
    for (std::size_t user = 0; user < users; ++user) {
      check_user(cells, user, k, expected[user], grade_of[user]);
    }
  }
}

TEST_CASE("requests that have no answer are refused") {
  Input input{.truth = lists({{1}, {2}}), .predictions = lists({{1, 1}, {2}})};
  const std::vector<PlannedValue> one = {value("num_hits", 2)};
  const std::vector<PlannedValue> two = {value("num_hits", 2), value("recall", 2)};
  const std::vector<PlannedValue> uncut = {value("num_hits")};
  const auto run = [&](std::span<const PlannedValue> values, Cells cells) {
    judge_lists(request_of(input, input.predictions.view(), values), cells.view());
  };
  CHECK_THROWS_AS(run({}, Cells(2, 2)), InputError);
  CHECK_THROWS_AS(run(two, Cells(2, 2)), InputError);
  CHECK_THROWS_AS(run(uncut, Cells(2, 2)), InputError);
  CHECK_THROWS_AS(run(one, Cells(2, 3)), InputError);
  CHECK_THROWS_WITH_AS(run(one, Cells(2, 2)), doctest::Contains("again"), InputError);
  const Request request = request_of(input, input.predictions.view(), one);
  Cells cells(1, 2);
  JudgedLists some = cells.view();
  for (const Count first : {Count{-1}, Count{2}, kNoCutoff}) {
    some.first_user = first;
    CHECK_THROWS_AS(judge_lists(request, some), InputError);
  }
}

}  // namespace
}  // namespace exactk
