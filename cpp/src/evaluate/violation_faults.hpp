// Error messages about rules that lists break.
#pragma once

#include "evaluate/user_judge.hpp"
#include "evaluate/violations.hpp"
#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Returns how often the user breaks the rule.
[[nodiscard]] Count count_violations(Violation violation, const Job& job, UserJudge& judge,
                                     Count user);

// Describes the fault in the lists of the first user who breaks the rule.
[[nodiscard]] Fault describe_violation(Violation violation, const Job& job, UserJudge& judge,
                                       Count user);

}  // namespace exactk
