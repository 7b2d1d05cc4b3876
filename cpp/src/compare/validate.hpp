// The trust boundary of paired sums: checks of all inputs.
#pragma once

#include "base/run.hpp"
#include "exactk/paired_sums.hpp"

namespace exactk {

// Throws InputError if the request is malformed. The numbers of the tables are not read: they are
// checked when they are summed.
void validate(const PairedRequest& request, const Run& run);

struct NumberRange {
  double low;
  double high;

  [[nodiscard]] bool contains_or_is_nan(double number) const noexcept {
    return !(number < low || number > high);
  }
};

// Returns the range of the numbers in the rows of a value, and in that which is shown.
[[nodiscard]] NumberRange allowed_numbers(const PairedValue& value) noexcept;
[[nodiscard]] NumberRange allowed_shown_numbers() noexcept;

// Throws InputError about the first number that is not allowed.
[[noreturn]] void throw_faulty_number(const PairedRequest& request, const Run& run);

}  // namespace exactk
