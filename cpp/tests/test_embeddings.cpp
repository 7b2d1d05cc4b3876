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

#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/topk.hpp"
#include "numeric/half.hpp"
#include "request.hpp"
#include "sparse_items.hpp"

namespace exactk {
namespace {

using namespace tests;

// --- stand-ins for BLAS

// The arguments of a call. Rows of `a` are items, rows of `b` users, and rows of `c` products per
// user.
struct Multiplication {
  std::size_t items;
  std::size_t users;
  std::size_t width;
  const float* a;
  std::size_t a_stride;
  const float* b;
  std::size_t b_stride;
  float* c;
  std::size_t c_stride;

  // Sets each product to product(row of a, row of b).
  template <class Product>
  void each(const Product& product) const {
    for (std::size_t user = 0; user < users; ++user) {
      for (std::size_t item = 0; item < items; ++item) {
        c[user * c_stride + item] = product(a + item * a_stride, b + user * b_stride);
      }
    }
  }
};

std::atomic<int> calls = 0;
std::atomic<int> misuses = 0;  // arguments that BLAS rejects or that are not expected
std::atomic<int> longest_stride = 0;
std::atomic<int> most_items = 0;

using Multiply = void(const Multiplication&);

// NOLINTBEGIN(readability-non-const-parameter): as Sgemm has them
template <Multiply* multiply>
void sgemm(char* transpose_a, char* transpose_b, int* m, int* n, int* k, float* alpha, float* a,
           int* lda, float* b, int* ldb, float* beta, float* c, int* ldc) {
  ++calls;
  longest_stride = std::max<int>(longest_stride, *lda);
  most_items = std::max<int>(most_items, *m);
  const bool sizes = *m >= 1 && *n >= 1 && *k >= 1;
  const bool strides = *lda >= *k && *ldb >= *k && *ldc >= *m;
  const bool plain = *transpose_a == 'T' && *transpose_b == 'N' && *alpha == 1 && *beta == 0;
  if (!sizes || !strides || !plain) {
    ++misuses;
    return;
  }
  multiply({.items = static_cast<std::size_t>(*m),
            .users = static_cast<std::size_t>(*n),
            .width = static_cast<std::size_t>(*k),
            .a = a,
            .a_stride = static_cast<std::size_t>(*lda),
            .b = b,
            .b_stride = static_cast<std::size_t>(*ldb),
            .c = c,
            .c_stride = static_cast<std::size_t>(*ldc)});
}
// NOLINTEND(readability-non-const-parameter)

float product_of(const float* one, const float* other, std::size_t width) {
  float sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += one[i] * other[i];
  return sum;
}

void multiply_plainly(const Multiplication& call) {
  call.each([&](const float* a, const float* b) { return product_of(a, b, call.width); });
}

// Adds the largest error that a sum of this many rounded terms can have, up or down.
void multiply_with_worst_errors(const Multiplication& call) {
  call.each([&](const float* a, const float* b) {
    double product = 0;
    double magnitude = 0;
    std::uint64_t hash = 0;  // decides between up and down
    for (std::size_t i = 0; i < call.width; ++i) {
      product += double{a[i]} * b[i];
      magnitude += std::abs(double{a[i]} * b[i]);
      hash = (hash ^ std::bit_cast<std::uint32_t>(a[i])) * 0x9E3779B97F4A7C15U;
    }
    const double most = static_cast<double>(call.width) * 0x1p-24 * magnitude;
    return static_cast<float>(hash >> 63U != 0 ? product + most : product - most);
  });
}

void multiply_slowly(const Multiplication& call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  multiply_plainly(call);
}

constexpr std::size_t kMaxTileItems = 256;  // a sample is larger

void multiply_sample_too_high(const Multiplication& call) {
  multiply_plainly(call);
  if (call.items <= kMaxTileItems) return;
  call.each([](const float*, const float*) { return 1e30F; });
}

void multiply_nothing(const Multiplication&) {}

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

template <std::uint32_t bits>
void fill_products(const Multiplication& call) {
  call.each([](const float*, const float*) { return std::bit_cast<float>(bits); });
}

// --- vectors

using Numbers =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint16_t>>;  // halves

template <class Number>
constexpr ScoreType kType = ScoreType::float32;
template <>
constexpr ScoreType kType<double> = ScoreType::float64;
template <>
constexpr ScoreType kType<std::uint16_t> = ScoreType::float16;

// Rows that own their numbers. The array ends with the last row, and rows are separated by numbers
// that belong to none.
struct Matrix {
  Count rows;
  Count width;
  Count stride;
  Numbers numbers;

  [[nodiscard]] Vectors view(std::string argument) const {
    return std::visit(
        [&]<class Number>(const std::vector<Number>& all) -> Vectors {
          return {.argument = std::move(argument),
                  .numbers = reinterpret_cast<const std::byte*>(all.data()),
                  .type = kType<Number>,
                  .rows = rows,
                  .row_stride = static_cast<std::ptrdiff_t>(stride) *
                                static_cast<std::ptrdiff_t>(sizeof(Number))};
        },
        numbers);
  }
};

enum class Draw : std::uint8_t { spread, equal, near, uneven, small, tiny };

template <class Number>
Number draw_number(Draw kind, std::mt19937_64& random) {
  const auto fraction = static_cast<double>(random() >> 11U) * 0x1p-53 - 0.5;
  if constexpr (std::is_same_v<Number, std::uint16_t>) {
    if (kind == Draw::equal) return 0x3c00;  // 1
    const std::uint64_t exponent = kind == Draw::spread ? 15 : random() % 25;
    return static_cast<std::uint16_t>((random() & 0x83ffU) | exponent << 10U);
  } else {
    if (kind == Draw::equal) return 1;
    // The difference is lost in a rounded product, but not in the rounded number.
    if (kind == Draw::near) return static_cast<Number>(1 + fraction * 0x1p-20);
    if (kind == Draw::small) return static_cast<Number>(fraction * 0x1p-90);  // lost in a product
    // The square has only a few bits left.
    const bool lost = kind == Draw::tiny && std::is_same_v<Number, double>;
    return static_cast<Number>(lost ? fraction * 0x1p-530 : fraction);
  }
}

template <class Number>
Matrix draw_matrix(Count rows, Count width, Draw kind, std::mt19937_64& random) {
  const Count stride = width + static_cast<Count>(random() % 3);
  std::vector<Number> numbers(static_cast<std::size_t>(rows > 0 ? (rows - 1) * stride + width : 0));
  for (Number& number : numbers) number = draw_number<Number>(kind, random);
  if (kind == Draw::tiny) std::fill_n(numbers.begin(), std::min(rows, Count{1}) * width, Number{0});
  if constexpr (!std::is_same_v<Number, std::uint16_t>) {
    for (Count row = 0; kind == Draw::uneven && row < rows; ++row) {  // from 1e-30 to 1e30
      const auto factor = std::pow(10.0, static_cast<double>(random() % 61) - 30);
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(row * stride);
      for (auto at = first; at != first + static_cast<std::ptrdiff_t>(width); ++at) {
        *at = static_cast<Number>(*at * factor);
      }
    }
  }
  return {.rows = rows, .width = width, .stride = stride, .numbers = std::move(numbers)};
}

Matrix draw_matrix(ScoreType type, Count rows, Count width, Draw kind, std::mt19937_64& random) {
  switch (type) {
    case ScoreType::float16:
      return draw_matrix<std::uint16_t>(rows, width, kind, random);
    case ScoreType::float64:
      return draw_matrix<double>(rows, width, kind, random);
    default:
      return draw_matrix<float>(rows, width, kind, random);
  }
}

struct Model {
  Matrix users;
  Matrix items;
  Similarity similarity = Similarity::dot;
  std::optional<Matrix> item_bias = {};
  bool float32_scores = false;
  std::optional<double> min_score = {};
  std::optional<OwnedLists> candidates = {};

  [[nodiscard]] Embeddings view(Sgemm* product) const {
    Embeddings embeddings{.users = users.view("users"),
                          .items = items.view("items"),
                          .width = items.width,
                          .similarity = similarity,
                          .float32_scores = float32_scores,
                          .min_score = min_score,
                          .sgemm = product};
    if (item_bias) embeddings.item_bias = item_bias->view("item_bias");
    if (candidates) embeddings.candidates = candidates->view();
    return embeddings;
  }
};

constexpr Count kUsers = 20;
constexpr Count kItems = 600;  // several tiles

Model draw_model(ScoreType users, ScoreType items, Count width, Draw kind,
                 std::mt19937_64& random) {
  const bool alike = kind > Draw::uneven || random() % 2 == 0;
  const Draw unlike = alike ? kind : Draw::uneven;
  return {.users = draw_matrix(users, kUsers, width, unlike, random),
          .items = draw_matrix(items, kItems, width, kind, random)};
}

// --- answers

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

Best best_of(const Embeddings& embeddings, const Question& question = {}, int threads = 1) {
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
                      .isa = isa_of("")};
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

Values values_of(const Embeddings& embeddings, const Question& question = {}, int threads = 1) {
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
                  .isa = isa_of("")};
  if (question.exclude) request.exclude = question.exclude->view();
  const Tally tally = evaluate(request).tally;
  values.counts = {tally.empty_predictions, tally.relevant_excluded, tally.relevant_not_rankable};
  values.counts.insert(values.counts.end(), tally.tie_dependent.begin(), tally.tie_dependent.end());
  return values;
}

// Checks that any kind of products gives the same results, to the last bit, as none.
void check_screening(const Model& model, const Question& question = {}) {
  const Embeddings unscreened = model.view(nullptr);
  const Best best = best_of(unscreened, question);
  const Values values = values_of(unscreened, question);
  int threads = 1;
  for (Sgemm* const product : {&sgemm<multiply_plainly>, &sgemm<multiply_with_worst_errors>}) {
    calls = 0;
    const Embeddings screened = model.view(product);
    CHECK(best_of(screened, question, ++threads) == best);
    CHECK(values_of(screened, question, threads) == values);
    CHECK(calls > 0);
  }
  CHECK(misuses == 0);
}

constexpr std::array kTypes = {ScoreType::float32, ScoreType::float64, ScoreType::float16};
constexpr std::array kDraws = {Draw::spread, Draw::equal, Draw::near,
                               Draw::uneven, Draw::small, Draw::tiny};

TEST_CASE("products with the largest allowed errors do not change the results") {
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
  Row candidate_row;
  for (std::int64_t item = 0; item < kItems; item += 1 + static_cast<std::int64_t>(random() % 2)) {
    candidate_row.push_back(item);
  }
  std::vector<Row> excluded(kUsers);
  for (Row& row : excluded) {
    for (int i = 0; i < 100; ++i) row.push_back(static_cast<std::int64_t>(random() % 700));
  }
  excluded[3].resize(static_cast<std::size_t>(kItems));  // all items
  std::iota(excluded[3].begin(), excluded[3].end(), 0);
  for (const Draw kind : kDraws) {
    CAPTURE(static_cast<int>(kind));
    Model model = draw_model(ScoreType::float32, ScoreType::float32, 12, kind, random);
    const Question question{.exclude = lists(excluded)};
    check_screening(model, question);
    model.candidates = lists({candidate_row});
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

TEST_CASE("bounds that a sample predicts do not change long lists, however wrong they are") {
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
      const Question question{.k = 200, .exclude = lists(excluded)};
      const Best best = best_of(model.view(nullptr), question);
      for (Sgemm* const product : {&sgemm<multiply_plainly>, &sgemm<multiply_with_worst_errors>,
                                   &sgemm<multiply_sample_too_high>}) {
        most_items = 0;
        CHECK(best_of(model.view(product), question) == best);
        CHECK(std::cmp_greater(most_items.load(), kMaxTileItems));
      }
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
    const Best best = best_of(model.view(&sgemm<multiply_plainly>), {.k = k});
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
      const Best best = best_of(model.view(&sgemm<multiply_plainly>), {}, threads);
      CHECK(best == best_of(model.view(nullptr)));
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
  for (Sgemm* const product : {static_cast<Sgemm*>(nullptr), &sgemm<multiply_plainly>}) {
    Embeddings embeddings = model.view(product);
    Row expected = best_of(embeddings, {.k = 4}).items;
    std::fill_n(expected.begin() + 4 * missing, 4, -1);
    embeddings.present = present;
    CHECK(best_of(embeddings, {.k = 4}).items == expected);
  }
  Embeddings embeddings = model.view(nullptr);
  embeddings.present = std::span(present).first(2);
  CHECK_THROWS_AS(best_of(embeddings, {.k = 4}), InputError);
}

TEST_CASE("F2: vectors further apart than BLAS can index are copied") {
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
      .width = kWidth,
      .sgemm = &sgemm<multiply_plainly>};
  longest_stride = 0;
  calls = 0;
  CHECK(best_of(embeddings, {.k = 1}).items == Row{3});
  CHECK(calls > 0);
  CHECK(misuses == 0);
  CHECK(longest_stride < std::numeric_limits<int>::max() / 256);  // so a tile can be counted too
}

// Checks that the best of each user are items or none, whichever they are.
void check_items(const Embeddings& embeddings, const Question& question, int threads) {
  const Best best = best_of(embeddings, question, threads);
  CHECK(std::ranges::all_of(best.items,
                            [](std::int64_t item) { return item >= -1 && item < kItems; }));
}

template <class Call>
void allow_refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {  // changed inputs are refused
    CHECK(!error.fault().argument.empty());
  }
}

constexpr std::array kOrders = {Ties::lowest_id, Ties::highest_id, Ties::input_order};

TEST_CASE("F8: meaningless products never lead out of bounds") {
  std::mt19937_64 random(5);
  Model model = draw_model(ScoreType::float32, ScoreType::float32, 12, Draw::spread, random);
  Row all(static_cast<std::size_t>(kItems));
  std::iota(all.begin(), all.end(), 0);
  for (const Ties ties : kOrders) {
    for (Sgemm* const product :
         {&sgemm<multiply_nothing>, &sgemm<fill_products<0x7fc00000>>,
          &sgemm<fill_products<0x7f800000>>, &sgemm<fill_products<0xff800000>>,
          &sgemm<fill_products<0x7f7fffff>>, &sgemm<fill_products<0>>}) {
      model.candidates.reset();
      check_items(model.view(product), {.ties = ties}, 2);
      static_cast<void>(values_of(model.view(product), {.ties = ties}, 2));
      model.candidates = lists({all});
      check_items(model.view(product), {.ties = ties}, 2);
      static_cast<void>(values_of(model.view(product), {.ties = ties}, 2));
    }
  }
}

TEST_CASE("F20: candidates and vectors that change meanwhile never lead out of bounds") {
  std::mt19937_64 random(5);
  for (const Ties ties : kOrders) {
    for (Sgemm* const product :
         {&sgemm<multiply_and_change_candidates<-1>>,
          &sgemm<multiply_and_change_candidates<kItems>>,
          &sgemm<multiply_and_change_candidates<std::int64_t{1} << 40U>>,
          &sgemm<multiply_and_change_candidates<std::numeric_limits<std::int64_t>::min()>>,
          &sgemm<multiply_and_change_candidates<std::numeric_limits<std::int64_t>::max()>>,
          &sgemm<multiply_and_repeat_candidates>, &sgemm<multiply_and_spoil_vectors>}) {
      for (const bool restricted : {false, true}) {
        const Model sound =
            draw_model(ScoreType::float32, ScoreType::float32, 12, Draw::spread, random);
        Row all(static_cast<std::size_t>(kItems));
        std::iota(all.begin(), all.end(), 0);
        for (const bool of_users : {false, true}) {
          // One thread, so only the writer reads.
          const auto spoiled = [&](const auto& call) {
            Model model = sound;
            if (restricted) model.candidates = lists({all});
            spoiled_ids =
                restricted ? std::span(model.candidates->ids()) : std::span<std::int64_t>();
            Matrix& matrix = of_users ? model.users : model.items;
            spoiled_numbers = std::get<std::vector<float>>(matrix.numbers);
            allow_refusal([&] { call(model.view(product)); });
          };
          spoiled([&](const Embeddings& changing) { check_items(changing, {.ties = ties}, 1); });
          spoiled([&](const Embeddings& changing) {
            static_cast<void>(values_of(changing, {.ties = ties}, 1));
          });
        }
      }
    }
  }
}

TEST_CASE("F25: an exception from poll ends the call, however slow the products are") {
  std::mt19937_64 random(6);
  Model model = draw_model(ScoreType::float32, ScoreType::float32, 4, Draw::spread, random);
  model.items = draw_matrix(ScoreType::float32, 40 * kItems, 4, Draw::spread, random);
  Embeddings embeddings = model.view(&sgemm<multiply_slowly>);
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    Row items(static_cast<std::size_t>(kUsers));
    std::vector<double> scores(items.size());
    calls = 0;
    const auto poll = [] {
      if (calls > 2) throw std::runtime_error("enough");
    };
    CHECK_THROWS_WITH_AS(topk({.scores = embeddings,
                               .k = 1,
                               .exclude = {},
                               .positions = items,
                               .best_scores = scores,
                               .threads = threads,
                               .poll = poll}),
                         "enough", std::runtime_error);
    CHECK(calls < 2 * (40 * kItems / 256));  // of two blocks of users
  }
}

}  // namespace
}  // namespace exactk
