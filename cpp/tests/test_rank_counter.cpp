// Ranks and ties of the truth, by counting.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "owned_row.hpp"
#include "rank/scores/rank_counter.hpp"

namespace exactk {
namespace {

using namespace tests;
using Counts = std::vector<Count>;

// Computes rank and tie of each item of the truth by reading the row once per item.
void check_ties(OwnedRow& owned, const Positions& positions) {
  RankCounter<FloatRow> counter;
  counter.count(owned.row, {.positions = positions}, Ties::expected, {}, no_checkpoint);
  REQUIRE(counter.ties().size() == counter.items().size());
  REQUIRE(counter.ranks().size() == counter.items().size());
  Count last_rank = 0;
  for (std::size_t i = 0; i < counter.items().size(); ++i) {
    const auto [key, position] = counter.items()[i];
    CHECK(owned.scores[position] == key);
    Tie tie{.first = 1, .last = 0};
    for (std::size_t other = 0; other < owned.scores.size(); ++other) {
      if (!owned.row.rankable_score(other)) continue;
      tie.first += owned.scores[other] > key ? 1 : 0;
      tie.last += owned.scores[other] >= key ? 1 : 0;
    }
    CHECK(counter.ties()[i] == tie);
    CHECK(counter.ranks()[i] == std::max(last_rank + 1, tie.first));
    last_rank = counter.ranks()[i];
  }
}

TEST_CASE("the tie of each item of the truth is recorded, and the truth comes first in it") {
  for (const std::size_t size : {50U, 700U}) {
    for (const std::uint64_t distinct : {1U, 7U, 5000U}) {
      for (const std::optional<double> min_score : {std::optional<double>{}, {2.0}}) {
        OwnedRow owned(draw_scores(size, distinct), draw_positions(size, 20), min_score);
        check_ties(owned, draw_positions(size, 10));
        check_ties(owned, draw_positions(size, 200));  // more than are counted one by one
      }
    }
  }
}

TEST_CASE("an item of the truth has its first entry for any order of positions") {
  OwnedRow owned({1, 2, 3, 4, 5}, {4});
  RankCounter<FloatRow> counter;
  const Positions positions = {3, 9, 1, 3, 4, 1, 0};
  counter.count(owned.row, {.positions = positions}, Ties::lowest_id, {}, no_checkpoint);
  CHECK(std::ranges::equal(counter.entries(), Counts{0, 2, 6}));
  CHECK(std::ranges::equal(counter.ranks(), Counts{1, 3, 4}));
  CHECK(!counter.has_ties());
  const Positions ascending = {0, 1, 3};
  const Counts entries = {8, 5, 5};
  counter.count(owned.row, {ascending, entries}, Ties::lowest_id, {}, no_checkpoint);
  CHECK(std::ranges::equal(counter.entries(), Counts{5, 5, 8}));
}

TEST_CASE("ranks from screening are used if they are complete") {
  OwnedRow owned({4, 4, 4, 9});
  RankCounter<FloatRow> counter;
  const Positions positions = {1, 3};
  // Ranks that no row has: 100 items above, 50 tied.
  const std::vector<ItemRank> ranks = {{.position = 1, .above = 100, .equal = 50, .before = 10},
                                       {.position = 3, .above = 0, .equal = 1, .before = 0}};
  const auto count = [&](std::size_t screened, Ties ties) {
    counter.count(owned.row, {.positions = positions}, ties, std::span(ranks).first(screened),
                  no_checkpoint);
  };
  count(2, Ties::expected);
  CHECK(std::ranges::equal(counter.ranks(), Counts{1, 101}));
  CHECK(std::ranges::equal(counter.ties(), std::vector<Tie>{{1, 1}, {101, 150}}));
  count(1, Ties::expected);
  CHECK(std::ranges::equal(counter.ties(), std::vector<Tie>{{1, 1}, {2, 4}}));
  count(1, Ties::lowest_id);
  CHECK(std::ranges::equal(counter.ranks(), Counts{1, 3}));
  CHECK(counter.ties().empty());
  CHECK(counter.has_ties());
  count(2, Ties::highest_id);  // except for positions beyond the row
  CHECK(std::ranges::equal(counter.ranks(), Counts{1, 4}));
}

}  // namespace
}  // namespace exactk
