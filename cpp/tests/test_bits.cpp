#include "cancelling.hpp"
#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/lists.hpp"
#include "exactk/metrics.hpp"
#include "request.hpp"
#include "support.hpp"

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
  return input;
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

OwnedLists select_rows(const OwnedLists& whole, std::span<const std::size_t> rows) {
  const auto& ids = std::get<Row>(whole.items);
  std::vector<Row> selected;
  for (const std::size_t row : rows) {
    selected.emplace_back(ids.begin() + whole.indptr[row], ids.begin() + whole.indptr[row + 1]);
  }
  return lists(selected);
}

Input select_users(const Input& whole, std::span<const std::size_t> users) {
  Input part = whole;
  part.truth = select_rows(whole.truth, users);
  part.predictions = select_rows(whole.predictions, users);
  part.exclude = select_rows(*whole.exclude, users);
  part.grades.clear();
  if (whole.weights) part.weights->clear();
  for (const std::size_t user : users) {
    part.grades.insert(part.grades.end(), whole.grades.begin() + whole.truth.indptr[user],
                       whole.grades.begin() + whole.truth.indptr[user + 1]);
    if (whole.weights) part.weights->push_back((*whole.weights)[user]);
  }
  return part;
}

Input select_users(const Input& whole, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> users(end - begin);
  std::iota(users.begin(), users.end(), begin);
  return select_users(whole, users);
}

TEST_CASE("F22: results are the same bytes for any number of threads") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    Input input = random_input(1100, weighted);  // two blocks
    input.per_user.assign(input.values.size() * (input.truth.indptr.size() - 1), -1);
    const Result expected = input.run();
    const std::vector<double> per_user = input.per_user;
    for (const int threads : weighted ? std::vector{3} : std::vector{2, 7}) {
      CAPTURE(threads);
      input.threads = threads;
      const Result result = input.run();
      check_equal(result.sums, expected.sums);
      check_equal(result.tally, expected.tally);
      CHECK(same_numbers(input.per_user, per_user));
    }
  }
}

TEST_CASE("F31: results are the same bytes for any instruction set") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    Input input = random_input(200, weighted);
    input.isa = Isa::scalar;
    input.per_user.assign(input.values.size() * (input.truth.indptr.size() - 1), -1);
    const Result expected = input.run();
    const std::vector<double> per_user = input.per_user;
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      input.isa = isa;
      const Result result = input.run();
      check_equal(result.sums, expected.sums);
      check_equal(result.tally, expected.tally);
      CHECK(same_numbers(input.per_user, per_user));
    }
  }
}

TEST_CASE("the sums of the parts add up to those of the whole" *
          doctest::test_suite("one thread")) {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const Input whole = random_input(160, weighted);
    Input input = whole;
    const Result expected = input.run();
    for (const std::vector<std::size_t>& cuts :
         std::vector<std::vector<std::size_t>>{{0, 80, 160}, {0, 1, 2, 159, 160}, {0, 0, 160}}) {
      std::vector<Sums> sums;
      Tally tally;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        Input part = select_users(whole, cuts[i], cuts[i + 1]);
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
  constexpr Count kGroups = 4;  // the last group stays empty
  constexpr std::size_t kUsers = 60;
  for (const bool weighted : {false, true}) {
    const Input whole = random_input(kUsers, weighted);
    Input input = whole;
    const Result ungrouped = input.run();
    input.group_count = kGroups;
    std::vector<std::vector<std::size_t>> users_of(kGroups);
    for (std::size_t user = 0; user < kUsers; ++user) {
      input.groups.push_back(static_cast<Offset>(user * user % 3));
      users_of[user * user % 3].push_back(user);
    }
    std::vector<std::vector<Sums>> expected;
    for (const auto& users : users_of) expected.push_back(select_users(whole, users).run().sums);
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
        check_equal({of_group.begin(), of_group.end()}, expected[group]);
        CHECK(users_of[group].empty() == std::ranges::all_of(of_group, [](const Sums& one) {
                return one.users == 0 && real(one.total) == 0 && real(one.weight) == 0;
              }));
      }
      check_equal(sums, ungrouped.sums);
    }
  }
}

TEST_CASE("per-user values do not depend on other users" * doctest::test_suite("one thread")) {
  const Input whole = random_input(20, false);
  Input input = whole;
  const auto table = input.table();
  for (std::size_t user = 0; user < 20; ++user) {
    CAPTURE(user);
    Input alone = select_users(whole, user, user + 1);
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
    const auto& choice_field = std::get<ChoiceField>(field->kind);
    for (const std::uint8_t choice : choice_field.choices) {
      Rules changed = rules;
      choice_field.set(changed, choice);
      if (changed.ideal_over == Over::cutoff) changed.gain = Gain::binary;
      for (const MetricInfo& info : metric_table()) {
        if (!info.unit_range || info.walks_list) continue;
        for (const Count cutoff : {1, 5, 100}) {
          if (info.pairwise) continue;
          input.values.push_back(
              value(std::string(info.name), cutoff, changed, parameter_of(info)));
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
