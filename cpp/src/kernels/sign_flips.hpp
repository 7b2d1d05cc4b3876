// Sign flips: sums, for many resamples at once, the numbers of the units whose sign is +.
#pragma once

#include "kernels/philox.hpp"
#include "kernels/table.hpp"

namespace exactk {

template <class Lanes>
void draw_signs(const std::uint64_t* keys, const RandomStream& stream, std::uint32_t block,
                std::uint8_t* patterns) {
  static_assert(kBlockResamples == 128 * kRandomCalls);
  const RoundKeys<Lanes> round_keys(stream.seed);
  const auto first_call = static_cast<std::uint32_t>(block * kRandomCalls);
  for (std::size_t table = 0; table < kStepTables; ++table) {
    std::uint64_t bits[kTableUnits][kBlockResamples / 64];
    for (std::size_t unit = 0; unit < kTableUnits; ++unit) {
      draw_random_bits<Lanes>(keys[table * kTableUnits + unit], round_keys, stream.number,
                              first_call, bits[unit]);
    }
    for (std::size_t word = 0; word < kBlockResamples / 64; ++word) {
      std::uint64_t words[kTableUnits];
      for (std::size_t unit = 0; unit < kTableUnits; ++unit) words[unit] = bits[unit][word];
      Lanes::store_patterns(words, patterns + table * kBlockResamples + word * 64);
    }
  }
}

// Sums each subset of a table's units, so that a resample costs one addition per table instead of
// one per unit.
template <class Lanes>
void fill_tables(const std::int64_t* numbers,
                 std::int64_t (*tables)[kSubsets][kVectorColumns]) {  // kStepTables
  for (std::size_t table = 0; table < kStepTables; ++table) {
    for (std::size_t column = 0; column < kVectorColumns; column += Lanes::kWidth) {
      Lanes::store(&tables[table][0][column], Lanes::zero());
      for (std::size_t unit = 0; unit < kTableUnits; ++unit) {
        const auto number =
            Lanes::load(numbers + (table * kTableUnits + unit) * kVectorColumns + column);
        const std::size_t half = std::size_t{1} << unit;
        for (std::size_t subset = 0; subset < half; ++subset) {
          Lanes::store(&tables[table][half + subset][column],
                       Lanes::plus(Lanes::load(&tables[table][subset][column]), number));
        }
      }
    }
  }
}

template <class Lanes>
void add_chosen(const std::uint8_t* patterns, const std::int64_t* numbers, std::int64_t* sums) {
  using Integers = Lanes::Integers;
  alignas(64) std::int64_t tables[kStepTables][kSubsets][kVectorColumns];
  fill_tables<Lanes>(numbers, tables);
  for (std::size_t resample = 0; resample < kBlockResamples; ++resample) {
    const std::int64_t* rows[kStepTables];
    for (std::size_t table = 0; table < kStepTables; ++table) {
      rows[table] = tables[table][patterns[table * kBlockResamples + resample]];
    }
    std::int64_t* const to = sums + resample * kVectorColumns;
    for (std::size_t column = 0; column < kVectorColumns; column += Lanes::kWidth) {
      Integers sum = Lanes::load(to + column);
      for (const std::int64_t* row : rows) sum = Lanes::plus(sum, Lanes::load(row + column));
      Lanes::store(to + column, sum);
    }
  }
}

}  // namespace exactk
