// What an error says of a rule that the lists broke.
#pragma once

#include "base/checkpoint.hpp"
#include "evaluate/violations.hpp"
#include "evaluate/worker.hpp"
#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

// How often the user breaks the rule.
[[nodiscard]] Count count_violations(Violation violation, Worker& worker, Count user,
                                     const Checkpoint& checkpoint);

// What is wrong with the lists of the first user who breaks the rule.
[[nodiscard]] Fault describe_violation(Violation violation, const Request& request, Worker& worker,
                                       Count user, const Checkpoint& checkpoint);

}  // namespace exactk
