#include "rank/embeddings/similarities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/run.hpp"
#include "numeric/half.hpp"

namespace exactk {
namespace {

constexpr std::size_t kPairBlock = 64;  // pairs at a time

[[nodiscard]] const std::byte* row_address(const Vectors& vectors, Count row) noexcept {
  return vectors.numbers + row * vectors.row_stride;
}

template <class Number>
[[nodiscard]] const Number* row_at(const Vectors& vectors, Count row) noexcept {
  return reinterpret_cast<const Number*>(row_address(vectors, row));
}

// Calls visitor(numbers) with the row as an array of its type; half precision as integers.
template <class Visitor>
auto with_row(const Vectors& vectors, Count row, const Visitor& visitor) {
  switch (vectors.type) {
    case ScoreType::float16:
      return visitor(row_at<std::uint16_t>(vectors, row));
    case ScoreType::float64:
      return visitor(row_at<double>(vectors, row));
    default:
      return visitor(row_at<float>(vectors, row));
  }
}

template <class To, class Number>
To convert_number(Number number) noexcept {
  if constexpr (std::is_same_v<Number, std::uint16_t>) {
    return from_half(number);
  } else {
    return static_cast<To>(number);
  }
}

}  // namespace

double number_at(const Vectors& vectors, Count row, std::size_t column) noexcept {
  return with_row(vectors, row,
                  [&](const auto* numbers) { return convert_number<double>(numbers[column]); });
}

Similarities::Similarities(const Embeddings& source, const Kernels& kernels)
    : source_(source), kernels_(kernels), width_(static_cast<std::size_t>(source.width)) {}

std::size_t Similarities::chunk_size() const noexcept {
  constexpr std::size_t kMaxNumbers = std::size_t{1} << 21U;
  const std::size_t chunks = kMaxNumbers / width_ / kChunkScores;
  return std::clamp<std::size_t>(chunks, 1, kChunk / kChunkScores) * kChunkScores;
}

void Similarities::scale_item(Count item, double factor, float* scaled) const {
  with_row(source_.items, item, [&](const auto* numbers) {
    for (std::size_t i = 0; i < width_; ++i) {
      scaled[i] = static_cast<float>(convert_number<double>(numbers[i]) * factor);
    }
  });
}

// Sets pointers to rows as the kernels read them: in place, except that half precision is
// converted.
template <class Number>
void Similarities::point_to_rows(const Vectors& vectors, std::span<const Number*> rows,
                                 const auto& row_of) {
  if (vectors.type != ScoreType::float16) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = row_at<Number>(vectors, row_of(i));
    return;
  }
  if constexpr (std::is_same_v<Number, float>) {
    float_rows_.resize(std::max(float_rows_.size(), rows.size() * width_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto* const halves = row_at<std::uint16_t>(vectors, row_of(i));
      float* const float_row = float_rows_.data() + i * width_;
      std::transform(halves, halves + width_, float_row, from_half);
      rows[i] = float_row;
    }
  }
}

template <class Number, class RowOf>
void Similarities::square_rows(const Vectors& vectors, const VectorKernels<Number>& kernels,
                               const RowOf& row_of, std::span<double> squares) {
  std::array<const Number*, kPairBlock> rows{};
  for (std::size_t begin = 0; begin < squares.size(); begin += kPairBlock) {
    const std::size_t size = std::min(kPairBlock, squares.size() - begin);
    point_to_rows<Number>(vectors, std::span(rows).first(size),
                          [&](std::size_t i) { return row_of(begin + i); });
    kernels.squares(rows.data(), size, width_, &squares[begin]);
  }
}

template <class RowOf>
void Similarities::square_rows(const Vectors& vectors, const RowOf& row_of,
                               std::span<double> squares) {
  if (vectors.type == ScoreType::float64) {
    square_rows(vectors, kernels_.float64_vectors, row_of, squares);
  } else {
    square_rows(vectors, kernels_.float32_vectors, row_of, squares);
  }
}

void Similarities::compute_squares(const Vectors& vectors, Count first, std::span<double> squares) {
  square_rows(vectors, [&](std::size_t i) { return first + static_cast<Count>(i); }, squares);
}

void Similarities::compute_squares(const Vectors& vectors, std::span<const std::int64_t> rows,
                                   std::span<double> squares) {
  square_rows(vectors, [&](std::size_t i) { return rows[i]; }, squares.first(rows.size()));
}

void Similarities::read_user(Count user, UserVector& vector) {
  vector.numbers.resize(width_);
  with_row(source_.users, user, [&](const auto* numbers) {
    for (std::size_t i = 0; i < width_; ++i) {
      vector.numbers[i] = convert_number<double>(numbers[i]);
    }
  });
  compute_squares(source_.users, user, {&vector.square, 1});
}

template <class Number, class ItemOf>
void Similarities::score_block(const UserVector& user, const VectorKernels<Number>& kernels,
                               const ItemOf& item_of, std::span<double> scores) {
  std::array<const Number*, kPairBlock> rows{};
  const std::size_t size = scores.size();
  point_to_rows<Number>(source_.items, std::span(rows).first(size), item_of);
  if (source_.similarity == Similarity::euclidean) {
    kernels.squared_distances(user.numbers.data(), rows.data(), size, width_, scores.data());
    for (double& score : scores) score = 0 - std::sqrt(score);
    return;
  }
  kernels.dots(user.numbers.data(), rows.data(), size, width_, scores.data());
  if (source_.similarity == Similarity::cosine) {
    std::array<double, kPairBlock> squares{};
    kernels.squares(rows.data(), size, width_, squares.data());
    for (std::size_t i = 0; i < size; ++i) scores[i] /= std::sqrt(user.square * squares[i]);
  }
}

template <class ItemOf>
void Similarities::score_blocks(const UserVector& user, const ItemOf& item_of,
                                std::span<double> scores) {
  for (std::size_t begin = 0; begin < scores.size(); begin += kPairBlock) {
    const auto block = scores.subspan(begin, std::min(kPairBlock, scores.size() - begin));
    const auto item = [&](std::size_t i) { return item_of(begin + i); };
    if (source_.items.type == ScoreType::float64) {
      score_block(user, kernels_.float64_vectors, item, block);
    } else {
      score_block(user, kernels_.float32_vectors, item, block);
    }
    if (source_.item_bias) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        block[i] += number_at(*source_.item_bias, item(i), 0);
      }
    }
    if (!source_.float32_scores) continue;
    for (double& score : block) score = static_cast<double>(static_cast<float>(score));
  }
}

void Similarities::score(const UserVector& user, Count first, std::span<double> scores) {
  score_blocks(user, [&](std::size_t i) { return first + static_cast<Count>(i); }, scores);
}

void Similarities::score(const UserVector& user, std::span<const std::int64_t> items,
                         std::span<double> scores) {
  score_blocks(user, [&](std::size_t i) { return read_item(items[i], source_); }, scores);
}

}  // namespace exactk
