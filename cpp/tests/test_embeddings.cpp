#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "drawn_vectors.hpp"
#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/topk.hpp"
#include "numeric/half.hpp"
#include "request.hpp"
#include "sparse_items.hpp"

namespace exactk {
namespace {

using namespace tests;

struct Best {
  Row items;
  std::vector<std::uint64_t> scores;  // their bits

  bool operator==(const Best&) const = default;
};

struct Question {
  Count k = 10;
  std::optional<OwnedLists> exclude = {};
  Ties ties = Ties::lowest_id;
};

Best best_of(const Embeddings& embeddings, const Question& question = {}, int threads = 1,
             Isa isa = isa_of("")) {
  const auto size = static_cast<std::size_t>(embeddings.users.rows * question.k);
  Best best{.items = Row(size, -7), .scores = std::vector<std::uint64_t>(size)};
  std::vector<double> scores(size);
  TopKRequest request{.scores = embeddings,
                      .k = question.k,
                      .exclude = {},
                      .ties = question.ties,
                      .positions = best.items,
                      .best_scores = scores,
                      .threads = threads,
                      .isa = isa};
  if (question.exclude) request.exclude = question.exclude->view();
  topk(request);
  std::ranges::transform(scores, best.scores.begin(), std::bit_cast<std::uint64_t, double>);
  return best;
}

// The values of each user, and the tally.
struct Values {
  std::vector<double> per_user;
  Row counts;

  bool operator==(const Values&) const = default;
};

Values values_of(const Embeddings& embeddings, const Question& question = {}, int threads = 1,
                 Isa isa = isa_of("")) {
  std::vector<Row> rows;
  rows.reserve(static_cast<std::size_t>(embeddings.users.rows));
  for (Count user = 0; user < embeddings.users.rows; ++user) {
    rows.push_back({user % 7, 7 + user * 29 % 500, 520 + user, kItems});  // the last id is no item
  }
  const OwnedLists truth = lists(rows);
  Rules rules;
  rules.ties = question.ties;
  const std::vector<PlannedValue> planned = {value("ndcg", question.k, rules),
                                             value("reciprocal_rank", question.k, rules)};
  Values values;
  values.per_user.resize(rows.size() * planned.size());
  Request request{.truth = truth.view(),
                  .grades = {},
                  .predictions = embeddings,
                  .exclude = {},
                  .weights = {},
                  .groups = {},
                  .values = planned,
                  .tally_rules = rules,
                  .per_user = values.per_user,
                  .threads = threads,
                  .isa = isa};
  if (question.exclude) request.exclude = question.exclude->view();
  const Tally tally = evaluate(request).tally;
  values.counts = {tally.empty_predictions, tally.relevant_excluded, tally.relevant_not_rankable};
  values.counts.insert(values.counts.end(), tally.tie_dependent.begin(), tally.tie_dependent.end());
  return values;
}

// Returns the model with candidates for each user, whose scores are all computed.
Model without_screening(const Model& model) {
  Row candidates(static_cast<std::size_t>(model.items.rows));
  std::iota(candidates.begin(), candidates.end(), 0);
  if (model.candidates) candidates = std::get<Row>(model.candidates->items);
  Model unscreened = model;
  unscreened.candidates =
      lists(std::vector<Row>(static_cast<std::size_t>(model.users.rows), candidates));
  return unscreened;
}

// Checks that products change no bit of the results.
void check_screening(const Model& model, const Question& question = {}) {
  const Model unscreened = without_screening(model);
  const Best best = best_of(unscreened.view(), question);
  const Values values = values_of(unscreened.view(), question);
  int threads = 1;
  for (const Isa isa : available_isas()) {
    CHECK(best_of(model.view(), question, ++threads, isa) == best);
    CHECK(values_of(model.view(), question, threads, isa) == values);
  }
}

TEST_CASE("F31: products of any instruction set do not change the results") {
  std::mt19937_64 random(1);
  for (const Draw kind : kDraws) {
    for (const ScoreType type : kTypes) {
      const Count width = 1 + static_cast<Count>(random() % 20);
      CAPTURE(static_cast<int>(kind));
      CAPTURE(static_cast<int>(type));
      CAPTURE(width);
      Model model = draw_model(kTypes.at(random() % 3), type, width, kind, random);
      for (const Similarity similarity :
           {Similarity::dot, Similarity::cosine, Similarity::euclidean}) {
        CAPTURE(static_cast<int>(similarity));
        model.similarity = similarity;
        if (kind == Draw::tiny && similarity == Similarity::cosine) continue;  // no direction
        for (const bool float32_scores : {false, true}) {
          CAPTURE(float32_scores);
          model.float32_scores = float32_scores;
          check_screening(model, {.ties = random() % 2 == 0 ? Ties::lowest_id : Ties::highest_id});
        }
      }
      model.similarity = Similarity::dot;
      model.item_bias = draw_matrix(ScoreType::float64, kItems, 1, kind, random);
      check_screening(model);
    }
  }
}

TEST_CASE("products do not change results with candidates, exclusions and min_score") {
  std::mt19937_64 random(2);
  const OwnedLists candidates = draw_candidates(random);
  const OwnedLists excluded = draw_exclusions(random);
  for (const Draw kind : kDraws) {
    CAPTURE(static_cast<int>(kind));
    Model model = draw_model(ScoreType::float32, ScoreType::float32, 12, kind, random);
    const Question question{.exclude = excluded};
    check_screening(model, question);
    model.candidates = candidates;
    check_screening(model, question);
    model.min_score = 0.3;
    check_screening(model, question);
    model.candidates.reset();
    check_screening(model, question);
    model.similarity = Similarity::euclidean;
    model.min_score = -2;
    check_screening(model, question);
  }
}

TEST_CASE("bounds that a sample predicts do not change long lists") {
  std::mt19937_64 random(7);
  constexpr Count kManyItems = 40'000;
  std::vector<Row> excluded(kUsers);
  for (Row& row : excluded) {
    for (int i = 0; i < 500; ++i) row.push_back(static_cast<std::int64_t>(random() % kManyItems));
  }
  Row candidate_row(static_cast<std::size_t>(kManyItems) - 1);
  std::iota(candidate_row.begin(), candidate_row.end(), 1);
  for (const Draw kind : {Draw::spread, Draw::equal, Draw::near, Draw::uneven}) {
    CAPTURE(static_cast<int>(kind));
    Model model = draw_model(ScoreType::float32, ScoreType::float32, 3, kind, random);
    model.items = draw_matrix(ScoreType::float32, kManyItems, 3, kind, random);
    for (const Similarity similarity :
         {Similarity::dot, Similarity::cosine, Similarity::euclidean}) {
      CAPTURE(static_cast<int>(similarity));
      model.similarity = similarity;
      check_screening(model, {.k = 200, .exclude = lists(excluded)});
    }
    model.similarity = Similarity::dot;
    model.candidates = lists({candidate_row});
    model.min_score = 0.1;
    check_screening(model, {.k = 200, .exclude = {}});
  }
}

TEST_CASE("the best items are those of a plain sort, padded if there are fewer") {
  std::mt19937_64 random(3);
  const Model model = draw_model(ScoreType::float64, ScoreType::float64, 3, Draw::spread, random);
  const auto number = [](const Matrix& matrix, Count row, Count column) {
    return std::get<std::vector<double>>(
        matrix.numbers)[static_cast<std::size_t>(row * matrix.stride + column)];
  };
  for (const Count k : {Count{1}, Count{149}, Count{150}, Count{151}, kItems, kItems + 3}) {
    CAPTURE(k);
    const Best best = best_of(model.view(), {.k = k});
    for (Count user = 0; user < kUsers; ++user) {
      std::vector<double> scores;
      for (Count item = 0; item < kItems; ++item) {
        const auto term = [&](Count column) {
          return number(model.users, user, column) * number(model.items, item, column);
        };
        scores.push_back((term(0) + term(2)) + term(1));
      }
      Row expected(static_cast<std::size_t>(kItems));
      std::iota(expected.begin(), expected.end(), 0);
      std::ranges::stable_sort(expected, std::greater<>(), [&](std::int64_t item) {
        return scores[static_cast<std::size_t>(item)];
      });
      expected.resize(static_cast<std::size_t>(k), -1);
      const auto row = std::span(best.items).subspan(static_cast<std::size_t>(user * k));
      CHECK(std::ranges::equal(row.first(expected.size()), expected));
    }
  }
}

TEST_CASE("no users, no items, or fewer items than requested") {
  std::mt19937_64 random(4);
  for (const auto& [users, items] :
       {std::pair{0, 600}, std::pair{20, 0}, std::pair{0, 0}, std::pair{1, 1}, std::pair{20, 7}}) {
    const Model model{.users = draw_matrix(ScoreType::float32, users, 5, Draw::spread, random),
                      .items = draw_matrix(ScoreType::float32, items, 5, Draw::spread, random)};
    for (const int threads : {1, 2, 3}) {
      const Best best = best_of(model.view(), {}, threads);
      CHECK(best == best_of(without_screening(model).view()));
      const auto padded = static_cast<std::ptrdiff_t>(users * std::max(0, 10 - items));
      CHECK(std::ranges::count(best.items, -1) == padded);
    }
  }
}

TEST_CASE("a user who is not present has no list, whatever the vector") {
  std::mt19937_64 random(7);
  const Model model = draw_model(ScoreType::float32, ScoreType::float32, 12, Draw::spread, random);
  const std::ptrdiff_t missing = 3;
  std::vector<std::uint8_t> present(static_cast<std::size_t>(kUsers), 1);
  present[static_cast<std::size_t>(missing)] = 0;
  const Model unscreened = without_screening(model);
  for (const Model* const any : {&model, &unscreened}) {
    Embeddings embeddings = any->view();
    Row expected = best_of(embeddings, {.k = 4}).items;
    std::fill_n(expected.begin() + 4 * missing, 4, -1);
    embeddings.present = present;
    CHECK(best_of(embeddings, {.k = 4}).items == expected);
  }
  Embeddings embeddings = model.view();
  embeddings.present = std::span(present).first(2);
  CHECK_THROWS_AS(best_of(embeddings, {.k = 4}), InputError);
}

TEST_CASE("F2: vectors may be any number of bytes apart") {
  constexpr std::size_t kFar = std::size_t{1} << 31U;  // numbers, from one item to the next
  constexpr Count kWidth = Count{1} << 16U;
  const SparseItems<float> items(5 * kFar);
  for (std::size_t item = 0; item < 5; ++item) {
    items.items()[item * kFar + 7] = static_cast<float>(item % 4);
  }
  const Matrix user{.rows = 1,
                    .width = kWidth,
                    .stride = kWidth,
                    .numbers = std::vector<float>(static_cast<std::size_t>(kWidth), 1)};
  const Embeddings embeddings{
      .users = user.view("users"),
      .items = {.argument = "items",
                .numbers = reinterpret_cast<const std::byte*>(items.items().data()),
                .type = ScoreType::float32,
                .rows = 5,
                .row_stride = static_cast<std::ptrdiff_t>(kFar * sizeof(float))},
      .width = kWidth};
  CHECK(best_of(embeddings, {.k = 1}).items == Row{3});
}

}  // namespace
}  // namespace exactk
