#include "rank/embeddings/similarities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/checkpoint.hpp"
#include "numeric/half.hpp"

namespace exactk {
namespace {

constexpr std::size_t kSome = 64;  // pairs at a time

[[nodiscard]] const std::byte* address(const Vectors& vectors, Count row) noexcept {
  return vectors.numbers + row * vectors.row_stride;
}

template <class Number>
[[nodiscard]] const Number* row_at(const Vectors& vectors, Count row) noexcept {
  return reinterpret_cast<const Number*>(address(vectors, row));
}

// Calls visitor(numbers) with the row as an array of its type, half precision as integers.
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
To converted(Number number) noexcept {
  if constexpr (std::is_same_v<Number, std::uint16_t>) {
    return from_half(number);
  } else {
    return static_cast<To>(number);
  }
}

}  // namespace

double number_of(const Vectors& vectors, Count row, std::size_t place) noexcept {
  return with_row(vectors, row,
                  [&](const auto* numbers) { return converted<double>(numbers[place]); });
}

Similarities::Similarities(const Embeddings& source, const Kernels& kernels)
    : source_(source), kernels_(kernels), width_(static_cast<std::size_t>(source.width)) {}

std::size_t Similarities::piece_size() const noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 21U;
  const std::size_t chunks = kMost / width_ / kChunkScores;
  return std::clamp<std::size_t>(chunks, 1, kChunk / kChunkScores) * kChunkScores;
}

void Similarities::scale(Count item, double factor, float* scaled) const {
  with_row(source_.items, item, [&](const auto* numbers) {
    for (std::size_t i = 0; i < width_; ++i) {
      scaled[i] = static_cast<float>(converted<double>(numbers[i]) * factor);
    }
  });
}

// Points at rows as the kernels take them: where they lie, but for those of half precision.
template <class Number>
void Similarities::point_at(const Vectors& vectors, std::span<const Number*> rows,
                            const auto& row_of) {
  if (vectors.type != ScoreType::float16) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = row_at<Number>(vectors, row_of(i));
    return;
  }
  if constexpr (std::is_same_v<Number, float>) {
    widened_.resize(std::max(widened_.size(), rows.size() * width_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto* const halves = row_at<std::uint16_t>(vectors, row_of(i));
      float* const widened = widened_.data() + i * width_;
      std::transform(halves, halves + width_, widened, from_half);
      rows[i] = widened;
    }
  }
}

template <class Number>
void Similarities::square_some(const Vectors& vectors, const VectorKernels<Number>& kernels,
                               Count first, std::span<double> squares) {
  std::array<const Number*, kSome> rows{};
  for (std::size_t begin = 0; begin < squares.size(); begin += kSome) {
    const std::size_t size = std::min(kSome, squares.size() - begin);
    point_at<Number>(vectors, std::span(rows).first(size),
                     [&](std::size_t i) { return first + static_cast<Count>(begin + i); });
    kernels.squares(rows.data(), size, width_, &squares[begin]);
  }
}

void Similarities::square(const Vectors& vectors, Count first, std::span<double> squares) {
  if (vectors.type == ScoreType::float64) {
    square_some(vectors, kernels_.float64_vectors, first, squares);
  } else {
    square_some(vectors, kernels_.float32_vectors, first, squares);
  }
}

void Similarities::read(Count user, UserVector& vector) {
  vector.numbers.resize(width_);
  with_row(source_.users, user, [&](const auto* numbers) {
    for (std::size_t i = 0; i < width_; ++i) {
      vector.numbers[i] = converted<double>(numbers[i]);
    }
  });
  square(source_.users, user, {&vector.square, 1});
}

template <class Number, class ItemOf>
void Similarities::score_some(const UserVector& user, const VectorKernels<Number>& kernels,
                              const ItemOf& item_of, std::span<double> scores) {
  std::array<const Number*, kSome> rows{};
  const std::size_t size = scores.size();
  point_at<Number>(source_.items, std::span(rows).first(size), item_of);
  if (source_.similarity == Similarity::euclidean) {
    kernels.squared_distances(user.numbers.data(), rows.data(), size, width_, scores.data());
    for (double& score : scores) score = 0 - std::sqrt(score);
    return;
  }
  kernels.dots(user.numbers.data(), rows.data(), size, width_, scores.data());
  if (source_.similarity == Similarity::cosine) {
    std::array<double, kSome> squares{};
    kernels.squares(rows.data(), size, width_, squares.data());
    for (std::size_t i = 0; i < size; ++i) scores[i] /= std::sqrt(user.square * squares[i]);
  }
}

template <class ItemOf>
void Similarities::score_each(const UserVector& user, const ItemOf& item_of,
                              std::span<double> scores) {
  for (std::size_t begin = 0; begin < scores.size(); begin += kSome) {
    const auto some = scores.subspan(begin, std::min(kSome, scores.size() - begin));
    const auto item = [&](std::size_t i) { return item_of(begin + i); };
    if (source_.items.type == ScoreType::float64) {
      score_some(user, kernels_.float64_vectors, item, some);
    } else {
      score_some(user, kernels_.float32_vectors, item, some);
    }
    if (source_.item_bias) {
      for (std::size_t i = 0; i < some.size(); ++i) {
        some[i] += number_of(*source_.item_bias, item(i), 0);
      }
    }
    if (!source_.narrowed) continue;
    for (double& score : some) score = static_cast<double>(static_cast<float>(score));
  }
}

void Similarities::score(const UserVector& user, Count first, std::span<double> scores) {
  score_each(user, [&](std::size_t i) { return first + static_cast<Count>(i); }, scores);
}

void Similarities::score(const UserVector& user, std::span<const std::int64_t> items,
                         std::span<double> scores) {
  score_each(user, [&](std::size_t i) { return item_of(items[i], source_); }, scores);
}

}  // namespace exactk
