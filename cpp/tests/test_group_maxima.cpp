// The maxima of groups of scores, and the bound that follows from them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "numeric/key_order.hpp"
#include "owned_row.hpp"
#include "rank/scores/group_maxima.hpp"

namespace exactk {
namespace {

using namespace tests;

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
        maxima.read(owned.row, no_checkpoint);
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
        owned.row.exclude({}, no_checkpoint);  // as for the next user
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
      maxima.read(owned.row, no_checkpoint);
      for (const std::size_t min_count : {1U, 10U, 100U, 1000U, 20'000U}) {
        if (min_count + owned.row.excluded_count() > size) continue;
        CAPTURE(size);
        CAPTURE(min_count);
        const float bound = maxima.find_bound(owned.row, min_count, no_checkpoint);
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
  maxima.read(owned.row, no_checkpoint);
  CHECK(maxima.find_bound(owned.row, 1000, no_checkpoint) == 998.5F);
  CHECK(owned.row.rankable_count(no_checkpoint) == std::ranges::count(owned.scores, 999.0F));
}

}  // namespace
}  // namespace exactk
