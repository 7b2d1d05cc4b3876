// One pass over the users: rank, judge, score, reduce. Everything in it was validated before.

#include "metrik/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "accumulator.hpp"
#include "discounts.hpp"
#include "judge.hpp"
#include "metrik/error.hpp"
#include "parallel.hpp"
#include "plan.hpp"
#include "policy.hpp"
#include "rank/given.hpp"
#include "validate.hpp"

namespace metrik {
namespace {

// How many discounts the values can ask for: ranks that are reached, and places of the ideal.
Count discount_depth(const Plan& plan, Discount kind, Count longest_list, Count longest_truth) {
  Count depth = 0;
  for (const Run& run : plan.runs) {
    if (!run.info->uses_gains || run.rules.discount != kind) continue;
    const Count cutoff = run.cutoffs.back();
    depth = std::max(depth, std::min(cutoff, longest_list));
    if (!run.info->uses_ideal) continue;
    const bool uncut = run.rules.ideal_over == Over::all_judged;
    const bool full = run.rules.ideal_over == Over::cutoff;
    depth = std::max(depth, full ? cutoff : std::min(uncut ? kNoCutoff : cutoff, longest_truth));
  }
  return depth;
}

Count longest(const Lists& lists) {
  Count length = 0;
  for (Count row = 0; row < lists.rows(); ++row) length = std::max(length, lists.length(row));
  return length;
}

// How often one user breaks the rule.
Count count_of(Breach breach, const Matches& matches) {
  if (breach == Breach::duplicate_truth) return matches.truth_duplicates;
  if (breach == Breach::duplicate_items) return matches.list_duplicates;
  return 1;
}

template <class T>
std::span<const T> row_of(std::span<const T> items, const Lists& lists, Count row) {
  return items.subspan(static_cast<std::size_t>(lists.begin(row)),
                       static_cast<std::size_t>(lists.length(row)));
}

class Evaluation {
 public:
  explicit Evaluation(const Request& request)
      : request_(request), plan_(make_plan(request.values, request.tally_rules)) {
    validate(request_, plan_);
    const Count longest_list = longest(request_.predictions);
    const Count longest_truth = longest(request_.truth);
    for (const Discount kind : {Discount::log2, Discount::log2_floored}) {
      discounts_.emplace_back(kind, discount_depth(plan_, kind, longest_list, longest_truth));
    }
    order_users();
    for (Count group = 0; group < request_.group_count; ++group) totals_.push_back(accumulators());
  }

  Result run();

 private:
  struct Worker {
    GivenRanking ranking;
    Judge judge;
    std::vector<Ratio> ratios;
    std::vector<Accumulator> sums;  // of the users of one group
    Count group = 0;
    Tally tally;
  };

  [[nodiscard]] bool weighted() const noexcept { return request_.weights.has_value(); }
  [[nodiscard]] Count users() const noexcept { return request_.truth.rows(); }
  [[nodiscard]] Count group_of(Count user) const noexcept {
    return request_.groups.empty() ? 0 : request_.groups[static_cast<std::size_t>(user)];
  }
  [[nodiscard]] Presence presence(Count user) const noexcept {
    return {request_.truth.has(user), request_.predictions.has(user)};
  }

  [[nodiscard]] std::vector<Accumulator> accumulators() const;
  [[nodiscard]] Worker make_worker() const;
  void order_users();
  void flush(Worker& worker);
  Breach visit(Worker& worker, Count user) const;
  const Matches& match(Worker& worker, Count user) const;
  [[nodiscard]] std::span<const double> grades_of(Count user) const;
  Breach score_run(Worker& worker, const Run& run, const HitRow& row, Count user) const;
  [[nodiscard]] bool raises(Duplicates Rules::* field) const;
  void keep(std::size_t output, Count user, double value) const;
  void tally(Worker& worker, const Matches& matches, const HitRow& row, Count user) const;
  [[noreturn]] void report(Breach gravest);
  [[nodiscard]] Fault fault_of(Breach breach, const Matches& matches, Count user) const;

  const Request& request_;
  Plan plan_;
  std::vector<DiscountTable> discounts_;  // by Discount
  std::vector<Count> order_;              // users by group; empty if there is one group
  std::mutex mutex_;
  std::vector<std::vector<Accumulator>> totals_;  // group, value
  Tally tally_;
};

std::vector<Accumulator> Evaluation::accumulators() const {
  std::vector<Accumulator> sums(request_.values.size(), Accumulator(Exactness::any, true));
  for (const Run& run : plan_.runs) {
    const bool weighs = weighted() || run.rules.average == Average::micro;
    const Exactness exactness = weighs ? Exactness::any : run.exactness;
    for (const std::size_t output : run.outputs) sums[output] = Accumulator(exactness, weighs);
  }
  return sums;
}

Evaluation::Worker Evaluation::make_worker() const {
  Worker worker;
  worker.ratios.resize(plan_.most_cutoffs);
  worker.sums = accumulators();
  return worker;
}

// A worker holds the sums of one group at a time: users of one group come together.
void Evaluation::order_users() {
  if (request_.group_count == 1) return;
  order_.resize(static_cast<std::size_t>(users()));
  std::iota(order_.begin(), order_.end(), Count{0});
  std::ranges::stable_sort(order_, {}, [&](Count user) { return group_of(user); });
}

void Evaluation::flush(Worker& worker) {
  const std::scoped_lock lock(mutex_);
  std::vector<Accumulator>& totals = totals_[static_cast<std::size_t>(worker.group)];
  for (std::size_t i = 0; i < totals.size(); ++i) {
    totals[i].add(worker.sums[i]);
    worker.sums[i].clear();
  }
  tally_.add(worker.tally);
  worker.tally = {};
}

std::span<const double> Evaluation::grades_of(Count user) const {
  if (request_.grades.empty()) return {};
  return row_of(request_.grades, request_.truth, user);
}

const Matches& Evaluation::match(Worker& worker, Count user) const {
  // Only the predictions come in several widths; the adapters widen the rest once.
  const auto as_int64 = [&](const Lists& lists) {
    return row_of(std::get<std::span<const std::int64_t>>(lists.items), lists, user);
  };
  const auto truth = as_int64(request_.truth);
  const auto exclude =
      request_.exclude ? as_int64(*request_.exclude) : std::span<const std::int64_t>{};
  return std::visit(
      [&](const auto& items) -> const Matches& {
        return worker.ranking.match(truth, row_of(items, request_.predictions, user), exclude);
      },
      request_.predictions.items);
}

bool Evaluation::raises(Duplicates Rules::* field) const {
  return std::ranges::any_of(plan_.runs,
                             [&](const Run& run) { return run.rules.*field == Duplicates::raise; });
}

Breach Evaluation::visit(Worker& worker, Count user) const {
  const Matches& matches = match(worker, user);
  if (matches.truth_duplicates > 0 && raises(&Rules::duplicate_truth)) {
    return Breach::duplicate_truth;
  }
  if (matches.list_duplicates > 0 && raises(&Rules::duplicate_items)) {
    return Breach::duplicate_items;
  }
  Breach gravest = Breach::none;
  for (std::size_t lens = 0; lens < plan_.lenses.size(); ++lens) {
    const HitRow row = worker.judge.judge(plan_.lenses[lens], matches, grades_of(user));
    if (lens == plan_.tally_lens) tally(worker, matches, row, user);
    for (const Run& run : plan_.runs) {
      if (run.lens != lens) continue;
      gravest = std::min(gravest, score_run(worker, run, row, user));
    }
  }
  return gravest;
}

Breach Evaluation::score_run(Worker& worker, const Run& run, const HitRow& row, Count user) const {
  const double weight = request_.weights ? (*request_.weights)[static_cast<std::size_t>(user)] : 1;
  const auto give = [&](std::size_t output, UserValue value) {
    keep(output, user, value.value);
    worker.sums[output].add(value, weight);
  };
  const Verdict outcome = verdict(run.rules, presence(user), row);
  if (outcome.empty == Empty::error) return outcome.breach;
  if (outcome.empty == Empty::compute) {
    const DiscountTable& discounts = discounts_[static_cast<std::size_t>(run.rules.discount)];
    const std::span<Ratio> ratios(worker.ratios.data(), run.cutoffs.size());
    run.score({row, run.rules, discounts, run.parameter}, run.cutoffs, ratios);
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      const UserValue value = divide(ratios[i], run.rules.undefined);
      if (run.rules.average == Average::macro) {
        give(run.outputs[i], value);
      } else {
        keep(run.outputs[i], user, value.value);
        worker.sums[run.outputs[i]].add(ratios[i], weight);
      }
    }
    return Breach::none;
  }
  UserValue fixed{.counts = false};
  if (outcome.empty == Empty::zero) fixed = {.value = 0};
  if (outcome.empty == Empty::one) fixed = {.value = 1};
  for (const std::size_t output : run.outputs) give(output, fixed);
  return Breach::none;
}

void Evaluation::keep(std::size_t output, Count user, double value) const {
  if (request_.per_user.empty()) return;
  request_.per_user[output * static_cast<std::size_t>(users()) + static_cast<std::size_t>(user)] =
      value;
}

void Evaluation::tally(Worker& worker, const Matches& matches, const HitRow& row,
                       Count user) const {
  const Presence present = presence(user);
  Tally& tally = worker.tally;
  tally.empty_truth += present.in_truth && row.relevant == 0 ? 1 : 0;
  tally.empty_predictions += present.in_predictions && row.recommended == 0 ? 1 : 0;
  tally.missing_predictions += present.in_truth && !present.in_predictions ? 1 : 0;
  tally.missing_truth += present.in_predictions && !present.in_truth ? 1 : 0;
  tally.duplicates += matches.list_duplicates;
  tally.excluded_recommended += matches.excluded_recommended;
  for (const Count entry : matches.excluded) {
    const bool first = matches.first_entry[static_cast<std::size_t>(entry)] == entry;
    tally.relevant_excluded += first && worker.judge.is_relevant(entry) ? 1 : 0;
  }
}

// The lists broke a rule. Walks all users again, in order, to say how many did and who was first.
void Evaluation::report(Breach gravest) {
  Worker worker = make_worker();
  Count count = 0;
  Count first = 0;
  for (Count user = 0; user < users(); ++user) {
    if (user % 1024 == 0) request_.poll();
    const Breach breach = visit(worker, user);
    if (breach == Breach::none || breach > gravest) continue;
    if (breach < gravest) count = 0;
    gravest = breach;
    if (count == 0) first = user;
    count += count_of(breach, match(worker, user));
  }
  Fault fault = fault_of(gravest, match(worker, first), first);
  fault.count = count;
  fault.row = first;
  throw InputError(std::move(fault));
}

Fault Evaluation::fault_of(Breach breach, const Matches& matches, Count user) const {
  const auto again = [&](const Lists& lists, Offset position) -> std::string {
    if (position < 0) return "an item again";  // another thread has changed the list since
    const auto flat = static_cast<std::size_t>(lists.begin(user) + position);
    return std::visit(
        [&](const auto& ids) { return "item " + std::to_string(ids[flat]) + " again"; },
        lists.items);
  };
  switch (breach) {
    case Breach::duplicate_truth:
      return {.argument = "truth",
              .expected = "each item once a user",
              .found = again(request_.truth, matches.first_truth_duplicate),
              .position = matches.first_truth_duplicate,
              .hint = "duplicate_truth='first', 'max' or 'count' accepts it"};
    case Breach::duplicate_items:
      return {.argument = "predictions",
              .expected = "each item once in a list",
              .found = again(request_.predictions, matches.first_list_duplicate),
              .position = matches.first_list_duplicate,
              .hint = "duplicate_items='first' or 'count' accepts it"};
    case Breach::empty_truth:
      return {.argument = "truth",
              .expected = "a relevant item for every user (empty_truth='error')",
              .found = "none"};
    case Breach::missing_list:
      return {.argument = "predictions",
              .expected = "a list for every user (missing_list='error')",
              .found = "none"};
    default:
      return {.argument = "predictions",
              .expected = "an item for every user (empty_list='error')",
              .found = "an empty list"};
  }
}

Result Evaluation::run() {
  // Blocks of about 2^14 ids: the counter costs nothing, yet they can be shared out and stopped.
  const Count ids = request_.truth.indptr.back() + request_.predictions.indptr.back();
  const Count block_users = std::clamp<Count>((users() << 14U) / (ids + 1), 1, 1024);
  const Count blocks = (users() + block_users - 1) / block_users;
  const int threads = static_cast<int>(std::clamp<Count>(blocks, 1, request_.threads));
  std::vector<Worker> workers;
  workers.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) workers.push_back(make_worker());
  std::atomic<Breach> breach = Breach::none;

  parallel_for(
      blocks, threads,
      [&](int index, Count block) {
        Worker& worker = workers[static_cast<std::size_t>(index)];
        const Count end = std::min((block + 1) * block_users, users());
        for (Count place = block * block_users; place < end && breach == Breach::none; ++place) {
          const Count user = order_.empty() ? place : order_[static_cast<std::size_t>(place)];
          if (group_of(user) != worker.group) flush(worker);
          worker.group = group_of(user);
          const Breach found = visit(worker, user);
          if (found != Breach::none) breach = found;
        }
      },
      request_.poll);

  if (breach != Breach::none) report(breach);
  Result result;
  for (Worker& worker : workers) flush(worker);
  for (const std::vector<Accumulator>& totals : totals_) {
    for (const Accumulator& sums : totals) result.sums.push_back(sums.sums());
  }
  result.tally = tally_;
  return result;
}

}  // namespace

void Tally::add(const Tally& other) noexcept {
  empty_truth += other.empty_truth;
  empty_predictions += other.empty_predictions;
  missing_predictions += other.missing_predictions;
  missing_truth += other.missing_truth;
  duplicates += other.duplicates;
  excluded_recommended += other.excluded_recommended;
  relevant_excluded += other.relevant_excluded;
}

Result evaluate(const Request& request) { return Evaluation(request).run(); }

}  // namespace metrik
