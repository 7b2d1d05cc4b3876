// Embeddings of drawn vectors, which own their arrays.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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

// Draws the items that all users may be recommended: about two thirds.
inline OwnedLists draw_candidates(std::mt19937_64& random) {
  Row row;
  for (std::int64_t item = 0; item < kItems; item += 1 + static_cast<std::int64_t>(random() % 2)) {
    row.push_back(item);
  }
  return lists({row});
}

// Draws excluded ids, some of which are no items; all items of one user.
inline OwnedLists draw_exclusions(std::mt19937_64& random) {
  std::vector<Row> rows(static_cast<std::size_t>(kUsers));
  for (Row& row : rows) {
    for (int i = 0; i < 100; ++i) row.push_back(static_cast<std::int64_t>(random() % 700));
  }
  rows[3].resize(static_cast<std::size_t>(kItems));
  std::iota(rows[3].begin(), rows[3].end(), 0);
  return lists(rows);
}

inline constexpr std::array kTypes = {ScoreType::float32, ScoreType::float64, ScoreType::float16};
inline constexpr std::array kDraws = {Draw::spread, Draw::equal, Draw::near,
                                      Draw::uneven, Draw::small, Draw::tiny};

}  // namespace exactk::tests
