#include "common.hpp"
#include "exactk/geometric_terms.hpp"
#include "numeric/geometric_mean.hpp"

namespace exactk {
namespace {

using Doubles = std::vector<double>;

// More numbers than lie between two checkpoints.
Doubles many_numbers() {
  Doubles numbers(200'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<double>(i) / 150'000 - 0.01;
  }
  return numbers;
}

TEST_CASE("the terms of a geometric mean are those that an evaluation adds") {
  Doubles numbers = many_numbers();
  numbers[7] = std::numeric_limits<double>::quiet_NaN();
  Doubles terms(numbers.size());
  geometric_terms(numbers, terms);
  CHECK(std::isnan(terms[7]));
  CHECK(terms[0] == geometric_term(0));
  for (std::size_t i = 8; i < numbers.size(); i += 997) {
    CHECK(terms[i] == geometric_term(numbers[i]));
  }
}

TEST_CASE("F25: terms of geometric means can be cancelled") {
  const Doubles numbers(10'000'000, 0.5);
  Doubles terms(numbers.size());
  CHECK_THROWS_AS(geometric_terms(numbers, terms, [] { throw std::runtime_error("cancelled"); }),
                  std::runtime_error);
}

TEST_CASE("numbers without a term of a geometric mean are refused") {
  Doubles numbers(3, 0.5);
  Doubles terms(2);
  CHECK_THROWS_AS(geometric_terms(numbers, terms), InputError);
  terms.resize(3);
  numbers[1] = std::numeric_limits<double>::infinity();
  const Fault fault = tests::fault_of([&] { geometric_terms(numbers, terms); });
  CHECK(fault.argument == "numbers");
  CHECK(fault.position == 1);
  CHECK(fault.count == 1);
}

}  // namespace
}  // namespace exactk
