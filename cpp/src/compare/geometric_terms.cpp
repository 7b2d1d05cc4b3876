#include "exactk/geometric_terms.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "exactk/error.hpp"
#include "exactk/paired_sums.hpp"
#include "numeric/geometric_mean.hpp"

namespace exactk {

void geometric_terms(std::span<const double> numbers, std::span<double> terms,
                     const std::function<void()>& poll) {
  check_size(terms.size(), static_cast<Count>(numbers.size()), "terms", "one term per number");
  const Run run({.threads = 1, .poll = poll});
  const auto bad = [](double number) { return std::abs(number) > kMaxPairedNumber; };
  refuse_bad(numbers, bad, "numbers", "numbers up to 2^640 in magnitude, or NaN", run);
  in_chunks(numbers.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) terms[i] = geometric_term(numbers[i]);
  });
}

}  // namespace exactk
