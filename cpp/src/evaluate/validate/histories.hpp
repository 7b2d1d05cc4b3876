// Checks of what users have in train.
#pragma once

#include "base/run.hpp"
#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"

namespace exactk {

// Throws InputError unless the histories of the request's users are valid, and there if the plan
// needs them. Requires a valid catalogue.
void validate_histories(const Request& request, const Plan& plan, const Run& run);

}  // namespace exactk
