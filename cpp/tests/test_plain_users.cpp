#include "common.hpp"
#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/isa.hpp"
#include "exactk/metrics.hpp"
#include "exactk/scores.hpp"
#include "request.hpp"

namespace exactk {
namespace {

using namespace tests;

constexpr Count kCutoffs[] = {1, 3, 10, 11, 20, 63, 64, 65, 100, 128, 200, kNoCutoff};

// All metrics that a plain plan may have.
std::vector<PlannedValue> plain_values(const Rules& rules) {
  std::vector<PlannedValue> values;
  for (const MetricInfo& info : metric_table()) {
    if (reads_list(info) || info.of_collection || info.compares_lists || info.takes_item_count)
      continue;
    if (info.pairwise || info.reads_features || info.reads_history) continue;
    for (const Count cutoff : kCutoffs) {
      const bool is_uncut = cutoff == kNoCutoff;
      if (is_uncut && info.every_rank) continue;
      values.push_back(value(std::string(info.name), cutoff, rules, parameter_of(info)));
    }
  }
  return values;
}

struct Shape {
  std::size_t shortest;  // lists
  std::size_t longest;
  std::size_t most_relevant;
  std::size_t repeats;  // percentage of rows
};

Row draw_row(std::mt19937_64& random, std::size_t size, std::size_t repeats) {
  std::set<std::int64_t> drawn;
  while (drawn.size() < size) drawn.insert(static_cast<std::int64_t>(random() % 300));
  Row row(drawn.begin(), drawn.end());
  std::ranges::shuffle(row, random);
  if (size > 1 && random() % 100 < repeats) row.back() = row[random() % (size - 1)];
  return row;
}

Input random_input(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Row> truth;
  std::vector<Row> predictions;
  Input input{.truth = {}, .predictions = {}, .items = {}, .has_base = false};
  const std::size_t users = 300;
  for (std::size_t user = 0; user < users; ++user) {
    const std::size_t length = shape.shortest + random() % (shape.longest - shape.shortest + 1);
    truth.push_back(draw_row(random, random() % (shape.most_relevant + 1), shape.repeats));
    predictions.push_back(draw_row(random, length, shape.repeats));
  }
  input.truth = lists(truth);
  input.predictions = lists(predictions);
  for (std::size_t user = 0; user < users; ++user) {
    input.truth.present.push_back(truth[user].empty() && random() % 2 == 0 ? 0 : 1);
    input.predictions.present.push_back(predictions[user].empty() && random() % 2 == 0 ? 0 : 1);
  }
  return input;
}

// The same request with the ranks of the items, which no plain plan has.
Input with_ranks(Input input) {
  std::vector<Count>& ranks = input.predictions.ranks;
  for (std::size_t user = 0; user + 1 < input.predictions.indptr.size(); ++user) {
    const Offset length = input.predictions.indptr[user + 1] - input.predictions.indptr[user];
    for (Count rank = 1; rank <= length; ++rank) ranks.push_back(rank);
  }
  return input;
}

bool is_plain(Input& input) {
  return make_plan({.truth = input.truth.view(),
                    .grades = {},
                    .predictions = input.predictions.view(),
                    .exclude = {},
                    .weights = {},
                    .groups = {},
                    .values = input.values,
                    .tally_rules = input.tally_rules,
                    .per_user = {}})
      .is_plain;
}

// Evaluates with every instruction set, with and without ranks.
void check_both_ways(const Input& input) {
  Input ranked = with_ranks(input);
  Input plain = input;
  REQUIRE(is_plain(plain));
  REQUIRE(!is_plain(ranked));
  const Result expected = ranked.run();
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    plain.isa = isa;
    const Result result = plain.run();
    REQUIRE(result.sums.size() == expected.sums.size());
    for (std::size_t i = 0; i < result.sums.size(); ++i) {
      CAPTURE(input.values[i % input.values.size()].metric);
      CAPTURE(input.values[i % input.values.size()].cutoff);
      check_equal(result.sums[i], expected.sums[i]);
    }
    check_equal(result.tally, expected.tally);
    CHECK(same_numbers(plain.per_user, ranked.per_user));
    CHECK(plain.ratios == ranked.ratios);
  }
}

Rules rules_of(const std::function<void(Rules&)>& change) {
  Rules rules;
  rules.duplicate_items = Duplicates::first;
  rules.duplicate_truth = Duplicates::first;
  change(rules);
  return rules;
}

constexpr Shape kShapes[] = {
    {10, 10, 1, 0},      // as if one item is left out
    {100, 100, 20, 2},   // the usual lists
    {0, 130, 70, 5},     // lists and truths of all lengths around the greatest
    {5, 20, 30, 0},      // truths longer than lists
    {120, 128, 64, 60},  // many repeats
    {64, 65, 40, 0},
};

TEST_CASE("plain users have the sums and counts that they have with ranks") {
  std::uint64_t seed = 0;
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.longest);
    Input input = random_input(shape, ++seed);
    input.tally_rules = rules_of([](Rules&) {});
    input.values = plain_values(input.tally_rules);
    check_both_ways(input);
  }
}

TEST_CASE("plain users have the same sums under any convention") {
  const std::function<void(Rules&)> changes[] = {
      [](Rules& r) { r.empty_truth = Empty::zero; },
      [](Rules& r) { r.users = Users::both; },
      [](Rules& r) { r.duplicate_items = Duplicates::count; },
      [](Rules& r) { r.undefined = Undefined::nan; },
      [](Rules& r) { r.undefined = Undefined::skip; },
      [](Rules& r) { r.precision_over = Over::list; },
      [](Rules& r) { r.discount = Discount::log2_floored; },
      [](Rules& r) {
        r.gain = Gain::binary;
        r.ideal_over = Over::cutoff;
      },
      [](Rules& r) { r.ties = Ties::pessimistic; },
  };
  std::uint64_t seed = 100;
  for (const auto& change : changes) {
    CAPTURE(seed);
    Input input = random_input({0, 110, 40, 3}, ++seed);
    const Rules rules = rules_of(change);
    input.tally_rules = rules_of([](Rules&) {});
    for (const char* metric : {"precision", "recall", "ndcg", "average_precision", "hit_rate"}) {
      for (const Count cutoff : {Count{5}, Count{10}, Count{50}}) {
        input.values.push_back(value(metric, cutoff, rules));
      }
    }
    check_both_ways(input);
  }
}

// A catalogue whose items are in up to three of so many groups; `stride` sets ids apart, so that no
// table over all of them is made.
Items grouped_items(std::vector<std::int64_t>& ids, std::vector<std::uint64_t>& bits, Count groups,
                    std::int64_t stride) {
  std::mt19937_64 random(7);
  for (std::int64_t item = 0; item < 290; ++item) {  // the drawn ids go on to 299
    ids.push_back(item);
    bits.push_back(0);
    for (std::uint64_t i = random() % 4; i > 0; --i) {
      bits.back() |= std::uint64_t{1} << random() % static_cast<std::uint64_t>(groups);
    }
  }
  ids.push_back(stride);
  bits.push_back(1);
  bits.push_back(2);  // of other items
  return {.ids = ids, .users = {}, .interactions = {}, .group_bits = bits};
}

TEST_CASE("plain users have the same sums by group of items") {
  std::uint64_t seed = 200;
  for (const Shape& shape : kShapes) {
    for (const Count groups : {3, 8, 9, 64}) {
      CAPTURE(shape.longest);
      CAPTURE(groups);
      Input input = random_input(shape, ++seed);
      std::vector<std::int64_t> ids;
      std::vector<std::uint64_t> bits;
      input.items = grouped_items(ids, bits, groups, groups == 3 ? 300 : std::int64_t{1} << 40U);
      input.tally_rules = rules_of([](Rules&) {});
      for (const std::string metric : {"recall", "ndcg", "hit_rate", "reciprocal_rank"}) {
        const bool sums_hits = metric == "recall" || metric == "ndcg";
        for (const Count group : {Count{0}, Count{1}, groups - 1}) {
          for (const Count cutoff : {Count{5}, Count{10}}) {
            input.values.push_back(value(metric, cutoff, input.tally_rules));
            input.values.back().item_group = {.group = group, .is_share = sums_hits && group == 1};
          }
        }
        input.values.push_back(value(metric, 10, input.tally_rules));
      }
      check_both_ways(input);
    }
  }
}

TEST_CASE("plain users have the same sums one by one: weights, tables of users, averages") {
  const auto input_of = [](const std::function<void(Rules&)>& change) {
    Input input = random_input({0, 110, 40, 3}, 200);
    const Rules rules = rules_of(change);
    input.tally_rules = rules;
    for (const char* metric : {"precision", "recall"}) {
      for (const Count cutoff : {Count{5}, Count{50}}) {
        input.values.push_back(value(metric, cutoff, rules));
      }
    }
    return input;
  };
  const std::size_t users = 300;
  SUBCASE("weights") {
    Input input = input_of([](Rules&) {});
    input.weights.emplace();
    for (std::size_t i = 0; i < users; ++i)
      input.weights->push_back(0.25 * static_cast<double>(i % 5));
    check_both_ways(input);
  }
  SUBCASE("a table") {
    Input input = input_of([](Rules&) {});
    input.per_user.assign(input.values.size() * users, -1);
    check_both_ways(input);
  }
  SUBCASE("micro averages") {
    check_both_ways(input_of([](Rules& rules) { rules.average = Average::micro; }));
  }
  SUBCASE("geometric means") {
    check_both_ways(input_of([](Rules& rules) { rules.average = Average::geometric; }));
  }
  SUBCASE("groups, on two threads") {
    Input input = input_of([](Rules&) {});
    input.group_count = 5;
    for (std::size_t i = 0; i < users; ++i) input.groups.push_back(static_cast<Offset>(i * i % 5));
    input.threads = 2;
    check_both_ways(input);
  }
}

TEST_CASE("plain users have the same sums with ids of any type") {
  const Input input = [] {
    Input made = random_input({0, 110, 40, 3}, 300);
    made.tally_rules = rules_of([](Rules&) {});
    made.values = {value("ndcg", 10, made.tally_rules), value("recall", 50, made.tally_rules)};
    return made;
  }();
  const auto check = [&]<class Id>(std::int64_t factor, Id /*type*/) {
    Input scaled = input;
    for (std::int64_t& id : scaled.truth.ids()) id *= factor;
    std::vector<Id> items;
    for (const std::int64_t id : scaled.predictions.ids()) {
      items.push_back(static_cast<Id>(id * factor));
    }
    scaled.predictions.items = std::move(items);
    check_both_ways(scaled);
  };
  check(7'000'000, std::int32_t{});
  check(14'000'000, std::uint32_t{});
  for (unsigned bits = 0; bits < 55; bits += 9) {
    check(std::int64_t{1} << bits, std::int64_t{});
    check(std::int64_t{1} << bits, std::uint64_t{});
  }
}

// Scores of the items of an input, and what each of them needs.
template <class Score>
struct ScoredInput {
  Input input;
  std::vector<Score> scores;
  std::optional<double> min_score = {};

  // Evaluates with or without exclusions, of which there are none; no plain plan has any.
  [[nodiscard]] Result run(bool excludes, Isa isa) const {
    const OwnedLists nothing = lists(std::vector<Row>(input.truth.indptr.size() - 1));
    std::optional<Lists> exclude;
    if (excludes) exclude = nothing.view();
    const SparseScores sparse = {
        .items = input.predictions.view(),
        .scores = reinterpret_cast<const std::byte*>(scores.data()),
        .type = sizeof(Score) == sizeof(float) ? ScoreType::float32 : ScoreType::float64,
        .size = std::ssize(scores),
        .stride = sizeof(Score),
        .min_score = min_score};
    return evaluate({.truth = input.truth.view(),
                     .grades = {},
                     .predictions = sparse,
                     .exclude = exclude,
                     .weights = {},
                     .groups = {},
                     .values = input.values,
                     .tally_rules = input.tally_rules,
                     .per_user = {},
                     .isa = isa});
  }

  void check_both_ways() const {
    const Result expected = run(true, Isa::scalar);
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      const Result result = run(false, isa);
      for (std::size_t i = 0; i < result.sums.size(); ++i) {
        CAPTURE(input.values[i].metric);
        CAPTURE(input.values[i].cutoff);
        check_equal(result.sums[i], expected.sums[i]);
      }
      check_equal(result.tally, expected.tally);
    }
  }
};

template <class Score>
ScoredInput<Score> random_scores(const Shape& shape, std::uint64_t seed, std::uint64_t distinct,
                                 const std::function<void(Rules&)>& change) {
  ScoredInput<Score> scored{.input = random_input(shape, seed), .scores = {}};
  scored.input.tally_rules = rules_of([](Rules&) {});
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < scored.input.predictions.ids().size(); ++i) {
    scored.scores.push_back(static_cast<Score>(random() % distinct) / 8 - 1);
  }
  for (const char* metric : {"precision", "recall", "ndcg", "reciprocal_rank", "list_fill"}) {
    for (const Count cutoff : {Count{1}, Count{10}, Count{20}, Count{100}, kNoCutoff}) {
      if (cutoff == kNoCutoff && std::string(metric) == "list_fill") continue;
      scored.input.values.push_back(value(metric, cutoff, rules_of(change)));
    }
  }
  return scored;
}

TEST_CASE("plain users have the same sums and counts by scores") {
  std::uint64_t seed = 500;
  for (const Shape& shape : kShapes) {
    for (const Ties ties : {Ties::lowest_id, Ties::highest_id, Ties::pessimistic, Ties::shared}) {
      CAPTURE(shape.longest);
      ++seed;
      const std::uint64_t mixed = seed + seed / 4;  // pairs of all choices
      const std::uint64_t distinct = mixed % 2 == 0 ? 40 : 1U << 20U;
      const auto change = [&](Rules& rules) { rules.ties = ties; };
      if (mixed / 2 % 2 == 0) {
        random_scores<float>(shape, seed, distinct, change).check_both_ways();
      } else {
        random_scores<double>(shape, seed, distinct, change).check_both_ways();
      }
    }
  }
}

TEST_CASE("plain users have the same sums and counts by scores that are no numbers, or too low") {
  const auto change = [](Rules& rules) { rules.nan = NanScores::last; };
  const auto check = [&]<class Score>(Score /*type*/, std::optional<double> min_score) {
    auto scored = random_scores<Score>({0, 110, 40, 3}, 600, 1U << 20U, change);
    for (std::size_t i = 0; i < scored.scores.size(); i += 997) {
      scored.scores[i] = static_cast<Score>(i % 2 == 0 ? kNan : -kInfinity);
    }
    for (std::size_t i = 1; i < scored.scores.size(); i += 7) {
      scored.scores[i] = std::nextafter(static_cast<Score>(0.7), static_cast<Score>(i % 2));
    }
    for (std::size_t i = 3; i < scored.scores.size(); i += 97)
      scored.scores[i] = static_cast<Score>(0.7);
    scored.min_score = min_score;
    scored.check_both_ways();
  };
  for (const std::optional<double> min_score :
       {std::optional<double>(), std::optional(0.7), std::optional(-1.0), std::optional(1e300)}) {
    check(float{}, min_score);
    check(double{}, min_score);
  }
}

TEST_CASE("a repeated item of a plain user is an error by default") {
  Input input = random_input({100, 100, 20, 0}, 400);
  input.values = {value("ndcg", 10)};
  static_cast<void>(input.run());
  Row& items = input.predictions.ids();
  items[20'099] = items[20'003];  // of user 200
  const Fault fault = fault_of([&] { static_cast<void>(input.run()); });
  CHECK(fault.row == 200);
  CHECK(fault.position == 99);
}

}  // namespace
}  // namespace exactk
