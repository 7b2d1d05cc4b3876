#include "common.hpp"
#include "kernels/dispatch.hpp"
#include "numeric/exact_sum.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

using Bytes = std::vector<std::uint8_t>;

constexpr int kUnitScale = 80;
constexpr int kAnyScale = 1074;

enum class Exactness : std::uint8_t { unit, unit_squares, any };

// One interface for every kind of sum.
class ExactSum {
 public:
  explicit ExactSum(Exactness exactness) : exactness_(exactness) {}

  void add(double term) {
    if (exactness_ == Exactness::any) {
      wide_.add(term);
    } else {
      unit_.add({&term, 1}, kernels(Isa::scalar));
    }
  }
  void add(const ExactSum& other) {
    unit_.add(other.unit_);
    wide_.add(other.wide_);
  }
  [[nodiscard]] ExactInteger integer() const {
    if (exactness_ == Exactness::any) return wide_.integer();
    return exactness_ == Exactness::unit ? unit_.total() : unit_.squares();
  }

 private:
  Exactness exactness_;
  UnitSums unit_;
  WideSum wide_;
};

ExactSum sum_of(Exactness exactness, std::span<const double> terms) {
  ExactSum sum(exactness);
  for (const double term : terms) sum.add(term);
  return sum;
}

// Computes the same sum with an integer, bit by bit.
Bytes expected_bytes(Exactness exactness, std::span<const double> terms, std::size_t size) {
  Integer sum(size);
  for (const double term : terms) {
    const int scale = exactness == Exactness::any ? kAnyScale : kUnitScale;
    const Integer integer = Integer::scaled(term, scale, size);
    sum.add(exactness == Exactness::unit_squares ? integer.times(integer) : integer);
  }
  return sum.bytes();
}

int scale_of(Exactness exactness) {
  switch (exactness) {
    case Exactness::unit:
      return kUnitScale;
    case Exactness::unit_squares:
      return 2 * kUnitScale;
    case Exactness::any:
      break;
  }
  return kAnyScale;
}

void check_sum(Exactness exactness, std::span<const double> terms) {
  const ExactInteger sum = sum_of(exactness, terms).integer();
  CHECK(sum.scale == scale_of(exactness));
  CHECK(sum.bytes == expected_bytes(exactness, terms, sum.bytes.size()));
}

std::vector<double> unit_terms(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<double> terms = {0, 1, 1, kSmallest, 0x1p-80, 0x1p-81, 1 - 0x1p-53, 0x1p-27};
  while (terms.size() < count) {
    const double fraction = std::ldexp(static_cast<double>(random() >> 11U), -53);
    terms.push_back(std::ldexp(fraction, -static_cast<int>(random() % 100)));
  }
  return terms;
}

std::vector<double> any_terms(std::size_t count) {
  std::mt19937_64 random(2);
  std::vector<double> terms = {0,        -0.0,      kSmallest, -kSmallest,      kLargest,
                               kLargest, -kLargest, -1,        0x1.8p1023,      -0x1p-1022,
                               0x1p53,   1,         1e300,     0x1.fffffp-1030, -1e-300};
  while (terms.size() < count) {
    const double fraction = std::ldexp(static_cast<double>(random() >> 11U), -53);
    const int exponent = static_cast<int>(random() % 2098) - 1074;
    terms.push_back(std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent));
  }
  return terms;
}

struct Kind {
  Exactness exactness;
  std::vector<double> terms;
};

std::vector<Kind> kinds() {
  return {{Exactness::unit, unit_terms(2000)},
          {Exactness::unit_squares, unit_terms(2000)},
          {Exactness::any, any_terms(2000)}};
}

TEST_CASE("sums equal those of exact integers") {
  for (const Kind& kind : kinds()) check_sum(kind.exactness, kind.terms);
}

TEST_CASE("every single term is held exactly") {
  for (const double term : any_terms(500)) {
    CAPTURE(term);
    check_sum(Exactness::any, {{term}});
  }
  for (const double term : unit_terms(500)) {
    CAPTURE(term);
    check_sum(Exactness::unit, {{term}});
    check_sum(Exactness::unit_squares, {{term}});
  }
}

TEST_CASE("the order of the terms does not matter") {
  std::mt19937_64 random(3);
  for (Kind& kind : kinds()) {
    const Bytes expected = sum_of(kind.exactness, kind.terms).integer().bytes;
    for (int i = 0; i < 20; ++i) {
      std::ranges::shuffle(kind.terms, random);
      CHECK(sum_of(kind.exactness, kind.terms).integer().bytes == expected);
    }
  }
}

TEST_CASE("the parts of any split merge to the whole in any order") {
  std::mt19937_64 random(4);
  for (const Kind& kind : kinds()) {
    const Bytes expected = sum_of(kind.exactness, kind.terms).integer().bytes;
    for (std::size_t parts = 1; parts <= 9; ++parts) {
      CAPTURE(parts);
      std::vector<ExactSum> sums(parts, ExactSum(kind.exactness));
      for (const double term : kind.terms) sums[random() % parts].add(term);
      std::ranges::shuffle(sums, random);
      // A chain of merges in one direction, a tree of merges in the other.
      ExactSum chained(kind.exactness);
      for (const ExactSum& sum : sums) chained.add(sum);
      CHECK(chained.integer().bytes == expected);
      for (std::size_t step = 1; step < parts; step *= 2) {
        for (std::size_t i = 0; i + step < parts; i += 2 * step) sums[i].add(sums[i + step]);
      }
      CHECK(sums[0].integer().bytes == expected);
    }
  }
}

TEST_CASE("terms of opposite sign cancel to the last bit") {
  const std::vector<double> terms = any_terms(1000);
  ExactSum sum(Exactness::any);
  sum.add(kSmallest);
  for (const double term : terms) sum.add(term);
  for (const double term : terms) sum.add(-term);
  Integer tiny(sum.integer().bytes.size());
  tiny.add(Integer::scaled(kSmallest, kAnyScale, tiny.bytes().size()));
  CHECK(sum.integer().bytes == tiny.bytes());
  sum.add(-kSmallest);
  CHECK(sum.integer().bytes == Bytes(tiny.bytes().size(), 0));
}

TEST_CASE("sums above the largest double are exact") {
  check_sum(Exactness::any, std::vector<double>(1000, kLargest));
  check_sum(Exactness::any, std::vector<double>(1000, -kLargest));
}

TEST_CASE("many terms at once are summed as one by one") {
  const std::vector<double> terms = unit_terms(1000);
  for (std::size_t size = 1; size <= kTerms; ++size) {
    CAPTURE(size);
    UnitSums sums;
    for (std::size_t begin = 0; begin < terms.size(); begin += size) {
      const auto batch = std::span(terms).subspan(begin, std::min(size, terms.size() - begin));
      CHECK(sums.add(batch, kernels(isa_of(""))));
    }
    CHECK(sums.total().bytes == sum_of(Exactness::unit, terms).integer().bytes);
    CHECK(sums.squares().bytes == sum_of(Exactness::unit_squares, terms).integer().bytes);
  }
}

TEST_CASE("repeated terms are summed as one by one") {
  std::mt19937_64 random(11);
  UnitSums repeated;
  UnitSums one_by_one;
  for (const double term : {0.0, 1.0, 1 - 0x1p-53, 0x1p-80, kSmallest, 1.0 / 3}) {
    const auto times = static_cast<Count>(random() % 1000);
    repeated.add_repeated(term, times, kernels(Isa::scalar));
    for (Count i = 0; i < times; ++i) one_by_one.add({&term, 1}, kernels(Isa::scalar));
  }
  CHECK(repeated.total().bytes == one_by_one.total().bytes);
  CHECK(repeated.squares().bytes == one_by_one.squares().bytes);
}

TEST_CASE("terms are summed all together or not at all") {
  UnitSums sums;
  CHECK(!sums.add(std::vector<double>{0.5, 1.5}, kernels(Isa::scalar)));
  CHECK(sums.total().bytes == UnitSums{}.total().bytes);
  CHECK(sums.squares().bytes == UnitSums{}.squares().bytes);
}

TEST_CASE("a sum of very many squares carries into its high part") {
  constexpr int kBatches = 3125;  // of 32 terms
  constexpr double kTerm = 0x1.fedcba9876543p-1 - 0x1p-28;
  UnitSums sum;
  for (int i = 0; i < kBatches; ++i) {
    sum.add(std::vector<double>(kTerms, kTerm), kernels(Isa::scalar));
  }
  const std::size_t size = sum.squares().bytes.size();
  const Integer term = Integer::scaled(kTerm, kUnitScale, size);
  const Integer expected =
      term.times(term).times(Integer::scaled(kBatches * double{kTerms}, 0, size));
  CHECK(sum.squares().bytes == expected.bytes());
}

TEST_CASE("the bytes are little-endian two's complement") {
  const auto bytes = [](double term) { return sum_of(Exactness::any, {{term}}).integer().bytes; };
  Bytes expected(bytes(0).size(), 0);
  CHECK(bytes(0) == expected);
  expected[0] = 1;
  CHECK(bytes(kSmallest) == expected);
  std::ranges::fill(expected, std::uint8_t{0xff});
  CHECK(bytes(-kSmallest) == expected);
  expected[0] = 0xfd;
  CHECK(bytes(-3 * kSmallest) == expected);

  Bytes one(16, 0);
  one[10] = 1;
  CHECK(sum_of(Exactness::unit, {{1.0}}).integer().bytes == one);
}

TEST_CASE("terms of unit sums are rounded to the nearest multiple of 2^-80, halves to even") {
  const auto lowest_bytes = [](double term) {
    const Bytes bytes = sum_of(Exactness::unit, {{term}}).integer().bytes;
    CHECK(std::ranges::all_of(bytes.begin() + 1, bytes.end(), [](auto byte) { return byte == 0; }));
    return static_cast<int>(bytes[0]);
  };
  CHECK(lowest_bytes(0x1p-80) == 1);
  CHECK(lowest_bytes(0x1p-81) == 0);
  CHECK(lowest_bytes(std::nextafter(0x1p-81, 0)) == 0);
  CHECK(lowest_bytes(std::nextafter(0x1p-81, 1)) == 1);
  CHECK(lowest_bytes(0x1.8p-80) == 2);
  CHECK(lowest_bytes(std::nextafter(0x1.8p-80, 0)) == 1);
  CHECK(lowest_bytes(0x1.4p-79) == 2);
  CHECK(lowest_bytes(0x1.cp-79) == 4);
  CHECK(lowest_bytes(0x1p-82) == 0);
  CHECK(lowest_bytes(0x1p-143) == 0);
  CHECK(lowest_bytes(0x1p-144) == 0);
  CHECK(lowest_bytes(kSmallest) == 0);
}

TEST_CASE("reading a sum does not change it") {
  for (const Kind& kind : kinds()) {
    ExactSum sum(kind.exactness);
    for (const double term : kind.terms) {
      sum.add(term);
      if (term == 1) static_cast<void>(sum.integer());
    }
    CHECK(sum.integer().bytes == sum_of(kind.exactness, kind.terms).integer().bytes);
    CHECK(sum.integer().bytes == sum.integer().bytes);
  }
}

}  // namespace
}  // namespace exactk
