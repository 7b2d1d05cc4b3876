// A batch of judged users, the input of the scorer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "exactk/types.hpp"
#include "judge/batch.hpp"
#include "judge/judge.hpp"
#include "judge/list_row.hpp"

namespace exactk {

struct JudgedBatch {
  std::vector<Count> users;
  std::vector<HitRows> hit_rows;    // by judging rules
  std::vector<ListRows> list_rows;  // by judging rules; empty unless a metric reads the lists
  // Users whose values may depend on the order of ties, as positions in the batch, and their rows
  // by judging rules: with the relevant items of each tie first, and last.
  std::vector<std::size_t> tied_users;
  std::array<std::vector<HitRows>, 2> extreme_rows;

  explicit JudgedBatch(std::size_t judging_rules)
      : hit_rows(judging_rules),
        list_rows(judging_rules),
        extreme_rows{std::vector<HitRows>(judging_rules), std::vector<HitRows>(judging_rules)} {
    users.reserve(kBatchSize);
  }

  [[nodiscard]] bool is_full() const noexcept {
    const auto any_is_full = [](const std::vector<HitRows>& rows) {
      return std::ranges::any_of(rows, &HitRows::is_full);
    };
    return any_is_full(hit_rows) || std::ranges::any_of(extreme_rows, any_is_full) ||
           std::ranges::any_of(list_rows, &ListRows::is_full);
  }
  void clear() noexcept {
    users.clear();
    tied_users.clear();
    for (HitRows& rows : hit_rows) rows.clear();
    for (ListRows& rows : list_rows) rows.clear();
    for (std::vector<HitRows>& extreme : extreme_rows) {
      for (HitRows& rows : extreme) rows.clear();
    }
  }
};

}  // namespace exactk
