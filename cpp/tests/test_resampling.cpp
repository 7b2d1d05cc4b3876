#include "cancelling.hpp"
#include "common.hpp"
#include "exactk/isa.hpp"
#include "exactk/resampling.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/table.hpp"

namespace exactk {
namespace {

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using PhiloxWords = std::array<std::uint32_t, 4>;

// Philox4x32-10 as its paper has it.
PhiloxWords philox(PhiloxWords counter, std::uint64_t seed) {
  auto first_key = static_cast<std::uint32_t>(seed);
  auto second_key = static_cast<std::uint32_t>(seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ first_key,
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ second_key,
               static_cast<std::uint32_t>(first)};
    first_key += 0x9E3779B9;
    second_key += 0xBB67AE85;
  }
  return counter;
}

PhiloxWords random_words(std::uint64_t key, Count call, std::uint32_t stream, std::uint64_t seed) {
  return philox({static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U),
                 static_cast<std::uint32_t>(call), stream},
                seed);
}

std::int64_t sign(std::uint64_t key, Count resample, std::uint64_t seed) {
  const auto bit = static_cast<std::size_t>(resample % 128);
  const std::uint32_t word = random_words(key, resample / 128, 0, seed)[bit / 32];
  return (word >> bit % 32 & 1U) != 0 ? 1 : -1;
}

constexpr std::array<std::uint32_t, 8> kThresholds = {24109, 48219, 60273, 64292,
                                                      65296, 65497, 65531, 65535};

std::int64_t poisson_count(std::uint64_t key, Count resample, std::uint64_t seed) {
  const auto half = static_cast<std::size_t>(resample % 8);
  const std::uint32_t pair = random_words(key, resample / 8, 1, seed)[half / 2];
  const std::uint32_t word = half % 2 == 0 ? pair & 0xffffU : pair >> 16U;
  return std::ranges::count_if(kThresholds,
                               [&](std::uint32_t threshold) { return word >= threshold; });
}

struct SumKind {
  ResampledSums (*sum)(const Resampling&);
  std::int64_t (*factor)(std::uint64_t key, Count resample, std::uint64_t seed);
};

const std::array kKinds = {SumKind{&sum_sign_flips, &sign},
                           SumKind{&sum_resamples, &poisson_count}};

// A request that owns its arrays.
struct Sample {
  std::vector<Doubles> columns;
  std::vector<int> scales;
  std::vector<std::uint64_t> keys;
  std::vector<Offset> units;
  std::uint64_t seed = 5;
  Count first = 0;
  Count count = 10;
  int threads = 1;
  Isa isa = Isa::scalar;

  [[nodiscard]] std::vector<ScaledColumn> scaled() const {
    std::vector<ScaledColumn> views;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      views.push_back({.numbers = columns[i], .scale = scales[i]});
    }
    return views;
  }
  [[nodiscard]] Resampling request(const std::vector<ScaledColumn>& views) const {
    return {.columns = views,
            .keys = keys,
            .units = units,
            .seed = seed,
            .first = first,
            .count = count,
            .threads = threads,
            .isa = isa};
  }
  [[nodiscard]] ResampledSums sum(const SumKind& kind) const { return kind.sum(request(scaled())); }
};

Sample draw_sample(std::size_t units, std::size_t columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Sample sample;
  for (std::size_t column = 0; column < columns; ++column) {
    Doubles numbers(units);
    for (double& number : numbers) {
      number = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
      if (random() % 10 == 0) number = std::numeric_limits<double>::quiet_NaN();
    }
    sample.columns.push_back(numbers);
    sample.scales.push_back(column % 2 == 0 ? 40 : 3);
  }
  for (std::size_t unit = 0; unit < units; ++unit) sample.keys.push_back(random());
  sample.units.resize(units);
  std::iota(sample.units.begin(), sample.units.end(), 0);
  return sample;
}

std::int64_t scaled_integer(const Sample& sample, std::size_t column, Offset unit) {
  const double number =
      std::ldexp(sample.columns[column][static_cast<std::size_t>(unit)], sample.scales[column]);
  return std::isnan(number) ? 0 : std::llrint(number);
}

ResampledSums expected_sums(const Sample& sample, const SumKind& kind) {
  Integers factors;  // resamples x units
  for (Count i = 0; i < sample.count; ++i) {
    for (const Offset unit : sample.units) {
      const std::uint64_t key = sample.keys[static_cast<std::size_t>(unit)];
      factors.push_back(kind.factor(key, sample.first + i, sample.seed));
    }
  }
  ResampledSums expected;
  for (std::size_t column = 0; column < sample.columns.size(); ++column) {
    Integers integers;
    for (const Offset unit : sample.units) {
      integers.push_back(scaled_integer(sample, column, unit));
    }
    expected.totals.push_back(std::accumulate(integers.begin(), integers.end(), std::int64_t{0}));
    for (auto first = factors.begin(); first != factors.end(); first += std::ssize(integers)) {
      expected.sums.push_back(
          std::inner_product(integers.begin(), integers.end(), first, std::int64_t{0}));
    }
    // Without units, there is nothing to count resamples by.
    expected.sums.resize((column + 1) * static_cast<std::size_t>(sample.count));
  }
  return expected;
}

void check_equal(const ResampledSums& one, const ResampledSums& other) {
  CHECK(one.totals == other.totals);
  CHECK(one.sums == other.sums);
}

TEST_CASE("F31: every instruction set has the known answers of the authors of Philox") {
  struct Answer {
    PhiloxWords counter;
    std::uint64_t seed;
    PhiloxWords words;
  };
  constexpr std::uint32_t kAll = 0xffffffff;
  const std::vector<Answer> answers{
      {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{kAll, kAll, kAll, kAll},
       0xffffffffffffffff,
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  constexpr std::uint32_t kCalls = kBlockResamples / 128;
  for (const auto& [counter, seed, words] : answers) {
    CHECK(philox(counter, seed) == words);
    const std::uint64_t key = counter[0] | std::uint64_t{counter[1]} << 32U;
    const std::vector<std::uint64_t> keys(kStepUnits, key);
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      std::vector<std::uint8_t> patterns(kStepTables * kBlockResamples);
      kernels(isa).resampling.draw_signs(keys.data(), {.seed = seed, .number = counter[3]},
                                         counter[2] / kCalls, patterns.data());
      for (std::size_t bit = 0; bit < 128; ++bit) {
        const bool is_set = (words[bit / 32] >> bit % 32 & 1U) != 0;
        for (std::size_t table = 0; table < kStepTables; ++table) {
          const std::size_t resample = counter[2] % kCalls * 128 + bit;
          REQUIRE(patterns[table * kBlockResamples + resample] == (is_set ? kSubsets - 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("thresholds of counts are Poisson's, rounded to 16 bits, and the mean is 1") {
  double probability = std::exp(-1.0);
  double distribution = 0;
  std::uint32_t mean = 0;
  for (std::size_t count = 0; count < kThresholds.size(); ++count) {
    distribution += probability;
    CHECK(kThresholds[count] == std::lround(65536 * distribution));
    mean += 65536 - kThresholds[count];
    probability /= static_cast<double>(count + 1);
  }
  CHECK(mean == 65536);
}

TEST_CASE("F22: sums of resamples are as defined, for any threads and instruction set") {
  for (const SumKind& kind : kKinds) {
    for (const std::size_t units : {0U, 1U, 5U, 6U, 29U, 30U, 31U, 64U}) {
      for (const std::size_t columns : {0U, 1U, 7U, 8U, 9U, 40U}) {
        Sample sample = draw_sample(units, columns, 100 * units + columns);
        sample.seed = 0x123456789abcdef0 + columns;
        sample.count = units == 31 ? 2100 : 140;
        sample.first = units == 64 ? 9'999'360 : 0;
        const ResampledSums expected = expected_sums(sample, kind);
        for (const Isa isa : available_isas()) {
          sample.isa = isa;
          check_equal(sample.sum(kind), expected);
        }
        for (const int threads : {2, 7}) {  // kernels know nothing of threads
          sample.threads = threads;
          check_equal(sample.sum(kind), expected);
        }
      }
    }
  }
}

TEST_CASE("every count is summed") {
  // Among so many counts, some are 8: 2 in 2^17.
  for (const Isa isa : available_isas()) {
    Sample sample = draw_sample(60, 1, 11);
    sample.count = 5000;
    sample.isa = isa;
    check_equal(sample.sum(kKinds[1]), expected_sums(sample, kKinds[1]));
  }
  Count eights = 0;
  const Sample sample = draw_sample(60, 1, 11);
  for (const std::uint64_t key : sample.keys) {
    for (Count i = 0; i < 5000; ++i) eights += poisson_count(key, i, sample.seed) == 8 ? 1 : 0;
  }
  CHECK(eights > 0);
}

TEST_CASE("F25: an exception of poll ends the summing of resamples") {
  for (const SumKind& kind : kKinds) {
    for (const int threads : {1, 3}) {
      tests::check_cancelled([&](std::size_t size) {
        Sample sample = draw_sample(30'000, 1, 4);
        sample.count = static_cast<Count>(size) * 1024;
        sample.threads = threads;
        const std::vector<ScaledColumn> views = sample.scaled();
        Resampling request = sample.request(views);
        request.poll = &tests::cancel;
        (void)kind.sum(request);
      });
    }
  }
}

}  // namespace
}  // namespace exactk
