// Checks grades against the plan: each must have the gain that is needed.
#pragma once

#include "base/run.hpp"
#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"

namespace exactk {

// Throws InputError if a relevant item has a grade without a gain.
void check_gains(const Request& request, const Pass& pass, const Run& run);
// Throws InputError if there are no grades, so that every item has grade 1, and min_grade is above
// 1, which would silently make no item relevant.
void check_min_grade(const Request& request, const Rules& rules);

}  // namespace exactk
