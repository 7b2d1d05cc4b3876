// Rankings of drawn rows of scores, compared with those of a plain sort.
#pragma once

#include "common.hpp"
#include "evaluate/open_score_row.hpp"
#include "exactk/topk.hpp"
#include "kernels/dispatch.hpp"
#include "rank/scores/score_ranker.hpp"
#include "request.hpp"
#include "runs.hpp"

namespace exactk::tests {

template <class Score>
inline constexpr ScoreType kScoreType = ScoreType::float32;
template <>
inline constexpr ScoreType kScoreType<double> = ScoreType::float64;
template <>
inline constexpr ScoreType kScoreType<std::int8_t> = ScoreType::int8;
template <>
inline constexpr ScoreType kScoreType<std::uint16_t> = ScoreType::uint16;
template <>
inline constexpr ScoreType kScoreType<std::int32_t> = ScoreType::int32;
template <>
inline constexpr ScoreType kScoreType<std::int64_t> = ScoreType::int64;
template <>
inline constexpr ScoreType kScoreType<std::uint64_t> = ScoreType::uint64;

template <class Score>
ScoreMatrix matrix_of(const std::vector<Score>& scores, Count rows = 1) {
  const Count items = std::ssize(scores) / rows;
  constexpr auto kSize = static_cast<std::ptrdiff_t>(sizeof(Score));
  return {.scores = reinterpret_cast<const std::byte*>(scores.data()),
          .type = kScoreType<Score>,
          .rows = rows,
          .items = items,
          .row_stride = items * kSize,
          .item_stride = kSize};
}

inline Row numbered_items(std::size_t count) {
  Row items(count);
  std::iota(items.begin(), items.end(), 0);
  return items;
}

// Rows of every kind that is a pitfall for an order.
template <class Score>
std::vector<std::vector<Score>> rows_of(std::size_t size) {
  std::mt19937_64 random(size);
  std::vector<std::vector<Score>> rows(6, std::vector<Score>(size));
  for (std::size_t i = 0; i < size; ++i) {
    rows[0][i] = static_cast<Score>(1);
    rows[1][i] = static_cast<Score>(i % 60000);
    rows[2][i] = static_cast<Score>((size - i) % 60000);
    rows[3][i] = static_cast<Score>(random() % 3);
    rows[4][i] = static_cast<Score>(random());
    rows[5][i] = std::numeric_limits<Score>::max();
    if (random() % 3 == 0) rows[5][i] = std::numeric_limits<Score>::lowest();
    if constexpr (std::is_floating_point_v<Score>) {
      constexpr Score kInfinite = std::numeric_limits<Score>::infinity();
      const Score odd[] = {0, -Score{0}, kInfinite, -kInfinite, Score{1}};
      rows[4][i] = std::ldexp(static_cast<Score>(random() >> 40U), -20);
      rows[5][i] = odd[random() % std::size(odd)];
    }
  }
  if constexpr (std::is_floating_point_v<Score>) {
    for (const std::size_t like : {3U, 4U, 5U}) {
      std::vector<Score> broken = rows[like];
      for (std::size_t i = like; i < size; i += 7) {
        broken[i] = std::numeric_limits<Score>::quiet_NaN();
      }
      rows.push_back(std::move(broken));
    }
  }
  return rows;
}

// Returns the positions of all rankable items, best first, by a plain sort.
template <class Score>
Row sorted_positions(const std::vector<Score>& scores, const Row& ids, Ties ties,
                     const Row& exclude, std::optional<double> min_score) {
  const auto id = [&](std::int64_t i) { return ids[static_cast<std::size_t>(i)]; };
  const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
  const std::set<std::int64_t> excluded(exclude.begin(), exclude.end());
  Row positions = numbered_items(scores.size());
  std::erase_if(positions, [&](std::int64_t i) {
    return excluded.contains(id(i)) || (min_score && !(static_cast<long double>(score(i)) >=
                                                       static_cast<long double>(*min_score)));
  });
  if (ties == Ties::lowest_id) std::ranges::stable_sort(positions, {}, id);
  if (ties == Ties::highest_id) std::ranges::stable_sort(positions, std::greater<>(), id);
  std::ranges::stable_sort(positions, [&](std::int64_t one, std::int64_t other) {
    if (is_nan(score(one)) || is_nan(score(other))) {
      return is_nan(score(other)) && !is_nan(score(one));
    }
    return score(one) > score(other);
  });
  return positions;
}

// What a plain sort says of a row.
struct ExpectedRanking {
  Ties ties;
  Row offsets;
  std::array<Row, 2> entries = {};  // of each truth, the first that names the item
};

struct ExpectedRankings {
  std::array<Row, 2> truths;
  std::vector<ExpectedRanking> rankings = {};
  Count candidates;
  bool has_nan;
};

template <class Ranker>
void check_ranker(Ranker& ranker, const Row& exclude, const ExpectedRankings& expected_rankings) {
  for (std::size_t t = 0; t < expected_rankings.truths.size(); ++t) {
    const Row& items = expected_rankings.truths[t];
    ListMatcher matcher(~std::uint64_t{0} >> 1U, true, idle_run);
    const ItemPositions* const positions = open_score_row(ranker, matcher, 0, items, exclude);
    const TruthPositions truth = positions == nullptr
                                     ? TruthPositions{.positions = items}
                                     : TruthPositions{positions->truth, positions->entries};
    CHECK(ranker.row().has_nan() == expected_rankings.has_nan);
    CHECK(ranker.row().candidate_count() == expected_rankings.candidates);
    for (const ExpectedRanking& expected : expected_rankings.rankings) {
      const std::span<const std::int64_t> all_entries = expected.entries[t];
      for (const Count depth : {Count{1}, Count{10}, Count{100}, kNoCutoff}) {
        const RankedList best = ranker.best(depth, expected.ties);
        CHECK(best.length == std::ssize(expected.offsets));
        const auto size = static_cast<std::size_t>(std::min(depth, best.length));
        CHECK(std::ranges::equal(best.offsets, std::span(expected.offsets).first(size)));
        if (positions == nullptr) continue;
        CHECK(best.entries.empty());
        const RankedList entries = ranker.best_entries(depth, expected.ties, truth);
        CHECK(entries.length == best.length);
        CHECK(std::ranges::equal(entries.entries, all_entries.first(size)));
      }
      Row entries;
      Row ranks;
      for (std::size_t i = 0; i < all_entries.size(); ++i) {
        if (all_entries[i] == RankedList::kNoEntry) continue;
        entries.push_back(all_entries[i]);
        ranks.push_back(static_cast<std::int64_t>(i) + 1);
      }
      const RankedList ranked = ranker.ranks_of(truth, expected.ties);
      CHECK(ranked.length == std::ssize(expected.offsets));
      CHECK(std::ranges::equal(ranked.entries, entries));
      CHECK(std::ranges::equal(ranked.ranks, ranks));
    }
  }
}

// Ranks the row in every way under every instruction set, and compares with the sort.
template <class Score, class Source>
void check_ranking(const Source& source, const std::vector<Score>& scores, const Row& ids,
                   const Row& exclude) {
  const Row candidates = sorted_positions(scores, ids, Ties::lowest_id, exclude, std::nullopt);
  ExpectedRankings expected{.truths = {},
                            .candidates = std::ssize(candidates),
                            .has_nan = std::ranges::any_of(scores, &is_nan<Score>)};
  std::array<std::map<std::int64_t, std::int64_t>, 2> first_entries;
  for (std::size_t t = 0; t < expected.truths.size(); ++t) {
    // The first is named twice; the second truth has more than are counted one by one.
    Row& truth = expected.truths[t];
    truth = {ids.empty() ? 3 : ids.front(), 1'000'000'000'000, std::int64_t{1} << 62U};
    for (std::size_t i = ids.size(); i-- > 0;) {
      if (i % (t == 0 ? 41 : 3) == 0) truth.push_back(ids[i]);
    }
    for (std::size_t i = 0; i < truth.size(); ++i) {
      first_entries[t].emplace(truth[i], static_cast<std::int64_t>(i));
    }
  }
  for (const Ties ties : {Ties::lowest_id, Ties::highest_id, Ties::input_order}) {
    ExpectedRanking& ranking = expected.rankings.emplace_back();
    ranking.ties = ties;
    for (const std::int64_t i : sorted_positions(scores, ids, ties, exclude, source.min_score)) {
      const std::int64_t id = ids[static_cast<std::size_t>(i)];
      ranking.offsets.push_back(std::is_same_v<Source, SparseScores> ? i : id);
      for (std::size_t t = 0; t < expected.truths.size(); ++t) {
        const auto entry = first_entries[t].find(id);
        ranking.entries[t].push_back(entry == first_entries[t].end() ? RankedList::kNoEntry
                                                                     : entry->second);
      }
    }
  }
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    AnyScoreRanker any_ranker = make_score_ranker(source, kernels(isa), idle_run);
    std::visit([&](auto& ranker) { check_ranker(ranker, exclude, expected); }, any_ranker);
  }
}

}  // namespace exactk::tests
