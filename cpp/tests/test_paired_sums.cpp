#include "cancelling.hpp"
#include "common.hpp"
#include "exactk/paired_sums.hpp"
#include "kernels/dispatch.hpp"
#include "numeric/fixed_point_sum.hpp"
#include "numeric/rounded_sum.hpp"
#include "support.hpp"

namespace exactk {
namespace {

using namespace tests;

using Doubles = std::vector<double>;
using IntegerBytes = std::vector<std::uint8_t>;

constexpr int kFullScale = 1074;

// Draws doubles of either sign with exponents from -spread to 0, and some zeros.
Doubles draw_numbers(std::size_t count, int spread, std::mt19937_64& random) {
  Doubles numbers(count);
  for (double& number : numbers) {
    const double fraction = std::ldexp(static_cast<double>(random() >> 11U), -53);
    const auto exponent = -static_cast<int>(random() % static_cast<std::uint64_t>(spread + 1));
    number = random() % 8 == 0 ? 0 : std::ldexp(fraction, exponent);
    if (random() % 2 == 0) number = -number;
  }
  return numbers;
}

// Pads with the sign, or cuts.
IntegerBytes extended(IntegerBytes bytes, std::size_t size) {
  const std::uint8_t sign = bytes.back() >= 0x80 ? 0xff : 0;
  bytes.resize(size, sign);
  return bytes;
}

TEST_CASE("a fixed-point sum of doubles is exact, whatever their exponents and order") {
  std::mt19937_64 random(1);
  constexpr std::size_t kSize = 300;
  for (const int spread : {0, 60, 900}) {
    Doubles numbers = draw_numbers(200, spread, random);
    numbers.insert(numbers.end(),
                   {kSmallest, -kSmallest, kLargest, kLargest, -1.0, -0.0, 0x1p-1022});
    FixedPointSum sum(kFullScale, 1024);
    FixedPointSum other(kFullScale, 1024);
    Integer expected(kSize);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      (i % 3 == 0 ? other : sum).add(numbers[i]);
      expected.add(Integer::scaled(numbers[i], kFullScale, kSize));
    }
    sum.add(other);
    CHECK(sum.integer().scale == kFullScale);
    CHECK(extended(sum.integer().bytes, kSize) == expected.bytes());
    sum.clear();
    CHECK(sum.integer().bytes == IntegerBytes{0});
    sum.add(other);
    CHECK(sum.integer().bytes == other.integer().bytes);
  }
}

TEST_CASE("a fixed-point sum needs no more bytes than its value") {
  const auto bytes_of = [](std::int64_t integer, int exponent) {
    FixedPointSum sum(8, 100);
    sum.add(Int128{integer}, exponent);
    return sum.integer().bytes;
  };
  CHECK(bytes_of(0, -8) == IntegerBytes{0});
  CHECK(bytes_of(1, -8) == IntegerBytes{1});
  CHECK(bytes_of(-1, -8) == IntegerBytes{0xff});
  CHECK(bytes_of(1, -1) == IntegerBytes{0x80, 0});
  CHECK(bytes_of(-1, -1) == IntegerBytes{0x80});
  CHECK(bytes_of(-1, 0) == IntegerBytes{0, 0xff});
  CHECK(bytes_of(1, 40) == IntegerBytes{0, 0, 0, 0, 0, 0, 1});
  CHECK(bytes_of(-1, 31) == IntegerBytes{0, 0, 0, 0, 0x80});
}

TEST_CASE("digits of a fixed-point sum carry, and borrow, beyond those in use") {
  FixedPointSum sum(64, 128);
  FixedPointSum total(64, 128);
  Integer expected(40);
  for (int round = 0; round < 40; ++round) {  // doubles the sum each time
    const double term = round % 2 == 0 ? -0x1.fffffffffffffp+52 : 0x1.fffffffffffffp+20;
    sum.add(term);
    expected.add(Integer::scaled(term, 64, 40));
    total.add(sum);
    sum.add(FixedPointSum(sum));
    expected.add(Integer(expected));
    CHECK(extended(sum.integer().bytes, 40) == expected.bytes());
  }
  FixedPointSum negated(64, 128);
  for (int i = 0; i < 100; ++i) negated.add(-1.0);
  for (int i = 0; i < 100; ++i) negated.add(1.0);
  CHECK(negated.integer().bytes == IntegerBytes{0});
}

TEST_CASE("a fixed-point sum of products of doubles is exact") {
  std::mt19937_64 random(2);
  constexpr std::size_t kSize = 80;
  const Doubles ones = draw_numbers(60, 100, random);
  const Doubles others = draw_numbers(60, 100, random);
  constexpr int kScale = 350;
  FixedPointSum sum(kScale, 64);
  Integer expected(kSize);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    sum.add_product(ones[i], others[i]);
    const Integer one = Integer::scaled(ones[i], kScale / 2, kSize);
    expected.add(one.times(Integer::scaled(others[i], kScale / 2, kSize)));
  }
  CHECK(extended(sum.integer().bytes, kSize) == expected.bytes());
  FixedPointSum extremes(2 * kFullScale, 2048);
  extremes.add_product(kSmallest, -kSmallest);
  CHECK(extremes.integer().bytes == IntegerBytes{0xff});
  extremes.add_product(kLargest, kLargest);
  CHECK(extremes.integer().bytes.size() == (2 * kFullScale + 2048) / 8 + 1);
}

TEST_CASE("terms beyond the width of a fixed-point sum are cut, not written elsewhere") {
  FixedPointSum sum(80, 0);
  for (const double term : {kLargest, -kLargest, kInfinity, kNan}) {
    sum.add(term);
    sum.add_product(term, term);
  }
  CHECK(sum.integer().bytes.size() < 32);
}

TEST_CASE("a sum is rounded once, half to even, in any order") {
  const auto sum_of = [](Doubles terms) {
    std::ranges::sort(terms);
    std::optional<double> first;
    do {
      RoundedSum sum;
      for (const double term : terms) sum.add(term);
      if (!first) first = sum.total();
      CHECK(sum.total() == *first);
    } while (std::ranges::next_permutation(terms).found);
    return *first;
  };
  CHECK(sum_of({}) == 0);
  CHECK(sum_of({0.1, 0.2, 0.3, -0.6}) == 0x1p-55);
  CHECK(sum_of({1, 0x1p-53}) == 1);
  CHECK(sum_of({1, 0x1p-52, 0x1p-53}) == 1 + 0x1p-51);
  CHECK(sum_of({1, 0x1p-53, kSmallest}) == 1 + 0x1p-52);
  CHECK(sum_of({1, 0x1p-53, -kSmallest}) == 1);
  CHECK(sum_of({-1, -0x1p-53, -0x1p-200}) == -1 - 0x1p-52);
  CHECK(sum_of({0x1p100, 1, -0x1p100}) == 1);
  CHECK(sum_of({0x1p100, kSmallest, -0x1p100, -kSmallest}) == 0);
}

using Column = std::array<double, kColumnTerms>;
using Words = std::array<std::uint64_t, kColumnTerms / kColumnStep>;

Column column_of(const Doubles& numbers) {
  Column column{};
  std::ranges::copy(numbers, column.begin());
  return column;
}

bool is_set(const Words& words, std::size_t i) {
  return (words[i / kColumnStep] >> i % kColumnStep & 1U) != 0;
}

TEST_CASE("F31: every instruction set finds numbers, and those outside a range") {
  std::mt19937_64 random(3);
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    const ColumnKernels& columns = kernels(isa).columns;
    for (const std::size_t size : {kColumnStep, 3 * kColumnStep, kColumnTerms}) {
      Column column = column_of(draw_numbers(kColumnTerms, 3, random));
      for (double& number : column) number = random() % 3 == 0 ? kNan : std::abs(number);
      Words words{};
      columns.find_numbers(column.data(), size, words.data());
      for (std::size_t i = 0; i < kColumnTerms; ++i) {
        CHECK(is_set(words, i) == (i < size && !std::isnan(column[i])));
      }
      CHECK(columns.are_within(column.data(), size, 0, 1));
      for (const double outside : {-kSmallest, 1 + 0x1p-52, kInfinity, -kInfinity}) {
        const std::size_t position = random() % size;
        const double before = std::exchange(column[position], outside);
        CHECK_FALSE(columns.are_within(column.data(), size, 0, 1));
        column[position] = before;
      }
    }
  }
}

TEST_CASE("F31: every instruction set splits and multiplies columns alike") {
  std::mt19937_64 random(4);
  for (const int exponent : {0, -3, 40, -900, 640}) {
    CAPTURE(exponent);
    Column one{};
    Column other{};
    Words present{};
    for (std::uint64_t& word : present) word = random();
    for (Column* const column : {&one, &other}) {
      *column = column_of(draw_numbers(kColumnTerms, 20, random));
      for (std::size_t i = 0; i < kColumnTerms; ++i) {
        (*column)[i] = is_set(present, i) ? std::ldexp((*column)[i], exponent) : kNan;
      }
    }
    constexpr std::size_t kSize = 60;
    const auto integer = [&](double number) {
      return Integer::scaled(std::ldexp(number, -exponent), kUnitScale, kSize);
    };
    Integer expected(kSize);
    Integer expected_product(kSize);
    for (std::size_t i = 0; i < kColumnTerms; ++i) {
      if (!is_set(present, i)) continue;
      expected.add(integer(one[i]));
      expected_product.add(integer(one[i]).times(integer(other[i])));
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      const ColumnKernels& columns = kernels(isa).columns;
      std::array<std::int64_t, 3 * kColumnTerms> digits{};
      std::array<std::int64_t, 3 * kColumnTerms> other_digits{};
      UnitDigits sums{};
      const double scale = std::ldexp(1, kTopScale - exponent);
      CHECK(columns.split(other.data(), present.data(), kColumnTerms, scale, 1 / scale,
                          other_digits.data(), &sums));
      CHECK(columns.split(one.data(), present.data(), kColumnTerms, scale, 1 / scale, digits.data(),
                          &sums));
      std::array<std::int64_t, 5> products{};
      columns.multiply(digits.data(), other_digits.data(), kColumnTerms, products.data());
      const auto check_sum = [&](std::span<const std::int64_t> parts, int scale_of_last,
                                 const Integer& sum) {
        FixedPointSum total(scale_of_last, 128);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const auto digit_exponent = static_cast<int>(parts.size() - 1 - i) * kDigitBits;
          total.add(Int128{parts[i]}, digit_exponent - scale_of_last);
        }
        CHECK(extended(total.integer().bytes, kSize) == sum.bytes());
      };
      check_sum(sums.total, kUnitScale, expected);
      check_sum(products, 2 * kUnitScale, expected_product);
      columns.multiply(digits.data(), digits.data(), kColumnTerms, products.data());
      CHECK(std::ranges::equal(products, sums.squares));
    }
  }
}

TEST_CASE("F31: every instruction set rounds columns in [0, 1] alike") {
  std::mt19937_64 random(6);
  std::uniform_int_distribution<int> exponents(-90, 0);
  for (const unsigned absent_words : {0U, 1U, 0xffU}) {
    Words present{};
    for (std::size_t i = 0; i < present.size(); ++i) {
      present[i] = (absent_words >> i & 1U) != 0 ? random() : ~std::uint64_t{0};
    }
    Column column{};
    Int128 expected = 0;
    for (std::size_t i = 0; i < kColumnTerms; ++i) {
      const double number =
          std::ldexp(static_cast<double>(random() >> 11U), exponents(random) - 53);
      column[i] = is_set(present, i) ? number : kNan;
      // Exact, as a long double holds 64 bits, and then half to even.
      if (is_set(present, i)) {
        expected += static_cast<Int128>(
            std::nearbyint(std::ldexp(static_cast<long double>(number), kUnitScale)));
      }
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      const ColumnKernels& columns = kernels(isa).columns;
      std::array<std::int64_t, 3 * kColumnTerms> digits{};
      UnitDigits sums{};
      columns.split_unit(column.data(), present.data(), kColumnTerms, digits.data(), &sums);
      Int128 total = 0;
      for (const std::int64_t digit : sums.total) total = (total << unsigned{kDigitBits}) + digit;
      CHECK(total == expected);
      std::array<std::int64_t, 5> products{};
      columns.multiply(digits.data(), digits.data(), kColumnTerms, products.data());
      CHECK(std::ranges::equal(products, sums.squares));
    }
  }
}

TEST_CASE("F31: every instruction set notices a number that digits cannot hold") {
  const double scale = 0x1p26;
  for (const double lost : {0x1p-81, -0x1p-81, 0x1.8p-80, kSmallest, 0.5 + 0x1p-53}) {
    for (const bool is_present : {true, false}) {
      for (std::size_t position = 0; position < kColumnTerms; position += 37) {
        Column column = column_of({1, 0.5, -0.25, 0x1p-80});
        column[position] = lost;
        Words present{};
        present.fill(~std::uint64_t{0});
        if (!is_present) {
          present[position / kColumnStep] &= ~(std::uint64_t{1} << position % kColumnStep);
        }
        for (const Isa isa : available_isas()) {
          CAPTURE(name_of(isa));
          std::array<std::int64_t, 3 * kColumnTerms> digits{};
          UnitDigits sums{};
          const bool is_exact = kernels(isa).columns.split(
              column.data(), present.data(), kColumnTerms, scale, 1 / scale, digits.data(), &sums);
          CHECK(is_exact == (!is_present || lost == 0.5 + 0x1p-53));
          const bool is_scaled_exactly = kernels(isa).columns.split(
              column.data(), present.data(), kColumnTerms, 0x1p-900, 0x1p900, digits.data(), &sums);
          CHECK_FALSE(is_scaled_exactly);  // the other numbers are lost there
        }
      }
    }
  }
}

TEST_CASE("F31: every instruction set notices a number that scaling turns into 0") {
  Words present{};
  present.fill(~std::uint64_t{0});
  for (const double tiny : {0.0, -0.0, kSmallest, -kSmallest}) {
    const Column column = column_of({0x1p900, tiny});
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      std::array<std::int64_t, 3 * kColumnTerms> digits{};
      UnitDigits sums{};
      CHECK(kernels(isa).columns.split(column.data(), present.data(), kColumnTerms, 0x1p-874,
                                       0x1p874, digits.data(), &sums) == (tiny == 0));
    }
  }
}

TEST_CASE("F31: every instruction set counts the greater and the lesser present terms") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    Column one{};
    Column other{};
    Words present{};
    for (std::uint64_t& word : present) word = random();
    for (std::size_t i = 0; i < kColumnTerms; ++i) {
      const double values[] = {0, -0.0, 0.5, 1, kNan};
      one[i] = values[random() % std::size(values)];
      other[i] = values[random() % std::size(values)];
    }
    const std::size_t size = (1 + random() % 8) * kColumnStep;
    std::int64_t expected_greater = 0;
    std::int64_t expected_less = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (is_set(present, i) && one[i] > other[i]) ++expected_greater;
      if (is_set(present, i) && one[i] < other[i]) ++expected_less;
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      std::int64_t greater = -1;
      std::int64_t less = -1;
      kernels(isa).columns.compare(one.data(), other.data(), present.data(), size, &greater, &less);
      CHECK(greater == expected_greater);
      CHECK(less == expected_less);
    }
  }
}

// A request that owns its arrays.
struct PairedInput {
  std::vector<Doubles> tables;
  Count rows = 1;
  Count users = 0;
  std::vector<PairedValue> values;
  std::vector<SystemPair> pairs = {{.system = 1, .baseline = 0}};
  std::optional<Doubles> weights = {};
  std::vector<Offset> groups = {};
  Count group_count = 1;
  std::optional<std::vector<Offset>> clusters = {};
  Count cluster_count = 1;
  int threads = 1;
  Isa isa = isa_of("");
  std::function<void()> poll = [] {};

  [[nodiscard]] std::vector<PairedSums> run() const {
    const std::vector<std::span<const double>> views(tables.begin(), tables.end());
    PairedRequest request{.tables = views,
                          .rows = rows,
                          .users = users,
                          .values = values,
                          .pairs = pairs,
                          .weights = {},
                          .groups = groups,
                          .group_count = group_count,
                          .clusters = {},
                          .cluster_count = cluster_count,
                          .threads = threads,
                          .isa = isa,
                          .poll = poll};
    if (weights) request.weights = *weights;
    if (clusters) request.clusters = *clusters;
    return paired_sums(request);
  }
};

// Many users, a part of them absent, with numbers that digits cannot hold in some places.
PairedInput long_input() {
  std::mt19937_64 random(6);
  constexpr std::size_t kUsers = 9'000;
  PairedInput input{.tables = {},
                    .rows = 2,
                    .users = kUsers,
                    .values = {{.rows = {0}, .shown = 0, .is_unit = true},
                               {.rows = {0, 1}, .shown = 1},
                               {.rows = {0}, .is_geometric = true},
                               {.rows = {0, 1}, .is_ratio = true}},
                    .pairs = {{1, 0}, {2, 0}, {2, 1}}};
  for (int system = 0; system < 3; ++system) {
    Doubles table = draw_numbers(2 * kUsers, 10, random);
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (i < kUsers) table[i] = std::abs(table[i]);
      if (system > 0 && random() % 50 == 0) table[i] = kNan;
      if (i > kUsers && i % 1'000 == 0) table[i] = kSmallest;
    }
    // 0/0, at first in all systems, then in some.
    for (std::size_t user = 0; user < kUsers; user += 10) {
      if (user < kUsers / 2 || random() % 2 == 0) table[user] = table[kUsers + user] = 0;
    }
    input.tables.push_back(std::move(table));
  }
  return input;
}

void check_same(const std::vector<PairedSums>& sums, const std::vector<PairedSums>& expected) {
  REQUIRE(sums.size() == expected.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    CHECK(sums[i].users == expected[i].users);
    CHECK(sums[i].units == expected[i].units);
    CHECK(sums[i].wins == expected[i].wins);
    CHECK(sums[i].losses == expected[i].losses);
    CHECK(sums[i].only_system == expected[i].only_system);
    CHECK(sums[i].only_baseline == expected[i].only_baseline);
    const auto bytes_of = [](const std::vector<ExactInteger>& integers) {
      std::vector<IntegerBytes> bytes;
      for (const ExactInteger& integer : integers) bytes.push_back(integer.bytes);
      return bytes;
    };
    CHECK(bytes_of(sums[i].sums) == bytes_of(expected[i].sums));
    CHECK(bytes_of(sums[i].products) == bytes_of(expected[i].products));
  }
}

TEST_CASE("F22: sums of pairs are the same for any threads and instruction set") {
  std::mt19937_64 random(7);
  for (const Count codes : {0, 1, 40, 7'000}) {
    CAPTURE(codes);
    PairedInput input = long_input();
    const auto users = static_cast<std::size_t>(input.users);
    if (codes == 1 || codes == 7'000) {
      input.weights = Doubles(users);
      for (double& weight : *input.weights) weight = static_cast<double>(random() % 9) / 4;
    }
    if (codes > 0) {
      input.clusters = std::vector<Offset>(users);
      input.cluster_count = codes;
      input.groups.resize(users);
      input.group_count = std::min<Count>(codes, 40);
      for (std::size_t user = 0; user < users; ++user) {
        (*input.clusters)[user] = static_cast<Offset>(random() % static_cast<unsigned>(codes));
        input.groups[user] = (*input.clusters)[user] % input.group_count;
      }
    }
    const std::vector<PairedSums> expected = input.run();
    input.threads = 3;
    for (const Isa isa : available_isas()) {
      input.isa = isa;
      check_same(input.run(), expected);
    }
  }
}

TEST_CASE("F25: an exception of poll ends the summing of pairs") {
  PairedInput input = long_input();
  input.poll = cancel;
  for (const int threads : {1, 2}) {
    input.threads = threads;
    check_cancelled([&](std::size_t size) {
      input.pairs.assign(size * 500, {1, 0});
      static_cast<void>(input.run());
    });
  }
}

TEST_CASE("tables of another size than the request says are rejected") {
  const auto refused_argument = [](const std::function<void(PairedInput&)>& change) {
    PairedInput input = long_input();
    change(input);
    return fault_of([&] { static_cast<void>(input.run()); }).argument;
  };
  CHECK(refused_argument([](PairedInput& in) { in.rows = -1; }) == "tables");
  CHECK(refused_argument([](PairedInput& in) { in.users = -1; }) == "tables");
  CHECK(refused_argument([](PairedInput& in) { in.rows = in.users = Count{1} << 62U; }) ==
        "tables");
  CHECK(refused_argument([](PairedInput& in) { in.rows = 3; }) == "tables[0]");
  CHECK(refused_argument([](PairedInput& in) { in.tables[1].pop_back(); }) == "tables[1]");
}

}  // namespace
}  // namespace exactk
