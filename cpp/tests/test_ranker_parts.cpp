// The parts of a ranker of scores: group maxima and the bound that follows from them, the best
// items of a row, and ranks of the truth by counting.
#include "common.hpp"
#include "kernels/dispatch.hpp"
#include "numeric/key_order.hpp"
#include "rank/scores/group_maxima.hpp"
#include "rank/scores/rank_counter.hpp"
#include "rank/scores/rankable_row.hpp"
#include "rank/scores/score_row.hpp"
#include "rank/scores/top_selector.hpp"
#include "runs.hpp"

namespace exactk {
namespace {

using namespace tests;
using Counts = std::vector<Count>;
using FloatRow = ScoreRow<float>;
using Positions = std::vector<std::int64_t>;

struct OwnedRow {
  explicit OwnedRow(std::vector<float> of, const Positions& excluded = {},
                    std::optional<double> min_score = {}, Isa isa = isa_of(""))
      : scores(std::move(of)),
        matrix{.scores = reinterpret_cast<const std::byte*>(scores.data()),
               .type = ScoreType::float32,
               .rows = 1,
               .items = std::ssize(scores),
               .row_stride = 0,
               .item_stride = sizeof(float)},
        row(FloatRow(matrix, idle_run), min_score, kernels(isa).float32) {
    row.select_user(0);
    row.exclude(excluded);
  }
  OwnedRow(const OwnedRow&) = delete;  // the row refers to the scores beside it
  OwnedRow& operator=(const OwnedRow&) = delete;

  std::vector<float> scores;
  ScoreMatrix matrix;
  RankableRow<FloatRow> row;
};

std::vector<float> draw_scores(std::size_t size, std::uint64_t distinct) {
  std::mt19937_64 random(size);
  std::vector<float> scores(size);
  for (float& score : scores) score = static_cast<float>(random() % distinct);
  return scores;
}

Positions draw_positions(std::size_t size, std::size_t count) {
  std::mt19937_64 random(count);
  Positions positions(count);
  for (std::int64_t& position : positions) position = static_cast<std::int64_t>(random() % size);
  return positions;
}

constexpr float kLowestFloatKey = kLowestKey<float>;

TEST_CASE("group maxima leave out NaN and excluded items") {
  for (const std::size_t size : {1U, 16U, 255U, 256U, 257U, 70'000U}) {
    CAPTURE(size);
    std::vector<float> scores = draw_scores(size, 1000);
    for (std::size_t i = 0; i < size; i += 5) scores[i] = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t excluded_count : {std::size_t{0}, size / 3}) {
      const Positions excluded = draw_positions(size, excluded_count);
      for (const Isa isa : available_isas()) {
        OwnedRow owned(scores, excluded, {}, isa);
        GroupMaxima<FloatRow> maxima;
        CHECK(!maxima.is_read());
        CHECK(!owned.row.has_nan());
        maxima.read(owned.row);
        CHECK(maxima.is_read());
        CHECK(owned.row.has_nan());
        std::vector<float> expected((size + kChunkScores - 1) / kChunkScores * kGroups,
                                    kLowestFloatKey);
        for (std::size_t i = 0; i < size; ++i) {
          if (owned.row.is_excluded(i) || is_nan(scores[i])) continue;
          float& maximum = expected[i / kChunkScores * kGroups + i % kGroups];
          maximum = std::max(maximum, scores[i]);
        }
        CHECK(std::ranges::equal(maxima.maxima(), expected));
        owned.row.exclude({});  // as for the next user
        CHECK(!owned.row.has_nan());
        CHECK(owned.row.excluded_bits(0) == nullptr);
      }
    }
  }
}

TEST_CASE("enough items reach the bound, and not many more, from maxima or items") {
  for (const std::size_t size : {300U, 5000U, 200'000U}) {
    for (const std::size_t excluded_count : {std::size_t{0}, size / 10}) {
      OwnedRow owned(draw_scores(size, 1U << 24U), draw_positions(size, excluded_count));
      GroupMaxima<FloatRow> maxima;
      maxima.read(owned.row);
      for (const std::size_t min_count : {1U, 10U, 100U, 1000U, 20'000U}) {
        if (min_count + owned.row.excluded_count() > size) continue;
        CAPTURE(size);
        CAPTURE(min_count);
        const float bound = maxima.find_bound(owned.row, min_count);
        std::size_t reaching = 0;
        for (std::size_t i = 0; i < size; ++i) {
          reaching += owned.scores[i] >= bound && !owned.row.is_excluded(i) ? 1U : 0U;
        }
        CHECK(reaching >= min_count);
        CHECK(reaching <= 2 * min_count + owned.row.excluded_count() + 16);
      }
    }
  }
}

TEST_CASE("no bound is below the lowest rankable score") {
  OwnedRow owned(draw_scores(5000, 1000), {}, 998.5);
  GroupMaxima<FloatRow> maxima;
  maxima.read(owned.row);
  CHECK(maxima.find_bound(owned.row, 1000) == 998.5F);
  CHECK(owned.row.rankable_count() == std::ranges::count(owned.scores, 999.0F));
}

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
        maxima.read(owned.row);
        TopSelector<FloatRow> selector;
        selector.select(owned.row, maxima, depth, ties);
        CHECK(positions_of(selector) == expected);
        auto shortlist = items;
        std::ranges::reverse(shortlist);
        selector.select_from(shortlist, owned.row, depth, ties);
        CHECK(positions_of(selector) == expected);
      }
    }
  }
}

TEST_CASE("the first tied rank of the best items, and the positions that tie") {
  OwnedRow owned({5, 9, 7, 7, 1, 7, 3, 3}, {5});  // ranked 1 2 3 0 6 7 4
  GroupMaxima<FloatRow> maxima;
  maxima.read(owned.row);
  TopSelector<FloatRow> selector;
  const auto may_tie = [&](std::int64_t position) {
    return selector.may_tie(owned.row, Positions{position});
  };
  selector.select(owned.row, maxima, 2, Ties::lowest_id);
  CHECK(selector.first_tied_rank() == 0);
  selector.select(owned.row, maxima, 5, Ties::lowest_id);
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

// Computes rank and tie of each item of the truth by reading the row once per item.
void check_ties(OwnedRow& owned, const Positions& positions) {
  RankCounter<FloatRow> counter;
  counter.count(owned.row, {.positions = positions}, Ties::expected, {});
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
  counter.count(owned.row, {.positions = positions}, Ties::lowest_id, {});
  CHECK(std::ranges::equal(counter.entries(), Counts{0, 2, 6}));
  CHECK(std::ranges::equal(counter.ranks(), Counts{1, 3, 4}));
  CHECK(!counter.has_ties());
  const Positions ascending = {0, 1, 3};
  const Counts entries = {8, 5, 5};
  counter.count(owned.row, {ascending, entries}, Ties::lowest_id, {});
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
    counter.count(owned.row, {.positions = positions}, ties, std::span(ranks).first(screened));
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
