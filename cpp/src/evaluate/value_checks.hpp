// Checks of the values that a request asks for: their rules, cutoffs and parameters.
#pragma once

#include <string>

#include "exactk/conventions.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/metrics.hpp"

namespace exactk {

// Whether a late hit may lower the value.
[[nodiscard]] bool is_mean_over_hits(const MetricInfo& info, const Rules& rules);

// Rejects an expectation where a metric has another value between the orders of ties that a
// request leaves open: the polygon of a ROC curve is no mean over orders where it is cut.
void check_requested_ties(const MetricInfo& info, const PlannedValue& value);

// These throw InputError about what is wrong. `has_expectation`: whether the metric has a formula
// for the expectation over all orders of ties.
void check_value(const MetricInfo& info, bool has_expectation, const PlannedValue& value);
// Of a value whose rules were checked at another cutoff.
void check_value_at_cutoff(const MetricInfo& info, bool has_expectation, const PlannedValue& value);
void check_rules(const Rules& rules, const std::string& argument);
void check_item_tally(const ItemTallyRequest& tally);
void check_group_tally(const MetricInfo& info, const PlannedValue& tally);

}  // namespace exactk
