// Eleven small workloads of the core, of which valgrind counts the instructions. Without arguments,
// prints their names; with a name and a number, repeats that workload so often, on one thread.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/fuse.hpp"
#include "exactk/group_rows.hpp"
#include "exactk/paired_sums.hpp"
#include "exactk/topk.hpp"
#include "exactk/trec.hpp"
#include "exactk/vocabulary.hpp"

#ifdef __GLIBCXX__
// In place of the library's: the core draws the seeds of its hashes at random, and collisions of
// 63-bit ids and strings would change counts by 2 % from one process to the next.
std::random_device::result_type std::random_device::_M_getval() { return 0x9e3779b9U; }
#endif

namespace exactk::benchmarks {
namespace {

using Repeat = std::function<void()>;

// The widest instruction set that valgrind simulates: what is counted must not depend on more of
// the processor than whether it has AVX2.
Isa counted_isa() {
  const std::span<const Isa> available = available_isas();
  return std::ranges::find(available, Isa::avx2) != available.end() ? Isa::avx2 : Isa::scalar;
}

std::vector<PlannedValue> values_of(const std::vector<std::string>& metrics,
                                    const std::vector<Count>& cutoffs, const Rules& rules = {}) {
  std::vector<PlannedValue> values;
  for (const std::string& metric : metrics) {
    for (const Count cutoff : cutoffs) values.push_back({metric, cutoff, 0, rules});
  }
  return values;
}

// Evaluates on one thread. A request that evaluates nobody would count nothing of interest.
void evaluate_request(Request& request) {
  request.isa = counted_isa();
  const Result result = evaluate(request);
  if (result.sums.front().users == 0) throw std::logic_error("no user is evaluated");
}

template <class Id>
Repeat evaluate_lists(const Sizes& sizes, const std::vector<PlannedValue>& values) {
  return [lists = DrawnLists<Id>(sizes), values] {
    std::vector<double> per_user(values.size() * lists.truth.row_count());
    Request request;
    request.truth = lists.truth.view();
    request.predictions = lists.predictions.view();
    request.values = values;
    request.per_user = per_user;
    evaluate_request(request);
  };
}

constexpr Sizes kLists{.users = 1'000, .length = 100, .relevant = 20, .items = 50'000};

Repeat lists_one_value() { return evaluate_lists<std::int32_t>(kLists, values_of({"ndcg"}, {10})); }

Repeat lists_thirty_values() {
  return evaluate_lists<std::int32_t>(
      kLists, values_of({"precision", "recall", "ndcg", "average_precision", "reciprocal_rank"},
                        {1, 5, 10, 20, 50, 100}));
}

Repeat leave_one_out() {
  return evaluate_lists<std::int32_t>(
      {.users = 10'000, .length = 10, .relevant = 1, .items = 20'000},
      values_of({"recall", "ndcg", "reciprocal_rank"}, {1, 5, 10}));
}

// Ids of 63 bits, every tenth of which is in the list already.
Repeat repeated_ids() {
  DrawnLists<std::int64_t> lists(kLists, 91'234'567'890'123);
  std::vector<std::int64_t>& items = lists.predictions.items;
  for (std::size_t i = 9; i < items.size(); i += 10) items[i] = items[i - 5];
  Rules rules;
  rules.duplicate_items = Duplicates::first;
  return
      [lists = std::move(lists), rules, values = values_of({"recall", "ndcg"}, {10, 100}, rules)] {
        Request request;
        request.truth = lists.truth.view();
        request.predictions = lists.predictions.view();
        request.values = values;
        request.tally_rules = rules;
        evaluate_request(request);
      };
}

// Long truths with grades; weights, groups of users, and exclusions.
Repeat graded_lists() {
  constexpr Sizes kSizes{.users = 200, .length = 100, .relevant = 500, .items = 50'000};
  constexpr Count kGroups = 20;
  Random random(1);
  DrawnLists<std::int32_t> lists(kSizes);
  std::vector<double> grades(lists.truth.items.size());
  for (double& grade : grades) grade = static_cast<double>(random() % 5);
  std::vector<Offset> groups(kSizes.users);
  for (Offset& group : groups) group = static_cast<Offset>(random() % std::uint64_t{kGroups});
  OwnedLists<std::int64_t> exclude;
  for (std::size_t user = 0; user < kSizes.users; ++user) {
    exclude.append(draw_items(50, kSizes.items, random));
  }
  Rules rules;
  rules.gain = Gain::exp2;
  return [lists = std::move(lists), grades, groups, exclude,
          weights = draw_fractions(kSizes.users, random),
          values = values_of({"recall", "ndcg", "average_precision"}, {5, 10, 100}, rules)] {
    Request request;
    request.truth = lists.truth.view();
    request.grades = grades;
    request.predictions = lists.predictions.view();
    request.exclude = exclude.view();
    request.weights = weights;
    request.groups = groups;
    request.group_count = kGroups;
    request.values = values;
    evaluate_request(request);
  };
}

// A dense matrix with exclusions and some ties.
Repeat score_matrix() {
  constexpr Sizes kSizes{.users = 200, .length = 50, .relevant = 10, .items = 5'000};
  Random random(2);
  return [lists = DrawnLists<std::int64_t>(kSizes),  // the lists are what is excluded
          scores = draw_tied_scores(kSizes.users * kSizes.items, 50'000, random),
          values = values_of({"recall", "ndcg"}, {5, 20})] {
    Request request;
    request.truth = lists.truth.view();
    request.predictions = matrix_of(scores, kSizes.users);
    request.exclude = lists.predictions.view();
    request.values = values;
    evaluate_request(request);
  };
}

// Scores of items with ids of their own, many of them tied, over whose orders values are averaged.
Repeat sparse_scores() {
  constexpr Sizes kSizes{.users = 500, .length = 200, .relevant = 10, .items = 5'000};
  Random random(3);
  Rules rules;
  rules.ties = Ties::expected;
  return [lists = DrawnLists<std::int64_t>(kSizes), rules,
          scores = draw_tied_scores(kSizes.users * kSizes.length, 100, random),
          values = values_of({"recall", "ndcg"}, {5, 20}, rules)] {
    Request request;
    request.truth = lists.truth.view();
    request.predictions = sparse_scores_of(lists.predictions, scores);
    request.values = values;
    request.tally_rules = rules;
    evaluate_request(request);
  };
}

Vectors vectors_of(std::span<const float> numbers, std::size_t width) {
  return {.numbers = std::as_bytes(numbers).data(),
          .rows = static_cast<Count>(numbers.size() / width),
          .row_stride = static_cast<std::ptrdiff_t>(width * sizeof(float))};
}

// The best items of users by the products of vectors.
Repeat embeddings() {
  constexpr std::size_t kUsers = 100;
  constexpr std::size_t kItems = 5'000;
  constexpr std::size_t kWidth = 16;
  constexpr std::size_t kBest = 20;
  Random random(4);
  return [users = draw_floats(kUsers * kWidth, random),
          items = draw_floats(kItems * kWidth, random)] {
    std::vector<std::int64_t> positions(kUsers * kBest);
    std::vector<double> best_scores(kUsers * kBest);
    TopKRequest request;
    request.scores = Embeddings{
        .users = vectors_of(users, kWidth), .items = vectors_of(items, kWidth), .width = kWidth};
    request.k = kBest;
    request.positions = positions;
    request.best_scores = best_scores;
    request.isa = counted_isa();
    topk(request);
  };
}

std::string draw_trec_run(std::size_t rows, std::uint64_t queries, Random& random) {
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    text += "query-" + std::to_string(random() % queries) + " Q0 document-" +
            std::to_string(random() % 100'000) + " 0 " + std::to_string(draw_fraction(random)) +
            " tag\n";
  }
  return text;
}

std::vector<Code> codes_of(const StringColumn& column, Vocabulary& vocabulary) {
  std::vector<Code> codes(column.offsets.size() - 1);
  const std::string_view bytes(reinterpret_cast<const char*>(column.bytes.data()),
                               column.bytes.size());
  encode(vocabulary, PackedStrings<Offset>{.offsets = column.offsets, .bytes = bytes}, codes, {});
  return codes;
}

// From a text to rows by user: parsed, encoded, grouped.
Repeat trec_run() {
  constexpr std::size_t kRows = 20'000;
  Random random(5);
  return [text = draw_trec_run(kRows, 200, random)] {
    bool is_read = false;
    const TrecColumns columns = parse_trec(TrecFormat::run, [&] {
      return std::exchange(is_read, true) ? std::string_view{} : std::string_view(text);
    });
    Vocabulary users(false);
    Vocabulary items(false);
    const std::vector<Code> user_codes = codes_of(columns.queries, users);
    const std::vector<Code> item_codes = codes_of(columns.documents, items);
    const Grouping grouping = group_rows(user_codes, users.size(), "run", {});
    if (grouping.order.size() != kRows) throw std::logic_error("rows are grouped already");
  };
}

// The exact sums of differences that a paired test is computed from, of 9 systems and a baseline.
Repeat compare_systems() {
  constexpr std::size_t kSystems = 10;
  constexpr std::size_t kUsers = 2'000;
  constexpr Count kRows = 5;
  Random random(6);
  std::vector<std::vector<double>> tables;
  std::vector<SystemPair> pairs;
  for (std::size_t system = 0; system < kSystems; ++system) {
    tables.push_back(draw_fractions(kUsers * kRows, random));
    if (system > 0) pairs.push_back({static_cast<Offset>(system), 0});
  }
  std::vector<PairedValue> values;
  for (Offset row = 0; row < kRows; ++row) {
    values.push_back({.rows = {row}, .shown = row, .is_unit = true});
  }
  return [=] {
    const std::vector<std::span<const double>> views(tables.begin(), tables.end());
    PairedRequest request;
    request.tables = views;
    request.rows = kRows;
    request.users = kUsers;
    request.values = values;
    request.pairs = pairs;
    request.isa = counted_isa();
    if (paired_sums(request).front().wins == 0) throw std::logic_error("no user is compared");
  };
}

// The weighted sum of normalised scores of five runs.
Repeat fused_runs() {
  constexpr Sizes kSizes{.users = 200, .length = 500, .relevant = 0, .items = 2'000};
  constexpr std::size_t kSystems = 5;
  Random random(7);
  std::vector<OwnedLists<std::int64_t>> lists(kSystems);
  std::vector<std::vector<float>> scores(kSystems);
  for (std::size_t system = 0; system < kSystems; ++system) {
    for (std::size_t user = 0; user < kSizes.users; ++user) {
      lists[system].append(draw_items(kSizes.length, kSizes.items, random));
      std::vector<float> row = draw_floats(kSizes.length, random);
      std::ranges::sort(row, std::greater<>());
      scores[system].insert(scores[system].end(), row.begin(), row.end());
    }
  }
  return [lists = std::move(lists), scores = std::move(scores)] {
    FusionRequest request;
    request.rules = {.method = FusionMethod::sum, .norm = ScoreNorm::min_max};
    request.isa = counted_isa();
    for (std::size_t system = 0; system < kSystems; ++system) {
      request.systems.push_back({.lists = sparse_scores_of(lists[system], scores[system]),
                                 .weight = 1 + 0.25 * static_cast<double>(system)});
    }
    if (fuse(request).items.empty()) throw std::logic_error("nothing is fused");
  };
}

struct Workload {
  std::string_view name;
  Repeat (*prepare)();
};

constexpr Workload kWorkloads[] = {
    {"lists_one_value", &lists_one_value},
    {"lists_thirty_values", &lists_thirty_values},
    {"leave_one_out", &leave_one_out},
    {"repeated_ids", &repeated_ids},
    {"graded_lists", &graded_lists},
    {"score_matrix", &score_matrix},
    {"sparse_scores", &sparse_scores},
    {"embeddings", &embeddings},
    {"trec_run", &trec_run},
    {"paired_sums", &compare_systems},
    {"fused_runs", &fused_runs},
};

void repeat_workload(std::string_view name, int count) {
  const auto* const workload = std::ranges::find(kWorkloads, name, &Workload::name);
  if (workload == std::end(kWorkloads)) throw std::invalid_argument("no such workload");
  const Repeat repeat = workload->prepare();
  for (int i = 0; i < count; ++i) repeat();
}

}  // namespace
}  // namespace exactk::benchmarks

int main(int count, char* arguments[]) {
  try {
    if (count == 3) {
      exactk::benchmarks::repeat_workload(arguments[1], std::stoi(arguments[2]));
    } else {
      for (const auto& workload : exactk::benchmarks::kWorkloads)
        std::cout << workload.name << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
