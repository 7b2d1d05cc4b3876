// Screening with products that stand in for those of the kernels: as wrong as its bounds allow, and
// wrong beyond all bounds.
#include "common.hpp"
#include "drawn_vectors.hpp"
#include "kernels/dispatch.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/embeddings/similarities.hpp"
#include "rank/score_order.hpp"
#include "request.hpp"
#include "runs.hpp"

namespace exactk {
namespace {

using namespace tests;

// --- stand-ins for the kernel

// The arguments of a call.
struct Multiplication {
  const float* vectors;
  std::size_t users;
  std::size_t width;
  const float* panels;
  std::size_t items;
  float* products;
  std::size_t stride;

  // Sets each product to product(item's vector, user's vector).
  template <class Product>
  void each(const Product& product) const {
    std::vector<float> numbers(width);
    for (std::size_t item = 0; item < items; ++item) {
      const float* const first =
          panels + item / kPanelItems * kPanelItems * width + item % kPanelItems;
      for (std::size_t i = 0; i < width; ++i) numbers[i] = first[i * kPanelItems];
      for (std::size_t user = 0; user < users; ++user) {
        products[user * stride + item] = product(numbers.data(), vectors + user * width);
      }
    }
  }
};

std::atomic<int> calls = 0;

using Multiply = void(const Multiplication&);

template <Multiply* multiply>
Kernels kernels_with() {
  Kernels table = kernels(isa_of(""));
  table.products.multiply = [](const float* vectors, std::size_t count, std::size_t width,
                               const float* panels, std::size_t panel_count, float* products,
                               std::size_t stride) {
    ++calls;
    multiply({.vectors = vectors,
              .users = count,
              .width = width,
              .panels = panels,
              .items = panel_count * kPanelItems,
              .products = products,
              .stride = stride});
  };
  return table;
}

void multiply_plainly(const Multiplication& call) {
  call.each([&](const float* item, const float* user) {
    return std::inner_product(item, item + call.width, user, 0.0F);
  });
}

// Adds the largest error that a sum of this many rounded terms can have, up or down.
void multiply_with_worst_errors(const Multiplication& call) {
  call.each([&](const float* item, const float* user) {
    double product = 0;
    double magnitude = 0;
    std::uint64_t hash = 0;  // decides between up and down
    for (std::size_t i = 0; i < call.width; ++i) {
      product += double{item[i]} * user[i];
      magnitude += std::abs(double{item[i]} * user[i]);
      hash = (hash ^ std::bit_cast<std::uint32_t>(item[i])) * 0x9E3779B97F4A7C15U;
    }
    const double most = static_cast<double>(call.width) * 0x1p-24 * magnitude;
    return static_cast<float>(hash >> 63U != 0 ? product + most : product - most);
  });
}

void multiply_slowly(const Multiplication& call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  multiply_plainly(call);
}

void multiply_sample_too_high(const Multiplication& call) {
  multiply_plainly(call);
  if (call.items <= kTileItems) return;  // a sample is larger
  call.each([](const float*, const float*) { return 1e30F; });
}

void multiply_nothing(const Multiplication& /*call*/) {}

template <std::uint32_t bits>
void fill_products(const Multiplication& call) {
  call.each([](const float*, const float*) { return std::bit_cast<float>(bits); });
}

// Data that another thread might overwrite during a multiplication.
std::span<std::int64_t> spoiled_ids;
std::span<float> spoiled_numbers;

template <std::int64_t id>
void multiply_and_change_candidates(const Multiplication& call) {
  multiply_plainly(call);
  auto next = static_cast<std::uint64_t>(id);
  for (std::int64_t& spoiled : spoiled_ids) spoiled = static_cast<std::int64_t>(next++);
}

void multiply_and_repeat_candidates(const Multiplication& call) {
  multiply_plainly(call);
  std::ranges::fill(spoiled_ids, 5);
}

void multiply_and_spoil_vectors(const Multiplication& call) {
  multiply_plainly(call);
  std::ranges::fill(spoiled_numbers, std::numeric_limits<float>::quiet_NaN());
}

// --- answers

struct Screened {
  Count k = 10;
  std::optional<OwnedLists> exclude = {};
  bool highest_first = false;
};

struct Rank {
  Count position;
  Count above;
  Count equal;
  Count before;

  bool operator==(const Rank&) const = default;
};

// What screening says of a user.
struct Answer {
  std::vector<Count> best;  // positions, best first
  std::vector<Rank> ranks;  // of the truth
  std::optional<Count> length = {};

  bool operator==(const Answer&) const = default;
};

// The truth of every user; the last id is no item.
Row truth_of(Count user) { return {user % 7, 7 + user * 29 % 500, 520 + user, kItems}; }

OwnedLists truth_of_all(Count users) {
  std::vector<Row> rows;
  for (Count user = 0; user < users; ++user) rows.push_back(truth_of(user));
  return lists(rows);
}

// Returns the answer for each user, or none for those who are not screened.
std::vector<std::optional<Answer>> screened_answers(const Embeddings& source,
                                                    const Screened& question, const Kernels& table,
                                                    const Run& run = idle_run) {
  const OwnedLists truth = truth_of_all(source.users.rows);
  const Lists truth_lists = truth.view();
  const ScreeningRequest request{
      .depth = question.k, .highest_first = question.highest_first, .truth = &truth_lists};
  REQUIRE(Screening::is_worthwhile(source, request));
  const Norms norms = measure_norms(source, table, run);
  Screening screening(source, norms, request, table, run);
  std::vector<Count> users(static_cast<std::size_t>(source.users.rows));
  std::iota(users.begin(), users.end(), 0);
  std::optional<Lists> exclude;
  if (question.exclude) exclude = question.exclude->view();
  screening.screen(users, exclude);
  std::vector<std::optional<Answer>> answers(users.size());
  for (const Count user : users) {
    const std::optional<ScreeningResult> result = screening.result_of(user);
    if (!result) continue;
    std::vector<ScoredItem<double>> best(result->best.begin(), result->best.end());
    std::ranges::sort(best,
                      BetterItem<double>{.highest_first = question.highest_first, .ids = nullptr});
    best.resize(std::min(best.size(), static_cast<std::size_t>(question.k)));
    Answer& answer = answers[static_cast<std::size_t>(user)].emplace();
    std::ranges::transform(best, std::back_inserter(answer.best), &ScoredItem<double>::position);
    std::ranges::transform(result->truth_ranks.value(), std::back_inserter(answer.ranks),
                           [](const ItemRank& rank) -> Rank {
                             return {rank.position, rank.above, rank.equal, rank.before};
                           });
    if (source.min_score) answer.length = result->length;
  }
  return answers;
}

// Answers by all of the user's scores.
Answer expected_answer(const Embeddings& source, const Screened& question, Count user) {
  Row items(static_cast<std::size_t>(source.items.rows));
  std::iota(items.begin(), items.end(), 0);
  if (source.candidates) {
    const auto candidates = int64_row_items(*source.candidates, 0);
    items.assign(candidates.begin(), candidates.end());
  }
  Similarities similarities(source, kernels(Isa::scalar));
  UserVector vector;
  similarities.read_user(user, vector);
  std::vector<double> scores(items.size());
  similarities.score(vector, items, scores);
  std::set<std::int64_t> excluded;
  if (question.exclude) {
    const auto row = int64_row_items(question.exclude->view(), user);
    excluded.insert(row.begin(), row.end());
  }
  std::vector<ScoredItem<double>> ranked;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (excluded.contains(items[i])) continue;
    if (source.min_score && scores[i] < *source.min_score) continue;
    ranked.push_back({scores[i], static_cast<std::uint32_t>(i)});
  }
  Answer answer;
  for (const ScoredItem<double>& one : ranked) {
    const Row truth = truth_of(user);
    if (std::ranges::find(truth, items[one.position]) == truth.end()) continue;
    Rank rank{.position = one.position, .above = 0, .equal = 0, .before = 0};
    for (const ScoredItem<double>& other : ranked) {
      rank.above += other.key > one.key ? 1 : 0;
      rank.equal += other.key == one.key ? 1 : 0;
      rank.before += other.key == one.key && other.position < one.position ? 1 : 0;
    }
    answer.ranks.push_back(rank);
  }
  if (source.min_score) answer.length = static_cast<Count>(ranked.size());
  std::ranges::sort(ranked, [&](const auto& one, const auto& other) {
    if (one.key != other.key) return one.key > other.key;
    return question.highest_first ? one.position > other.position : one.position < other.position;
  });
  ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(question.k)));
  std::ranges::transform(ranked, std::back_inserter(answer.best), &ScoredItem<double>::position);
  return answer;
}

// Checks the answers for all users who are screened; returns how many they are.
int check_answers(const Model& model, const Screened& question, const Kernels& table,
                  std::span<const Answer> expected) {
  int screened = 0;
  const auto answers = screened_answers(model.view(), question, table);
  for (std::size_t user = 0; user < answers.size(); ++user) {
    CAPTURE(user);
    if (!answers[user]) continue;
    ++screened;
    CHECK(answers[user]->best == expected[user].best);
    CHECK(answers[user]->ranks == expected[user].ranks);
    CHECK(answers[user]->length == expected[user].length);
  }
  return screened;
}

// Checks answers by products of any kind; returns how many users were screened.
int check_screened(const Model& model, const Screened& question = {}) {
  std::vector<Answer> expected(static_cast<std::size_t>(model.users.rows));
  for (std::size_t user = 0; user < expected.size(); ++user) {
    expected[user] = expected_answer(model.view(), question, static_cast<Count>(user));
  }
  int screened = check_answers(model, question, kernels(isa_of("")), expected);
  for (const Kernels& table :
       {kernels_with<multiply_plainly>(), kernels_with<multiply_with_worst_errors>(),
        kernels_with<multiply_sample_too_high>()}) {
    calls = 0;
    screened += check_answers(model, question, table, expected);
    CHECK(calls > 0);
  }
  return screened;
}

TEST_CASE("products with the largest allowed errors do not change the answers") {
  int models = 0;
  int screened = 0;
  for_each_model([&](const Model& model, const OwnedLists*) {
    screened += check_screened(model, {.highest_first = ++models % 2 == 0});
  });
  CHECK(screened > 10 * models);
}

TEST_CASE("wrong products do not change answers with candidates, exclusions and min_score") {
  for_each_restricted_model([](const Model& model, const OwnedLists* exclude) {
    check_screened(model, {.exclude = *exclude});
  });
}

TEST_CASE("bounds that a sample predicts do not change long lists, however wrong they are") {
  for_each_long_model([](const Model& model, const OwnedLists* exclude) {
    Screened question{.k = 200};
    if (exclude != nullptr) question.exclude = *exclude;
    check_screened(model, question);
  });
}

// Checks that answers have positions of items, whichever they are.
void check_positions(const Embeddings& source, const Screened& question, const Kernels& table) {
  for (const auto& answer : screened_answers(source, question, table)) {
    if (!answer) continue;
    for (const Count position : answer->best) CHECK(position < kItems);
    for (const Rank& rank : answer->ranks) CHECK(rank.position < kItems);
  }
}

Row all_items() {
  Row items(static_cast<std::size_t>(kItems));
  std::iota(items.begin(), items.end(), 0);
  return items;
}

TEST_CASE("F8: meaningless products never lead out of bounds") {
  std::mt19937_64 random(5);
  Model model = draw_model(ScoreType::float32, ScoreType::float32, 12, Draw::spread, random);
  const std::array tables = {
      kernels_with<multiply_nothing>(),          kernels_with<fill_products<0x7fc00000>>(),
      kernels_with<fill_products<0x7f800000>>(), kernels_with<fill_products<0xff800000>>(),
      kernels_with<fill_products<0x7f7fffff>>(), kernels_with<fill_products<0>>()};
  for (const bool highest_first : {false, true}) {
    for (const Kernels& table : tables) {
      model.candidates.reset();
      check_positions(model.view(), {.highest_first = highest_first}, table);
      model.candidates = lists({all_items()});
      check_positions(model.view(), {.highest_first = highest_first}, table);
    }
  }
}

TEST_CASE("F20: candidates and vectors that change meanwhile never lead out of bounds") {
  std::mt19937_64 random(5);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::array tables = {kernels_with<multiply_and_change_candidates<-1>>(),
                             kernels_with<multiply_and_change_candidates<kItems>>(),
                             kernels_with<multiply_and_change_candidates<std::int64_t{1} << 40U>>(),
                             kernels_with<multiply_and_change_candidates<kLeast>>(),
                             kernels_with<multiply_and_change_candidates<kMost>>(),
                             kernels_with<multiply_and_repeat_candidates>(),
                             kernels_with<multiply_and_spoil_vectors>()};
  for (const Kernels& table : tables) {
    const Model sound =
        draw_model(ScoreType::float32, ScoreType::float32, 12, Draw::spread, random);
    for (const bool is_restricted : {false, true}) {
      for (const bool of_users : {false, true}) {
        Model model = sound;
        if (is_restricted) model.candidates = lists({all_items()});
        spoiled_ids = is_restricted ? std::span(model.candidates->ids()) : std::span<Count>();
        Matrix& matrix = of_users ? model.users : model.items;
        spoiled_numbers = std::get<std::vector<float>>(matrix.numbers);
        check_positions(model.view(), {}, table);
      }
    }
  }
}

TEST_CASE("F25: an exception of a checkpoint ends screening, however slow the products are") {
  std::mt19937_64 random(6);
  Model model = draw_model(ScoreType::float32, ScoreType::float32, 4, Draw::spread, random);
  model.items = draw_matrix(ScoreType::float32, 40 * kItems, 4, Draw::spread, random);
  calls = 0;
  const Run run = polling_run([] {
    if (calls > 2) throw std::runtime_error("enough");
  });
  CHECK_THROWS_WITH_AS(screened_answers(model.view(), {}, kernels_with<multiply_slowly>(), run),
                       "enough", std::runtime_error);
  CHECK(calls == 3);
}

}  // namespace
}  // namespace exactk
