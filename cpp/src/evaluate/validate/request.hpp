// The trust boundary: one pass over all inputs before any user is read. The rest of the core relies
// on whatever passes it.
#pragma once

#include <cstdint>

#include "base/run.hpp"
#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"

namespace exactk {

// Throws InputError unless every array is valid, the arrays fit each other, and grades have the
// gains that the plan needs. Returns the bitwise "or" of all ids.
[[nodiscard]] std::uint64_t validate(const Request& request, const Plan& plan, const Run& run);

}  // namespace exactk
