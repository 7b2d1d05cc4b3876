// Blocks of resamples x ranges of columns, each in one pass over the units. All inputs have been
// validated, but the numbers may change meanwhile: all arithmetic wraps around.

#include "exactk/resampling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/run.hpp"
#include "compare/resampling_checks.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/table.hpp"

namespace exactk {
namespace {

static_assert(kResampleBlock == Count{kBlockResamples});

// Vectors of columns per range: enough that drawing costs little, few enough that the sums of a
// block stay in the cache.
constexpr std::size_t kMostVectors = 16;
constexpr std::size_t kFewestVectors = 2;

constexpr std::size_t kVectorNumbers = kStepUnits * kVectorColumns;
constexpr std::size_t kVectorSums = kBlockResamples * kVectorColumns;

constexpr std::size_t divided_up(std::size_t number, std::size_t divisor) {
  return (number + divisor - 1) / divisor;
}

// What is drawn for the units of a step, and what it makes of their numbers.
class SignFlips {
 public:
  static constexpr int kMagnitudeBits = 61;

  void draw(const ResamplingKernels& kernels, const std::uint64_t* keys, std::uint64_t seed,
            std::uint32_t block) {
    kernels.draw_signs(keys, {.seed = seed, .number = 0}, block, patterns_.data());
  }
  void add(const ResamplingKernels& kernels, const std::int64_t* numbers,
           std::int64_t* sums) const {
    kernels.add_chosen(patterns_.data(), numbers, sums);
  }
  // The kernel sums the numbers whose sign is +.
  static std::uint64_t sum(std::uint64_t added, std::uint64_t total) { return 2 * added - total; }

 private:
  std::array<std::uint8_t, kStepTables * kBlockResamples> patterns_;
};

class PoissonResamples {
 public:
  static constexpr int kMagnitudeBits = 58;

  void draw(const ResamplingKernels& kernels, const std::uint64_t* keys, std::uint64_t seed,
            std::uint32_t block) {
    rare_count_ = kernels.draw_counts(keys, {.seed = seed, .number = 1}, block, patterns_.data(),
                                      rare_.data());
  }
  void add(const ResamplingKernels& kernels, const std::int64_t* numbers,
           std::int64_t* sums) const {
    kernels.add_counted(patterns_.data(), rare_.data(), rare_count_, numbers, sums);
  }
  static std::uint64_t sum(std::uint64_t added, std::uint64_t /*total*/) { return added; }

 private:
  std::array<std::uint8_t, 2 * kStepTables * kBlockResamples> patterns_;
  std::array<RareCount, kRareCounts> rare_;
  std::size_t rare_count_;
};

// The columns that one thread sums at a time.
struct Range {
  std::size_t begin;
  std::size_t end;

  [[nodiscard]] std::size_t vectors() const { return divided_up(end - begin, kVectorColumns); }
};

template <class Scheme>
class ResamplingJob {
 public:
  ResamplingJob(const Resampling& request, const Run& run);
  ResampledSums sum();

 private:
  // A thread's memory. Vectors do not span two cache lines.
  struct Buffers {
    alignas(64) std::array<std::int64_t, kMostVectors * kVectorSums> sums;
    alignas(64) std::array<std::int64_t, kMostVectors * kVectorNumbers> numbers;
    std::array<std::uint64_t, kStepUnits> keys;
    Scheme scheme;
  };

  void read_step(std::size_t first_unit, Range range, Buffers& buffers) const;
  void sum_block(std::size_t block, Range range, Buffers& buffers) const;
  // Returns how many resamples the block has.
  std::size_t write_sums(std::size_t block, Range range, const Buffers& buffers);

  const Resampling& request_;
  const Run& run_;
  const ResamplingKernels& kernels_;
  ResampledSums result_;
  std::vector<ScaledNumbers> columns_;
};

template <class Scheme>
ResamplingJob<Scheme>::ResamplingJob(const Resampling& request, const Run& run)
    : request_(request),
      run_(run),
      kernels_(kernels(request.isa).resampling),
      result_{.totals = checked_totals(request, Scheme::kMagnitudeBits, run), .sums = {}} {
  columns_.reserve(request.columns.size());
  for (const ScaledColumn& column : request.columns) columns_.emplace_back(column);
  grow(result_.sums, static_cast<std::size_t>(request.count) * request.columns.size(),
       std::int64_t{0}, run);
}

// Reads the next units. Those beyond the end count as 0.
template <class Scheme>
void ResamplingJob<Scheme>::read_step(std::size_t first_unit, Range range, Buffers& buffers) const {
  const std::size_t count = std::min(kStepUnits, request_.units.size() - first_unit);
  const std::span<const Offset> units = request_.units.subspan(first_unit, count);
  buffers.keys.fill(0);
  for (std::size_t i = 0; i < count; ++i) {
    buffers.keys[i] = request_.keys[static_cast<std::size_t>(units[i])];
  }
  std::fill_n(buffers.numbers.begin(), range.vectors() * kVectorNumbers, 0);
  for (std::size_t column = range.begin; column < range.end; ++column) {
    const ScaledNumbers& numbers = columns_[column];
    const std::size_t index = column - range.begin;
    std::int64_t* const to =
        &buffers.numbers[index / kVectorColumns * kVectorNumbers + index % kVectorColumns];
    for (std::size_t i = 0; i < count; ++i) to[i * kVectorColumns] = numbers[units[i]];
  }
}

template <class Scheme>
void ResamplingJob<Scheme>::sum_block(std::size_t block, Range range, Buffers& buffers) const {
  std::fill_n(buffers.sums.begin(), range.vectors() * kVectorSums, 0);
  for (std::size_t unit = 0; unit < request_.units.size(); unit += kStepUnits) {
    run_.checkpoint();
    read_step(unit, range, buffers);
    buffers.scheme.draw(kernels_, buffers.keys.data(), request_.seed,
                        static_cast<std::uint32_t>(block));
    for (std::size_t i = 0; i < range.vectors(); ++i) {
      buffers.scheme.add(kernels_, &buffers.numbers[i * kVectorNumbers],
                         &buffers.sums[i * kVectorSums]);
    }
  }
}

template <class Scheme>
std::size_t ResamplingJob<Scheme>::write_sums(std::size_t block, Range range,
                                              const Buffers& buffers) {
  const auto count = static_cast<std::size_t>(request_.count);
  const std::size_t begin = block * kBlockResamples - static_cast<std::size_t>(request_.first);
  const std::size_t resamples = std::min(kBlockResamples, count - begin);
  for (std::size_t column = range.begin; column < range.end; ++column) {
    const std::size_t index = column - range.begin;
    const std::int64_t* const from =
        &buffers.sums[index / kVectorColumns * kVectorSums + index % kVectorColumns];
    const auto total = static_cast<std::uint64_t>(result_.totals[column]);
    std::int64_t* const to = &result_.sums[column * count + begin];
    for (std::size_t i = 0; i < resamples; ++i) {
      const auto added = static_cast<std::uint64_t>(from[i * kVectorColumns]);
      to[i] = static_cast<std::int64_t>(Scheme::sum(added, total));
    }
  }
  return resamples;
}

template <class Scheme>
ResampledSums ResamplingJob<Scheme>::sum() {
  const std::size_t vectors = divided_up(request_.columns.size(), kVectorColumns);
  const std::size_t blocks = divided_up(static_cast<std::size_t>(request_.count), kBlockResamples);
  if (vectors * blocks == 0) return std::move(result_);
  // A few tasks per thread, so that none waits long for the last.
  const std::size_t ranges_wanted =
      divided_up(4 * static_cast<std::size_t>(run_.threads()), blocks);
  const std::size_t range_vectors =
      std::clamp(divided_up(vectors, ranges_wanted), kFewestVectors, kMostVectors);
  const std::size_t ranges = divided_up(vectors, range_vectors);
  const auto tasks = static_cast<Count>(blocks * ranges);
  const std::size_t first_block = static_cast<std::size_t>(request_.first) / kBlockResamples;
  // Each is created by its own thread, so that no two threads write to one cache line.
  std::vector<std::unique_ptr<Buffers>> buffers(static_cast<std::size_t>(run_.threads_for(tasks)));
  const auto body = [&](int worker, Count number) {
    std::unique_ptr<Buffers>& memory = buffers[static_cast<std::size_t>(worker)];
    if (!memory) memory = std::make_unique_for_overwrite<Buffers>();
    const auto task = static_cast<std::size_t>(number);
    const std::size_t block = first_block + task / ranges;
    const std::size_t begin = task % ranges * range_vectors * kVectorColumns;
    const Range range{
        .begin = begin,
        .end = std::min(request_.columns.size(), begin + range_vectors * kVectorColumns)};
    sum_block(block, range, *memory);
    const std::size_t resamples = write_sums(block, range, *memory);
    // A block counts with its last range.
    if (request_.finished != nullptr && range.end == request_.columns.size()) {
      *request_.finished += static_cast<Count>(resamples);
    }
  };
  parallel_for(run_, tasks, body);
  return std::move(result_);
}

}  // namespace

ResampledSums sum_sign_flips(const Resampling& request) {
  const Run run(request);
  return ResamplingJob<SignFlips>(request, run).sum();
}

ResampledSums sum_resamples(const Resampling& request) {
  const Run run(request);
  return ResamplingJob<PoissonResamples>(request, run).sum();
}

}  // namespace exactk
