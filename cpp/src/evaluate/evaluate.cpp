// One pass over the users: rank, judge, score, reduce. All inputs have been validated.

#include "exactk/evaluate.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/counting_sort.hpp"
#include "base/run.hpp"
#include "evaluate/job.hpp"
#include "evaluate/plan.hpp"
#include "evaluate/violation_search.hpp"
#include "evaluate/worker.hpp"
#include "exactk/capacity.hpp"
#include "exactk/error.hpp"
#include "metrics/cwl.hpp"
#include "numeric/accumulator.hpp"
#include "numeric/discounts.hpp"

namespace exactk {
namespace {

// Users in the order of their groups lie anywhere in memory: rows are loaded some users ahead.
constexpr std::size_t kUsersAhead = 4;
constexpr std::size_t kPrefetchedBytes = 1024;
constexpr std::size_t kCacheLine = 64;

// Memory for the sums of a value and group, here and as Python integers.
Count bytes_of_sums(Exactness exactness) { return exactness == Exactness::unit ? 1088 : 5120; }

struct DiscountDepths {
  Count ideal_ranks = 0;  // of an ideal ranking
  Count hit_ranks = 0;    // that a hit can have
};

// Returns how deep the values need discounts.
DiscountDepths discount_depths(const Plan& plan, std::size_t discounts_index, Count longest_list,
                               Count longest_truth) {
  DiscountDepths depths;
  for (const Pass& pass : plan.passes) {
    if (!pass.info->discounted || pass.discounts_index != discounts_index) continue;
    const Count cutoff = plan.cutoff_sets[pass.cutoff_set_index].cutoffs().back();
    depths.hit_ranks = std::max(depths.hit_ranks, std::min(cutoff, longest_list));
    if (pass.info->gains_to_one)
      depths.ideal_ranks = std::max(depths.ideal_ranks, std::min(cutoff, kReaderRanks));
    if (!pass.info->uses_ideal) continue;
    const bool is_uncut = pass.rules.ideal_over == Over::all_judged;
    const bool is_full = pass.rules.ideal_over == Over::cutoff;
    const Count ideal_ranks =
        is_full ? cutoff : std::min(is_uncut ? kNoCutoff : cutoff, longest_truth);
    depths.ideal_ranks = std::max(depths.ideal_ranks, ideal_ranks);
  }
  return depths;
}

Count max_list_length(const Lists& lists) {
  Count length = 0;
  for (Count row = 0; row < lists.row_count(); ++row) {
    const Count size = lists.length(row);
    const bool has_ranks = !lists.ranks.empty() && size > 0;
    const auto last = static_cast<std::size_t>(lists.begin(row) + size - 1);
    length = std::max(length, has_ranks ? lists.ranks[last] : size);
  }
  return length;
}
Count max_list_length(const ScoreMatrix& scores) {
  return scores.candidates ? max_list_length(*scores.candidates) : scores.items;
}
Count max_list_length(const SparseScores& scores) { return max_list_length(scores.items); }
Count max_list_length(const Embeddings& embeddings) {
  return embeddings.candidates ? max_list_length(*embeddings.candidates) : embeddings.items.rows;
}

void require_list_counts(const Job& job, Count longest_list) {
  static_assert(ItemCounter::kBytesPerCount == GroupCounter::kBytesPerCount);
  Count cells = 0;
  for (const ItemTallyRequest& tally : job.request.item_tallies) {
    cells += static_cast<Count>(tally.cutoffs.size()) * job.catalogue.size();
  }
  const Count groups = job.request.items ? job.request.items->group_count : 0;
  for (const PlannedValue& tally : job.request.group_tallies) {
    cells += std::min(tally.cutoff, longest_list) * groups;
  }
  const Count counters = job.request.threads + job.request.group_count + 1;
  require_memory(
      cells, ItemCounter::kBytesPerCount * counters,
      {.argument = "metrics",
       .hint = job.request.group_count > 1 ? "fewer or lower cutoffs, groups, or threads, need less"
                                           : "fewer or lower cutoffs, or threads, need less"});
}

// Returns the items of a user's row, as they are stored.
std::span<const std::byte> row_bytes(const Lists& lists, Count user) {
  return std::visit([&](const auto& items) { return std::as_bytes(row_slice(items, lists, user)); },
                    lists.items);
}

// What is summed and counted over the users of a group.
struct GroupTotals {
  explicit GroupTotals(const Job& job)
      : sums(make_accumulators(job)),
        item_counters(make_item_counters(job)),
        group_counters(make_group_counters(job)) {}

  void add(const Worker& worker) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(worker.sums()[i]);
    for (std::size_t i = 0; i < item_counters.size(); ++i) {
      item_counters[i].add(worker.item_counters()[i]);
    }
    for (std::size_t i = 0; i < group_counters.size(); ++i) {
      group_counters[i].add(worker.group_counters()[i]);
    }
  }

  std::vector<Accumulator> sums;  // by value
  std::vector<ItemCounter> item_counters;
  std::vector<GroupCounter> group_counters;
};

class Evaluation {
 public:
  Evaluation(const Request& request, const Run& run);
  Result evaluate_users();

 private:
  [[nodiscard]] Count users() const noexcept { return job_.request.truth.row_count(); }
  [[nodiscard]] Count group_of(Count user) const noexcept {
    const std::span<const Offset> groups = job_.request.groups;
    return groups.empty() ? 0 : groups[static_cast<std::size_t>(user)];
  }
  void list_users(Count begin, Count count, std::vector<Count>& users) const;
  Violation evaluate_blocks();
  void add_sums(Worker& worker, Count group);
  template <class Counter, class Counted>
  void append_tallies(std::vector<Counter> GroupTotals::* counters, std::vector<Counter> of_all,
                      std::vector<Counted>& tallies) const;
  [[noreturn]] void report_violation(Violation gravest);

  Job job_;
  std::vector<Count> order_;  // users by group; empty if there is one group
  std::mutex mutex_;
  std::vector<GroupTotals> totals_;  // by group
  Tally tally_;
};

Evaluation::Evaluation(const Request& request, const Run& run) : job_(make_job(request, run)) {
  if (!std::holds_alternative<Lists>(request.predictions)) {
    tally_.tie_dependent.assign(request.values.size(), 0);
    tally_.tie_spread.assign(request.values.size(), 0);
  }
  const Count longest_list = std::visit(
      [](const auto& predictions) { return max_list_length(predictions); }, request.predictions);
  const Count longest_truth = max_list_length(request.truth);
  for (std::size_t i = 0; i < job_.plan.discounts.size(); ++i) {
    const DiscountDepths depths = discount_depths(job_.plan, i, longest_list, longest_truth);
    job_.discounts.emplace_back(job_.plan.discounts[i], depths.ideal_ranks, depths.hit_ranks, run);
  }
  Count bytes = 0;
  for (const Exactness exactness : exactness_of_values(job_)) bytes += bytes_of_sums(exactness);
  require_memory(request.group_count, bytes,
                 {.argument = "groups", .hint = "fewer groups or metrics need less"});
  if (request.group_count > 1) {
    order_ = positions_by_code(request.groups, request.group_count, {}, run);
  }
  require_list_counts(job_, longest_list);
  for (Count group = 0; group < request.group_count; ++group) {
    if (group % 1024 == 1023) run.checkpoint();
    totals_.emplace_back(job_);
  }
}

// Adds what the worker has summed and counted to that of the group.
void Evaluation::add_sums(Worker& worker, Count group) {
  const std::scoped_lock lock(mutex_);
  totals_[static_cast<std::size_t>(group)].add(worker);
  tally_.add(worker.tally());
  worker.clear();
}

void Evaluation::report_violation(Violation gravest) {
  job_.run.poll();
  Worker worker(job_);
  const auto evaluate_user = [&](Count user) {
    const Violation added = worker.add_user(user);
    return std::min(added, worker.finish_users());
  };
  throw_violation(job_, {0, users()}, gravest, worker.judge(), evaluate_user);
}

// Lists `count` users from `begin`, in the order of evaluation.
void Evaluation::list_users(Count begin, Count count, std::vector<Count>& users) const {
  users.clear();
  for (Count position = begin; position < std::min(begin + count, this->users()); ++position) {
    users.push_back(order_.empty() ? position : order_[static_cast<std::size_t>(position)]);
  }
}

// Evaluates all users. Returns the rule that is broken, if any.
Violation Evaluation::evaluate_blocks() {
  const Request& request = job_.request;
  const Count block_users = choose_block_users(job_);
  const Count blocks = (users() + block_users - 1) / block_users;
  struct ThreadState {
    explicit ThreadState(const Job& job) : worker(job) {}

    Worker worker;
    Count group = 0;                // of the current users, who are sorted by group
    std::vector<Count> users = {};  // of the block
  };
  // Each is created by its own thread, so that no two threads write to one cache line.
  std::vector<std::unique_ptr<ThreadState>> states(
      static_cast<std::size_t>(job_.run.threads_for(blocks)));
  std::atomic<Violation> violation = Violation::none;

  const auto finish_group = [&](ThreadState& state) {
    const Violation result = state.worker.finish_users();
    if (result != Violation::none) violation = result;
    add_sums(state.worker, state.group);
  };
  const Lists* const lists = item_lists(request.predictions);
  // The rows of a user, as they are stored.
  const auto rows_of = [&](Count user) {
    return std::array{row_bytes(request.truth, user),
                      lists == nullptr ? std::span<const std::byte>() : row_bytes(*lists, user)};
  };
  const auto body = [&](int index, Count block) {
    std::unique_ptr<ThreadState>& slot = states[static_cast<std::size_t>(index)];
    if (!slot) slot = std::make_unique<ThreadState>(job_);
    ThreadState& state = *slot;
    list_users(block * block_users, block_users, state.users);
    state.worker.judge().matcher().prepare(state.users);
    Count finished = 0;
    for (const Count user : state.users) {
      if (violation != Violation::none) break;
      const auto ahead = static_cast<std::size_t>(finished) + kUsersAhead;
      if (!order_.empty() && ahead < state.users.size()) {
        // Here and not in a function, as GCC leaves out calls of those that do nothing else.
        for (const std::span<const std::byte> row : rows_of(state.users[ahead])) {
          const std::size_t size = std::min(row.size(), kPrefetchedBytes);
          for (std::size_t i = 0; i < size; i += kCacheLine) __builtin_prefetch(&row[i]);
        }
      }
      ++finished;
      if (group_of(user) != state.group) finish_group(state);
      state.group = group_of(user);
      const Violation result = state.worker.add_user(user);
      if (result != Violation::none) violation = result;
    }
    if (request.finished != nullptr) *request.finished += finished;
  };
  parallel_for(job_.run, blocks, body);
  for (const std::unique_ptr<ThreadState>& state : states) {
    if (state) finish_group(*state);
  }
  return violation;
}

// Appends each tally of all users, then, if there are groups, those of each group. The counters of
// all users have counted nothing yet.
template <class Counter, class Counted>
void Evaluation::append_tallies(std::vector<Counter> GroupTotals::* counters,
                                std::vector<Counter> of_all, std::vector<Counted>& tallies) const {
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    for (const GroupTotals& totals : totals_) of_all[i].add((totals.*counters)[i]);
    tallies.push_back(of_all[i].tally());
    if (job_.request.groups.empty()) continue;
    for (const GroupTotals& totals : totals_) tallies.push_back((totals.*counters)[i].tally());
  }
}

Result Evaluation::evaluate_users() {
  const Violation violation = evaluate_blocks();
  if (violation != Violation::none) report_violation(violation);
  Result result{.sums = {}, .tally = tally_, .item_tallies = {}, .group_tallies = {}};
  append_tallies(&GroupTotals::item_counters, make_item_counters(job_), result.item_tallies);
  append_tallies(&GroupTotals::group_counters, make_group_counters(job_), result.group_tallies);
  for (const GroupTotals& totals : totals_) {
    job_.run.checkpoint();
    for (const Accumulator& sums : totals.sums) result.sums.push_back(sums.sums());
  }
  return result;
}

}  // namespace

void Tally::add(const Tally& other) {
  empty_truth += other.empty_truth;
  empty_predictions += other.empty_predictions;
  missing_lists += other.missing_lists;
  missing_truth += other.missing_truth;
  duplicates += other.duplicates;
  excluded_recommended += other.excluded_recommended;
  relevant_excluded += other.relevant_excluded;
  relevant_not_rankable += other.relevant_not_rankable;
  foreign_recommended += other.foreign_recommended;
  unseen_recommended += other.unseen_recommended;
  longest_list = std::max(longest_list, other.longest_list);
  tie_dependent.resize(std::max(tie_dependent.size(), other.tie_dependent.size()));
  tie_spread.resize(tie_dependent.size());
  for (std::size_t i = 0; i < other.tie_dependent.size(); ++i) {
    tie_dependent[i] += other.tie_dependent[i];
    tie_spread[i] += other.tie_spread[i];
  }
  undefined.resize(std::max(undefined.size(), other.undefined.size()));
  for (std::size_t i = 0; i < other.undefined.size(); ++i) undefined[i] += other.undefined[i];
  candidates += other.candidates;
  candidate_users += other.candidate_users;
  fewest_candidates = std::min(fewest_candidates, other.fewest_candidates);
  most_candidates = std::max(most_candidates, other.most_candidates);
}

bool has_candidates(const Predictions& predictions) noexcept {
  const auto* matrix = std::get_if<ScoreMatrix>(&predictions);
  const auto* embeddings = std::get_if<Embeddings>(&predictions);
  return std::holds_alternative<SparseScores>(predictions) ||
         (matrix != nullptr && matrix->candidates) ||
         (embeddings != nullptr && embeddings->candidates);
}

Result evaluate(const Request& request) {
  const Run run(request);
  return Evaluation(request, run).evaluate_users();
}

}  // namespace exactk
