#include "rank/embeddings/norms.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"
#include "exactk/error.hpp"
#include "rank/embeddings/similarities.hpp"

namespace exactk {
namespace {

// The product of the squares of two such lengths is no infinity.
constexpr double kLongest = 0x1p250;
constexpr double kLargestSquare = kLongest * kLongest;

// Looks at one matrix.
class Measuring {
 public:
  Measuring(const Embeddings& source, const Vectors& vectors, const Kernels& kernels,
            const Execution& execution)
      : source_(source), vectors_(vectors), kernels_(kernels), effort_(execution) {}

  // The largest square of each tile.
  std::vector<double> largest_squares() {
    std::vector<double> largest(tiles());
    std::atomic<bool> refused = false;
    constexpr std::size_t kTiles = 64;  // a block
    const auto body = [&](int, Count block, const Checkpoint& checkpoint) {
      Similarities similarities(source_, kernels_);
      std::array<double, kTileItems> room{};
      const std::size_t first = static_cast<std::size_t>(block) * kTiles;
      for (std::size_t tile = first; tile < std::min(first + kTiles, tiles()); ++tile) {
        const std::span<const double> squares = squares_of(similarities, tile, room);
        for (const double square : squares) {
          if (!is_allowed(square)) refused = true;
          largest[tile] = std::max(largest[tile], square);
        }
        checkpoint();
      }
    };
    parallel_for(static_cast<Count>((tiles() + kTiles - 1) / kTiles), effort_.threads, body,
                 effort_.poll);
    if (refused) refuse();
    return largest;
  }

 private:
  [[nodiscard]] std::size_t tiles() const noexcept {
    return (static_cast<std::size_t>(vectors_.rows) + kTileItems - 1) / kTileItems;
  }
  [[nodiscard]] bool is_directed() const noexcept {
    return source_.similarity == Similarity::cosine;
  }
  [[nodiscard]] bool is_allowed(double square) const noexcept {
    return square <= kLargestSquare && (!is_directed() || square >= kSmallestSquare);
  }
  // Valid until the next call.
  std::span<const double> squares_of(Similarities& similarities, std::size_t tile,
                                     std::span<double> squares) const {
    const std::size_t first = tile * kTileItems;
    squares =
        squares.first(std::min(squares.size(), static_cast<std::size_t>(vectors_.rows) - first));
    similarities.square(vectors_, static_cast<Count>(first), squares);
    return squares;
  }
  void describe(Fault& fault, Count row, double square) const;
  [[noreturn]] void refuse() const;

  const Embeddings& source_;
  const Vectors& vectors_;
  const Kernels& kernels_;
  const Execution& effort_;
};

// What is wrong with a vector.
void Measuring::describe(Fault& fault, Count row, double square) const {
  fault.row = row;
  for (std::size_t i = 0; std::cmp_less(i, source_.width); ++i) {
    const double number = number_of(vectors_, row, i);
    if (std::isfinite(number)) continue;
    fault.position = static_cast<Offset>(i);
    fault.expected = "finite numbers";
    fault.found = shown(number);
    return;
  }
  const bool is_short = square < 1;
  fault.expected = is_short ? "vectors that have a direction, of length 2^-250 or more"
                            : "vectors no longer than 2^250";
  fault.found = "one of length " + shown(std::sqrt(square));
  if (is_short) fault.hint = "similarity='dot' takes it";
}

// Walks all vectors again to say how many are wrong, and which is the first.
void Measuring::refuse() const {
  const Checkpoint checkpoint = timed_checkpoint(effort_.poll);
  Similarities similarities(source_, kernels_);
  std::array<double, kTileItems> room{};
  Fault fault{.argument = vectors_.argument, .count = 0};
  for (std::size_t tile = 0; tile < tiles(); ++tile) {
    checkpoint();
    const std::span<const double> squares = squares_of(similarities, tile, room);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      if (is_allowed(squares[i])) continue;
      const auto row = static_cast<Count>(tile * kTileItems + i);
      if (fault.count++ == 0) describe(fault, row, squares[i]);
    }
  }
  if (fault.count == 0) {
    fault.expected = "an array that does not change";
    fault.found = "another thread writing to it";
  }
  throw InputError(std::move(fault));
}

void check_biases(const Vectors& biases, const Checkpoint& checkpoint) {
  Fault fault{.argument = biases.argument, .expected = "numbers up to 2^250", .count = 0};
  const auto look_at = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double bias = number_of(biases, static_cast<Count>(i), 0);
      if (std::abs(bias) <= kLongest || fault.count++ > 0) continue;
      fault.found = shown(bias);
      fault.position = static_cast<Offset>(i);
    }
  };
  in_chunks(static_cast<std::size_t>(biases.rows), checkpoint, look_at);
  if (fault.count > 0) throw InputError(std::move(fault));
}

// The largest of number_at(position) in each tile of so many positions.
template <class NumberAt>
std::vector<double> largest_of(std::size_t positions, const Checkpoint& checkpoint,
                               const NumberAt& number_at) {
  std::vector<double> largest((positions + kTileItems - 1) / kTileItems);
  for (std::size_t tile = 0; tile < largest.size(); ++tile) {
    const std::size_t end = std::min((tile + 1) * kTileItems, positions);
    for (std::size_t i = tile * kTileItems; i < end; ++i) {
      largest[tile] = std::max(largest[tile], number_at(i));
    }
    checkpoint();
  }
  return largest;
}

double largest_in(std::span<const double> numbers) {
  return numbers.empty() ? 0 : *std::ranges::max_element(numbers);
}

}  // namespace

Norms measure(const Embeddings& source, const Kernels& kernels, const Execution& execution) {
  Measuring(source, source.users, kernels, execution).largest_squares();
  Norms lengths;
  lengths.largest_squares = Measuring(source, source.items, kernels, execution).largest_squares();
  const Checkpoint checkpoint = timed_checkpoint(execution.poll);
  if (source.item_bias) check_biases(*source.item_bias, checkpoint);
  const bool restricted = source.candidates && source.candidates->rows() == 1;
  const auto only = restricted ? row_of_int64(*source.candidates, 0) : std::span<const Offset>();
  const auto size = restricted ? only.size() : static_cast<std::size_t>(source.items.rows);
  const auto item_at = [&](std::size_t position) -> Count {
    return restricted ? item_of(only[position], source) : static_cast<Count>(position);
  };
  if (restricted) {
    Similarities similarities(source, kernels);
    lengths.largest_squares = largest_of(size, checkpoint, [&](std::size_t position) {
      double square = 0;
      similarities.square(source.items, item_at(position), {&square, 1});
      return square;
    });
  }
  if (source.item_bias) {
    lengths.largest_biases = largest_of(size, checkpoint, [&](std::size_t position) {
      return std::abs(number_of(*source.item_bias, item_at(position), 0));
    });
  }
  lengths.largest_square = largest_in(lengths.largest_squares);
  lengths.largest_bias = largest_in(lengths.largest_biases);
  return lengths;
}

}  // namespace exactk
