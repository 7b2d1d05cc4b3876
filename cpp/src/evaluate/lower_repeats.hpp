// Finds the scores of repeated items that do not count if repeats are collapsed: all but the
// highest of each item, of equal ones the first. NaN is lower than any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "rank/scores/rankable_row.hpp"

namespace exactk {

// Stores their positions in the row, ascending. Requires ids.
template <class Row>
void find_lower_repeats(RankableRow<Row>& row, std::vector<std::int64_t>& repeats) {
  struct Listed {
    std::int64_t id;
    RankableRow<Row>::Item item;
  };
  const std::span<const std::int64_t> ids = row.ids();
  std::vector<Listed> listed;
  listed.reserve(ids.size());
  row.for_each_item(
      [&](const RankableRow<Row>::Item& item) { listed.push_back({ids[item.position], item}); });
  const auto is_better = row.order(Ties::input_order);
  const auto before = [&](const Listed& one, const Listed& other) {
    return one.id != other.id ? one.id < other.id : is_better(one.item, other.item);
  };
  sort(std::span(listed), before, row.run());
  repeats.clear();
  in_chunks(listed.size(), row.run(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i > 0 && listed[i].id == listed[i - 1].id) repeats.push_back(listed[i].item.position);
    }
  });
  sort(std::span(repeats), std::less<>(), row.run());
}

}  // namespace exactk
