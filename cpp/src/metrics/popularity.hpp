// How popular the items of the catalogue are, as the convention counts it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "exactk/conventions.hpp"
#include "exactk/items.hpp"
#include "exactk/types.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {

// The number that a metric takes of each item: those of the catalogue, of an item outside it, and
// of a rank without an item. NaN: the item is left out. None at all: numbers divide by 0, and so is
// every list 0 / 0.
using ItemValues = std::vector<double>;

inline constexpr double kLeftOut = std::numeric_limits<double>::quiet_NaN();

// Returns the least integer that is not below share x total. A product within 10^-9 of an integer,
// relative to it, is that integer: 0.8 is not exactly 4 / 5.
[[nodiscard]] inline Count least_count(double share, Count total) noexcept {
  const double product = share * static_cast<double>(total);
  const double nearest = std::nearbyint(product);
  const bool is_nearest = std::abs(product - nearest) <= 1e-9 * std::max(1.0, product);
  return static_cast<Count>(is_nearest ? nearest : std::ceil(product));
}

// A view of the popularity under the rules.
class PopularityView {
 public:
  PopularityView(const Items& items, const Rules& rules, Popularity popularity)
      : counts_(popularity == Popularity::users ? items.users : items.interactions),
        rules_(rules),
        users_(items.train_users) {
    for (const Count count : counts_) {
      total_ += count;
      highest_ = std::max(highest_, count);
      if (count > 0) lowest_ = std::min(lowest_, count);
    }
    for (const Count count : items.interactions) interactions_ += count;
  }
  PopularityView(const Items& items, const Rules& rules)
      : PopularityView(items, rules, rules.popularity) {}

  [[nodiscard]] std::span<const Count> counts() const noexcept { return counts_; }
  [[nodiscard]] Count total() const noexcept { return total_; }
  // Returns the popularity of the least popular item of train.
  [[nodiscard]] Count lowest() const noexcept { return lowest_; }
  [[nodiscard]] Count users() const noexcept { return users_; }
  [[nodiscard]] Count divisor(PopularityOver over) const noexcept {
    switch (over) {
      case PopularityOver::users:
        return users_;
      case PopularityOver::interactions:
        return interactions_;
      case PopularityOver::max:
        return highest_;
      case PopularityOver::one:
        break;
    }
    return 1;
  }

  // Returns the number of every item. `value_of(p)` is that of an item of popularity p > 0, and
  // `rare` that of an item in no list of train, unless the rules decide otherwise.
  template <class ValueOf>
  [[nodiscard]] ItemValues values(const ValueOf& value_of, double rare) const {
    const double unseen = value_of_unseen(value_of, rare);
    ItemValues values;
    values.reserve(counts_.size() + 2);
    for (const Count count : counts_) values.push_back(count > 0 ? value_of(count) : unseen);
    values.push_back(rules_.foreign_items == ForeignItems::ignore ? kLeftOut : unseen);
    values.push_back(kLeftOut);
    return values;
  }

  // Returns the items of train that are in the tail.
  [[nodiscard]] std::vector<std::size_t> tail(double head) const {
    switch (rules_.tail) {
      case Tail::lowest_share:
        return least_popular(head);
      case Tail::at_most:
        return items_where([&](Count count) { return static_cast<double>(count) <= head; });
      case Tail::head_share:
        break;
    }
    return outside_head(head);
  }

 private:
  template <class ValueOf>
  [[nodiscard]] double value_of_unseen(const ValueOf& value_of, double rare) const {
    switch (rules_.unseen_items) {
      case UnseenItems::zero:
        return 0;
      case UnseenItems::skip:
        return kLeftOut;
      case UnseenItems::least_popular:
        return highest_ > 0 ? value_of(lowest_) : rare;
      case UnseenItems::rare:
      case UnseenItems::raise:  // such lists are refused
        break;
    }
    return rare;
  }

  // Returns the items of train whose popularity passes, by position.
  template <class Passes>
  [[nodiscard]] std::vector<std::size_t> items_where(const Passes& passes) const {
    std::vector<std::size_t> items;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0 && passes(counts_[i])) items.push_back(i);
    }
    return items;
  }

  // Returns the items of train, less the share `head` of them with the highest popularity, but at
  // least one. Of equal ones, the first of the catalogue are in the tail.
  [[nodiscard]] std::vector<std::size_t> least_popular(double head) const {
    std::vector<std::size_t> items = items_where([](Count) { return true; });
    std::ranges::stable_sort(items, {}, [&](std::size_t i) { return counts_[i]; });
    const auto size = static_cast<Count>(items.size());
    const Count tail = std::max(size - least_count(head, size), Count{1});
    items.resize(static_cast<std::size_t>(std::min(tail, size)));
    return items;
  }

  // Returns the items of train outside the fewest that have the share `head` of the total. Equal
  // ones stay together, in the head if any of them is needed there.
  [[nodiscard]] std::vector<std::size_t> outside_head(double head) const {
    std::vector<std::size_t> items = items_where([](Count) { return true; });
    std::ranges::stable_sort(items, std::greater<>(), [&](std::size_t i) { return counts_[i]; });
    const Count enough = least_count(head, total_);
    Count sum = 0;
    std::size_t size = 0;
    Count last = 0;  // popularity of the last item of the head
    while (size < items.size() && (sum < enough || counts_[items[size]] == last)) {
      last = counts_[items[size++]];
      sum += last;
    }
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(size));
    return items;
  }

  std::span<const Count> counts_;
  const Rules& rules_;
  Count users_;
  Count interactions_ = 0;
  Count total_ = 0;
  Count highest_ = 0;
  Count lowest_ = std::numeric_limits<Count>::max();
};

// Computes a number for each popularity once: few popularities are many items'.
template <class ValueOf>
class Remembered {
 public:
  Remembered(const ValueOf& value_of, Count highest)
      : value_of_(value_of),
        values_(static_cast<std::size_t>(std::min(highest, kRemembered)) + 1, kLeftOut) {}

  double operator()(Count popularity) const {
    if (std::cmp_greater_equal(popularity, values_.size())) return value_of_(popularity);
    double& value = values_[static_cast<std::size_t>(popularity)];
    if (std::isnan(value)) value = value_of_(popularity);
    return value;
  }

 private:
  static constexpr Count kRemembered = Count{1} << 16U;

  const ValueOf& value_of_;
  mutable std::vector<double> values_;
};

// Returns log2(total / popularity), rounded once from about 100 bits.
[[nodiscard]] inline Pair log2_of_inverse_share(Count total, Count popularity) noexcept {
  const Pair part = log2_of(static_cast<double>(popularity));
  return add(log2_of(static_cast<double>(total)), {-part.high, -part.low});
}

}  // namespace exactk
