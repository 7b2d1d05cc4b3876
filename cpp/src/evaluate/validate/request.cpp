#include "evaluate/validate/request.hpp"

#include <cmath>
#include <string>
#include <variant>

#include "base/checkpoint.hpp"
#include "base/parallel.hpp"
#include "evaluate/validate/grades.hpp"
#include "evaluate/validate/lists.hpp"
#include "evaluate/validate/scores.hpp"
#include "evaluate/validate/search.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"

namespace exactk {
namespace {

void check_weights(std::span<const double> weights, Count users, const Checkpoint& checkpoint) {
  check_size(weights.size(), users, "weights", "one weight per user");
  const auto bad = [](double weight) {
    return weight != 0 && !(weight >= 1 / kMaxGain && weight <= kMaxGain);
  };
  const Search search(weights, bad, checkpoint);
  if (search.count == 0) return;
  throw InputError({.argument = "weights",
                    .expected = "non-negative weights, at most 2^256 (and from 2^-256 unless 0)",
                    .found = format_number(weights[static_cast<std::size_t>(search.first)]),
                    .count = search.count,
                    .row = search.first});
}

void check_groups(const Request& request, Count users, const Checkpoint& checkpoint) {
  if (request.group_count < 1 || request.group_count > std::max(users, Count{1})) {
    throw InputError({.argument = "groups",
                      .expected = "from 1 group to one group per user",
                      .found = std::to_string(request.group_count)});
  }
  if (request.groups.empty()) return;
  check_size(request.groups.size(), users, "groups", "one group per user");
  const auto bad = [&](Offset group) { return group < 0 || group >= request.group_count; };
  const Search search(request.groups, bad, checkpoint);
  if (search.count == 0) return;
  throw InputError({.argument = "groups",
                    .expected = "group numbers below " + std::to_string(request.group_count),
                    .found = std::to_string(request.groups[static_cast<std::size_t>(search.first)]),
                    .count = search.count,
                    .row = search.first});
}

// Rejects rank gaps for metrics that count items, or pairs of items, by rank.
void check_rank_gaps(const Request& request, const Run& run) {
  const auto* lists = std::get_if<Lists>(&request.predictions);
  if (lists == nullptr || lists->ranks.empty()) return;
  if (!run.info->pairwise && !run.info->takes_item_count) return;
  throw InputError({.argument = "metrics",
                    .expected = std::string(run.info->name) + ": ranks without gaps",
                    .found = "rank_gaps='keep'",
                    .hint = std::string(run.info->name) + "(rank_gaps=close) closes them"});
}

}  // namespace

std::uint64_t validate(const Request& request, const Plan& plan) {
  check_threads(request.threads);
  const Execution execution{.threads = request.threads, .poll = request.poll};
  const Checkpoint checkpoint = timed_checkpoint(request.poll);
  std::uint64_t id_bits = validate_lists(request.truth, "truth", execution);
  check_int64(request.truth, "truth");
  validate_grades(request.grades, request.truth, execution);
  const Count users = request.truth.row_count();
  if (const auto* lists = std::get_if<Lists>(&request.predictions)) {
    id_bits |= validate_lists(*lists, "predictions", execution);
    check_rows(lists->row_count(), users, "predictions");
  } else if (const auto* sparse_scores = std::get_if<SparseScores>(&request.predictions)) {
    id_bits |= validate_scores(*sparse_scores, "predictions", execution);
    check_rows(sparse_scores->items.row_count(), users, "predictions");
  } else if (const auto* matrix = std::get_if<ScoreMatrix>(&request.predictions)) {
    validate_scores(*matrix, "predictions", execution);
    check_rows(matrix->user_count(), users, "predictions");
    id_bits |= bits_below(matrix->items);
  } else {
    const auto& embeddings = std::get<Embeddings>(request.predictions);
    validate_embeddings(embeddings, execution);
    check_rows(embeddings.users.rows, users, "predictions");
    id_bits |= bits_below(embeddings.items.rows);
  }
  if (request.exclude) {
    id_bits |= validate_lists(*request.exclude, "exclude", execution);
    check_int64(*request.exclude, "exclude");
    check_rows(request.exclude->row_count(), users, "exclude");
  }
  if (request.weights) check_weights(*request.weights, users, checkpoint);
  check_groups(request, users, checkpoint);
  for (const Run& run : plan.runs) check_rank_gaps(request, run);
  check_min_grade(request, request.tally_rules);
  for (const Run& run : plan.runs) {
    check_gains(request, run, checkpoint);
    check_min_grade(request, run.rules);
  }
  if (!request.per_user.empty()) {
    check_size(request.per_user.size(), users * static_cast<Count>(request.values.size()),
               "per_user", "one number per value and user");
  }
  return id_bits;
}

}  // namespace exactk
