#include <cstring>

#include "common.hpp"
#include "score_checks.hpp"

namespace exactk {
namespace {

using namespace tests;

template <class Score>
void check_row(const std::vector<Score>& row, const Row& exclude = {},
               std::optional<double> min_score = {}) {
  ScoreMatrix matrix = matrix_of(row);
  matrix.min_score = min_score;
  check_ranking(matrix, row, numbered_items(row.size()), exclude);
}

// Checks rows of every kind, plain, with exclusions, and with a bound too, in turn.
template <class Score>
void check_size(std::size_t size) {
  CAPTURE(size);
  Row exclude;
  for (std::int64_t i = 0; i < 250; ++i) exclude.push_back(i * i % 1000);
  std::size_t turn = size;
  for (const std::vector<Score>& row : rows_of<Score>(size)) {
    ++turn;
    const bool is_bounded = turn % 3 == 2;
    check_row(row, turn % 3 == 0 ? Row{} : exclude, is_bounded ? std::optional(1.0) : std::nullopt);
  }
}

TEST_CASE("F31: every instruction set ranks as a sort does, for rows of any size") {
  for (std::size_t size = 0; size <= 70; ++size) check_size<float>(size);
  for (const std::size_t size : {127U, 128U, 255U, 256U, 257U, 300U, 511U, 512U, 513U, 1500U}) {
    check_size<float>(size);
    check_size<double>(size);
    check_size<std::int64_t>(size);
  }
}

TEST_CASE("scores of every type are compared exactly" * doctest::test_suite("one thread")) {
  for (const std::size_t size : {700U, 701U, 702U}) {
    check_size<std::int8_t>(size);
    check_size<std::uint16_t>(size);
    check_size<std::int32_t>(size);
    check_size<std::uint64_t>(size);
  }
  // Neighbours that a double cannot distinguish.
  constexpr std::int64_t kLarge = std::int64_t{1} << 62U;
  check_row(std::vector<std::int64_t>{kLarge, kLarge + 1, kLarge - 1, -kLarge - 1, -kLarge});
  check_row(std::vector<std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0} - 1, 0, 1, 1});
}

TEST_CASE("rows longer than the items held at a time" * doctest::test_suite("one thread")) {
  int turn = 0;
  for (const std::size_t size : {70'000U, 200'000U}) {
    for (const auto& row : rows_of<float>(size)) {
      const ScoreMatrix matrix = matrix_of(row);
      AnyScoreRanker any_ranker = make_score_ranker(matrix, kernels(isa_of("")), idle_run);
      auto& ranker = std::get<ScoreRanker<ScoreRow<float>>>(any_ranker);
      ranker.load_scores(0, {});
      const Ties ties = ++turn % 2 == 0 ? Ties::lowest_id : Ties::highest_id;
      const Row expected = sorted_positions(row, numbered_items(size), ties, {}, {});
      CHECK(std::ranges::equal(ranker.best(100, ties).offsets, std::span(expected).first(100)));
    }
  }
}

// Returns distinct scores in random order, except for some ties.
template <class Score>
std::vector<Score> row_with_ties(std::size_t size, const std::vector<std::size_t>& tied_ranks) {
  std::vector<Score> row(size);
  for (std::size_t i = 0; i < size; ++i) row[i] = static_cast<Score>(size - i);
  for (const std::size_t rank : tied_ranks) row[rank] = row[rank - 1];
  std::ranges::shuffle(row, std::mt19937_64(size));
  return row;
}

TEST_CASE("counting, radix and comparison sorts give the same order" *
          doctest::test_suite("one thread")) {
  // At most 128 items are sorted by counting, and at most 64 by comparison. If all items are
  // requested, that many are sorted.
  for (const std::size_t size : {63U, 64U, 65U, 66U, 127U, 128U, 129U, 130U}) {
    CAPTURE(size);
    const std::vector<std::vector<std::size_t>> ties = {
        {}, {1}, {size - 1}, {9}, {10}, {11}, {100 % size}, {20, 21, 22, 23, 40, 41}};
    for (const std::vector<std::size_t>& tied_ranks : ties) {
      check_row(row_with_ties<float>(size, tied_ranks));
      check_row(row_with_ties<double>(size, tied_ranks));
      check_row(row_with_ties<std::int64_t>(size, tied_ranks));
      // A longer row with the same number of items that are not excluded.
      auto longer = row_with_ties<float>(size + 40, tied_ranks);
      Row exclude;
      for (std::int64_t i = 0; i < 40; ++i) exclude.push_back(7 * i % std::ssize(longer));
      std::ranges::sort(exclude);
      const auto repeats = std::ranges::unique(exclude);
      exclude.erase(repeats.begin(), repeats.end());
      longer.resize(size + exclude.size());
      check_row(longer, exclude);
    }
    auto odd = row_with_ties<float>(size, {1});
    odd[3] = odd[size - 1] = -std::numeric_limits<float>::infinity();
    odd[5] = std::numeric_limits<float>::quiet_NaN();
    check_row(odd);
    odd[7] = std::numeric_limits<float>::quiet_NaN();
    odd[8] = -0.0F;
    odd[9] = 0;
    check_row(odd);
  }
}

// Rows of unrelated scores.
template <class Score>
std::vector<std::vector<Score>> dissimilar_rows(std::size_t size) {
  using Limits = std::numeric_limits<Score>;
  constexpr Score kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr Score kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  std::mt19937_64 random(size);
  std::vector<std::vector<Score>> rows;
  for (const double scale : {1.0, 1e15, 1e-30, -1e-30, -1e15, 1e3, 1e18}) {
    std::vector<Score>& row = rows.emplace_back(size);
    for (Score& score : row) score = static_cast<Score>(scale * static_cast<double>(random() % 8));
  }
  for (const Score constant : {Score{0}, Score{5}, kLowest, kHighest, Limits::lowest(),
                               Limits::max(), Limits::quiet_NaN()}) {
    rows.emplace_back(size, constant);
  }
  rows.emplace_back(size, kLowest)[size / 2] = 1;
  rows.emplace_back(size, kHighest)[size / 2] = 1;
  return rows;
}

template <class Score>
void check_consecutive_users(std::size_t size, std::optional<double> min_score) {
  const std::vector<std::vector<Score>> rows = dissimilar_rows<Score>(size);
  std::vector<Score> scores;
  for (const std::vector<Score>& row : rows) scores.insert(scores.end(), row.begin(), row.end());
  ScoreMatrix matrix = matrix_of(scores, std::ssize(rows));
  matrix.min_score = min_score;
  const Row all = numbered_items(size);
  const std::vector<Row> excludes = {{}, Row(all.begin() + 1, all.end()), all};
  std::vector<std::vector<Row>> expected(rows.size());
  for (std::size_t user = 0; user < rows.size(); ++user) {
    for (const Row& exclude : excludes) {
      expected[user].push_back(
          sorted_positions(rows[user], all, Ties::lowest_id, exclude, min_score));
    }
  }
  for (const Isa isa : available_isas()) {
    CAPTURE(name_of(isa));
    AnyScoreRanker any_ranker = make_score_ranker(matrix, kernels(isa), idle_run);
    auto& ranker = std::get<ScoreRanker<ScoreRow<Score>>>(any_ranker);
    const auto check_user = [&](std::size_t user, std::size_t exclude, Count depth) {
      CAPTURE(user);
      CAPTURE(exclude);
      CAPTURE(depth);
      const Row& items = expected[user][exclude];
      ranker.load_scores(static_cast<Count>(user), excludes[exclude]);
      const RankedList best = ranker.best(depth, Ties::lowest_id);
      CHECK(best.length == std::ssize(items));
      const auto length = static_cast<std::size_t>(std::min(depth, best.length));
      CHECK(std::ranges::equal(best.offsets, std::span(items).first(length)));
    };
    // Every user after every other, of whom all items, one or none remain.
    constexpr Count kDepths[] = {1, 10, 100};
    for (std::size_t before = 0; before < rows.size(); ++before) {
      for (std::size_t user = 0; user < rows.size(); ++user) {
        const Count depth = kDepths[(before + user / 3) % std::size(kDepths)];
        check_user(before, (before + user) % excludes.size(), depth);
        check_user(user, 0, depth);
      }
    }
  }
}

TEST_CASE("state from one user's scores does not affect the next user" *
          doctest::test_suite("one thread")) {
  // Few items and many: the bound comes from all items, or from the maxima of groups.
  for (const std::size_t size : {300U, 700U}) {
    for (const std::optional<double> min_score : {std::optional<double>{}, {1.0}}) {
      check_consecutive_users<float>(size, min_score);
      check_consecutive_users<double>(size, min_score);
      check_consecutive_users<std::int64_t>(size, min_score);
    }
  }
}

TEST_CASE("a position may tie if another ranked item has the same score" *
          doctest::test_suite("one thread")) {
  for (const std::size_t size : {2U, 50U, 300U, 5000U}) {
    for (const std::vector<float>& row : rows_of<float>(size)) {
      const ScoreMatrix matrix = matrix_of(row);
      AnyScoreRanker any_ranker = make_score_ranker(matrix, kernels(isa_of("")), idle_run);
      auto& ranker = std::get<ScoreRanker<ScoreRow<float>>>(any_ranker);
      ranker.load_scores(0, {});
      const std::size_t step = size / 50 + 1;
      for (std::size_t position = 0; position < size; position += step) {
        const Row positions = {static_cast<std::int64_t>(position)};
        const auto same = std::ranges::count_if(
            row, [&](float score) { return is_same_key(score, row[position]); });
        ranker.ranks_of({.positions = positions}, Ties::lowest_id);
        CHECK(ranker.may_tie(positions) == (same > 1));
        ranker.best(kNoCutoff, Ties::highest_id);
        CHECK(ranker.may_tie(positions) == (same > 1));
      }
    }
  }
}

TEST_CASE("half-precision numbers convert exactly") {
  CHECK(from_half(0x3c00) == 1);
  CHECK(from_half(0xc000) == -2);
  CHECK(from_half(0x7bff) == 65504);
  CHECK(from_half(0x0001) == 0x1p-24F);
  CHECK(from_half(0x03ff) == 0x1p-14F - 0x1p-24F);
  CHECK(from_half(0x0400) == 0x1p-14F);
  CHECK(std::signbit(from_half(0x8000)));
  CHECK(from_half(0x7c00) == std::numeric_limits<float>::infinity());
  CHECK(from_half(0xfc00) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_half(0x7e00)));
}

TEST_CASE("the lowest score that reaches a bound") {
  const std::vector<float> floats = {0.1F, std::nextafter(0.1F, 0.0F), std::nextafter(0.1F, 1.0F)};
  for (const double least : {0.1, 1e300, -1e300, 1e-300, kInfinity, -kInfinity, double{0.1F}}) {
    check_row(floats, {}, least);
  }
  const std::vector<std::int64_t> integers = {std::numeric_limits<std::int64_t>::min(), -1, 0, 1,
                                              std::numeric_limits<std::int64_t>::max()};
  for (const double least : {-0x1p63, 0x1p63, 0.5, -0.5, 1e300, -1e300, kInfinity, -kInfinity}) {
    check_row(integers, {}, least);
  }
  const std::vector<std::uint64_t> naturals = {0, 1, std::numeric_limits<std::uint64_t>::max()};
  for (const double least : {-1.0, 0.5, 0x1p63, 0x1p64, 1e300, kInfinity, -kInfinity}) {
    check_row(naturals, {}, least);
  }
}

TEST_CASE("invalid requests for the best items are rejected") {
  const std::vector<float> scores(6);
  std::vector<std::int64_t> items(6);
  const ScoreMatrix sound = matrix_of(scores);
  const auto refused_argument = [&](const ScoreMatrix& matrix, Count k) {
    const TopKRequest request{
        .scores = matrix, .k = k, .exclude = std::nullopt, .positions = items};
    return fault_of([&] { topk(request); }).argument;
  };
  CHECK(refused_argument(sound, 5) == "positions");
  for (const Count count : {Count{-1}, kMaxScoredItems + 1}) {
    ScoreMatrix matrix = sound;
    matrix.items = count;
    CHECK(refused_argument(matrix, 6) == "scores");
  }
  ScoreMatrix bounded = sound;
  bounded.min_score = kNan;
  CHECK(refused_argument(bounded, 6) == "scores");
}

}  // namespace
}  // namespace exactk
