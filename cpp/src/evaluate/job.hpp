// What an evaluation's threads share: the request, and what follows from it alone.
#pragma once

#include <cstdint>
#include <vector>

#include "evaluate/plan.hpp"
#include "evaluate/policies.hpp"
#include "exactk/evaluate.hpp"
#include "kernels/table.hpp"
#include "numeric/accumulator.hpp"
#include "numeric/discounts.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/screening.hpp"

namespace exactk {

// All threads read it, and none changes it.
struct Job {
  const Request& request;
  Plan plan;
  std::uint64_t id_bits;  // the bitwise "or" of all ids
  const Kernels& kernels;
  std::vector<DiscountTable> discounts;  // by Discount
  Norms norms;                           // if the predictions are embeddings
};

// The items of the predictions, if each user has a list of them.
[[nodiscard]] const Lists* item_lists(const Predictions& predictions) noexcept;

// Whether the truth and the predictions have the user.
[[nodiscard]] Presence presence_of(const Request& request, Count user) noexcept;

// Whether the best of so many items, down to the last rank that a value asks for, cost less than
// the ranks of the truth.
[[nodiscard]] bool is_shallow(const Plan& plan, Count items) noexcept;

// What the users are screened for before they are judged.
[[nodiscard]] ScreeningRequest screening_request(const Job& job);

// How each value is summed.
[[nodiscard]] std::vector<Exactness> exactness_of_values(const Job& job);

// Empty sums, one for each value.
[[nodiscard]] std::vector<Accumulator> make_accumulators(const Job& job);

}  // namespace exactk
