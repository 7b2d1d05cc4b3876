#include "exactk/judged_lists.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "evaluate/job.hpp"
#include "evaluate/user_judge.hpp"
#include "evaluate/violation_search.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

// The order of a list must be one: other ties have none, or one that depends on the truth.
void check_ties(const Request& request) {
  const Ties ties = request.values.front().rules.ties;
  if (std::holds_alternative<Lists>(request.predictions) || is_strict(ties) || ties == Ties::raise)
    return;
  throw InputError({.argument = "convention",
                    .expected = "ties of 'lowest_id', 'highest_id', 'input_order' or 'raise'",
                    .found = "ties in an order that depends on the truth, or in several",
                    .change = Change{"ties", "lowest_id"},
                    .hint = "orders them by id"});
}

void check_request(const Request& request, const JudgedLists& judged) {
  if (request.values.size() != 1) {
    throw InputError({.argument = "metrics",
                      .expected = "one value, whose rules and cutoff hold",
                      .found = std::to_string(request.values.size())});
  }
  const Count k = request.values.front().cutoff;
  const auto users = static_cast<Count>(judged.lengths.size());
  if (k < 1 || k > kMaxCutoff) {
    throw InputError({.argument = "k",
                      .expected = "from 1 to " + std::to_string(kMaxCutoff),
                      .found = k == kNoCutoff ? "none" : std::to_string(k)});
  }
  const Count cells = users > std::numeric_limits<Count>::max() / k ? -1 : users * k;
  check_size(judged.items.size(), cells, "items", "one per user and rank");
  check_size(judged.grades.size(), cells, "grades", "one per user and rank");
  check_size(judged.hits.size(), cells, "hits", "one per user and rank");
  check_size(judged.relevant.size(), users, "relevant", "one per user");
  if (judged.first_user < 0 || judged.first_user > request.truth.row_count() - users) {
    throw InputError({.argument = "first_user",
                      .expected = "a range of users within the truth's",
                      .found = std::to_string(judged.first_user) + " and " + std::to_string(users) +
                               " users of " + std::to_string(request.truth.row_count())});
  }
  check_ties(request);
}

}  // namespace

void judge_lists(const Request& request, const JudgedLists& judged) {
  check_request(request, judged);
  const Run run(request);
  const Job job = make_job(request, run);
  const UserRange users{judged.first_user,
                        judged.first_user + static_cast<Count>(judged.lengths.size())};
  const Count block_users = choose_block_users(job);
  std::vector<std::unique_ptr<UserJudge>> judges(static_cast<std::size_t>(run.threads()));
  std::atomic<Violation> violation = Violation::none;
  const auto body = [&](int index, Count block) {
    std::unique_ptr<UserJudge>& judge = judges[static_cast<std::size_t>(index)];
    if (!judge) judge = std::make_unique<UserJudge>(job);
    const Count begin = users.begin + block * block_users;
    std::vector<Count> block_of_users(
        static_cast<std::size_t>(std::min(block_users, users.end - begin)));
    std::iota(block_of_users.begin(), block_of_users.end(), begin);
    judge->matcher().prepare(block_of_users);
    Count finished = 0;
    for (const Count user : block_of_users) {
      if (violation != Violation::none) break;
      ++finished;
      const Violation result = judge->judge_list(user, judged);
      if (result != Violation::none) violation = result;
    }
    if (request.finished != nullptr) *request.finished += finished;
  };
  const Count blocks = (users.end - users.begin + block_users - 1) / block_users;
  parallel_for(run, blocks, body);
  if (violation == Violation::none) return;
  UserJudge judge(job);
  const auto judge_user = [&](Count user) { return judge.judge_list(user, judged); };
  throw_violation(job, users, violation, judge, judge_user);
}

}  // namespace exactk
