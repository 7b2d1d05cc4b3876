// Checks of grades beside the plan: each has the gain that is asked for.
#pragma once

#include "base/checkpoint.hpp"
#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"

namespace exactk {

// Throws InputError if a grade of a relevant item has no gain.
void check_gains(const Request& request, const Run& run, const Checkpoint& checkpoint);
// Throws InputError if there are no grades, so that every item has grade 1, and min_grade is
// higher, which would silently call none relevant.
void check_min_grade(const Request& request, const Rules& rules);

}  // namespace exactk
