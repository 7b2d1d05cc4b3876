#include "evaluate/job.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "base/run.hpp"
#include "evaluate/block_size.hpp"
#include "evaluate/validate/items.hpp"
#include "evaluate/validate/request.hpp"
#include "kernels/dispatch.hpp"

namespace exactk {

Job make_job(const Request& request, const Run& run) {
  Job job{.request = request,
          .run = run,
          .plan = make_plan(request),
          .id_bits = 0,
          .kernels = kernels(request.isa),
          .discounts = {},
          .norms = {},
          .catalogue = {},
          .item_groups = {}};
  job.id_bits = validate(request, job.plan, run);
  if (const auto* embeddings = std::get_if<Embeddings>(&request.predictions)) {
    job.norms = measure_norms(*embeddings, job.kernels, run);
  }
  if (request.items) {
    const Items& items = *request.items;
    const std::span<const Count> counts = items.users.empty() ? items.interactions : items.users;
    job.catalogue = CatalogueIndex(items.ids, counts, run);
    check_distinct_items(*request.items, job.catalogue, run);
    if (job.plan.item_groups > 0) {
      job.item_groups = {job.catalogue, items.group_bits, job.plan.item_groups, run};
    }
    for (Pass& pass : job.plan.passes) {
      if (pass.needs.tags && items.features) {
        pass.tags = std::make_shared<const ItemTags>(*items.features);
      }
      if (pass.needs.distances && items.features) {
        pass.distances =
            make_item_distances(*items.features, pass.rules.distance, job.kernels, run);
      }
      if (pass.item_values_of == nullptr) continue;
      if (!pass.needs.popularity && !pass.needs.item_groups) continue;
      run.poll();
      pass.item_values = pass.item_values_of(*request.items, pass.rules, pass.parameter);
    }
  }
  return job;
}

Count choose_block_users(const Job& job) {
  const Request& request = job.request;
  const ScreeningRequest screening = screening_request(job);
  if (!screening.is_empty()) {
    return Screening::block_users(std::get<Embeddings>(request.predictions), screening,
                                  request.threads);
  }
  const Count ids = cost_in_ids(request.truth) +
                    std::visit([](const auto& predictions) { return cost_in_ids(predictions); },
                               request.predictions);
  return users_per_block(request.truth.row_count(), ids);
}

const Lists* item_lists(const Predictions& predictions) noexcept {
  const auto* sparse_scores = std::get_if<SparseScores>(&predictions);
  return sparse_scores != nullptr ? &sparse_scores->items : std::get_if<Lists>(&predictions);
}

Presence presence_of(const Request& request, Count user) noexcept {
  const bool in_truth = request.truth.has(user);
  if (const Lists* lists = item_lists(request.predictions)) return {in_truth, lists->has(user)};
  if (const auto* matrix = std::get_if<ScoreMatrix>(&request.predictions)) {
    return {in_truth, matrix->has(user)};
  }
  const auto* embeddings = std::get_if<Embeddings>(&request.predictions);
  return {in_truth, embeddings == nullptr || embeddings->has(user)};
}

// Ranks of the truth cost the same at any depth; the cost of a list grows with its length.
bool is_shallow(const Plan& plan, Count items) noexcept {
  return !plan.ranks_all && plan.depth <= std::clamp<Count>(items / 8, 1024, 16384);
}

// Requests the list if it is short and strict, otherwise the ranks of the truth.
ScreeningRequest screening_request(const Job& job) {
  const auto* source = std::get_if<Embeddings>(&job.request.predictions);
  const Plan& plan = job.plan;
  if (source == nullptr || plan.ties.empty()) return {};
  const auto is_highest = [](Ties ties) { return ties == Ties::highest_id; };
  const auto first_strict = std::ranges::find_if(plan.ties, is_strict);
  const bool from_list = first_strict != plan.ties.end() && is_shallow(plan, source->items.rows);
  ScreeningRequest request;
  if (from_list) request.depth = plan.depth + 1;
  request.highest_first = from_list && is_highest(*first_strict);
  const bool suffices = from_list && std::ranges::all_of(plan.ties, [&](Ties ties) {
                          return is_strict(ties) && is_highest(ties) == request.highest_first;
                        });
  if (!suffices) request.truth = &job.request.truth;
  return Screening::is_worthwhile(*source, request) ? request : ScreeningRequest{};
}

std::vector<Exactness> exactness_of_values(const Job& job) {
  std::vector<Exactness> exactness(job.request.values.size());
  for (const Pass& pass : job.plan.passes) {
    Exactness value_exactness = pass.unit_range ? Exactness::unit : Exactness::any;
    if (pass.rules.average == Average::geometric) value_exactness = Exactness::any;
    if (job.request.weights || pass.rules.average == Average::micro)
      value_exactness = Exactness::weighing;
    for (const std::size_t output : pass.outputs) exactness[output] = value_exactness;
  }
  return exactness;
}

std::vector<Accumulator> make_accumulators(const Job& job) {
  const std::vector<Exactness> exactness = exactness_of_values(job);
  return {exactness.begin(), exactness.end()};
}

std::vector<ItemCounter> make_item_counters(const Job& job) {
  std::vector<ItemCounter> counters;
  counters.reserve(job.request.item_tallies.size());
  for (const ItemTallyRequest& tally : job.request.item_tallies) {
    counters.emplace_back(tally, job.catalogue.size(), job.run);
  }
  return counters;
}

std::vector<GroupCounter> make_group_counters(const Job& job) {
  std::vector<GroupCounter> counters;
  counters.reserve(job.request.group_tallies.size());
  for (const ListCount& list_count : job.plan.list_counts) {
    if (list_count.info != nullptr && job.request.items)
      counters.emplace_back(*list_count.info, *job.request.items, list_count.depth, job.run);
  }
  return counters;
}

}  // namespace exactk
