#include "common.hpp"
#include "drawn_vectors.hpp"
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
                  .predictions = embeddings,
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
  int number = 0;
  for_each_model([&](const Model& model, const OwnedLists*) {
    check_screening(model, {.ties = ++number % 2 == 0 ? Ties::lowest_id : Ties::highest_id});
  });
}

TEST_CASE("products do not change results with candidates, exclusions and min_score") {
  for_each_restricted_model([](const Model& model, const OwnedLists* exclude) {
    check_screening(model, {.exclude = *exclude});
  });
}

TEST_CASE("bounds that a sample predicts do not change long lists") {
  for_each_long_model([](const Model& model, const OwnedLists* exclude) {
    Question question{.k = 200};
    if (exclude != nullptr) question.exclude = *exclude;
    check_screening(model, question);
  });
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
