// Embeddings of drawn vectors, which own their arrays.
#pragma once

#include "common.hpp"
#include "exactk/embeddings.hpp"
#include "request.hpp"

namespace exactk::tests {

using Numbers =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint16_t>>;  // halves

template <class Number>
inline constexpr ScoreType kType = ScoreType::float32;
template <>
inline constexpr ScoreType kType<double> = ScoreType::float64;
template <>
inline constexpr ScoreType kType<std::uint16_t> = ScoreType::float16;

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

inline Matrix draw_matrix(ScoreType type, Count rows, Count width, Draw kind,
                          std::mt19937_64& random) {
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

  [[nodiscard]] Embeddings view() const {
    Embeddings embeddings{.users = users.view("users"),
                          .items = items.view("items"),
                          .width = items.width,
                          .similarity = similarity,
                          .float32_scores = float32_scores,
                          .min_score = min_score};
    if (item_bias) embeddings.item_bias = item_bias->view("item_bias");
    if (candidates) embeddings.candidates = candidates->view();
    return embeddings;
  }
};

inline constexpr Count kUsers = 20;
inline constexpr Count kItems = 600;  // several tiles

inline Model draw_model(ScoreType users, ScoreType items, Count width, Draw kind,
                        std::mt19937_64& random) {
  const bool alike = kind > Draw::uneven || random() % 2 == 0;
  const Draw unlike = alike ? kind : Draw::uneven;
  return {.users = draw_matrix(users, kUsers, width, unlike, random),
          .items = draw_matrix(items, kItems, width, kind, random)};
}

inline constexpr std::array kTypes = {ScoreType::float32, ScoreType::float64, ScoreType::float16};
inline constexpr std::array kDraws = {Draw::spread, Draw::equal, Draw::near,
                                      Draw::uneven, Draw::small, Draw::tiny};
inline constexpr std::array kSimilarities = {Similarity::dot, Similarity::cosine,
                                             Similarity::euclidean};

using CheckModel = std::function<void(const Model& model, const OwnedLists* exclude)>;

// Calls check with models of all kinds; by day with every fifth, where all pairs of choices are.
inline void for_each_model(const CheckModel& check) {
  std::mt19937_64 random(1);
  std::size_t number = 0;
  for (const Draw kind : kDraws) {
    for (const ScoreType type : kTypes) {
      const Count width = 1 + static_cast<Count>(random() % 20);
      CAPTURE(static_cast<int>(kind));
      CAPTURE(static_cast<int>(type));
      CAPTURE(width);
      Model model = draw_model(kTypes.at(random() % 3), type, width, kind, random);
      for (const Similarity similarity : kSimilarities) {
        for (const bool float32_scores : {false, true}) {
          if (number++ % 5 != 0 && !is_night()) continue;
          if (kind == Draw::tiny && similarity == Similarity::cosine) continue;  // no direction
          CAPTURE(static_cast<int>(similarity));
          CAPTURE(float32_scores);
          model.similarity = similarity;
          model.float32_scores = float32_scores;
          check(model, nullptr);
        }
      }
      if (number % 4 != 0 && !is_night()) continue;
      model.similarity = Similarity::dot;
      model.item_bias = draw_matrix(ScoreType::float64, kItems, 1, kind, random);
      check(model, nullptr);
    }
  }
}

// Calls check with models with candidates, exclusions and min_score.
inline void for_each_restricted_model(const CheckModel& check) {
  std::mt19937_64 random(2);
  Row candidate_row;  // about two thirds of the items
  for (std::int64_t item = 0; item < kItems; item += 1 + static_cast<std::int64_t>(random() % 2)) {
    candidate_row.push_back(item);
  }
  std::vector<Row> excluded_rows(static_cast<std::size_t>(kUsers));
  for (Row& row : excluded_rows) {  // some of which are no items
    for (int i = 0; i < 100; ++i) row.push_back(static_cast<std::int64_t>(random() % 700));
  }
  excluded_rows[3].resize(static_cast<std::size_t>(kItems));  // all items of one user
  std::iota(excluded_rows[3].begin(), excluded_rows[3].end(), 0);
  const OwnedLists candidates = lists({candidate_row});
  const OwnedLists excluded = lists(excluded_rows);
  for (const Draw kind : kDraws) {
    CAPTURE(static_cast<int>(kind));
    Model model = draw_model(ScoreType::float32, ScoreType::float32, 12, kind, random);
    check(model, &excluded);
    model.candidates = candidates;
    check(model, &excluded);
    model.min_score = 0.3;
    check(model, &excluded);
    model.candidates.reset();
    check(model, &excluded);
    model.similarity = Similarity::euclidean;
    model.min_score = -2;
    check(model, &excluded);
  }
}

// Calls check with models of so many items that a sample of them predicts bounds.
inline void for_each_long_model(const CheckModel& check) {
  constexpr Count kManyItems = 33'000;
  constexpr Count kFewUsers = 6;
  std::mt19937_64 random(7);
  std::vector<Row> excluded_rows(static_cast<std::size_t>(kFewUsers));
  for (Row& row : excluded_rows) {
    for (int i = 0; i < 500; ++i) row.push_back(static_cast<std::int64_t>(random() % kManyItems));
  }
  const OwnedLists excluded = lists(excluded_rows);
  Row candidates(static_cast<std::size_t>(kManyItems) - 1);
  std::iota(candidates.begin(), candidates.end(), 1);
  std::size_t number = 0;
  for (const Draw kind : {Draw::spread, Draw::equal, Draw::near, Draw::uneven}) {
    CAPTURE(static_cast<int>(kind));
    Model model{.users = draw_matrix(ScoreType::float32, kFewUsers, 3, kind, random),
                .items = draw_matrix(ScoreType::float32, kManyItems, 3, kind, random)};
    for (const Similarity similarity : kSimilarities) {
      if (number++ % 2 != 0 && !is_night()) continue;
      CAPTURE(static_cast<int>(similarity));
      model.similarity = similarity;
      check(model, &excluded);
    }
    if (kind == Draw::near && !is_night()) continue;
    model.similarity = Similarity::dot;
    model.candidates = lists({candidates});
    model.min_score = 0.1;
    check(model, nullptr);
  }
}

}  // namespace exactk::tests
