// Accumulates the sums of one value over the users of one group.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "exactk/evaluate.hpp"
#include "numeric/double_double.hpp"
#include "numeric/exact_sum.hpp"
#include "numeric/skipped_value.hpp"

namespace exactk {

// The integers that hold the sums. The choice depends on the metric and on whether there are
// weights, never on the data.
enum class Exactness : std::uint8_t {
  unit,     // values in [0, 1] with equal weights
  any,      // other values with equal weights
  weighing  // the divisor of the mean is a sum of weights, not the number of users
};

class Accumulator {
 public:
  explicit Accumulator(Exactness exactness) {
    if (exactness != Exactness::unit) wide_ = std::make_unique<WideSums>();
    has_weight_sum_ = exactness == Exactness::weighing;
  }

  // Adds at most kTerms users of a mean. `weights` are parallel to `values`; empty: all are 1.
  void add(std::span<const double> values, std::span<const double> weights,
           const Kernels& kernels) noexcept {
    if (!wide_ && unit_.add(values, kernels)) {
      users_ += static_cast<Count>(values.size());
      return;
    }
    std::array<double, kTerms> unit_values;  // NOLINT(*-member-init): filled as far as it is read
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_skipped(values[i])) continue;
      ++users_;
      if (std::isnan(values[i])) {
        ++undefined_;
      } else if (wide_) {
        add_value(values[i], weights.empty() ? 1 : weights[i]);
      } else {
        unit_values[count++] = values[i];
      }
    }
    // Fails only if another thread writes to the input meanwhile; the sum is then wrong.
    unit_.add(std::span(unit_values).first(count), kernels);
  }

  // Adds users with equal values: as many as `users` says of each, whose weight is 1.
  void add_repeated(std::span<const double> values, std::span<const Count> users,
                    const Kernels& kernels) noexcept {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_skipped(values[i])) continue;
      users_ += users[i];
      if (std::isnan(values[i])) {
        undefined_ += users[i];
      } else if (wide_) {
        add_value(values[i], static_cast<double>(users[i]));
      } else {
        unit_.add_repeated(values[i], users[i], kernels);
      }
    }
  }

  // Adds one user of a micro average.
  void add_ratio(double numerator, double denominator, double weight) noexcept {
    ++users_;
    add_pair(wide_->total, two_product(weight, numerator));
    add_pair(wide_->weight, two_product(weight, denominator));
  }

  void add(const Accumulator& other) noexcept {
    users_ += other.users_;
    undefined_ += other.undefined_;
    unit_.add(other.unit_);
    if (!wide_) return;
    wide_->total.add(other.wide_->total);
    wide_->squares.add(other.wide_->squares);
    wide_->weight.add(other.wide_->weight);
  }

  void clear() noexcept {
    users_ = undefined_ = 0;
    unit_ = {};
    if (wide_) *wide_ = {};
  }

  [[nodiscard]] Sums sums() const {
    return {.users = users_,
            .undefined = undefined_,
            .total = wide_ ? wide_->total.integer() : unit_.total(),
            .squares = wide_ ? wide_->squares.integer() : unit_.squares(),
            .weight = has_weight_sum_ ? wide_->weight.integer() : UnitSums{}.total()};
  }

 private:
  struct WideSums {
    WideSum total;
    WideSum squares;
    WideSum weight;
  };

  static void add_pair(WideSum& sum, Pair term) noexcept {
    sum.add(term.high);
    sum.add(term.low);
  }

  void add_value(double value, double weight) noexcept {
    const Pair term = two_product(weight, value);
    add_pair(wide_->total, term);
    add_pair(wide_->squares, two_product(term.high, value));
    add_pair(wide_->squares, two_product(term.low, value));
    if (has_weight_sum_) wide_->weight.add(weight);
  }

  Count users_ = 0;
  Count undefined_ = 0;
  UnitSums unit_;
  std::unique_ptr<WideSums> wide_;
  bool has_weight_sum_;
};

}  // namespace exactk
