#include "metrics/item_distances.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/checks.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

// Items whose distances are computed together.
constexpr std::size_t kBlock = 64;

// The square of the length of a vector that has a direction.
constexpr double kLeastSquare = 0x1p-500;

[[noreturn]] void refuse(std::string expected, std::string found, std::string hint = {}) {
  throw InputError({.argument = "items.features",
                    .expected = std::move(expected),
                    .found = std::move(found),
                    .hint = std::move(hint)});
}

// Returns what a vector is multiplied by to have length 1; 0 if it is 0.
double inverse_length(double square, std::size_t item, bool is_zero) {
  if (square >= kLeastSquare) return 1 / std::sqrt(square);
  if (is_zero) return 0;
  throw InputError({.argument = "items.features",
                    .expected = "vectors of zeros or of length 2^-250 or more (distance='cosine')",
                    .found = "a vector of length " + format_number(std::sqrt(square)),
                    .row = static_cast<Count>(item)});
}

// Of vectors in rows.
template <class Number>
class VectorDistances : public ItemDistances {
 public:
  VectorDistances(const ItemFeatures& features, const Kernels& kernels)
      : ItemDistances(features),
        vectors_(std::get<std::span<const Number>>(features.vectors)),
        width_(static_cast<std::size_t>(features.width)),
        kernels_(kernels_of(kernels)) {}

  void prefetch(ItemNumber item) const noexcept override {
    constexpr std::size_t kLine = 64 / sizeof(Number);
    const Number* const row = this->row(item);
    for (std::size_t i = 0; i < std::min(width_, 16 * kLine); i += kLine) {
      __builtin_prefetch(row + i);
    }
  }

 protected:
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] std::size_t size() const noexcept { return vectors_.size() / width_; }
  [[nodiscard]] const VectorKernels<Number>& kernels() const noexcept { return kernels_; }
  [[nodiscard]] const Number* row(std::size_t item) const noexcept {
    return vectors_.data() + item * width_;
  }
  // Returns the item's vector in double precision.
  [[nodiscard]] const double* doubles(std::size_t item, std::vector<double>& scratch) const {
    if constexpr (std::is_same_v<Number, double>) {
      return row(item);
    } else {
      scratch.assign(row(item), row(item) + width_);
      return scratch.data();
    }
  }

 private:
  static const VectorKernels<Number>& kernels_of(const Kernels& kernels) noexcept {
    if constexpr (std::is_same_v<Number, double>) {
      return kernels.float64_vectors;
    } else {
      return kernels.float32_vectors;
    }
  }

  std::span<const Number> vectors_;
  std::size_t width_;
  const VectorKernels<Number>& kernels_;
};

// 1 minus the product of two vectors, which for cosines have length 1.
template <class Number>
class ProductDistances : public VectorDistances<Number> {
 public:
  ProductDistances(const ItemFeatures& features, bool is_cosine, const Kernels& kernels,
                   const Run& run)
      : VectorDistances<Number>(features, kernels),
        scales_(this->size(), 1.0),
        least_(is_cosine ? 0 : -std::numeric_limits<double>::infinity()) {
    if (is_cosine) measure(run);
  }

  void prefetch(ItemNumber item) const noexcept override {
    __builtin_prefetch(&scales_[item]);
    VectorDistances<Number>::prefetch(item);
  }

  void compute(ItemNumber item, std::span<const ItemNumber> others, std::vector<double>& scratch,
               std::span<double> distances) const override {
    const double* const vector = this->doubles(item, scratch);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const double product = product_of(vector, others[i]) * scales_[item];
      distances[i] = std::max(least_, 1 - product);
    }
  }

  // Multiplies the item by the sum of those before it: the cost does not depend on their number.
  double add(PairSum& sum, ItemNumber item, const Run& /*run*/) const override {
    sum.vector.resize(this->width());
    sum.total += product_of(sum.vector.data(), item);
    const double scale = scales_[item];
    const Number* const vector = this->row(item);
    for (std::size_t i = 0; i < this->width(); ++i) {
      sum.vector[i] += static_cast<double>(vector[i]) * scale;
    }
    sum.items.push_back(item);
    const auto size = static_cast<double>(sum.items.size());
    return std::max(least_, size * (size - 1) / 2 - sum.total);
  }

 private:
  void measure(const Run& run) {
    const auto measure_block = [&](std::size_t begin, std::size_t end) {
      std::array<const Number*, kBlock> rows{};
      for (std::size_t i = begin; i < end; ++i) rows[i - begin] = this->row(i);
      this->kernels().squares(rows.data(), end - begin, this->width(), &scales_[begin]);
      for (std::size_t i = begin; i < end; ++i) {
        const bool is_zero =
            scales_[i] < kLeastSquare && std::all_of(
                                             this->row(i), this->row(i) + this->width(),
                                             [](Number number) { return number == 0; });
        scales_[i] = inverse_length(scales_[i], i, is_zero);
      }
    };
    in_chunks(
        this->size(), run,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; i += kBlock)
            measure_block(i, std::min(i + kBlock, end));
        },
        kChunk / 16);
  }
  [[nodiscard]] double product_of(const double* vector, ItemNumber item) const noexcept {
    const Number* const other = this->row(item);
    double product = 0;
    this->kernels().dots(vector, &other, 1, this->width(), &product);
    return product * scales_[item];
  }

  std::vector<double> scales_;  // by item
  double least_;                // rounding may lead below it
};

// The length of the difference of two vectors.
template <class Number>
class EuclideanDistances : public VectorDistances<Number> {
 public:
  using VectorDistances<Number>::VectorDistances;

  void compute(ItemNumber item, std::span<const ItemNumber> others, std::vector<double>& scratch,
               std::span<double> distances) const override {
    const double* const vector = this->doubles(item, scratch);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Number* const other = this->row(others[i]);
      this->kernels().squared_distances(vector, &other, 1, this->width(), &distances[i]);
      distances[i] = std::sqrt(distances[i]);
    }
  }
};

// The number of columns in which two vectors differ.
template <class Number>
class HammingDistances : public VectorDistances<Number> {
 public:
  using VectorDistances<Number>::VectorDistances;

  void compute(ItemNumber item, std::span<const ItemNumber> others,
               std::vector<double>& /*scratch*/, std::span<double> distances) const override {
    const Number* const vector = this->row(item);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Number* const other = this->row(others[i]);
      std::uint32_t differing = 0;
      for (std::size_t column = 0; column < this->width(); ++column) {
        differing += vector[column] != other[column] ? 1 : 0;
      }
      distances[i] = differing;
    }
  }
};

// The entries of a matrix of distances.
template <class Number>
class MatrixDistances : public VectorDistances<Number> {
 public:
  MatrixDistances(const ItemFeatures& features, const Kernels& kernels, const Run& run)
      : VectorDistances<Number>(features, kernels),
        columns_(features.item_columns.begin(), features.item_columns.end()) {
    if (columns_.empty() && this->size() > 0) {
      refuse("a square matrix of the distances of all items (distance='matrix')",
             std::to_string(features.width) + " columns");
    }
    for (ItemNumber item = 0; item < this->size(); ++item) {
      if (this->has_features(item) && columns_[item] < 0) this->set_missing(item);
    }
    for (ItemNumber item = 0; item < this->size(); ++item) {
      if (this->has_features(item)) check(item);
      run.checkpoint();
    }
  }

  void compute(ItemNumber item, std::span<const ItemNumber> others,
               std::vector<double>& /*scratch*/, std::span<double> distances) const override {
    for (std::size_t i = 0; i < others.size(); ++i) distances[i] = entry(item, others[i]);
  }

 private:
  [[nodiscard]] double entry(ItemNumber from, ItemNumber to) const noexcept {
    return this->row(from)[columns_[to]];
  }
  void check(ItemNumber item) const {
    for (ItemNumber other = 0; other <= item; ++other) {
      if (!this->has_features(other)) continue;
      const double distance = entry(item, other);
      if (distance >= 0 && distance == entry(other, item) && (item != other || distance == 0))
        continue;
      throw InputError(
          {.argument = "items.features",
           .expected = "a symmetric matrix of distances of at least 0, with zeros for an item and "
                       "itself (distance='matrix')",
           .found = format_number(distance) + " and " + format_number(entry(other, item)),
           .row = item,
           .position = columns_[other]});
    }
  }

  std::vector<Offset> columns_;
};

// Of rows that are mostly zeros, or of sets of tags.
class SparseRows : public ItemDistances {
 public:
  explicit SparseRows(const ItemFeatures& features)
      : ItemDistances(features),
        indptr_(features.indptr.begin(), features.indptr.end()),
        columns_(features.columns),
        weights_(features.weights) {}

 protected:
  [[nodiscard]] std::size_t size() const noexcept { return indptr_.size() - 1; }
  [[nodiscard]] std::size_t begin(std::size_t item) const noexcept {
    return static_cast<std::size_t>(indptr_[item]);
  }
  [[nodiscard]] std::size_t end(std::size_t item) const noexcept { return begin(item + 1); }
  [[nodiscard]] double weight(std::size_t offset) const noexcept {
    return weights_.empty() ? 1 : weights_[offset];
  }
  // Calls body(one, other) with the weights of each column that either row has, in order.
  template <class Body>
  void for_each_column(ItemNumber one, ItemNumber other, const Body& body) const {
    std::size_t i = begin(one);
    std::size_t j = begin(other);
    while (i < end(one) || j < end(other)) {
      const bool has_one = j == end(other) || (i < end(one) && columns_[i] <= columns_[j]);
      const bool has_other = i == end(one) || (j < end(other) && columns_[j] <= columns_[i]);
      body(has_one ? weight(i) : 0, has_other ? weight(j) : 0);
      i += has_one ? 1 : 0;
      j += has_other ? 1 : 0;
    }
  }

 private:
  std::vector<Offset> indptr_;
  std::span<const std::int64_t> columns_;
  std::span<const double> weights_;
};

class SparseProductDistances : public SparseRows {
 public:
  SparseProductDistances(const ItemFeatures& features, bool is_cosine)
      : SparseRows(features),
        scales_(size(), 1.0),
        least_(is_cosine ? 0 : -std::numeric_limits<double>::infinity()) {
    for (std::size_t item = 0; is_cosine && item < size(); ++item) {
      double square = 0;
      bool is_zero = true;
      for (std::size_t i = begin(item); i < end(item); ++i) {
        square += weight(i) * weight(i);
        is_zero = is_zero && weight(i) == 0;
      }
      scales_[item] = inverse_length(square, item, is_zero);
    }
  }

  void compute(ItemNumber item, std::span<const ItemNumber> others,
               std::vector<double>& /*scratch*/, std::span<double> distances) const override {
    for (std::size_t i = 0; i < others.size(); ++i) {
      double product = 0;
      for_each_column(item, others[i], [&](double a, double b) { product += a * b; });
      distances[i] = std::max(least_, 1 - product * scales_[others[i]] * scales_[item]);
    }
  }

 private:
  std::vector<double> scales_;  // by item
  double least_;                // rounding may lead below it
};

class SparseEuclideanDistances : public SparseRows {
 public:
  using SparseRows::SparseRows;

  void compute(ItemNumber item, std::span<const ItemNumber> others,
               std::vector<double>& /*scratch*/, std::span<double> distances) const override {
    for (std::size_t i = 0; i < others.size(); ++i) {
      double square = 0;
      for_each_column(item, others[i], [&](double a, double b) { square += (a - b) * (a - b); });
      distances[i] = std::sqrt(square);
    }
  }
};

class SparseHammingDistances : public SparseRows {
 public:
  using SparseRows::SparseRows;

  void compute(ItemNumber item, std::span<const ItemNumber> others,
               std::vector<double>& /*scratch*/, std::span<double> distances) const override {
    for (std::size_t i = 0; i < others.size(); ++i) {
      distances[i] = 0;
      for_each_column(item, others[i], [&](double a, double b) { distances[i] += a != b ? 1 : 0; });
    }
  }
};

// The share of the tags of two items that are not common to both.
class JaccardDistances : public ItemDistances {
 public:
  JaccardDistances(const ItemFeatures& features, const Run& run) : ItemDistances(features) {
    if (features.are_sparse()) {
      read_sparse(features);
    } else {
      std::visit([&](const auto& vectors) { read_vectors(vectors, features, run); },
                 features.vectors);
    }
    for (ItemNumber item = 0; item + 1 < indptr_.size(); ++item) {
      if (indptr_[item] == indptr_[item + 1]) set_missing(item);
    }
  }

  void compute(ItemNumber item, std::span<const ItemNumber> others,
               std::vector<double>& /*scratch*/, std::span<double> distances) const override {
    for (std::size_t i = 0; i < others.size(); ++i) {
      const std::span<const std::int64_t> one = tags(item);
      const std::span<const std::int64_t> other = tags(others[i]);
      const std::size_t common = count_common(one, other);
      const std::size_t all = one.size() + other.size() - common;
      distances[i] = static_cast<double>(all - common) / static_cast<double>(all);
    }
  }

 private:
  [[nodiscard]] std::span<const std::int64_t> tags(ItemNumber item) const noexcept {
    const std::size_t begin = indptr_[item];
    return std::span(columns_).subspan(begin, indptr_[item + 1] - begin);
  }
  static std::size_t count_common(std::span<const std::int64_t> one,
                                  std::span<const std::int64_t> other) noexcept {
    std::size_t common = 0;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < one.size() && j < other.size()) {
      const std::int64_t a = one[i];
      const std::int64_t b = other[j];
      common += a == b ? 1 : 0;
      i += a <= b ? 1 : 0;
      j += b <= a ? 1 : 0;
    }
    return common;
  }
  [[noreturn]] static void refuse_number(double number) {
    refuse("tags, or 0 and 1 (distance='jaccard')", format_number(number),
           "features={item: [tag, ...]} has the tags of items");
  }
  void read_sparse(const ItemFeatures& features) {
    for (const double weight : features.weights) {
      if (weight != 1) refuse_number(weight);
    }
    indptr_.assign(features.indptr.begin(), features.indptr.end());
    columns_.assign(features.columns.begin(), features.columns.end());
  }
  template <class Number>
  void read_vectors(std::span<const Number> vectors, const ItemFeatures& features, const Run& run) {
    const auto width = static_cast<std::size_t>(features.width);
    indptr_.push_back(0);
    in_chunks(vectors.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (vectors[i] != 0 && vectors[i] != 1) refuse_number(vectors[i]);
        if (vectors[i] == 1) columns_.push_back(static_cast<std::int64_t>(i % width));
        if (i % width == width - 1) indptr_.push_back(columns_.size());
      }
    });
  }

  std::vector<std::size_t> indptr_;
  std::vector<std::int64_t> columns_;  // ascending in each row
};

template <class Number>
std::shared_ptr<const ItemDistances> make_vector_distances(const ItemFeatures& features,
                                                           ItemDistance distance,
                                                           const Kernels& kernels, const Run& run) {
  switch (distance) {
    case ItemDistance::euclidean:
      return std::make_shared<EuclideanDistances<Number>>(features, kernels);
    case ItemDistance::hamming:
      return std::make_shared<HammingDistances<Number>>(features, kernels);
    case ItemDistance::matrix:
      return std::make_shared<MatrixDistances<Number>>(features, kernels, run);
    case ItemDistance::jaccard:
      return std::make_shared<JaccardDistances>(features, run);
    default:
      return std::make_shared<ProductDistances<Number>>(features, distance == ItemDistance::cosine,
                                                        kernels, run);
  }
}

std::shared_ptr<const ItemDistances> make_sparse_distances(const ItemFeatures& features,
                                                           ItemDistance distance, const Run& run) {
  switch (distance) {
    case ItemDistance::euclidean:
      return std::make_shared<SparseEuclideanDistances>(features);
    case ItemDistance::hamming:
      return std::make_shared<SparseHammingDistances>(features);
    case ItemDistance::matrix:
      refuse("a dense matrix of the distances of all items (distance='matrix')",
             features.are_sets ? "tags" : "a sparse one");
    case ItemDistance::jaccard:
      return std::make_shared<JaccardDistances>(features, run);
    default:
      return std::make_shared<SparseProductDistances>(features, distance == ItemDistance::cosine);
  }
}

}  // namespace

// An item without tags has no distance from others.
ItemDistances::ItemDistances(const ItemFeatures& features)
    : is_missing_(features.is_missing.begin(), features.is_missing.end()) {
  for (std::size_t i = 0; features.are_sets && i + 1 < features.indptr.size(); ++i) {
    if (features.indptr[i] == features.indptr[i + 1]) is_missing_[i] = 1;
  }
}

double ItemDistances::add(PairSum& sum, ItemNumber item, const Run& run) const {
  std::array<double, kBlock> distances{};
  const std::span<const ItemNumber> items = sum.items;
  in_chunks(
      items.size(), run,
      [&](std::size_t begin, std::size_t end) {
        const std::span<double> block = std::span(distances).first(end - begin);
        compute(item, items.subspan(begin, end - begin), sum.vector, block);
        for (const double distance : block) sum.total += distance;
      },
      kBlock);
  sum.items.push_back(item);
  return sum.total;
}

std::shared_ptr<const ItemDistances> make_item_distances(const ItemFeatures& features,
                                                         ItemDistance distance,
                                                         const Kernels& kernels, const Run& run) {
  if (features.are_sparse()) return make_sparse_distances(features, distance, run);
  if (std::holds_alternative<std::span<const double>>(features.vectors)) {
    return make_vector_distances<double>(features, distance, kernels, run);
  }
  return make_vector_distances<float>(features, distance, kernels, run);
}

}  // namespace exactk
