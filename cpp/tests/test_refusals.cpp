#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/group_rows.hpp"
#include "exactk/lists.hpp"
#include "exactk/metrics.hpp"
#include "exactk/strings.hpp"
#include "exactk/vocabulary.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

struct Location {
  Count row = -1;
  Offset position = -1;
  Count count = 1;
};

void check_fault(const Fault& fault, const std::string& argument, const Location& location) {
  CAPTURE(fault.expected);
  CAPTURE(fault.found);
  CHECK(fault.argument == argument);
  CHECK(fault.row == location.row);
  CHECK(fault.position == location.position);
  CHECK(fault.count == location.count);
  CHECK_FALSE(fault.expected.empty());
  CHECK_FALSE(fault.found.empty());
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

// Checks the fault of the valid request after the change, on one thread and on several.
void refuse(const std::string& what, const std::string& argument, const Location& location,
            const std::function<void(Input&)>& change) {
  CAPTURE(what);
  for (const int threads : {1, 3}) {
    Input input = valid_input();
    input.threads = threads;
    change(input);
    check_fault(fault_of([&] { return input.run(); }), argument, location);
  }
}

// Applies the change to the rules of the first value, which is nDCG@5.
std::function<void(Input&)> change_first_rules(const std::function<void(Rules&)>& change) {
  return [change](Input& input) { change(input.values[0].rules); };
}

TEST_CASE("the valid request is accepted") {
  Input input = valid_input();
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("F1: malformed lists are rejected") {
  refuse("truth without offsets", "truth", {}, [](Input& in) { in.truth.indptr.clear(); });
  refuse("predictions without offsets", "predictions", {},
         [](Input& in) { in.predictions.indptr.clear(); });
  refuse("begins above 0", "truth", {-1, 0}, [](Input& in) { in.truth.indptr[0] = 1; });
  refuse("begins below 0", "predictions", {-1, 0},
         [](Input& in) { in.predictions.indptr[0] = -1; });
  refuse("decreases", "truth", {-1, 2}, [](Input& in) { in.truth.indptr = {0, 3, 2, 5}; });
  refuse("turns negative", "exclude", {-1, 1},
         [](Input& in) { in.exclude->indptr = {0, -5, 1, 3}; });
  refuse("ends early", "truth", {-1, 3}, [](Input& in) { in.truth.indptr = {0, 1, 2, 4}; });
  refuse("ends late", "predictions", {-1, 3}, [](Input& in) { in.predictions.indptr.back() = 6; });
  refuse("ends far beyond", "predictions", {-1, 3},
         [](Input& in) { in.predictions.indptr.back() = std::numeric_limits<Offset>::max(); });
  refuse("too few lengths", "predictions", {}, [](Input& in) { in.predictions.lengths = {1, 0}; });
  refuse("too many lengths", "truth", {}, [](Input& in) { in.truth.lengths = {1, 1, 1, 0}; });
  refuse("a length beyond its row", "predictions", {2},
         [](Input& in) { in.predictions.lengths = {2, 0, 4}; });
  refuse("a negative length", "truth", {1}, [](Input& in) { in.truth.lengths = {2, -1, 1}; });
  refuse("too few present", "truth", {}, [](Input& in) { in.truth.present = {1, 1}; });
  refuse("too many present", "predictions", {},
         [](Input& in) { in.predictions.present = {1, 1, 1, 1}; });
  refuse("items of an absent user", "predictions", {2},
         [](Input& in) { in.predictions.present = {1, 0, 0}; });
  refuse("other rows in predictions", "predictions", {},
         [](Input& in) { in.predictions = lists({{2}, {1}}); });
  refuse("other rows in exclude", "exclude", {},
         [](Input& in) { in.exclude = lists({{2}, {1}, {}, {}}); });
  refuse("truth of another type", "truth", {},
         [](Input& in) { in.truth.items = std::vector<std::int32_t>{1, 2, 3, 4, 5}; });
  refuse("exclude of another type", "exclude", {},
         [](Input& in) { in.exclude->items = std::vector<std::uint64_t>{7, 8, 9}; });
}

TEST_CASE("F3: ids outside [0, 2^63) are rejected") {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  refuse("truth", "truth", {2, 1}, [](Input& in) { in.truth.ids()[4] = -1; });
  refuse("several", "predictions", {0, 1, 3},
         [](Input& in) { in.predictions.ids() = {2, -7, 5, kFirst, -1}; });
  refuse("exclude", "exclude", {2, 0}, [](Input& in) { in.exclude->ids()[1] = -1; });
  refuse("int32", "predictions", {2, 1},
         [](Input& in) { in.predictions.items = std::vector<std::int32_t>{2, 9, 5, -1, 1}; });
  refuse("uint64", "predictions", {2, 2}, [](Input& in) {
    in.predictions.items = std::vector<std::uint64_t>{2, 9, 5, 4, std::uint64_t{1} << 63U};
  });
  refuse("within the lengths", "predictions", {2, 0}, [](Input& in) {
    in.predictions.ids() = {2, -1, -1, 4, -1};
    in.predictions.lengths = {1, 0, 2};
  });
  Input input = valid_input();
  input.predictions.items =
      std::vector<std::uint64_t>{2, 9, 5, 4, (std::uint64_t{1} << 63U) - 1};  // the last valid id
  CHECK_NOTHROW(static_cast<void>(input.run()));
  input = valid_input();
  input.predictions.items =
      std::vector<std::uint32_t>{2, 9, 5, 4, std::numeric_limits<std::uint32_t>::max()};
  CHECK_NOTHROW(static_cast<void>(input.run()));
  input = valid_input();
  input.predictions.ids() = {2, -1, 5, 4, -9};  // items beyond the lengths belong to no row
  input.predictions.lengths = {1, 0, 2};
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("malformed base predictions are rejected") {
  const auto with_base = [](const std::function<void(Input&)>& change) {
    return [change](Input& in) {
      in.base = lists({{2}, {3, 4}, {}});
      in.values.push_back(value("unexpectedness", 5));
      change(in);
    };
  };
  refuse("none", "base_predictions", {}, with_base([](Input& in) { in.has_base = false; }));
  refuse("too few rows", "base_predictions", {},
         with_base([](Input& in) { in.base = lists({{2}, {3}}); }));
  refuse("a negative id", "base_predictions", {1, 1},
         with_base([](Input& in) { in.base->ids()[2] = -1; }));
  refuse("ends late", "base_predictions", {-1, 3},
         with_base([](Input& in) { in.base->indptr.back() = 4; }));
  refuse("repeated items", "base_predictions", {1, 2, 3},
         with_base([](Input& in) { in.base = lists({{}, {3, 4, 3, 3}, {1, 1}}); }));
}

TEST_CASE("malformed grades, weights and groups are rejected") {
  refuse("too few grades", "truth", {}, [](Input& in) { in.grades.pop_back(); });
  refuse("too many grades", "truth", {}, [](Input& in) { in.grades.push_back(1); });
  refuse("NaN grade", "truth", {2, 0}, [](Input& in) { in.grades[3] = kNan; });
  refuse("infinite grades", "truth", {0, 1, 3},
         [](Input& in) { in.grades = {1, kInfinity, -kInfinity, 1, kNan}; });
  refuse("too few weights", "weights", {}, [](Input& in) { in.weights->pop_back(); });
  refuse("no weights but given", "weights", {}, [](Input& in) { in.weights->clear(); });
  refuse("too many weights", "weights", {}, [](Input& in) { in.weights->push_back(1); });
  refuse("negative weight", "weights", {1}, [](Input& in) { in.weights->at(1) = -kSmallest; });
  refuse("a weight too small to multiply exactly", "weights", {1},
         [](Input& in) { in.weights->at(1) = 0x1.fp-257; });
  refuse("NaN and infinite weight", "weights", {1, -1, 2},
         [](Input& in) { in.weights = {{1, kNan, kInfinity}}; });
  refuse("huge weight", "weights", {2}, [](Input& in) { in.weights->at(2) = 0x1.1p256; });
  refuse("no group", "groups", {}, [](Input& in) { in.group_count = 0; });
  refuse("negative count of groups", "groups", {}, [](Input& in) { in.group_count = -1; });
  refuse("more groups than users", "groups", {}, [](Input& in) { in.group_count = 4; });
  refuse("too few groups", "groups", {}, [](Input& in) { in.groups.pop_back(); });
  refuse("group out of range", "groups", {1, -1, 2}, [](Input& in) { in.groups = {0, 2, 5}; });
  refuse("negative group", "groups", {2}, [](Input& in) { in.groups[2] = -1; });
  refuse("no thread", "num_threads", {}, [](Input& in) { in.threads = 0; });
  refuse("negative threads", "num_threads", {}, [](Input& in) { in.threads = -1; });
  refuse("too many threads", "num_threads", {}, [](Input& in) { in.threads = 1025; });
  refuse("per_user of another size", "per_user", {}, [](Input& in) { in.per_user.assign(5, 0); });
  refuse("ratios without a micro value", "per_user", {}, [](Input& in) { in.ratios.assign(6, 0); });
  refuse("ratios of another size", "per_user", {}, [](Input& in) {
    in.values[0].rules.average = Average::micro;
    in.ratios.assign(3, 0);
  });
}

TEST_CASE("malformed given numbers are rejected") {
  const auto given = [](double row, std::vector<double> numbers) {
    return [row, numbers = std::move(numbers)](Input& in) {
      in.values = {value(std::string(kGivenOfJudged), 5, {}, row)};
      in.per_user.clear();
      in.given = numbers;
    };
  };
  refuse("none", "given", {}, given(0, {}));
  refuse("too few", "given", {}, given(0, std::vector<double>(5)));
  refuse("a row too many", "given", {}, given(1, std::vector<double>(6)));
  refuse("a negative row", "given", {}, given(-1, std::vector<double>(6)));
  refuse("half a row", "given", {}, given(.5, std::vector<double>(12)));
  refuse("a row that is no number", "given", {}, given(kNan, std::vector<double>(12)));
  refuse("a row beyond all", "given", {}, given(1e308, std::vector<double>(12)));
  refuse("NaN", "given", {}, given(0, {0, 1, kNan, 1, 1, 1}));
  refuse("a number too large to sum", "given", {}, given(0, {0, 1, 0x1.1p256, 1, 1, 1}));
}

TEST_CASE("grades without a gain are rejected") {
  refuse("negative, linear", "truth", {2, 1}, [](Input& in) { in.grades[4] = -1; });
  refuse("huge, linear", "truth", {0, 0}, [](Input& in) { in.grades[0] = 0x1.1p256; });
  refuse("negative, exp2", "truth", {1, 0, 2}, [](Input& in) {
    in.values[0].rules.gain = Gain::exp2;
    in.grades = {1, 2, -1, 0, -2};
  });
  refuse("huge, exp2", "truth", {2, 0}, [](Input& in) {
    in.values[0].rules.gain = Gain::exp2;
    in.grades[3] = 257;
  });
  refuse("beyond the table", "truth", {2, 1}, [](Input& in) {
    in.values[0].rules.gain = Gain::table;
    in.values[0].rules.gain_table = {0, 1, 2};
  });
  refuse("not whole, table", "truth", {1, 0}, [](Input& in) {
    in.values[0].rules.gain = Gain::table;
    in.values[0].rules.gain_table = {0, 1, 2, 3};
    in.grades[2] = .5;
  });
  refuse("no grades and a table without grade 1", "truth", {}, [](Input& in) {
    in.values[0].rules.gain = Gain::table;
    in.values[0].rules.gain_table = {3};
    in.grades.clear();
  });
  refuse("min_grade without grades", "truth", {}, [](Input& in) {
    in.values[1].rules.min_grade = 1.5;
    in.grades.clear();
  });
  refuse("min_grade of the tally without grades", "truth", {}, [](Input& in) {
    in.tally_rules.min_grade = 1.5;
    in.grades.clear();
  });
  Input input = valid_input();
  input.grades[4] = -1;
  input.values = {value("precision", 5)};  // needs no gains
  CHECK_NOTHROW(static_cast<void>(input.run()));
  input.values = {value("ndcg", 5)};
  input.values[0].rules.gain = Gain::binary;
  CHECK_NOTHROW(static_cast<void>(input.run()));
}

TEST_CASE("values that no metric provides are rejected") {
  const auto set_value = [](const PlannedValue& one) {
    return [one](Input& in) { in.values = {one}; };
  };
  refuse("nothing", "metrics", {}, [](Input& in) { in.values.clear(); });
  refuse("unknown name", "metrics", {}, set_value(value("precison", 5)));
  refuse("an alias, which the caller resolves", "metrics", {}, set_value(value("ndcg_cut", 5)));
  refuse("cutoff 0", "metrics", {}, set_value(value("precision", 0)));
  refuse("negative cutoff", "metrics", {}, set_value(value("precision", -1)));
  refuse("cutoff 2^31", "metrics", {}, set_value(value("precision", Count{1} << 31U)));
  refuse("infinite min_grade", "metrics", {},
         change_first_rules([](Rules& r) { r.min_grade = kInfinity; }));
  refuse("NaN min_grade", "metrics", {}, change_first_rules([](Rules& r) { r.min_grade = kNan; }));
  refuse("NaN min_grade of the tally", "convention", {},
         [](Input& in) { in.tally_rules.min_grade = kNan; });
  refuse("negative beta", "metrics", {}, set_value(value("fbeta", 5, {}, -1)));
  refuse("NaN beta", "metrics", {}, set_value(value("fbeta", 5, {}, kNan)));
  refuse("p of 1", "metrics", {}, set_value(value("rbp", 5, {}, 1)));
  refuse("max_grade below 1", "metrics", {}, set_value(value("err", 5, {}, .5)));
  refuse("no number of items", "metrics", {}, set_value(value("list_auc", 5, {}, kNan)));
  refuse("half an item", "metrics", {}, set_value(value("list_auc", 5, {}, 10.5)));
  refuse("too deep a mean", "metrics", {},
         set_value(value("mean_precision", (Count{1} << 20U) + 1)));
  refuse("relevant items that are not judged", "metrics", {}, change_first_rules([](Rules& r) {
           r.negative_grades = NegativeGrades::unjudged;
           r.min_grade = -1;
         }));
  refuse("the same in the tally", "convention", {}, [](Input& in) {
    in.tally_rules.negative_grades = NegativeGrades::unjudged;
    in.tally_rules.min_grade = -1;
  });
  refuse("a shift without min_grade", "metrics", {},
         change_first_rules([](Rules& r) { r.gain = Gain::exp2_shifted; }));
  refuse("no gain table", "metrics", {},
         change_first_rules([](Rules& r) { r.gain = Gain::table; }));
  refuse("negative gain", "metrics", {},
         change_first_rules([](Rules& r) { r.gain_table = {0, -1}; }));
  refuse("NaN gain", "metrics", {}, change_first_rules([](Rules& r) { r.gain_table = {kNan}; }));
  refuse("huge gain", "metrics", {},
         change_first_rules([](Rules& r) { r.gain_table = {0x1.1p256}; }));
  refuse("a full-k ideal of graded gains", "metrics", {},
         change_first_rules([](Rules& r) { r.ideal_over = Over::cutoff; }));
  refuse("a full-k ideal without k", "metrics", {}, [](Input& in) {
    in.values[0].cutoff = kNoCutoff;
    in.values[0].rules.ideal_over = Over::cutoff;
    in.values[0].rules.gain = Gain::binary;
  });
  refuse("a full-k ideal of a huge k", "metrics", {}, [](Input& in) {
    in.values[0].cutoff = (Count{1} << 20U) + 1;
    in.values[0].rules.ideal_over = Over::cutoff;
    in.values[0].rules.gain = Gain::binary;
  });
  refuse("what is made of means", "metrics", {},
         change_first_rules([](Rules& r) { r.average = Average::of_means; }));
  Rules micro;
  micro.average = Average::micro;
  for (const MetricInfo& info : metric_table()) {
    if (info.of_collection) continue;
    CAPTURE(info.name);
    Input input = valid_input();
    const Count cutoff = info.pairwise ? kNoCutoff : 5;
    input.values = {value(std::string(info.name), cutoff, micro, parameter_of(info))};
    if (info.micro) {
      CHECK_NOTHROW(static_cast<void>(input.run()));
    } else {
      check_fault(fault_of([&] { return input.run(); }), "metrics", {});
    }
  }
  for (Empty Rules::* const field :
       {&Rules::empty_truth, &Rules::empty_list, &Rules::missing_list}) {
    for (const Empty empty : {Empty::zero, Empty::one}) {
      Input input = valid_input();
      input.values = {value("precision", 5, micro)};
      input.values[0].rules.*field = empty;
      check_fault(fault_of([&] { return input.run(); }), "metrics", {});
    }
  }
}

TEST_CASE("faults that only reading the lists reveals are rejected") {
  const auto change_all_rules = [](const std::function<void(Rules&)>& change) {
    return [change](Input& in) {
      for (PlannedValue& one : in.values) change(one.rules);
    };
  };
  refuse("an item twice in the truth", "truth", {0, 1}, [](Input& in) { in.truth.ids()[1] = 1; });
  refuse("an item twice in a list", "predictions", {2, 2},
         [](Input& in) { in.predictions.ids()[4] = 5; });
  refuse("several items repeated, in several lists", "predictions", {0, 1, 3},
         [](Input& in) { in.predictions.ids() = {2, 2, 4, 4, 4}; });
  refuse("the truth is reported before the list", "truth", {2, 1}, [](Input& in) {
    in.predictions.ids() = {2, 2, 4, 4, 4};
    in.truth.ids()[4] = 4;
  });
  refuse("duplicates before empty lists", "predictions", {2, 2}, [&](Input& in) {
    change_all_rules([](Rules& r) { r.empty_list = Empty::error; })(in);
    in.predictions.ids()[4] = 5;
  });
  refuse("an empty truth", "truth", {1, -1, 2}, [&](Input& in) {
    change_all_rules([](Rules& r) { r.empty_truth = Empty::error; })(in);
    in.grades = {1, 2, 0, 0, 0};
  });
  refuse("an empty list", "predictions", {1},
         change_all_rules([](Rules& r) { r.empty_list = Empty::error; }));
  refuse("a missing list", "predictions", {1}, [&](Input& in) {
    change_all_rules([](Rules& r) { r.missing_list = Empty::error; })(in);
    in.predictions.present = {1, 0, 1};
  });
  refuse("a list that is empty once the excluded items are out", "predictions", {0, -1, 2},
         [&](Input& in) {
           change_all_rules([](Rules& r) { r.empty_list = Empty::error; })(in);
           in.exclude = lists({{2, 9}, {}, {}});
         });
  refuse("the rules of one value suffice", "predictions", {2, 2}, [](Input& in) {
    in.values[0].rules.duplicate_items = Duplicates::first;
    in.predictions.ids()[4] = 5;
  });
}

TEST_CASE("values of items that are malformed or missing are rejected") {
  static std::vector<double> item_values;
  const auto by_values = [](double of_item_2, double of_others, std::size_t size = 10'000) {
    return [=](Input& in) {
      item_values.assign(size, of_others);
      if (size > 2) item_values[2] = of_item_2;
      in.items->values = item_values;
      in.values.push_back(value("recall", 5));
      in.values.back().rules.weight = Weight::values;
    };
  };
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Input input = valid_input();
  by_values(0, 3)(input);
  CHECK_NOTHROW(input.run());
  refuse("no values", "items", {}, by_values(0, 0, 0));
  refuse("too few values", "items.values", {}, by_values(0, 0, 5));
  refuse("a negative value", "items.values", {-1, 2}, by_values(-1, 0));
  refuse("values above 2^256", "items.values", {-1, 0, 9'999}, by_values(0, 0x1p257));
  refuse("a relevant item without a value", "truth", {0}, by_values(kNone, 1));
  refuse("several", "truth", {0, -1, 3}, by_values(1, kNone));
  refuse("several, and an empty list", "truth", {0, -1, 2}, [&](Input& in) {
    by_values(1, kNone)(in);
    in.values.back().rules.empty_list = Empty::skip;
  });
  refuse("no catalogue", "items", {}, [&](Input& in) {
    by_values(1, 1)(in);
    in.items.reset();
  });
  refuse("another divisor", "metrics", {}, [&](Input& in) {
    by_values(1, 1)(in);
    in.values.back().rules.recall_over = Over::min_cutoff_relevant;
  });
}

TEST_CASE("the first of many faulty users is named for any number of threads") {
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

TEST_CASE("F43: every function that takes threads checks their number") {
  const std::vector<Code> codes = {1, 0};
  const Row ids = {3, 4};
  const std::vector<std::int64_t> packed = {0, 1, 2};
  std::vector<Code> encoded(2);
  const std::vector<Offset> indptr = {0, 2};
  const std::vector<double> grades = {1, 2};
  const Lists lists{
      .items = std::span<const std::int64_t>(ids), .indptr = indptr, .lengths = {}, .present = {}};
  for (const int threads : {0, -1, std::numeric_limits<int>::min(), kMaxThreads + 1}) {
    CAPTURE(threads);
    const Execution execution{.threads = threads};
    Vocabulary integers(true);
    Vocabulary strings(false);
    Input input = valid_input();
    input.threads = threads;
    Grouping grouping = group_rows(codes, 2, "users", {});
    RowCounts counts = count_rows(codes, 2, "users", {});
    const std::vector<std::function<void()>> calls = {
        [&] { static_cast<void>(input.run()); },
        [&] { encode(integers, std::span<const std::int64_t>(ids), encoded, "keys", execution); },
        [&] {
          encode(strings, PackedStrings<std::int64_t>{.offsets = packed, .bytes = "ab"}, encoded,
                 execution);
        },
        [&] { static_cast<void>(extend(integers, integers, 0, "keys", execution)); },
        [&] { static_cast<void>(positions_in_key_order(integers, 0, execution)); },
        [&] { static_cast<void>(count_rows(codes, 2, "users", execution)); },
        [&] { copy_grouped(std::move(counts), codes, {}, "users", execution); },
        [&] { static_cast<void>(group_rows(codes, 2, "users", execution)); },
        [&] { order_by_rank(grouping, std::span<const double>(grades), "users", execution); },
        [&] { validate_lists(lists, "truth", execution); },
        [&] { validate_grades(grades, lists, execution); },
        [&] { check_threads(threads); }};
    for (const auto& call : calls) {
      const Fault fault = fault_of(call);
      CHECK(fault.argument == "num_threads");
      CHECK(fault.found == std::to_string(threads));
    }
  }
}

// Reporting a fault reads the lists again. By then another thread may have repaired them; poll,
// which runs before that, takes its place.
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

// --- padded matrices ---

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

TEST_CASE("holes in a padded matrix are reported as ids out of range") {
  const Row matrix = {1, 2, -1, 3, -1, -1, -1, -1, 4, 5, -1, 6};
  const auto lengths = [](const Row& items, Count rows, Count columns) {
    return padded_lengths(std::span<const std::int64_t>(items), rows, columns, "predictions");
  };
  const std::vector<Offset> filled = lengths(matrix, 3, 4);
  CHECK(filled == std::vector<Offset>{4, 0, 4});
  const std::vector<Offset> indptr = {0, 4, 8, 12};
  const Lists lists{.items = std::span<const std::int64_t>(matrix),
                    .indptr = indptr,
                    .lengths = filled,
                    .present = {}};
  check_fault(fault_of([&] { return validate_lists(lists, "predictions"); }), "predictions",
              {0, 2, 2});
  for (const auto& [rows, columns] : std::vector<std::pair<Count, Count>>{
           {3, 3}, {-1, 12}, {12, -1}, {0, 0}, {(Count{1} << 62U) + 3, 4}}) {
    CAPTURE(rows);
    CHECK(fault_of([&] { return lengths(matrix, rows, columns); }).argument == "predictions");
  }
}

}  // namespace
}  // namespace exactk
