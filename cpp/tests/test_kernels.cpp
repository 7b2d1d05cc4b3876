#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dispatch.hpp"
#include "metrik/error.hpp"
#include "policy.hpp"

namespace metrik {
namespace {

using Terms = std::array<double, kTerms>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

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

TEST_CASE("F31: an instruction set that is not there is refused") {
  for (const std::string name : {"AVX2", "avx", "scalar ", "sse9"}) {
    try {
      static_cast<void>(isa_of(name));
      FAIL("taken");
    } catch (const InputError& error) {
      CHECK(error.fault().argument == "METRIK_ISA");
      CHECK(error.fault().found == "'" + name + "'");
      CHECK(error.fault().expected.find("scalar") != std::string::npos);
    }
  }
}

TEST_CASE("F31: kernels that are not there are refused") {
  for (const int number : {3, 17, 255}) {
    CHECK_THROWS_AS(static_cast<void>(kernels(static_cast<Isa>(number))), InputError);
  }
}

// The digits of one term, from its definition in table.hpp.
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
      terms_of([](std::size_t) { return kTiny; }),
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
      UnitDigits found{};
      CHECK(kernels(isa).sum_unit_terms(terms.data(), &found));
      CHECK(std::ranges::equal(found.total, expected.total));
      CHECK(std::ranges::equal(found.squares, expected.squares));
    }
  }
}

TEST_CASE("F31: every instruction set sees a term outside [0, 1], wherever it stands") {
  const double beyond = std::nextafter(1.0, 2.0);
  for (const double outside : {-kTiny, -0.0, -1.0, beyond, 2.0, kInfinity, -kInfinity, kNan}) {
    for (std::size_t place = 0; place < kTerms; ++place) {
      const Terms terms = terms_of([&](std::size_t i) { return i == place ? outside : 0.5; });
      for (const Isa isa : available_isas()) {
        CAPTURE(name_of(isa));
        UnitDigits digits{};
        CHECK(!kernels(isa).sum_unit_terms(terms.data(), &digits));
      }
    }
  }
}

TEST_CASE("F31: every instruction set divides alike, and puts a value where the divisor is 0") {
  std::mt19937_64 random(2);
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  for (const double by_zero : {0.0, 1.0, kNan, kSkipped, -kInfinity}) {
    for (int round = 0; round < 200; ++round) {
      const auto draw = [&](std::size_t /*i*/) {
        const double odd[] = {0, -0.0, kTiny, kInfinity, kNan, 1, 3};
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
          if (denominators[i] == 0) {  // whatever NaN it is
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

}  // namespace
}  // namespace metrik
