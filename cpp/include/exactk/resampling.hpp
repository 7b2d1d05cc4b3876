// Sums over units that are resampled: with signs at random, as permutation tests need them, or with
// counts at random, as bootstrap intervals do.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exactk/isa.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Resamples are drawn in blocks of as many. A request begins with a whole block.
inline constexpr Count kResampleBlock = 1024;
inline constexpr Count kMaxResamples = 10'000'000;

// A number per unit, of which round(number x 2^scale) is summed, half to even. NaN counts as 0.
struct ScaledColumn {
  std::span<const double> numbers;
  int scale = 0;
};

struct Resampling {
  std::span<const ScaledColumn> columns;
  // One per unit. A unit's signs and counts depend on its key and the seed alone, so they do not
  // change with the order of the units or with the columns.
  std::span<const std::uint64_t> keys;
  std::span<const Offset> units;  // which of them to sum over; must not change during the call
  std::uint64_t seed = 0;
  Count first = 0;  // number of the first resample, a multiple of kResampleBlock
  Count count = 0;  // first + count is at most kMaxResamples
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if not null, incremented as threads finish resamples
};

struct ResampledSums {
  std::vector<std::int64_t> totals;  // of each column, every unit once
  std::vector<std::int64_t> sums;    // columns x resamples
};

// The functions below throw InputError before any thread starts if the request is malformed, and
// CapacityError if the sums do not fit into memory.

// Multiplies each unit by a random sign. In resample r it is + if bit r % 128 of Philox4x32-10 is
// set, whose counter is the unit's key, r / 128 and 0, and whose key is the seed. The magnitudes of
// a column must sum to less than 2^61.
[[nodiscard]] ResampledSums sum_sign_flips(const Resampling& request);

// Multiplies each unit by a random count. In resample r it is that of word r % 8, of 16 bits, of
// Philox4x32-10, whose counter is the unit's key, r / 8 and 1, and whose key is the seed: how many
// of 24109, 48219, 60273, 64292, 65296, 65497, 65531 and 65535 the word reaches. Counts are up to
// 8, their mean is exactly 1, and their distribution nearly Poisson's. The magnitudes of a column
// must sum to less than 2^58.
[[nodiscard]] ResampledSums sum_resamples(const Resampling& request);

}  // namespace exactk
