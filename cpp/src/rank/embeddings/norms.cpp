#include "rank/embeddings/norms.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/run.hpp"
#include "exactk/error.hpp"
#include "rank/embeddings/similarities.hpp"

namespace exactk {
namespace {

// The product of the squares of two such lengths does not overflow.
constexpr double kMaxLength = 0x1p250;
constexpr double kMaxSquare = kMaxLength * kMaxLength;

// Scans one matrix.
class NormScan {
 public:
  NormScan(const Embeddings& source, const Vectors& vectors, const Kernels& kernels, const Run& run)
      : source_(source), vectors_(vectors), kernels_(kernels), run_(run) {}

  // Returns the largest square in each tile.
  std::vector<double> largest_squares() {
    std::vector<double> largest(tile_count());
    std::atomic<bool> has_fault = false;
    constexpr std::size_t kTiles = 64;  // tiles per block
    const auto body = [&](int, Count block) {
      Similarities similarities(source_, kernels_);
      std::array<double, kTileItems> buffer{};
      const std::size_t first = static_cast<std::size_t>(block) * kTiles;
      for (std::size_t tile = first; tile < std::min(first + kTiles, tile_count()); ++tile) {
        const std::span<const double> squares = squares_of(similarities, tile, buffer);
        for (const double square : squares) {
          if (!is_allowed(square)) has_fault = true;
          largest[tile] = std::max(largest[tile], square);
        }
        run_.checkpoint();
      }
    };
    parallel_for(run_, static_cast<Count>((tile_count() + kTiles - 1) / kTiles), body);
    if (has_fault) throw_fault();
    return largest;
  }

 private:
  [[nodiscard]] std::size_t tile_count() const noexcept {
    return (static_cast<std::size_t>(vectors_.rows) + kTileItems - 1) / kTileItems;
  }
  [[nodiscard]] bool needs_direction() const noexcept {
    return source_.similarity == Similarity::cosine;
  }
  [[nodiscard]] bool is_allowed(double square) const noexcept {
    return square <= kMaxSquare && (!needs_direction() || square >= kSmallestSquare);
  }
  // Returns the squares of one tile, valid until the next call.
  std::span<const double> squares_of(Similarities& similarities, std::size_t tile,
                                     std::span<double> squares) const {
    const std::size_t first = tile * kTileItems;
    squares =
        squares.first(std::min(squares.size(), static_cast<std::size_t>(vectors_.rows) - first));
    similarities.compute_squares(vectors_, static_cast<Count>(first), squares);
    return squares;
  }
  void describe_fault(Fault& fault, Count row, double square) const;
  [[noreturn]] void throw_fault() const;

  const Embeddings& source_;
  const Vectors& vectors_;
  const Kernels& kernels_;
  const Run& run_;
};

// Describes the fault in a vector.
void NormScan::describe_fault(Fault& fault, Count row, double square) const {
  fault.row = row;
  for (std::size_t i = 0; std::cmp_less(i, source_.width); ++i) {
    const double number = number_at(vectors_, row, i);
    if (std::isfinite(number)) continue;
    fault.position = static_cast<Offset>(i);
    fault.expected = "finite numbers";
    fault.found = format_number(number);
    return;
  }
  const bool is_too_short = square < 1;
  fault.expected =
      is_too_short ? "vectors of length 2^-250 or more" : "vectors of length 2^250 or less";
  fault.found = "a vector of length " + format_number(std::sqrt(square));
  if (is_too_short)
    fault.hint = "similarity='dot' in exactk.Embeddings or exactk.neighbors accepts it";
}

// Scans all vectors again to count the faulty ones and find the first.
void NormScan::throw_fault() const {
  Similarities similarities(source_, kernels_);
  std::array<double, kTileItems> buffer{};
  Fault fault{.argument = vectors_.argument, .count = 0};
  for (std::size_t tile = 0; tile < tile_count(); ++tile) {
    run_.checkpoint();
    const std::span<const double> squares = squares_of(similarities, tile, buffer);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      if (is_allowed(squares[i])) continue;
      const auto row = static_cast<Count>(tile * kTileItems + i);
      if (fault.count++ == 0) describe_fault(fault, row, squares[i]);
    }
  }
  if (fault.count == 0) {
    fault.expected = "an array that does not change";
    fault.found = "another thread writing to it";
  }
  throw InputError(std::move(fault));
}

void check_biases(const Vectors& biases, const Run& run) {
  Fault fault{.argument = biases.argument, .expected = "numbers from -2^250 to 2^250", .count = 0};
  const auto check_range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double bias = number_at(biases, static_cast<Count>(i), 0);
      if (std::abs(bias) <= kMaxLength || fault.count++ > 0) continue;
      fault.found = format_number(bias);
      fault.position = static_cast<Offset>(i);
    }
  };
  in_chunks(static_cast<std::size_t>(biases.rows), run, check_range);
  if (fault.count > 0) throw InputError(std::move(fault));
}

// Returns the largest value_at(position) in each tile of kTileItems positions.
template <class ValueAt>
std::vector<double> largest_per_tile(std::size_t positions, const Run& run,
                                     const ValueAt& value_at) {
  std::vector<double> largest((positions + kTileItems - 1) / kTileItems);
  for (std::size_t tile = 0; tile < largest.size(); ++tile) {
    const std::size_t end = std::min((tile + 1) * kTileItems, positions);
    for (std::size_t i = tile * kTileItems; i < end; ++i) {
      largest[tile] = std::max(largest[tile], value_at(i));
    }
    run.checkpoint();
  }
  return largest;
}

double largest_or_zero(std::span<const double> numbers) {
  return numbers.empty() ? 0 : *std::ranges::max_element(numbers);
}

}  // namespace

Norms measure_norms(const Embeddings& source, const Kernels& kernels, const Run& run) {
  NormScan(source, source.users, kernels, run).largest_squares();
  Norms norms;
  norms.largest_squares = NormScan(source, source.items, kernels, run).largest_squares();
  if (source.item_bias) check_biases(*source.item_bias, run);
  const bool is_restricted = source.candidates && source.candidates->row_count() == 1;
  const auto candidate_items =
      is_restricted ? int64_row_items(*source.candidates, 0) : std::span<const Offset>();
  const auto size =
      is_restricted ? candidate_items.size() : static_cast<std::size_t>(source.items.rows);
  const auto item_at = [&](std::size_t position) -> Count {
    return is_restricted ? read_item(candidate_items[position], source)
                         : static_cast<Count>(position);
  };
  if (is_restricted) {
    Similarities similarities(source, kernels);
    norms.largest_squares = largest_per_tile(size, run, [&](std::size_t position) {
      double square = 0;
      similarities.compute_squares(source.items, item_at(position), {&square, 1});
      return square;
    });
  }
  if (source.item_bias) {
    norms.largest_biases = largest_per_tile(size, run, [&](std::size_t position) {
      return std::abs(number_at(*source.item_bias, item_at(position), 0));
    });
  }
  norms.largest_square = largest_or_zero(norms.largest_squares);
  norms.largest_bias = largest_or_zero(norms.largest_biases);
  return norms;
}

}  // namespace exactk
