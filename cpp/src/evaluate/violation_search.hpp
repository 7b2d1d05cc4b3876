// Reports a broken rule.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "evaluate/job.hpp"
#include "evaluate/user_judge.hpp"
#include "evaluate/violation_faults.hpp"
#include "evaluate/violations.hpp"
#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Users one after another.
struct UserRange {
  Count begin;
  Count end;
};

// Reads the users again, in order, to count those that break the gravest rule and find the first.
// `evaluate_user` returns the rule that a user breaks, if any.
template <class EvaluateUser>
[[noreturn]] void throw_violation(const Job& job, UserRange users, Violation gravest,
                                  UserJudge& judge, const EvaluateUser& evaluate_user) {
  const Count block_users = choose_block_users(job);
  Count count = 0;
  Count first = 0;
  std::vector<Count> block;
  for (Count user = users.begin; user < users.end; ++user) {
    job.run.checkpoint();
    if ((user - users.begin) % block_users == 0) {
      block.resize(static_cast<std::size_t>(std::min(block_users, users.end - user)));
      std::iota(block.begin(), block.end(), user);
      judge.matcher().prepare(block);
    }
    const Violation violation = evaluate_user(user);
    if (violation == Violation::none || violation > gravest) continue;
    if (violation < gravest) count = 0;
    gravest = violation;
    if (count == 0) first = user;
    count += count_violations(violation, job, judge, user);
  }
  Fault fault = describe_violation(gravest, job, judge, first);
  fault.count = count;
  fault.row = first;
  throw InputError(std::move(fault));
}

}  // namespace exactk
