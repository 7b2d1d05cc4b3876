// State that the threads of an evaluation share: the request, and what follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run.hpp"
#include "evaluate/plan.hpp"
#include "evaluate/policies.hpp"
#include "exactk/evaluate.hpp"
#include "judge/group_counter.hpp"
#include "judge/item_counter.hpp"
#include "kernels/table.hpp"
#include "match/catalogue_index.hpp"
#include "match/item_group_index.hpp"
#include "numeric/accumulator.hpp"
#include "numeric/discounts.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/screening.hpp"

namespace exactk {

// Read by all threads, changed by none.
struct Job {
  const Request& request;
  const Run& run;
  Plan plan;
  std::uint64_t id_bits;  // the bitwise "or" of all ids
  const Kernels& kernels;
  std::vector<DiscountTable> discounts;  // those of the plan
  Norms norms;                           // if the predictions are embeddings
  CatalogueIndex catalogue;              // if the lists are read
  ItemGroupIndex item_groups;            // if values are of groups of items
};

// Validates the request and resolves its plan. The job has no discounts yet.
[[nodiscard]] Job make_job(const Request& request, const Run& run);

// Returns how many users a thread evaluates at a time.
[[nodiscard]] Count choose_block_users(const Job& job);

// Returns the items of the predictions if each user has a list of them, otherwise null.
[[nodiscard]] const Lists* item_lists(const Predictions& predictions) noexcept;

// Whether the user is in the truth and in the predictions.
[[nodiscard]] Presence presence_of(const Request& request, Count user) noexcept;

// Whether selecting the best of `items` items, down to the last rank that a value asks for, costs
// less than ranking the truth.
[[nodiscard]] bool is_shallow(const Plan& plan, Count items) noexcept;

// Returns how users are screened before they are judged.
[[nodiscard]] ScreeningRequest screening_request(const Job& job);

// Returns how each value is summed.
[[nodiscard]] std::vector<Exactness> exactness_of_values(const Job& job);

// Returns counters of no lists, one for each tally.
[[nodiscard]] std::vector<ItemCounter> make_item_counters(const Job& job);
[[nodiscard]] std::vector<GroupCounter> make_group_counters(const Job& job);

// Returns empty sums, one for each value.
[[nodiscard]] std::vector<Accumulator> make_accumulators(const Job& job);

}  // namespace exactk
