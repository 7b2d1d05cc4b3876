#include "cancelling.hpp"
#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/metrics.hpp"
#include "request.hpp"

namespace exactk {
namespace {

using namespace tests;

// All metrics at two cutoffs, under two sets of rules, on lists of every kind.
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
  Rules skipping = rules;
  skipping.undefined = Undefined::skip;
  other.min_grade = 2;
  Rules micro = rules;
  micro.average = Average::micro;
  Rules geometric = rules;
  geometric.average = Average::geometric;
  for (const MetricInfo& info : metric_table()) {
    for (const Count cutoff : {Count{3}, kNoCutoff}) {
      if (info.of_collection || (info.pairwise && cutoff != kNoCutoff)) continue;
      const double parameter = parameter_of(info);
      const std::string name(info.name);
      input.values.push_back(value(name, cutoff, rules, parameter));
      input.values.push_back(value(name, cutoff, other, parameter));
      input.values.push_back(value(name, cutoff, skipping, parameter));
      input.values.push_back(value(name, cutoff, geometric, parameter));
      if (info.micro) input.values.push_back(value(name, cutoff, micro, parameter));
    }
  }
  input.per_user.assign(input.values.size() * users, -1);
  return input;
}

// Checks that a change of the request changes no byte of its results.
void check_same_results(Input& input, const Result& expected, std::span<const double> per_user) {
  const Result result = input.run();
  check_equal(result.sums, expected.sums);
  check_equal(result.tally, expected.tally);
  CHECK(same_numbers(input.per_user, per_user));
}

TEST_CASE("F22: results are the same bytes for any number of threads") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    Input input = random_input(1100, weighted);  // two blocks
    const Result expected = input.run();
    const std::vector<double> per_user = input.per_user;
    for (const int threads : weighted ? std::vector{3} : std::vector{2, 7}) {
      CAPTURE(threads);
      input.threads = threads;
      check_same_results(input, expected, per_user);
    }
  }
}

TEST_CASE("F31: results are the same bytes for any instruction set") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    Input input = random_input(200, weighted);
    input.isa = Isa::scalar;
    const Result expected = input.run();
    const std::vector<double> per_user = input.per_user;
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      input.isa = isa;
      check_same_results(input, expected, per_user);
    }
  }
}

// Shares must stay in [0, 1], which their sums rely on, whatever the grades are.
TEST_CASE("shares of lists are shares, also where grades are no ranks") {
  for (const std::vector<double>& grades :
       {std::vector<double>{1, 1, 1, 1}, {0, 1, -1, 2}, {0.5, 0.25, 1e70, 3}, {7, 7, 7, 7}}) {
    Input input{
        .truth = lists({{1, 2, 3, 4}}), .grades = grades, .predictions = lists({{4, 3, 1, 9, 2}})};
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

TEST_CASE("F25: an exception from poll ends the evaluation") {
  for (const int threads : {1, 2}) {
    tests::check_cancelled([&](std::size_t size) {
      Input input = random_input(size * 10'000, false);
      input.poll = tests::cancel;
      input.threads = threads;
      input.run();
    });
  }
}

}  // namespace
}  // namespace exactk
