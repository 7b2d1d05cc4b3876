// Checks of the catalogue, and of what metrics need of it.
#pragma once

#include "base/run.hpp"
#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"
#include "match/catalogue_index.hpp"

namespace exactk {

// Throws InputError unless the sizes, ids and counts of the catalogue are valid, and it has all
// that the plan needs.
void validate_items(const Request& request, const Plan& plan, const Run& run);

// Throws InputError unless every item is in the catalogue once. Requires valid items.
void check_distinct_items(const Items& items, const CatalogueIndex& catalogue, const Run& run);

}  // namespace exactk
