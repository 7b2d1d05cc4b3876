// Scores of items with ids of their own: candidates, and a subset of the columns of a matrix.
#include "common.hpp"
#include "score_checks.hpp"
#include "sparse_items.hpp"

namespace exactk {
namespace {

using namespace tests;

SparseScores sparse_scores_of(const OwnedLists& items, const std::vector<float>& scores) {
  return {.items = items.view(),
          .scores = reinterpret_cast<const std::byte*>(scores.data()),
          .type = ScoreType::float32,
          .size = std::ssize(scores),
          .stride = sizeof(float)};
}

ScoreMatrix restricted_matrix(const std::vector<float>& scores, Count users,
                              const OwnedLists& columns) {
  ScoreMatrix matrix = matrix_of(scores, users);
  matrix.candidates = columns.view();
  return matrix;
}

TEST_CASE("F31: candidates are ranked as a sort does, for any order of ids") {
  int round = 0;
  for (const std::size_t size : {0U, 1U, 2U, 7U, 33U, 255U, 256U, 257U, 600U, 2000U}) {
    CAPTURE(size);
    std::mt19937_64 random(size);
    Row ascending(size);
    for (std::size_t i = 0; i < size; ++i) ascending[i] = static_cast<std::int64_t>(5 * i + 1);
    Row shuffled = ascending;
    std::ranges::shuffle(shuffled, random);
    Row scattered = shuffled;  // beyond any table of a range
    for (std::int64_t& id : scattered) id = (id << 40U) % std::numeric_limits<std::int64_t>::max();
    Row repeated = shuffled;
    for (std::int64_t& id : repeated) id /= 12;
    for (const Row& ids : {ascending, shuffled, scattered, repeated}) {
      Row exclude = {4, 4};
      for (std::size_t i = 0; i < size; i += 5) exclude.push_back(ids[i]);
      const OwnedLists items = lists({ids});
      for (const std::vector<float>& scores : rows_of<float>(size)) {
        SparseScores sparse_scores = sparse_scores_of(items, scores);
        ++round;  // some of both in turn
        if (round % 2 == 0) sparse_scores.min_score = 1;
        check_ranking(sparse_scores, scores, ids, round % 3 == 0 ? Row{} : exclude);
      }
    }
  }
}

TEST_CASE("F31: a subset of the columns of a matrix is ranked as a sort does") {
  for (const std::size_t size : {0U, 1U, 33U, 256U, 600U}) {
    Row columns(size);
    for (std::size_t i = 0; i < size; ++i) columns[i] = static_cast<std::int64_t>(3 * i + 1);
    const OwnedLists owned = lists({columns});
    for (const std::vector<float>& scores : rows_of<float>(size)) {
      std::vector<float> row(3 * size + 2, std::numeric_limits<float>::quiet_NaN());
      for (std::size_t i = 0; i < size; ++i) row[3 * i + 1] = scores[i];
      ScoreMatrix matrix = restricted_matrix(row, 1, owned);
      check_ranking(matrix, scores, columns, {0, 1, 1, 4, 10, 1'000'000});
      matrix.min_score = 1;
      check_ranking(matrix, scores, columns, {});
    }
  }
}

TEST_CASE("the positions of a list's items") {
  for (const std::int64_t apart : {std::int64_t{1}, (std::int64_t{1} << 55U) + 1}) {
    const auto times = [&](Row row) {
      for (std::int64_t& id : row) id *= apart;
      return row;
    };
    ListMatcher matcher(~std::uint64_t{0} >> 1U, true, idle_run);
    const ItemPositions& positions = matcher.find_item_positions(
        times({7, 3, 3, 9, 5}), times({5, 8, 3, 7, 8, 3, 8, 2}), times({8, 7, 1}));
    CHECK(positions.truth == Row{0, 2, 5});
    CHECK(positions.excluded == Row{1, 3, 4, 6});
    CHECK(positions.absent_entries == Row{2, 3});  // the second 3 is no entry of its own
    CHECK(positions.duplicates == 3);
    CHECK(positions.first_duplicate == 4);
    const Row left_out = {2, 4, 7};
    matcher.leave_out(left_out);
    CHECK(positions.truth == Row{0, 5});
    CHECK(positions.entries == std::vector<Count>{4, 1});
    CHECK(positions.excluded == Row{1, 3, 4, 6, 2, 4, 7});
  }
}

TEST_CASE("F01: malformed candidates are rejected before a thread starts") {
  const std::vector<float> scores = {1, 2, 3, 4};
  std::vector<std::int64_t> offsets(2);
  const auto rank = [&](const AnyScores& scored) {
    topk({.scores = scored, .k = 1, .exclude = std::nullopt, .positions = offsets});
  };
  const auto refused_argument = [&](const AnyScores& scored) {
    return fault_of([&] { rank(scored); }).argument;
  };
  const OwnedLists sound = lists({{1, 2, 3}, {7}});
  SparseScores sparse_scores = sparse_scores_of(sound, scores);
  CHECK_NOTHROW(rank(sparse_scores));
  sparse_scores.size = 3;
  CHECK(refused_argument(sparse_scores) == "scores");
  sparse_scores.size = 4;
  sparse_scores.min_score = kNan;
  CHECK(refused_argument(sparse_scores) == "scores");
  for (const Offset offset : {Offset{-1}, Offset{5}, std::numeric_limits<Offset>::max()}) {
    OwnedLists broken = sound;
    broken.indptr[1] = offset;
    CHECK(refused_argument(sparse_scores_of(broken, scores)) == "scores");
  }
  const OwnedLists narrow{.items = std::vector<std::int32_t>{0, 1}, .indptr = {0, 1, 2}};
  CHECK(refused_argument(restricted_matrix(scores, 2, narrow)) == "candidates");
}

TEST_CASE("F02: the offsets of candidates are 64-bit") {
  // 8 GiB of ids, of which only the last row's are read, and one score that stands for all.
  constexpr Offset kBegin = (Offset{1} << 31U) - 1;
  const SparseItems<std::int32_t> sparse(static_cast<std::size_t>(kBegin + 2));
  const std::span<std::int32_t> ids = sparse.items();
  ids[ids.size() - 2] = 7;
  ids[ids.size() - 1] = 5;
  const std::vector<Offset> indptr = {0, kBegin, kBegin + 2};
  const float score = 1;
  const SparseScores sparse_scores{.items = {.items = std::span<const std::int32_t>(ids),
                                             .indptr = indptr,
                                             .lengths = {},
                                             .present = {}},
                                   .scores = reinterpret_cast<const std::byte*>(&score),
                                   .size = kBegin + 2};
  AnyScoreRanker any_ranker = make_score_ranker(sparse_scores, kernels(isa_of("")), idle_run);
  auto& ranker = std::get<ScoreRanker<ScoreRow<float>>>(any_ranker);
  ranker.load_scores(1, {});
  const RankedList best = ranker.best(5, Ties::lowest_id);
  CHECK(std::ranges::equal(best.offsets, Row{1, 0}));
}

}  // namespace
}  // namespace exactk
