// The sums of one value over the users of one group, while they grow.
#pragma once

#include <cmath>

#include "exact_sum.hpp"
#include "metrik/evaluate.hpp"
#include "policy.hpp"

namespace metrik {

class Accumulator {
 public:
  // `weighs`: the divisor of the mean is a sum of its own, not the number of users.
  Accumulator(Exactness exactness, bool weighs)
      : total_(exactness),
        squares_(exactness),
        weight_(weighs ? Exactness::any : Exactness::unit),
        weighs_(weighs) {}

  // One user of a macro average.
  void add(UserValue user, double weight) noexcept {
    if (!user.counts) return;
    ++users_;
    if (std::isnan(user.value)) {
      ++undefined_;
      return;
    }
    const double term = weight * user.value;
    total_.add(term);
    squares_.add(term * user.value);
    if (weighs_) weight_.add(weight);
  }

  // One user of a micro average.
  void add(const Ratio& ratio, double weight) noexcept {
    ++users_;
    total_.add(weight * ratio.numerator);
    weight_.add(weight * ratio.denominator);
  }

  void add(const Accumulator& other) noexcept {
    users_ += other.users_;
    undefined_ += other.undefined_;
    total_.add(other.total_);
    squares_.add(other.squares_);
    weight_.add(other.weight_);
  }

  void clear() noexcept {
    users_ = undefined_ = 0;
    total_.clear();
    squares_.clear();
    weight_.clear();
  }

  [[nodiscard]] Sums sums() const {
    return {.users = users_,
            .undefined = undefined_,
            .total = total_.integer(),
            .squares = squares_.integer(),
            .weight = weight_.integer()};
  }

 private:
  Count users_ = 0;
  Count undefined_ = 0;
  ExactSum total_;
  ExactSum squares_;
  ExactSum weight_;
  bool weighs_;
};

}  // namespace metrik
