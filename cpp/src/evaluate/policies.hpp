// Policies of the convention for whole users and for 0 / 0: the two cases that metrics leave open.
#pragma once

#include <cstdint>
#include <limits>

#include "evaluate/violations.hpp"
#include "exactk/conventions.hpp"
#include "exactk/metrics.hpp"
#include "judge/hit_row.hpp"
#include "numeric/skipped_value.hpp"

namespace exactk {

struct Presence {
  bool in_truth;
  bool in_predictions;
};

struct UserPolicy {
  Empty empty;
  Violation violation;  // that `Empty::error` reports
};

[[nodiscard]] inline bool is_in_population(Users users, Presence presence) noexcept {
  switch (users) {
    case Users::both:
      return presence.in_truth && presence.in_predictions;
    case Users::predictions:
      return presence.in_predictions;
    case Users::union_:
      return presence.in_truth || presence.in_predictions;
    case Users::truth:
      break;
  }
  return presence.in_truth;
}

// Whether every convention computes the user's values.
[[nodiscard]] inline bool is_regular(Presence presence, const HitRow& row) noexcept {
  return presence.in_truth && presence.in_predictions && row.relevant > 0 && !row.is_empty;
}

// Returns the convention's policy for a user. An empty truth takes precedence over the list.
[[nodiscard]] inline UserPolicy user_policy(const MetricInfo& info, const Rules& rules,
                                            Presence presence, const HitRow& row) noexcept {
  if (!is_in_population(rules.users, presence)) return {Empty::skip, Violation::none};
  if (info.reads_truth && row.relevant == 0 && rules.empty_truth != Empty::compute) {
    return {rules.empty_truth, Violation::empty_truth};
  }
  if (info.counts_missing_lists) return {Empty::compute, Violation::none};
  if (!presence.in_predictions) return {rules.missing_list, Violation::missing_list};
  if (row.is_empty) return {rules.empty_list, Violation::empty_list};
  return {Empty::compute, Violation::none};
}

// Whether the user's list counts in metrics of all lists.
[[nodiscard]] inline bool has_counted_list(const Rules& rules, Presence presence,
                                           const HitRow& row) noexcept {
  if (!presence.in_predictions || rules.list_users == ListUsers::lists)
    return presence.in_predictions;
  return is_in_population(rules.users, presence) &&
         (row.relevant > 0 || rules.empty_truth != Empty::skip) &&
         (!row.is_empty || rules.empty_list != Empty::skip);
}

// Returns the value of 0 / 0.
[[nodiscard]] inline double undefined_value(Undefined undefined) noexcept {
  switch (undefined) {
    case Undefined::zero:
      return 0;
    case Undefined::one:
      return 1;
    case Undefined::skip:
      return kSkipped;
    case Undefined::nan:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Returns the value that the convention assigns to a user without computing it.
[[nodiscard]] inline double fixed_value(Empty empty) noexcept {
  switch (empty) {
    case Empty::zero:
      return 0;
    case Empty::one:
      return 1;
    default:
      return kSkipped;
  }
}

}  // namespace exactk
