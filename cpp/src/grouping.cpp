#include "metrik/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "checkpoint.hpp"
#include "metrik/error.hpp"
#include "parallel.hpp"
#include "read_once.hpp"

namespace metrik {
namespace {

// A row of no user is refused, and so is one that another thread has written since it was counted.
[[noreturn]] void refuse_number(KeyNumber number, Count users, std::size_t row,
                                const std::string& argument) {
  throw InputError({.argument = argument,
                    .expected = "numbers of users below " + std::to_string(users),
                    .found = std::to_string(number),
                    .position = static_cast<Offset>(row)});
}

}  // namespace

Grouping group_rows(std::span<const KeyNumber> numbers, Count users, const std::string& argument,
                    const Effort& effort) {
  const Checkpoint checkpoint = timed(effort.poll);
  Grouping grouping;
  std::vector<Offset>& indptr = grouping.indptr;
  grow(indptr, static_cast<std::size_t>(users) + 1, Offset{0}, checkpoint);
  bool sorted = true;
  KeyNumber last = 0;
  in_chunks(numbers.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const KeyNumber number = read_once(numbers[row]);
      if (std::cmp_greater_equal(number, users)) refuse_number(number, users, row, argument);
      sorted = sorted && number >= last;
      last = number;
      ++indptr[number + std::size_t{1}];
    }
  });
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
  if (sorted) return grouping;
  std::vector<Offset> next = indptr;
  grow(grouping.order, numbers.size(), Offset{0}, checkpoint);
  in_chunks(numbers.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const KeyNumber number = read_once(numbers[row]);
      if (std::cmp_greater_equal(number, users) || next[number] == indptr[number + std::size_t{1}])
        refuse_number(number, users, row, argument);
      grouping.order[static_cast<std::size_t>(next[number]++)] = static_cast<Offset>(row);
    }
  });
  return grouping;
}

namespace {

template <class T>
void order_rows(Grouping& grouping, std::span<const T> ranks, const std::string& argument,
                const Checkpoint& checkpoint) {
  const auto users = grouping.indptr.size() - 1;
  const auto before = [&](Offset one, Offset other) {
    return ranks[static_cast<std::size_t>(one)] < ranks[static_cast<std::size_t>(other)];
  };
  in_chunks(users, checkpoint, [&](std::size_t first, std::size_t last) {
    for (std::size_t user = first; user < last; ++user) {
      const auto begin = static_cast<std::size_t>(grouping.indptr[user]);
      const auto size = static_cast<std::size_t>(grouping.indptr[user + 1]) - begin;
      const auto rows = std::span(grouping.order).subspan(begin, size);
      if (!std::ranges::is_sorted(rows, before)) std::ranges::sort(rows, before);
      const auto twice = std::ranges::adjacent_find(
          rows, [&](Offset one, Offset other) { return !before(one, other); });
      if (twice == rows.end()) continue;
      throw InputError({.argument = argument,
                        .expected = "ranks that differ",
                        .found = std::to_string(ranks[static_cast<std::size_t>(*twice)]) + " twice",
                        .row = static_cast<Count>(user),
                        .position = twice - rows.begin()});
    }
  });
}

void check_no_nan(std::span<const double> ranks, const std::string& argument) {
  const auto nan = std::ranges::find_if(ranks, [](double rank) { return std::isnan(rank); });
  if (nan == ranks.end()) return;
  throw InputError({.argument = argument,
                    .expected = "ranks that are numbers",
                    .found = "NaN",
                    .position = nan - ranks.begin()});
}

}  // namespace

void order_by_rank(Grouping& grouping, const Ranks& ranks, const std::string& argument,
                   const Effort& effort) {
  const Checkpoint checkpoint = timed(effort.poll);
  if (grouping.order.empty()) {
    grouping.order.resize(static_cast<std::size_t>(grouping.indptr.back()));
    std::iota(grouping.order.begin(), grouping.order.end(), Offset{0});
  }
  if (const auto* floats = std::get_if<std::span<const double>>(&ranks))
    check_no_nan(*floats, argument);
  std::visit([&](auto values) { order_rows(grouping, values, argument, checkpoint); }, ranks);
}

}  // namespace metrik
