// What an error says of a rule that the lists broke.
#pragma once

#include "base/checkpoint.hpp"
#include "evaluate/user_judge.hpp"
#include "evaluate/violations.hpp"
#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/types.hpp"

namespace exactk {

// How often the user breaks the rule.
[[nodiscard]] Count count_violations(Violation violation, UserJudge& judge, Count user,
                                     const Checkpoint& checkpoint);

// What is wrong with the lists of the first user who breaks the rule.
[[nodiscard]] Fault describe_violation(Violation violation, const Request& request,
                                       UserJudge& judge, Count user, const Checkpoint& checkpoint);

}  // namespace exactk
