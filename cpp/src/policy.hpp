// What a convention says about the whole user and about 0 / 0: the two questions that a metric
// never asks itself.
#pragma once

#include <cstdint>
#include <limits>

#include "judge.hpp"
#include "metrics/denominators.hpp"
#include "metrik/conventions.hpp"

namespace metrik {

struct Presence {
  bool in_truth;
  bool in_predictions;
};

// What an input breaks that only reading the lists shows, the gravest first.
enum class Breach : std::uint8_t {
  duplicate_truth,
  duplicate_items,
  empty_truth,
  missing_list,
  empty_list,
  none
};

struct Verdict {
  Empty empty;
  Breach breach;  // that `Empty::error` stands for
};

[[nodiscard]] inline bool in_population(Users users, Presence present) noexcept {
  switch (users) {
    case Users::both:
      return present.in_truth && present.in_predictions;
    case Users::predictions:
      return present.in_predictions;
    case Users::union_:
      return present.in_truth || present.in_predictions;
    case Users::truth:
      break;
  }
  return present.in_truth;
}

// What becomes of a user. An empty truth is asked about before the list.
[[nodiscard]] inline Verdict verdict(const Rules& rules, Presence present,
                                     const HitRow& row) noexcept {
  if (!in_population(rules.users, present)) return {Empty::skip, Breach::none};
  if (row.relevant == 0 && rules.empty_truth != Empty::compute) {
    return {rules.empty_truth, Breach::empty_truth};
  }
  if (!present.in_predictions) return {rules.missing_list, Breach::missing_list};
  if (row.recommended == 0) return {rules.empty_list, Breach::empty_list};
  return {Empty::compute, Breach::none};
}

struct UserValue {
  double value = std::numeric_limits<double>::quiet_NaN();
  bool counts = true;  // false: in no mean
};

[[nodiscard]] inline UserValue divide(const Ratio& ratio, Undefined undefined) noexcept {
  if (ratio.denominator != 0) return {.value = ratio.numerator / ratio.denominator};
  switch (undefined) {
    case Undefined::zero:
      return {.value = 0};
    case Undefined::one:
      return {.value = 1};
    case Undefined::skip:
      return {.counts = false};
    case Undefined::nan:
      break;
  }
  return {};
}

}  // namespace metrik
