// Logarithms as geometric means add them, for means of several runs of a system.
#pragma once

#include <functional>
#include <span>

namespace exactk {

// Writes what each number adds to the logarithm of a geometric mean; NaN for NaN. `poll` is called
// often, and throws to cancel. Throws InputError if there is not one term per number, or a number
// is above kMaxPairedNumber in magnitude.
void geometric_terms(
    std::span<const double> numbers, std::span<double> terms,
    const std::function<void()>& poll = [] {});

}  // namespace exactk
