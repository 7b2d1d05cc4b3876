#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/lists.hpp"
#include "exactk/metrics.hpp"
#include "request.hpp"

namespace exactk {
namespace {

using namespace tests;

std::string location_of(const Fault& fault) {
  std::string location = fault.argument;
  if (fault.row >= 0) location += " row " + std::to_string(fault.row);
  if (fault.position >= 0) location += " position " + std::to_string(fault.position);
  if (fault.count != 1) location += ", the first of " + std::to_string(fault.count);
  return location;
}

// A small valid request: three users with two, one and two relevant items.
Input valid_input() {
  return {.truth = lists({{1, 2}, {3}, {4, 5}}),
          .grades = {1, 2, 1, 0, 3},
          .predictions = lists({{2, 9}, {}, {5, 4, 1}}),
          .exclude = lists({{7}, {}, {8, 9}}),
          .weights = {{1, 2, 3}},
          .groups = {0, 1, 0},
          .group_count = 2,
          .values = {value("ndcg", 5), value("precision", 5)}};
}

using Change = std::function<void(Input&)>;

// Returns the location of the fault of the valid request after the change, on one thread as on
// several.
std::string refusal(const Change& change) {
  std::vector<std::string> locations;
  for (const int threads : {1, 3}) {
    Input input = valid_input();
    input.threads = threads;
    change(input);
    const Fault fault = fault_of([&] { return input.run(); });
    CHECK_FALSE(fault.expected.empty());
    CHECK_FALSE(fault.found.empty());
    locations.push_back(location_of(fault));
  }
  CHECK(locations[0] == locations[1]);
  return locations[0];
}

std::string refusal_of_value(const PlannedValue& one) {
  return refusal([&](Input& in) { in.values = {one}; });
}

// Changes the rules of the first value, which is nDCG@5.
std::string refusal_of_rules(const std::function<void(Rules&)>& change) {
  return refusal([&](Input& in) { change(in.values[0].rules); });
}

void check_accepted(const Change& change) {
  Input input = valid_input();
  change(input);
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("the valid request is accepted") {
  check_accepted([](Input&) {});
}

TEST_CASE("repeats are collapsed for all values or for none") {
  const auto collapse = [](PlannedValue& one) { one.rules.duplicate_items = Duplicates::collapse; };
  CHECK(refusal([&](Input& in) { collapse(in.values[1]); }) == "metrics");
  check_accepted([&](Input& in) { std::ranges::for_each(in.values, collapse); });
}

TEST_CASE("F1: malformed lists are rejected") {
  CHECK(refusal([](Input& in) { in.truth.indptr.clear(); }) == "truth");
  CHECK(refusal([](Input& in) { in.predictions.indptr.clear(); }) == "predictions");
  CHECK(refusal([](Input& in) { in.truth.indptr[0] = 1; }) == "truth position 0");
  CHECK(refusal([](Input& in) { in.predictions.indptr[0] = -1; }) == "predictions position 0");
  CHECK(refusal([](Input& in) { in.truth.indptr = {0, 3, 2, 5}; }) == "truth position 2");
  CHECK(refusal([](Input& in) { in.exclude->indptr = {0, -5, 1, 3}; }) == "exclude position 1");
  CHECK(refusal([](Input& in) { in.truth.indptr.back() = 4; }) == "truth position 3");
  for (const Offset end : {Offset{6}, std::numeric_limits<Offset>::max()}) {
    const auto end_late = [&](Input& in) { in.predictions.indptr.back() = end; };
    CHECK(refusal(end_late) == "predictions position 3");
  }
  CHECK(refusal([](Input& in) { in.predictions.lengths = {1, 0}; }) == "predictions");
  CHECK(refusal([](Input& in) { in.truth.lengths = {1, 1, 1, 0}; }) == "truth");
  CHECK(refusal([](Input& in) { in.predictions.lengths = {2, 0, 4}; }) == "predictions row 2");
  CHECK(refusal([](Input& in) { in.truth.lengths = {2, -1, 1}; }) == "truth row 1");
  CHECK(refusal([](Input& in) { in.truth.present = {1, 1}; }) == "truth");
  CHECK(refusal([](Input& in) { in.predictions.present = {1, 1, 1, 1}; }) == "predictions");
  CHECK(refusal([](Input& in) { in.predictions.present = {1, 0, 0}; }) == "predictions row 2");
  CHECK(refusal([](Input& in) { in.predictions = lists({{2}, {1}}); }) == "predictions");
  CHECK(refusal([](Input& in) { in.exclude = lists({{2}, {1}, {}, {}}); }) == "exclude");
  const std::vector<std::int32_t> narrow = {1, 2, 3, 4, 5};
  CHECK(refusal([&](Input& in) { in.truth.items = narrow; }) == "truth");
  const std::vector<std::uint64_t> wide = {7, 8, 9};
  CHECK(refusal([&](Input& in) { in.exclude->items = wide; }) == "exclude");
}

TEST_CASE("F3: ids outside [0, 2^63) are rejected, but belong to no row beyond its length") {
  const auto outside = [](Input& in) {
    in.predictions.ids() = {2, -1, -1, 4, -1};
    in.predictions.lengths = {1, 0, 2};
  };
  CHECK(refusal(outside) == "predictions row 2 position 0");
  check_accepted([](Input& in) {
    in.predictions.ids() = {2, -1, 5, 4, -9};
    in.predictions.lengths = {1, 0, 2};
  });
  for (const auto& [last, is_valid] :
       {std::pair{(std::uint64_t{1} << 63U) - 1, true}, {std::uint64_t{1} << 63U, false}}) {
    const auto give = [&](Input& in) {
      in.predictions.items = std::vector<std::uint64_t>{2, 9, 5, 4, last};
    };
    if (is_valid) check_accepted(give);
    if (!is_valid) CHECK(refusal(give) == "predictions row 2 position 2");
  }
}

TEST_CASE("malformed base predictions are rejected") {
  const auto refusal_of_base = [](const Change& change) {
    return refusal([&](Input& in) {
      in.base = lists({{2}, {3, 4}, {}});
      in.values.push_back(value("unexpectedness", 5));
      change(in);
    });
  };
  CHECK(refusal_of_base([](Input& in) { in.has_base = false; }) == "base_predictions");
  CHECK(refusal_of_base([](Input& in) { in.base = lists({{2}, {3}}); }) == "base_predictions");
  CHECK(refusal_of_base([](Input& in) { in.base->ids()[2] = -1; }) ==
        "base_predictions row 1 position 1");
  CHECK(refusal_of_base([](Input& in) { in.base->indptr.back() = 4; }) ==
        "base_predictions position 3");
  CHECK(refusal_of_base([](Input& in) { in.base = lists({{}, {3, 4, 3, 3}, {1, 1}}); }) ==
        "base_predictions row 1 position 2, the first of 3");
}

TEST_CASE("malformed grades, weights and groups are rejected") {
  CHECK(refusal([](Input& in) { in.grades.pop_back(); }) == "truth");
  CHECK(refusal([](Input& in) { in.grades.push_back(1); }) == "truth");
  CHECK(refusal([](Input& in) { in.grades = {1, kInfinity, -kInfinity, 1, kNan}; }) ==
        "truth row 0 position 1, the first of 3");
  CHECK(refusal([](Input& in) { in.weights->pop_back(); }) == "weights");
  CHECK(refusal([](Input& in) { in.weights->clear(); }) == "weights");
  CHECK(refusal([](Input& in) { in.weights->push_back(1); }) == "weights");
  for (const double weight : {-kSmallest, 0x1.fp-257, 0x1.1p256}) {  // products would not be exact
    CHECK(refusal([&](Input& in) { in.weights->at(1) = weight; }) == "weights row 1");
  }
  CHECK(refusal([](Input& in) { in.weights = {{1, kNan, kInfinity}}; }) ==
        "weights row 1, the first of 2");
  for (const Count count : {0, -1, 4}) {
    CHECK(refusal([&](Input& in) { in.group_count = count; }) == "groups");
  }
  CHECK(refusal([](Input& in) { in.groups.pop_back(); }) == "groups");
  CHECK(refusal([](Input& in) { in.groups = {0, 2, 5}; }) == "groups row 1, the first of 2");
  CHECK(refusal([](Input& in) { in.groups[2] = -1; }) == "groups row 2");
  for (const int threads : {0, -1, 1025}) {
    CHECK(refusal([&](Input& in) { in.threads = threads; }) == "num_threads");
  }
  CHECK(refusal([](Input& in) { in.per_user.assign(5, 0); }) == "per_user");
  CHECK(refusal([](Input& in) { in.ratios.assign(6, 0); }) == "per_user");  // no micro value
  CHECK(refusal([](Input& in) {
          in.values[0].rules.average = Average::micro;
          in.ratios.assign(3, 0);
        }) == "per_user");
  CHECK(refusal([](Input& in) {
          in.tally_rules.min_grade = 1.5;
          in.grades.clear();
        }) == "truth");
  CHECK(refusal([](Input& in) {  // of which an item without a grade has 1
          in.values[0].rules.gain = Gain::table;
          in.values[0].rules.gain_table = {3};
          in.grades.clear();
        }) == "truth");
}

TEST_CASE("malformed given numbers are rejected") {
  const auto refusal_of_given = [](double row, const std::vector<double>& numbers) {
    return refusal([&](Input& in) {
      in.values = {value(std::string(kGivenOfJudged), 5, {}, row)};
      in.given = numbers;
    });
  };
  CHECK(refusal_of_given(0, {}) == "given");
  CHECK(refusal_of_given(0, std::vector<double>(5)) == "given");
  CHECK(refusal_of_given(1, std::vector<double>(6)) == "given");
  for (const double row : {-1.0, .5, kNan, 1e308}) {
    CHECK(refusal_of_given(row, std::vector<double>(12)) == "given");
  }
  for (const double number : {kNan, 0x1.1p256}) {
    CHECK(refusal_of_given(0, {0, 1, number, 1, 1, 1}) == "given");
  }
}

TEST_CASE("values that no metric provides are rejected") {
  CHECK(refusal([](Input& in) { in.values.clear(); }) == "metrics");
  CHECK(refusal_of_value(value("precison", 5)) == "metrics");
  CHECK(refusal_of_value(value("ndcg_cut", 5)) == "metrics");  // the caller resolves an alias
  for (const Count cutoff : {Count{0}, Count{-1}, Count{1} << 31U}) {
    CHECK(refusal_of_value(value("precision", cutoff)) == "metrics");
  }
  for (const double beta : {-1.0, kNan}) {
    CHECK(refusal_of_value(value("fbeta", 5, {}, beta)) == "metrics");
  }
  CHECK(refusal_of_value(value("rbp", 5, {}, 1)) == "metrics");
  CHECK(refusal_of_value(value("err", 5, {}, .5)) == "metrics");
  for (const double item_count : {kNan, 10.5}) {
    CHECK(refusal_of_value(value("list_auc", 5, {}, item_count)) == "metrics");
  }
  CHECK(refusal_of_value(value("mean_precision", (Count{1} << 20U) + 1)) == "metrics");
  for (const double grade : {kInfinity, kNan}) {
    CHECK(refusal_of_rules([&](Rules& r) { r.min_grade = grade; }) == "metrics");
  }
  CHECK(refusal([](Input& in) { in.tally_rules.min_grade = kNan; }) == "convention");
  const auto find_unjudged = [](Rules& rules) {
    rules.negative_grades = NegativeGrades::unjudged;
    rules.min_grade = -1;
  };
  CHECK(refusal_of_rules(find_unjudged) == "metrics");
  CHECK(refusal([&](Input& in) { find_unjudged(in.tally_rules); }) == "convention");
  CHECK(refusal_of_rules([](Rules& r) { r.gain = Gain::exp2_shifted; }) == "metrics");
  CHECK(refusal_of_rules([](Rules& r) { r.gain = Gain::table; }) == "metrics");
  for (const double gain : {-1.0, kNan, 0x1.1p256}) {
    CHECK(refusal_of_rules([&](Rules& r) { r.gain_table = {0, gain}; }) == "metrics");
  }
  for (const std::vector<double>& range :
       std::vector<std::vector<double>>{{}, {0}, {3, 0}, {1, 1}, {0, 1, 2}, {-1, 3}}) {
    CHECK(refusal_of_rules([&](Rules& r) {
            r.gain = Gain::scaled;
            r.gain_range = range;
          }) == "metrics");
  }
  CHECK(refusal_of_rules([](Rules& r) { r.average = Average::of_means; }) == "metrics");
  Rules full;
  full.ideal_over = Over::cutoff;
  CHECK(refusal_of_value(value("ndcg", 5, full)) == "metrics");  // of graded gains
  full.gain = Gain::binary;
  for (const Count cutoff : {kNoCutoff, (Count{1} << 20U) + 1}) {
    CHECK(refusal_of_value(value("ndcg", cutoff, full)) == "metrics");
  }
}

TEST_CASE("groups of items that are malformed are rejected") {
  static const std::vector<std::uint64_t> bits(10'001, 1);
  const auto change = [&](ItemGroupRule rule, std::size_t size) {
    return [&, rule, size](Input& in) {
      in.values = {value("recall", 5)};
      in.values[0].item_group = rule;
      in.items->group_bits = std::span(bits).first(size);
    };
  };
  check_accepted(change({.group = 63}, 10'001));
  check_accepted(change({.group = 63, .is_share = true}, 10'001));
  for (const Count group : {Count{-2}, Count{64}}) {
    CHECK(refusal(change({.group = group}, 10'001)) == "metrics");
  }
  CHECK(refusal(change({.is_share = true}, 10'001)) == "metrics");
  for (const std::size_t size : {std::size_t{0}, std::size_t{10'000}}) {
    CHECK(refusal(change({.group = 0}, size)) == "items.group_bits");
  }
  CHECK(refusal([&](Input& in) {
          change({.group = 0}, 0)(in);
          in.items.reset();
        }) == "items.group_bits");
  const auto share_of_precisions = [&](Input& in) {
    change({.group = 0, .is_share = true}, 10'001)(in);
    in.values[0].metric = "average_precision";
    in.values[0].rules.ap_over = Over::hits;
  };
  CHECK(refusal(share_of_precisions) == "metrics");
  for (const double group : {-1.0, .5, 64.0, kNan}) {
    CHECK(refusal_of_value(value("precision(item_group)", 5, {}, group)) == "metrics");
  }
  CHECK(refusal_of_value(value("precision(item_group)", 5)) == "items.group_bits");
}

TEST_CASE("micro averages are of the metrics that have them, and of defined values") {
  Rules micro;
  micro.average = Average::micro;
  for (const MetricInfo& info : metric_table()) {
    if (info.of_collection) continue;
    CAPTURE(info.name);
    const Count cutoff = info.pairwise ? kNoCutoff : 5;
    const auto one = value(std::string(info.name), cutoff, micro, parameter_of(info));
    if (info.micro) check_accepted([&](Input& in) { in.values = {one}; });
    if (!info.micro) CHECK(refusal_of_value(one) == "metrics");
  }
  for (Empty Rules::* const field :
       {&Rules::empty_truth, &Rules::empty_list, &Rules::missing_list}) {
    for (const Empty empty : {Empty::zero, Empty::one}) {
      Rules rules = micro;
      rules.*field = empty;
      CHECK(refusal_of_value(value("precision", 5, rules)) == "metrics");
    }
  }
}

TEST_CASE("values of items that are malformed are rejected") {
  const auto refusal_of_values = [](const std::vector<double>& values) {
    return refusal([&](Input& in) {
      in.items->values = values;
      in.values.push_back(value("recall", 5));
      in.values.back().rules.weight = Weight::values;
    });
  };
  CHECK(refusal_of_values({}) == "items");
  CHECK(refusal_of_values(std::vector<double>(5)) == "items.values");
  std::vector<double> values(10'000, 0x1p257);
  CHECK(refusal_of_values(values) == "items.values position 0, the first of 10000");
  values.assign(10'000, 0);
  values[2] = -1;
  CHECK(refusal_of_values(values) == "items.values position 2");
}

// Reporting a fault reads the lists again. By then another thread may have repaired them; poll,
// which runs before that, takes its location.
TEST_CASE("F20: lists may change before a fault is reported") {
  Input input = valid_input();
  input.predictions.ids()[4] = 5;
  bool is_repaired = false;
  input.poll = [&] {
    input.predictions.ids()[4] = 1;
    is_repaired = true;
  };
  CHECK(fault_of([&] { return input.run(); }).argument == "predictions");
  CHECK(is_repaired);

  input = valid_input();
  input.truth.ids()[1] = 1;
  input.poll = [&] { input.truth.ids()[1] = 2; };
  CHECK(fault_of([&] { return input.run(); }).argument == "truth");
}

TEST_CASE("the filled lengths of a padded matrix") {
  const Row matrix = {1, 2, 3, 4, -1, -1, -1, -1, -1, 5, 6, -1};
  CHECK(padded_lengths(std::span<const std::int64_t>(matrix), 4, 3, "predictions") ==
        std::vector<Offset>{3, 1, 0, 2});
  const std::vector<std::int32_t> narrow = {1, -1};
  CHECK(padded_lengths(std::span<const std::int32_t>(narrow), 2, 1, "predictions") ==
        std::vector<Offset>{1, 0});
  const std::vector<std::uint32_t> whole = {1, std::numeric_limits<std::uint32_t>::max()};
  CHECK(padded_lengths(std::span<const std::uint32_t>(whole), 1, 2, "predictions").empty());
  CHECK(
      padded_lengths(std::span<const std::int64_t>(matrix).first(4), 2, 2, "predictions").empty());
  CHECK(padded_lengths(std::span<const std::int64_t>(), 3, 0, "predictions").empty());
  CHECK(padded_lengths(std::span<const std::int64_t>(), 0, 3, "predictions").empty());
}

TEST_CASE("a padded matrix has as many items as its rows and columns say") {
  const Row matrix(12);
  for (const auto& [rows, columns] : std::vector<std::pair<Count, Count>>{
           {3, 3}, {-1, 12}, {12, -1}, {0, 0}, {(Count{1} << 62U) + 3, 4}}) {
    CAPTURE(rows);
    const auto read = [&] {
      return padded_lengths(std::span<const std::int64_t>(matrix), rows, columns, "predictions");
    };
    CHECK(fault_of(read).argument == "predictions");
  }
}

}  // namespace
}  // namespace exactk
