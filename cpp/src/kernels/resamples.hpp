// Poisson resamples: sums, for many resamples at once, the numbers of the units times how often
// each is drawn.
#pragma once

#include "kernels/philox.hpp"
#include "kernels/sign_flips.hpp"
#include "kernels/table.hpp"

namespace exactk {

// A random word of 16 bits stands for the number of thresholds that it reaches: a count whose
// distribution is that of Poisson with mean 1, as nearly as 16 bits can, and whose mean is exactly
// 1. The thresholds are about 2^16 P(X <= k), k = 0 to 7.
inline constexpr std::size_t kThresholds = 8;
constexpr std::uint16_t kPoissonThresholds[kThresholds] = {24109, 48219, 60273, 64292,
                                                           65296, 65497, 65531, 65535};

// Lists the resamples whose bit is set. Writes up to 4 in vain: to stop exactly where the bits end
// would cost a mispredicted branch each time.
template <class Lanes>
RareCount* list_counts(std::uint64_t resamples, std::size_t first_resample, std::size_t unit,
                       RareCount* rare) {
  RareCount* const end = rare + __builtin_popcountll(resamples);
  do {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto resample =
          first_resample + static_cast<std::size_t>(__builtin_ctzll(resamples | 1ULL << 63U));
      rare[i] = {.sums = static_cast<std::uint32_t>(resample * kVectorColumns),
                 .numbers = static_cast<std::uint32_t>(unit * kVectorColumns)};
      resamples &= resamples - 1;
    }
    rare += 4;
  } while (rare < end);
  return end;
}

template <class Lanes>
std::size_t draw_counts(const std::uint64_t* keys, const RandomStream& stream, std::uint32_t block,
                        std::uint8_t* patterns, RareCount* rare) {
  constexpr std::size_t kWords = kBlockResamples / 64;  // of 64 resamples
  static_assert(64 == 8 * kRandomCalls);                // which is a draw
  const RoundKeys<Lanes> round_keys(stream.seed);
  RareCount* end = rare;
  for (std::size_t table = 0; table < kStepTables; ++table) {
    std::uint64_t bits[2][kWords][kTableUnits];
    for (std::size_t i = 0; i < kTableUnits; ++i) {
      const std::size_t unit = table * kTableUnits + i;
      for (std::size_t word = 0; word < kWords; ++word) {
        std::uint64_t random[2 * kRandomCalls];
        draw_random_bits<Lanes>(keys[unit], round_keys, stream.number,
                                static_cast<std::uint32_t>((block * kWords + word) * kRandomCalls),
                                random);
        std::uint64_t count_bits[4];
        Lanes::count_reached(random, kPoissonThresholds, count_bits);
        bits[0][word][i] = count_bits[0];
        bits[1][word][i] = count_bits[1];
        end = list_counts<Lanes>(count_bits[2], word * 64, unit, end);
        if (count_bits[3] != 0) {
          end = list_counts<Lanes>(count_bits[3], word * 64, unit, end);
          end = list_counts<Lanes>(count_bits[3], word * 64, unit, end);
        }
      }
    }
    for (std::size_t bit = 0; bit < 2; ++bit) {
      for (std::size_t word = 0; word < kWords; ++word) {
        Lanes::store_patterns(bits[bit][word],
                              patterns + (bit * kStepTables + table) * kBlockResamples + word * 64);
      }
    }
  }
  return static_cast<std::size_t>(end - rare);
}

template <class Lanes>
void add_counted(const std::uint8_t* patterns, const RareCount* rare, std::size_t rare_count,
                 const std::int64_t* numbers, std::int64_t* sums) {
  using Integers = Lanes::Integers;
  alignas(64) std::int64_t tables[kStepTables][kSubsets][kVectorColumns];
  fill_tables<Lanes>(numbers, tables);
  for (std::size_t resample = 0; resample < kBlockResamples; ++resample) {
    const std::int64_t* rows[2][kStepTables];
    for (std::size_t bit = 0; bit < 2; ++bit) {
      for (std::size_t table = 0; table < kStepTables; ++table) {
        const std::uint8_t pattern =
            patterns[(bit * kStepTables + table) * kBlockResamples + resample];
        rows[bit][table] = tables[table][pattern];
      }
    }
    std::int64_t* const to = sums + resample * kVectorColumns;
    for (std::size_t column = 0; column < kVectorColumns; column += Lanes::kWidth) {
      Integers twos = Lanes::zero();
      for (const std::int64_t* row : rows[1]) twos = Lanes::plus(twos, Lanes::load(row + column));
      Integers sum = Lanes::plus(Lanes::load(to + column), Lanes::plus(twos, twos));
      for (const std::int64_t* row : rows[0]) sum = Lanes::plus(sum, Lanes::load(row + column));
      Lanes::store(to + column, sum);
    }
  }
  alignas(64) std::int64_t fours[kStepUnits * kVectorColumns];
  for (std::size_t i = 0; i < kStepUnits * kVectorColumns; i += Lanes::kWidth) {
    const Integers number = Lanes::load(numbers + i);
    const Integers twice = Lanes::plus(number, number);
    Lanes::store(fours + i, Lanes::plus(twice, twice));
  }
  for (const RareCount* one = rare; one != rare + rare_count; ++one) {
    std::int64_t* const to = sums + one->sums;
    const std::int64_t* const from = fours + one->numbers;
    for (std::size_t column = 0; column < kVectorColumns; column += Lanes::kWidth) {
      Lanes::store(to + column, Lanes::plus(Lanes::load(to + column), Lanes::load(from + column)));
    }
  }
}

template <class Lanes>
inline constexpr ResamplingKernels kResamplingKernels{.draw_signs = &draw_signs<Lanes>,
                                                      .add_chosen = &add_chosen<Lanes>,
                                                      .draw_counts = &draw_counts<Lanes>,
                                                      .add_counted = &add_counted<Lanes>};

}  // namespace exactk
