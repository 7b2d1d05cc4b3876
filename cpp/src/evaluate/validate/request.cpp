#include "evaluate/validate/request.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "evaluate/validate/grades.hpp"
#include "evaluate/validate/histories.hpp"
#include "evaluate/validate/items.hpp"
#include "evaluate/validate/lists.hpp"
#include "evaluate/validate/scores.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"

namespace exactk {
namespace {

// Rejects rank gaps for metrics that count items, or pairs of items, by rank.
void check_rank_gaps(const Request& request, const Pass& pass) {
  const auto* lists = std::get_if<Lists>(&request.predictions);
  if (lists == nullptr || lists->ranks.empty()) return;
  if (!pass.info->pairwise && !pass.info->takes_item_count) return;
  throw InputError({.argument = "metrics",
                    .expected = std::string(pass.info->name) + ": ranks without gaps",
                    .found = "rank_gaps='keep'",
                    .hint = std::string(pass.info->name) + "(rank_gaps=close) closes them"});
}

// Rejects given values whose numbers the request lacks, or no sum has room for.
void check_given(const Request& request, const Plan& plan, const Run& run) {
  const auto numbers = 2 * static_cast<double>(request.truth.row_count());
  for (const Pass& pass : plan.passes) {
    if (!pass.info->is_given) continue;
    const double row = pass.parameter;
    const bool has_row = row >= 0 && row == std::floor(row) &&
                         (row + 1) * numbers <= static_cast<double>(request.given.size());
    if (has_row) continue;
    throw InputError({.argument = "given",
                      .expected = "two numbers per given value and user",
                      .found = std::to_string(request.given.size())});
  }
  in_chunks(request.given.size(), run, [&](std::size_t begin, std::size_t end) {
    const auto chunk = request.given.subspan(begin, end - begin);
    const auto bad =
        std::ranges::find_if_not(chunk, [](double number) { return std::abs(number) <= kMaxGain; });
    if (bad == chunk.end()) return;
    throw InputError({.argument = "given",
                      .expected = "numbers from -2^256 to 2^256",
                      .found = format_number(*bad)});
  });
}

}  // namespace

std::uint64_t validate(const Request& request, const Plan& plan, const Run& run) {
  const Execution& execution = run.execution();
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
  if (request.base) {
    id_bits |= validate_lists(*request.base, "base_predictions", execution);
    check_rows(request.base->row_count(), users, "base_predictions");
  }
  if (request.weights) check_weights(*request.weights, users, run);
  check_codes(request.groups, request.group_count, users, "group", run);
  for (const Pass& pass : plan.passes) check_rank_gaps(request, pass);
  validate_items(request, plan, run);
  validate_histories(request, plan, run);
  check_min_grade(request, request.tally_rules);
  for (const Pass& pass : plan.passes) {
    check_gains(request, pass, run);
    check_min_grade(request, pass.rules);
  }
  check_given(request, plan, run);
  if (!request.per_user.empty()) {
    check_size(request.per_user.size(), users * static_cast<Count>(request.values.size()),
               "per_user", "one number per value and user");
  }
  if (!request.ratios.empty()) {
    const auto micro_values = std::ranges::count_if(request.values, [](const PlannedValue& value) {
      return value.rules.average == Average::micro;
    });
    check_size(request.ratios.size(), 2 * users * micro_values, "per_user",
               "two numbers per micro value and user");
  }
  return id_bits;
}

}  // namespace exactk
