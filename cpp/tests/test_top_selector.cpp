// The best items of a row, and which of them tie.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "owned_row.hpp"
#include "rank/scores/top_selector.hpp"

namespace exactk {
namespace {

using namespace tests;

std::vector<std::uint32_t> positions_of(const TopSelector<FloatRow>& selector) {
  std::vector<std::uint32_t> positions;
  for (const ScoredItem<float>& item : selector.items()) positions.push_back(item.position);
  return positions;
}

TEST_CASE("the best of a row are selected, or the best of a shortlist") {
  for (const std::size_t size : {20U, 200U, 3000U}) {
    OwnedRow owned(draw_scores(size, size / 2), draw_positions(size, size / 10));
    std::vector<ScoredItem<double>> items;
    for (std::size_t i = 0; i < size; ++i) {
      if (!owned.row.is_excluded(i)) {
        items.push_back({owned.scores[i], static_cast<std::uint32_t>(i)});
      }
    }
    for (const Ties ties : {Ties::lowest_id, Ties::highest_id}) {
      const bool highest_first = ties == Ties::highest_id;
      std::ranges::sort(items, BetterItem<double>{.highest_first = highest_first, .ids = nullptr});
      for (const std::size_t depth : {1U, 10U, 18U}) {
        std::vector<std::uint32_t> expected;
        for (std::size_t i = 0; i < depth; ++i) expected.push_back(items[i].position);
        GroupMaxima<FloatRow> maxima;
        maxima.read(owned.row, no_checkpoint);
        TopSelector<FloatRow> selector;
        selector.select(owned.row, maxima, depth, ties, no_checkpoint);
        CHECK(positions_of(selector) == expected);
        auto shortlist = items;
        std::ranges::reverse(shortlist);
        selector.select_from(shortlist, owned.row, depth, ties, no_checkpoint);
        CHECK(positions_of(selector) == expected);
      }
    }
  }
}

TEST_CASE("the first tied rank of the best items, and the positions that tie") {
  OwnedRow owned({5, 9, 7, 7, 1, 7, 3, 3}, {5});  // ranked 1 2 3 0 6 7 4
  GroupMaxima<FloatRow> maxima;
  maxima.read(owned.row, no_checkpoint);
  TopSelector<FloatRow> selector;
  const auto may_tie = [&](std::int64_t position) {
    return selector.may_tie(owned.row, Positions{position});
  };
  selector.select(owned.row, maxima, 2, Ties::lowest_id, no_checkpoint);
  CHECK(selector.first_tied_rank() == 0);
  selector.select(owned.row, maxima, 5, Ties::lowest_id, no_checkpoint);
  CHECK(positions_of(selector) == std::vector<std::uint32_t>{1, 2, 3, 0, 6});
  CHECK(selector.first_tied_rank() == 2);
  CHECK(may_tie(2));
  CHECK(may_tie(3));
  CHECK(may_tie(7));   // ties with one of the best without being one
  CHECK(!may_tie(5));  // excluded
  CHECK(!may_tie(1));
  CHECK(!may_tie(4));
  CHECK(!may_tie(8));
}

}  // namespace
}  // namespace exactk
