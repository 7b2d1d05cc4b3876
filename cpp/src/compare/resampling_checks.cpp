#include "compare/resampling_checks.hpp"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "exactk/capacity.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"

namespace exactk {
namespace {

constexpr int kMaxScale = 1000;

void check_columns(const Resampling& request) {
  const auto units = static_cast<Count>(request.keys.size());
  for (std::size_t i = 0; i < request.columns.size(); ++i) {
    const ScaledColumn& column = request.columns[i];
    check_size(column.numbers.size(), units, element("columns", i), "one number per key");
    if (column.scale >= -kMaxScale && column.scale <= kMaxScale) continue;
    throw InputError({.argument = element("scales", i),
                      .expected = "from -1000 to 1000",
                      .found = std::to_string(column.scale)});
  }
}

void check_resamples(const Resampling& request) {
  const auto fail = [](std::string argument, std::string expected, Count found) {
    throw InputError({.argument = std::move(argument),
                      .expected = std::move(expected),
                      .found = std::to_string(found)});
  };
  if (request.first < 0 || request.first > kMaxResamples || request.first % kResampleBlock != 0) {
    fail("first",
         "a multiple of " + std::to_string(kResampleBlock) + " from 0 to " +
             std::to_string(kMaxResamples),
         request.first);
  }
  const Count most = kMaxResamples - request.first;
  if (request.count < 0 || request.count > most) {
    fail("count", "from 0 to " + std::to_string(most), request.count);
  }
  require_memory(request.count, static_cast<Count>(request.columns.size() * sizeof(std::int64_t)),
                 {.argument = "count", .hint = "fewer resamples or columns need less"});
}

void check_units(const Resampling& request, const Run& run) {
  const auto size = static_cast<Offset>(request.keys.size());
  const auto is_outside = [&](Offset unit) { return unit < 0 || unit >= size; };
  refuse_bad(request.units, is_outside, "units", "positions below " + std::to_string(size), run);
}

std::int64_t checked_total(const Resampling& request, std::size_t index, int magnitude_bits,
                           const Run& run) {
  const ScaledNumbers numbers(request.columns[index]);
  const std::int64_t limit = std::int64_t{1} << magnitude_bits;
  std::int64_t magnitude = 0;
  std::int64_t total = 0;
  in_chunks(request.units.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double product = numbers.product(request.units[i]);
      if (std::isnan(product)) continue;
      if (std::abs(product) < static_cast<double>(limit)) {
        const std::int64_t number = std::llrint(product);
        total += number;
        magnitude += std::abs(number);
        if (magnitude < limit) continue;
      }
      throw InputError({.argument = element("columns", index),
                        .expected = "integers whose magnitudes sum to less than 2^" +
                                    std::to_string(magnitude_bits),
                        .found = "a larger sum",
                        .row = request.units[i],
                        .hint = "a smaller scale makes them smaller"});
    }
  });
  return total;
}

}  // namespace

std::vector<std::int64_t> checked_totals(const Resampling& request, int magnitude_bits,
                                         const Run& run) {
  check_columns(request);
  check_resamples(request);
  check_units(request, run);
  std::vector<std::int64_t> totals(request.columns.size());
  std::vector<std::optional<Fault>> faults(request.columns.size());
  const auto sum_column = [&](int /*worker*/, Count column) {
    const auto index = static_cast<std::size_t>(column);
    try {
      totals[index] = checked_total(request, index, magnitude_bits, run);
    } catch (const InputError& error) {
      faults[index] = error.fault();  // threads may find those of later columns first
    }
  };
  parallel_for(run, static_cast<Count>(totals.size()), sum_column);
  for (const std::optional<Fault>& fault : faults) {
    if (fault) throw InputError(*fault);
  }
  return totals;
}

}  // namespace exactk
