// The sums of one value over the users of one group, while they grow.
#pragma once

#include <cmath>

#include "double_double.hpp"
#include "exact_sum.hpp"
#include "metrik/evaluate.hpp"
#include "policy.hpp"

namespace metrik {

class Accumulator {
 public:
  // `weighs`: the divisor of the mean is a sum of its own, not the number of users.
  Accumulator(Exactness exactness, bool weighs)
      : exactness_(exactness),
        weighs_(weighs),
        total_(exactness),
        squares_(exactness == Exactness::any ? Exactness::any : Exactness::unit_squares),
        weight_(weighs ? Exactness::any : Exactness::unit) {}

  // One user of a macro average.
  void add(UserValue user, double weight) noexcept {
    if (!user.counts) return;
    ++users_;
    if (std::isnan(user.value)) {
      ++undefined_;
      return;
    }
    if (exactness_ == Exactness::unit) {
      total_.add(user.value);
      squares_.add_square(user.value);
      return;
    }
    const Pair term = two_product(weight, user.value);
    add_exactly(total_, term);
    add_exactly(squares_, two_product(term.high, user.value));
    add_exactly(squares_, two_product(term.low, user.value));
    if (weighs_) weight_.add(weight);
  }

  // One user of a micro average.
  void add(const Ratio& ratio, double weight) noexcept {
    ++users_;
    add_exactly(total_, two_product(weight, ratio.numerator));
    add_exactly(weight_, two_product(weight, ratio.denominator));
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
  static void add_exactly(ExactSum& sum, Pair term) noexcept {
    sum.add(term.high);
    sum.add(term.low);
  }

  Exactness exactness_;
  bool weighs_;
  Count users_ = 0;
  Count undefined_ = 0;
  ExactSum total_;
  ExactSum squares_;
  ExactSum weight_;
};

}  // namespace metrik
