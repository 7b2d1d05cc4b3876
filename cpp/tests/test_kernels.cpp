#include "common.hpp"
#include "evaluate/policies.hpp"
#include "kernels/dispatch.hpp"
#include "numeric/key_order.hpp"

namespace exactk {
namespace {

using namespace tests;

using Terms = std::array<double, kTerms>;

Terms terms_of(const std::function<double(std::size_t)>& term) {
  Terms terms{};
  for (std::size_t i = 0; i < kTerms; ++i) terms[i] = term(i);
  return terms;
}

TEST_CASE("the instruction sets have names, and the widest is the default") {
  const auto available = available_isas();
  REQUIRE(!available.empty());
  CHECK(available.front() == Isa::scalar);
  CHECK(isa_of("") == available.back());
  for (const Isa isa : available) CHECK(isa_of(name_of(isa)) == isa);
}

TEST_CASE("F31: an unavailable instruction set is rejected") {
  for (const std::string name : {"AVX2", "avx", "scalar ", "sse9"}) {
    const Fault fault = fault_of([&] { static_cast<void>(isa_of(name)); });
    CHECK(fault.argument == "EXACTK_ISA");
    CHECK(fault.found == "'" + name + "'");
    CHECK(fault.expected.find("scalar") != std::string::npos);
  }
}

TEST_CASE("F31: unavailable kernels are rejected") {
  for (const int number : {4, 17, 255}) {
    CHECK_THROWS_AS(static_cast<void>(kernels(static_cast<Isa>(number))), InputError);
  }
}

// Computes the digits of one term, from their definition in table.hpp.
UnitDigits digits_of(double term) {
  const double top = std::nearbyint(std::ldexp(term, kTopScale));
  const double rest = std::ldexp(std::ldexp(term, kTopScale) - top, kDigitBits);
  const double middle = std::nearbyint(rest);
  const double last = std::nearbyint(std::ldexp(rest - middle, kDigitBits));
  const auto a = static_cast<std::int64_t>(top);
  const auto b = static_cast<std::int64_t>(middle);
  const auto c = static_cast<std::int64_t>(last);
  return {.total = {a, b, c}, .squares = {a * a, 2 * a * b, 2 * a * c + b * b, 2 * b * c, c * c}};
}

TEST_CASE("F31: every instruction set sums the digits of terms and of their squares") {
  std::mt19937_64 random(1);
  const auto fraction = [&](std::size_t /*i*/) {
    return std::ldexp(std::ldexp(static_cast<double>(random() >> 11U), -53),
                      -static_cast<int>(random() % 90));
  };
  std::vector<Terms> batches = {
      terms_of([](std::size_t) { return 0; }),
      terms_of([](std::size_t) { return 1; }),
      terms_of([](std::size_t) { return 1 - 0x1p-53; }),
      terms_of([](std::size_t) { return kSmallest; }),
      terms_of([](std::size_t i) { return std::ldexp(0.75, -static_cast<int>(3 * i)); }),
      terms_of([](std::size_t i) { return i == kTerms - 1 ? 0x1p-80 : 0; })};
  for (int i = 0; i < 500; ++i) batches.push_back(terms_of(fraction));
  for (const Terms& terms : batches) {
    UnitDigits expected{};
    for (const double term : terms) {
      const UnitDigits digits = digits_of(term);
      for (std::size_t i = 0; i < std::size(expected.total); ++i) {
        expected.total[i] += digits.total[i];
      }
      for (std::size_t i = 0; i < std::size(expected.squares); ++i) {
        expected.squares[i] += digits.squares[i];
      }
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      UnitDigits digits{};
      CHECK(kernels(isa).sum_unit_terms(terms.data(), &digits));
      CHECK(std::ranges::equal(digits.total, expected.total));
      CHECK(std::ranges::equal(digits.squares, expected.squares));
    }
  }
}

TEST_CASE("F31: every instruction set detects a term outside [0, 1] at any index") {
  const double beyond = std::nextafter(1.0, 2.0);
  for (const double outside : {-kSmallest, -0.0, -1.0, beyond, 2.0, kInfinity, -kInfinity, kNan}) {
    for (std::size_t position = 0; position < kTerms; ++position) {
      const Terms terms = terms_of([&](std::size_t i) { return i == position ? outside : 0.5; });
      for (const Isa isa : available_isas()) {
        CAPTURE(name_of(isa));
        UnitDigits digits{};
        CHECK(!kernels(isa).sum_unit_terms(terms.data(), &digits));
      }
    }
  }
}

// Finds the hits of a short list one by one, and whether an item repeats.
template <class Id>
std::pair<PositionBits, bool> match_slowly(std::span<const std::int64_t> truth,
                                           std::span<const Id> list) {
  PositionBits hits{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::ranges::find(truth, static_cast<std::int64_t>(list[i])) == truth.end()) continue;
    (i < 64 ? hits.low : hits.high) |= std::uint64_t{1} << i % 64;
  }
  const auto repeats = [](auto row) {
    std::ranges::sort(row);
    return std::ranges::adjacent_find(row) != row.end();
  };
  return {hits, repeats(std::vector<Id>(list.begin(), list.end())) ||
                    repeats(std::vector<std::int64_t>(truth.begin(), truth.end()))};
}

// Returns the share of lists without repeated items for which the kernel is not certain.
template <class Id>
double check_short_lists(ShortListKernels<Id> Kernels::* lists_of, std::uint64_t step,
                         std::size_t items, ShortFactors factors) {
  std::mt19937_64 random(9);
  std::vector<std::uint8_t> slots(kShortSlots);
  std::size_t lists = 0;
  std::size_t uncertain = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto draw = [&]<class RowId>(std::size_t size, RowId /*type*/) {
      std::vector<RowId> row(size);
      for (RowId& id : row) id = static_cast<RowId>(step * (random() % items));
      return row;
    };
    const std::size_t part = 1 + random() % 8;  // so that there are many short rows
    const auto list = draw(1 + random() % (kShortList / part), Id{});
    const auto truth = draw(random() % (kShortTruth / part + 1), std::int64_t{});
    const auto [expected, repeats] = match_slowly<Id>(truth, list);
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      bool is_certain = false;
      const PositionBits hits = (kernels(isa).*lists_of)
                                    .match(truth.data(), truth.size(), list.data(), list.size(),
                                           factors, slots.data(), &is_certain);
      CHECK(!(is_certain && repeats));
      lists += repeats ? 0 : 1;
      uncertain += repeats || is_certain ? 0 : 1;
      if (!is_certain) continue;
      CHECK(hits.low == expected.low);
      CHECK(hits.high == expected.high);
    }
  }
  return static_cast<double>(uncertain) / static_cast<double>(std::max<std::size_t>(lists, 1));
}

TEST_CASE("F31: every instruction set finds the hits of short lists, and repeated items") {
  const ShortFactors factors = {0x9e3779b1, 0x85ebca77};
  CHECK(check_short_lists(&Kernels::int32_lists, 1, 50'000, factors) == 0);
  CHECK(check_short_lists(&Kernels::int32_lists, 1, 2'000, factors) == 0);
  CHECK(check_short_lists(&Kernels::int32_lists, 1 << 16, 1 << 15, factors) < 0.01);
  CHECK(check_short_lists(&Kernels::uint32_lists, 3, 1'000'000'000, factors) == 0);
  CHECK(check_short_lists(&Kernels::int64_lists, 1, 1'000'000'000'000, factors) == 0);
  CHECK(check_short_lists(&Kernels::int64_lists, std::uint64_t{1} << 40U, 1 << 20, factors) == 0);
  CHECK(check_short_lists(&Kernels::uint64_lists, std::uint64_t{1} << 32U, 1 << 30, factors) == 0);
}

TEST_CASE("F31: every instruction set matches items in one slot, or is not certain") {
  const ShortFactors no_hash = {0, 0};
  CHECK(check_short_lists(&Kernels::int32_lists, 1, 50'000, no_hash) > 0.25);
  CHECK(check_short_lists(&Kernels::int64_lists, 1, 50'000, no_hash) > 0.25);
  static_cast<void>(check_short_lists(&Kernels::int32_lists, 1, 40, no_hash));
  const ShortFactors no_high = {1, 0};  // ids that differ in their upper halves share slots
  CHECK(check_short_lists(&Kernels::int64_lists, std::uint64_t{1} << 32U, 1 << 30, no_high) > 0.25);
}

// Ranks random positions of random rows, some of which have ties, NaN or scores that are too low.
template <class Score>
void check_short_scores(ShortScoreKernels<Score> Kernels::* rows_of, std::uint64_t distinct,
                        double odd_share) {
  constexpr Score kOdd[] = {std::numeric_limits<Score>::quiet_NaN(),
                            std::numeric_limits<Score>::infinity(),
                            -std::numeric_limits<Score>::infinity(), -2};
  std::mt19937_64 random(11);
  std::size_t certain = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<Score> scores(1 + random() % kShortList);
    for (Score& score : scores) {
      const bool is_odd = static_cast<double>(random() % 1000) < 1000 * odd_share;
      score = is_odd ? kOdd[random() % std::size(kOdd)] : static_cast<Score>(random() % distinct);
    }
    const Score least = random() % 2 == 0 ? -1 : -std::numeric_limits<Score>::infinity();
    PositionBits positions{};
    PositionBits expected{};
    bool is_exact = std::ranges::all_of(scores, [&](Score score) { return score >= least; });
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (random() % 10 != 0) continue;
      (i < 64 ? positions.low : positions.high) |= std::uint64_t{1} << i % 64;
      const auto above =
          std::ranges::count_if(scores, [&](Score score) { return score > scores[i]; });
      (above < 64 ? expected.low : expected.high) |= std::uint64_t{1} << above % 64;
      is_exact = is_exact && std::ranges::count(scores, scores[i]) == 1;
      is_exact = is_exact && (scores[i] > least || scores.size() % 16 == 0);
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      bool is_certain = !is_exact;
      const PositionBits ranks =
          (kernels(isa).*rows_of).rank(scores.data(), scores.size(), least, positions, &is_certain);
      CHECK(is_certain == is_exact);
      certain += is_certain ? 1 : 0;
      if (!is_certain) continue;
      CHECK(ranks.low == expected.low);
      CHECK(ranks.high == expected.high);
    }
  }
  CHECK(certain > 100);
}

TEST_CASE("F31: every instruction set ranks a few items of a short row") {
  check_short_scores(&Kernels::float32_rows, 1'000'000, 0);
  check_short_scores(&Kernels::float32_rows, 500, 0.002);
  check_short_scores(&Kernels::float64_rows, 1'000'000, 0);
  check_short_scores(&Kernels::float64_rows, 500, 0.002);
}

TEST_CASE("every instruction set computes the bitwise or") {
  std::mt19937_64 random(10);
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<std::uint32_t> words(size);
    std::vector<std::uint64_t> long_words(size);
    std::uint32_t bits = 0;
    std::uint64_t long_bits = 0;
    for (std::size_t i = 0; i < size; ++i) {
      long_words[i] = std::uint64_t{1} << random() % 64;
      words[i] = std::uint32_t{1} << random() % 32;
      bits |= words[i];
      long_bits |= long_words[i];
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      CHECK(kernels(isa).or_of_uint32(words.data(), size) == bits);
      CHECK(kernels(isa).or_of_uint64(long_words.data(), size) == long_bits);
    }
  }
}

TEST_CASE("F31: every instruction set divides alike, with a given value for divisor 0") {
  std::mt19937_64 random(2);
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  for (const double by_zero : {0.0, 1.0, kNan, kSkipped, -kInfinity}) {
    for (int round = 0; round < 200; ++round) {
      const auto draw = [&](std::size_t /*i*/) {
        const double odd[] = {0, -0.0, kSmallest, kInfinity, kNan, 1, 3};
        return random() % 3 == 0 ? odd[random() % std::size(odd)]
                                 : static_cast<double>(random() % 1000) / 7;
      };
      const Terms numerators = terms_of(draw);
      const Terms denominators = terms_of(draw);
      for (const Isa isa : available_isas()) {
        CAPTURE(name_of(isa));
        Terms quotients{};
        kernels(isa).divide(numerators.data(), denominators.data(), by_zero, quotients.data());
        for (std::size_t i = 0; i < kTerms; ++i) {
          if (denominators[i] == 0) {  // any NaN
            CHECK(bits(quotients[i]) == bits(by_zero));
            continue;
          }
          const double expected = numerators[i] / denominators[i];
          const bool both_nan = std::isnan(expected) && std::isnan(quotients[i]);
          CHECK((both_nan || bits(quotients[i]) == bits(expected)));
        }
      }
    }
  }
}

// Draws values that are pitfalls for comparisons, and some near each other.
template <class Score>
Score draw_score(std::mt19937_64& random) {
  using Limits = std::numeric_limits<Score>;
  std::vector<Score> odd = {0, 1, 2, -1, Limits::max(), Limits::lowest()};
  if constexpr (std::is_floating_point_v<Score>) {
    odd.insert(odd.end(), {-Score{0}, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                           -Limits::quiet_NaN(), Limits::denorm_min(), -Limits::denorm_min(),
                           std::nextafter(Score{1}, Score{2})});
  }
  return random() % 2 == 0 ? odd[random() % odd.size()] : static_cast<Score>(random() % 9);
}

// The scores start at an odd position, and scores after their end beat all bounds.
template <class Score>
std::vector<Score> draw_scores(std::size_t size, std::mt19937_64& random) {
  std::vector<Score> scores(1 + size + kChunkScores, std::numeric_limits<Score>::max());
  for (std::size_t i = 1; i <= size; ++i) scores[i] = draw_score<Score>(random);
  return scores;
}

template <class Score>
void check_count_beating(ScoreKernels<Score> Kernels::* scores_of, std::size_t size,
                         std::mt19937_64& random) {
  const std::vector<Score> drawn = draw_scores<Score>(size, random);
  const std::span<const Score> scores = std::span(drawn).subspan(1, size);
  std::vector<Score> bounds(random() % 20);
  for (Score& bound : bounds) bound = draw_score<Score>(random);
  for (const std::size_t strict : {std::size_t{0}, bounds.size() / 2, bounds.size()}) {
    CAPTURE(strict);
    std::vector<std::int64_t> expected(bounds.size(), 1000);  // counts are added
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      for (const Score score : scores) {
        const bool beats = i < strict ? score >= bounds[i] : score > bounds[i];
        expected[i] += beats ? 1 : 0;
      }
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      std::vector<std::int64_t> counts(bounds.size(), 1000);
      (kernels(isa).*scores_of)
          .count_beating(scores.data(), size, bounds.data(), strict, bounds.size(), counts.data());
      CHECK(counts == expected);
    }
  }
}

template <class Score>
void check_count_around(ScoreKernels<Score> Kernels::* scores_of, std::size_t size,
                        std::mt19937_64& random) {
  const std::vector<Score> drawn = draw_scores<Score>(size, random);
  const std::span<const Score> scores = std::span(drawn).subspan(1, size);
  std::vector<Score> bounds(random() % 20);
  for (Score& bound : bounds) bound = draw_score<Score>(random);
  std::vector<std::int64_t> expected_above(bounds.size(), 1000);  // counts are added
  std::vector<std::int64_t> expected_below(bounds.size(), 2000);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    for (const Score score : scores) {
      expected_above[i] += score > bounds[i] ? 1 : 0;
      expected_below[i] += score < bounds[i] ? 1 : 0;
    }
  }
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    std::vector<std::int64_t> above(bounds.size(), 1000);
    std::vector<std::int64_t> below(bounds.size(), 2000);
    (kernels(isa).*scores_of)
        .count_around(scores.data(), size, bounds.data(), bounds.size(), above.data(),
                      below.data());
    CHECK(above == expected_above);
    CHECK(below == expected_below);
  }
}

template <class Score>
void check_count_above(ScoreKernels<Score> Kernels::* scores_of, std::size_t size,
                       std::mt19937_64& random) {
  const std::size_t padded = (size + kCompareBlock - 1) / kCompareBlock * kCompareBlock;
  const std::vector<Score> scores = draw_scores<Score>(padded, random);
  const std::span<const Score> all = std::span(scores).subspan(1, padded);
  std::vector<std::uint32_t> expected;
  for (const Score bound : all) {
    const auto above =
        std::ranges::count_if(all.first(size), [&](Score one) { return one > bound; });
    expected.push_back(static_cast<std::uint32_t>(above));
  }
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    std::vector<std::uint32_t> counts(padded, 1000);  // counts are overwritten
    (kernels(isa).*scores_of).count_above(all.data(), size, padded, counts.data());
    CHECK(counts == expected);
  }
}

TEST_CASE("F31: every instruction set counts the scores above each of them") {
  std::mt19937_64 random(4);
  for (std::size_t size = 0; size <= 130; ++size) {
    CAPTURE(size);
    check_count_above(&Kernels::float32, size, random);
    check_count_above(&Kernels::float64, size, random);
    check_count_above(&Kernels::int64, size, random);
  }
}

TEST_CASE("F31: every instruction set lists the scores that are at least a bound") {
  std::mt19937_64 random(9);
  for (std::size_t size = 0; size <= 200; ++size) {
    std::vector<float> scores(size);
    for (float& score : scores) score = static_cast<float>(random() % 5);
    if (size > 7) scores[7] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> expected;
    std::vector<std::uint32_t> expected_positions;
    for (std::size_t i = 0; i < size; ++i) {
      if (!(scores[i] >= 3)) continue;
      expected.push_back(scores[i]);
      expected_positions.push_back(static_cast<std::uint32_t>(i + 1000));
    }
    for (const Isa isa : available_isas()) {
      CAPTURE(name_of(isa));
      std::vector<float> listed(size);
      std::vector<std::uint32_t> positions(size);
      const std::size_t count = kernels(isa).float32.list_at_least(scores.data(), size, 3, 1000,
                                                                   listed.data(), positions.data());
      CHECK(std::ranges::equal(std::span(listed).first(count), expected));
      CHECK(std::ranges::equal(std::span(positions).first(count), expected_positions));
    }
  }
}

TEST_CASE("F31: every instruction set counts the scores that beat each bound") {
  std::mt19937_64 random(3);
  for (std::size_t size = 0; size <= 200; ++size) {
    CAPTURE(size);
    for (int round = 0; round < 4; ++round) {
      check_count_around(&Kernels::float32, size, random);
      check_count_around(&Kernels::float64, size, random);
      check_count_around(&Kernels::int64, size, random);
      check_count_beating(&Kernels::float32, size, random);
      check_count_beating(&Kernels::float64, size, random);
      check_count_beating(&Kernels::int64, size, random);
    }
  }
}

template <class Score>
void check_group_maxima(ScoreKernels<Score> Kernels::* scores_of, std::size_t chunks,
                        const std::vector<std::uint64_t>* excluded, std::mt19937_64& random) {
  using Limits = std::numeric_limits<Score>;
  constexpr Score kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const std::size_t size = chunks * kChunkScores;
  std::vector<Score> drawn = draw_scores<Score>(size, random);
  const bool with_nan = random() % 2 == 0;
  bool has_nan = false;
  for (Score& score : drawn) {
    if (!is_nan(score)) continue;
    has_nan = with_nan;
    if (!with_nan) score = 3;
  }
  const std::span<const Score> scores = std::span(drawn).subspan(1, size);
  std::vector<Score> expected(chunks * kGroups, kLowest);
  for (std::size_t i = 0; i < size; ++i) {
    if (excluded != nullptr && ((*excluded)[i / 64] >> (i % 64) & 1U) != 0) continue;
    Score& greatest = expected[i / kChunkScores * kGroups + i % kGroups];
    if (scores[i] > greatest) greatest = scores[i];
  }
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    std::vector<Score> maxima(chunks * kGroups + 1, 77);
    CHECK((kernels(isa).*scores_of)
              .group_maxima(scores.data(), chunks, excluded == nullptr ? nullptr : excluded->data(),
                            maxima.data()) == has_nan);
    CHECK(maxima.back() == 77);
    maxima.pop_back();
    CHECK(maxima == expected);
  }
}

TEST_CASE("F31: every instruction set computes group maxima without excluded items") {
  std::mt19937_64 random(4);
  const auto check = [&](std::size_t chunks, const std::vector<std::uint64_t>* excluded) {
    check_group_maxima(&Kernels::float32, chunks, excluded, random);
    check_group_maxima(&Kernels::float64, chunks, excluded, random);
    check_group_maxima(&Kernels::int64, chunks, excluded, random);
  };
  for (std::size_t chunks = 0; chunks <= 3; ++chunks) {
    CAPTURE(chunks);
    const std::size_t words = chunks * kChunkScores / 64;
    for (int round = 0; round < 10; ++round) {
      check(chunks, nullptr);
      std::vector<std::uint64_t> excluded(words);
      check(chunks, &excluded);  // none
      for (std::uint64_t& word : excluded) word = random();
      check(chunks, &excluded);
      for (std::uint64_t& word : excluded) word |= random();
      check(chunks, &excluded);  // most
      for (std::uint64_t& word : excluded) word = ~std::uint64_t{0};
      check(chunks, &excluded);
    }
    for (std::size_t position = 0; position < words * 64; position += 5) {  // all but one
      std::vector<std::uint64_t> excluded(words, ~std::uint64_t{0});
      excluded[position / 64] ^= std::uint64_t{1} << (position % 64);
      check(chunks, &excluded);
    }
  }
}

// Eight sums: term i goes to sum i % 8, in order.
template <class Number, class Term>
double sum_of_terms(const double* one, const Number* other, std::size_t width, const Term& term) {
  std::array<double, 8> sums{};
  for (std::size_t i = 0; i < width; ++i) {
    sums.at(i % 8) += term(one[i], static_cast<double>(other[i]));
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class Number>
void check_vectors(VectorKernels<Number> Kernels::* vectors_of, std::size_t width,
                   std::mt19937_64& random) {
  constexpr std::size_t kCount = 3;
  const auto number = [&] {
    return std::ldexp(static_cast<double>(random() >> 11U) * 0x1p-53 - 0.5,
                      static_cast<int>(random() % 60) - 30);
  };
  // Each vector starts unaligned, ends with its array, and follows a number that must not be added.
  std::vector<double> one(width + 1, kNan);
  std::generate(one.begin() + 1, one.end(), number);
  std::array<std::vector<Number>, kCount> others;
  std::array<const Number*, kCount> rows{};
  for (std::size_t i = 0; i < kCount; ++i) {
    others.at(i).assign(width + 1, std::numeric_limits<Number>::quiet_NaN());
    std::generate(others.at(i).begin() + 1, others.at(i).end(),
                  [&] { return static_cast<Number>(number()); });
    rows.at(i) = &others.at(i)[1];
  }
  const auto check = [&](const std::array<double, kCount>& results, auto expected) {
    for (std::size_t i = 0; i < kCount; ++i) {
      CHECK(std::bit_cast<std::uint64_t>(results.at(i)) ==
            std::bit_cast<std::uint64_t>(expected(rows.at(i))));
    }
  };
  const auto product = [](double a, double b) { return a * b; };
  const auto difference = [](double a, double b) { return (a - b) * (a - b); };
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    const VectorKernels<Number>& table = kernels(isa).*vectors_of;
    std::array<double, kCount> results{};
    table.dots(&one[1], rows.data(), kCount, width, results.data());
    check(results,
          [&](const Number* other) { return sum_of_terms(&one[1], other, width, product); });
    table.squared_distances(&one[1], rows.data(), kCount, width, results.data());
    check(results,
          [&](const Number* other) { return sum_of_terms(&one[1], other, width, difference); });
    table.squares(rows.data(), kCount, width, results.data());
    check(results, [&](const Number* other) {
      const std::vector<double> wide(other, other + width);
      return sum_of_terms(wide.data(), other, width, product);
    });
  }
}

TEST_CASE("F31: every instruction set adds the terms of vectors in the same order") {
  std::mt19937_64 random(5);
  for (std::size_t width = 1; width <= 40; ++width) {
    CAPTURE(width);
    check_vectors(&Kernels::float32_vectors, width, random);
    check_vectors(&Kernels::float64_vectors, width, random);
  }
}

// Checks the products of drawn vectors, which are whole numbers and so exact in any order.
void check_products(const ProductKernels& table, std::size_t users, std::size_t items,
                    std::size_t width, std::mt19937_64& random) {
  const std::size_t stride = width + random() % 3;  // of items
  const auto draw = [&](std::size_t size) {
    std::vector<float> numbers(size);
    for (float& number : numbers) number = static_cast<float>(random() % 7) - 3;
    return numbers;
  };
  const std::vector<float> user_rows = draw(users * width);
  const std::vector<float> item_rows = draw(items * stride);
  const std::size_t panels = (items + kPanelItems - 1) / kPanelItems;
  std::vector<float> packed(panels * kPanelItems * width, 99);
  for (std::size_t begin = 0; begin < items; begin += kPanelItems) {
    const std::vector<float> rows(item_rows.begin() + static_cast<std::ptrdiff_t>(begin * stride),
                                  item_rows.end());
    table.pack(rows.data(), std::min(kPanelItems, items - begin), stride, width,
               &packed[begin * width]);
  }
  const std::size_t product_stride = panels * kPanelItems + random() % 3;
  std::vector<float> products(users * product_stride, 99);
  table.multiply(user_rows.data(), users, width, packed.data(), panels, products.data(),
                 product_stride);
  for (std::size_t user = 0; user < users; ++user) {
    for (std::size_t item = 0; item < product_stride; ++item) {
      float expected = item < panels * kPanelItems ? 0 : 99;  // beyond the items, and the panels
      for (std::size_t i = 0; i < width && item < items; ++i) {
        expected += user_rows[user * width + i] * item_rows[item * stride + i];
      }
      REQUIRE(products[user * product_stride + item] == expected);
    }
  }
}

TEST_CASE("F31: every instruction set multiplies vectors") {
  std::mt19937_64 random(8);
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    const ProductKernels& table = kernels(isa).products;
    for (std::size_t users = 0; users <= 30; ++users) {
      check_products(table, users, 1 + random() % 70, 1 + random() % 40, random);
    }
    for (const std::size_t width : {1U, 255U, 256U, 257U, 600U}) {
      check_products(table, 13, 33, width, random);
    }
  }
}

}  // namespace
}  // namespace exactk
