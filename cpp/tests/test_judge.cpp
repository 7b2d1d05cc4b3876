#include "common.hpp"
#include "judge/cutoff_set.hpp"
#include "judge/judge.hpp"
#include "metrics/metric.hpp"
#include "runs.hpp"

namespace exactk {
namespace {

using Ids = std::vector<std::int64_t>;
using Counts = std::vector<Count>;

constexpr std::uint64_t kAnyId = ~std::uint64_t{0} >> 1U;  // the bits of ids of any size

template <class ListId = std::int64_t>
const Matches& match(ListMatcher& matcher, const Ids& truth, const std::vector<ListId>& list,
                     const Ids& exclude = {}) {
  return matcher.match(std::span<const std::int64_t>(truth), std::span<const ListId>(list),
                       std::span<const std::int64_t>(exclude));
}

void check_matches(const Matches& matches, const std::vector<Match>& expected) {
  REQUIRE(matches.hits.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(matches.hits[i].rank == expected[i].rank);
    CHECK(matches.hits[i].entry == expected[i].entry);
    CHECK(matches.hits[i].is_repeat == expected[i].is_repeat);
  }
}

void check_matches(const Matches& actual, const Matches& expected) {
  check_matches(actual, expected.hits);
  CHECK(actual.first_entry == expected.first_entry);
  CHECK(actual.excluded_entries == expected.excluded_entries);
  CHECK(actual.truth_size == expected.truth_size);
  CHECK(actual.truth_duplicates == expected.truth_duplicates);
  CHECK(actual.list_length == expected.list_length);
  CHECK(actual.list_duplicates == expected.list_duplicates);
  CHECK(actual.excluded_recommended == expected.excluded_recommended);
  CHECK(actual.first_truth_duplicate == expected.first_truth_duplicate);
  CHECK(actual.first_list_duplicate == expected.first_list_duplicate);
}

bool contains(std::span<const std::int64_t> ids, std::int64_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

Count first_position(const Ids& ids, std::int64_t id) {
  return std::ranges::find(ids, id) - ids.begin();
}

// Computes the same matches by searching the lists, without a table.
Matches matches_by_search(const Ids& truth, const Ids& list, const Ids& exclude) {
  Matches matches;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto entry = static_cast<Count>(i);
    const Count first = first_position(truth, truth[i]);
    matches.first_entry.push_back(first);
    if (first != entry && matches.truth_duplicates++ == 0) matches.first_truth_duplicate = entry;
    if (contains(exclude, truth[i])) matches.excluded_entries.push_back(entry);
  }
  matches.truth_size = static_cast<Count>(truth.size());
  if (matches.truth_duplicates == 0) matches.first_entry.clear();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool repeat = first_position(list, list[i]) != static_cast<Count>(i);
    if (repeat && matches.list_duplicates++ == 0) {
      matches.first_list_duplicate = static_cast<Offset>(i);
    }
    if (contains(exclude, list[i])) {
      ++matches.excluded_recommended;
      continue;
    }
    ++matches.list_length;
    if (contains(truth, list[i])) {
      matches.hits.push_back({matches.list_length, first_position(truth, list[i]), repeat});
    }
  }
  return matches;
}

TEST_CASE("empty lists match nothing") {
  ListMatcher matcher(kAnyId, true, idle_run);
  check_matches(match(matcher, {}, Ids{}), Matches{});
  check_matches(match(matcher, {}, Ids{1, 2}, {2}), matches_by_search({}, {1, 2}, {2}));
  check_matches(match(matcher, {1, 2}, Ids{}, {2}), matches_by_search({1, 2}, {}, {2}));
}

TEST_CASE("ids are compared in full, up to 2^63 - 1 and with every id type") {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kPower32 = std::int64_t{1} << 32U;
  ListMatcher matcher(kAnyId, true, idle_run);
  const Ids truth = {kLast, 0, kPower32, kLast - 1};

  SUBCASE("int64") {
    const Ids list = {kLast - 1, 1, kLast, kPower32};
    check_matches(match(matcher, truth, list), {{1, 3, false}, {3, 0, false}, {4, 2, false}});
  }
  SUBCASE("uint64") {
    const std::vector<std::uint64_t> list = {std::uint64_t{1} << 63U, kLast, 0};
    check_matches(match(matcher, truth, list), {{2, 0, false}, {3, 1, false}});
  }
  SUBCASE("uint32") {
    const std::vector<std::uint32_t> list = {std::numeric_limits<std::uint32_t>::max(), 0};
    check_matches(match(matcher, truth, list), {{2, 1, false}});
  }
  SUBCASE("int32") {
    const std::vector<std::int32_t> list = {std::numeric_limits<std::int32_t>::max(), 0};
    check_matches(match(matcher, truth, list), {{2, 1, false}});
  }
}

TEST_CASE("a list whose repeats are collapsed matches as the list of its first copies does") {
  std::mt19937_64 random(1);
  for (const std::uint64_t factor : {std::uint64_t{1}, (std::uint64_t{1} << 55U) + 1}) {
    ListMatcher collapsing(kAnyId, true, idle_run);
    collapsing.collapse_repeats();
    ListMatcher matcher(kAnyId, true, idle_run);
    const auto draw = [&](std::size_t most) {
      Ids ids(random() % (most + 1));
      for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random() % 9 * factor);
      return ids;
    };
    for (int user = 0; user < 1000; ++user) {
      CAPTURE(user);
      const Ids truth = draw(4);
      const Ids list = draw(12);
      const Ids exclude = draw(2);
      Ids firsts;
      for (const std::int64_t id : list) {
        if (!contains(firsts, id)) firsts.push_back(id);
      }
      Matches expected = match(matcher, truth, firsts, exclude);
      const Matches& matches = match(collapsing, truth, list, exclude);
      expected.list_duplicates = static_cast<Count>(list.size() - firsts.size());
      expected.first_list_duplicate = matches_by_search(truth, list, exclude).first_list_duplicate;
      check_matches(matches, expected);
    }
  }
}

TEST_CASE("a collapsed repeat moves the given ranks below it up") {
  ListMatcher matcher(kAnyId, true, idle_run);
  matcher.collapse_repeats();
  const Ids truth = {5, 7};
  const Ids list = {5, 5, 8, 7};
  const Counts ranks = {1, 2, 4, 6};
  const Matches& matches = matcher.match(std::span<const std::int64_t>(truth),
                                         std::span<const std::int64_t>(list), ranks, {});
  check_matches(matches, {{1, 0, false}, {5, 1, false}});
  CHECK(matches.list_ranks == Counts{1, 3, 5});
  CHECK(matches.removed_positions == std::vector<std::size_t>{1});
}

void forget_entries(Matches& matches) {
  for (Match& match : matches.hits) match.entry = 0;
}

// Checks users of varying size; each must match as if it were the first.
void check_many_users(std::uint64_t id_bits, bool entries, std::uint64_t factor) {
  std::mt19937_64 random(1);
  ListMatcher matcher(id_bits, entries, idle_run);
  const auto draw = [&](std::size_t most, std::uint64_t item_count) {
    Ids ids(random() % (most + 1));
    for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random() % item_count * factor);
    return ids;
  };
  for (int user = 0; user < 3000; ++user) {
    CAPTURE(user);
    // Most users are small; some make the table grow.
    const std::size_t most = user % 500 == 499 ? 400 : std::size_t{8};
    const std::uint64_t item_count = user % 3 == 0 ? 5 : 2 * most;
    const Ids truth = draw(most, item_count);
    const Ids list = draw(most, item_count);
    const Ids exclude = user % 2 == 0 ? Ids{} : draw(most / 2, item_count);
    Matches actual = match(matcher, truth, list, exclude);
    Matches expected = matches_by_search(truth, list, exclude);
    if (!entries) {
      forget_entries(actual);
      forget_entries(expected);
    }
    check_matches(actual, expected);
  }
}

TEST_CASE("a list is matched by the entries that it carries, otherwise by its items") {
  ListMatcher matcher(kAnyId, true, idle_run);
  std::mt19937_64 random(1);
  const auto draw = [&](std::size_t size) {
    Ids ids(size);
    for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random() % 12);
    return ids;
  };
  for (int user = 0; user < 1000; ++user) {
    const Ids truth = draw(random() % 8);
    const Ids exclude = draw(random() % 3);
    Ids list;  // each item once, none of them excluded
    for (std::int64_t id = 0; id < 8; ++id) {
      if (!contains(exclude, id)) list.push_back(id);
    }
    std::ranges::shuffle(list, random);
    Matches expected = matches_by_search(truth, list, exclude);
    expected.list_length = 100;
    std::uint64_t excluded_bits = 0;
    for (const std::int64_t id : exclude) excluded_bits |= std::uint64_t{id < 8} << id;
    const RankedList best{
        .offsets = list, .length = 100, .scored_end = 8, .excluded_bits = &excluded_bits};
    Counts unscored;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] >= 8) unscored.push_back(static_cast<Count>(i));
    }
    const Matches& by_items = matcher.match(truth, best, exclude);
    check_matches(by_items, expected);
    CHECK(by_items.unscored_entries == unscored);
    Counts entries;
    Counts ranks;
    std::vector<Tie> ties;
    for (Match& hit : expected.hits) {
      entries.push_back(hit.entry);
      hit.rank *= 7;  // as scores may give
      ranks.push_back(hit.rank);
      ties.push_back({hit.rank - 1, hit.rank + 1});
    }
    const RankedList ranked{.entries = entries,
                            .ranks = ranks,
                            .ties = ties,
                            .length = 100,
                            .scored_end = 8,
                            .excluded_bits = &excluded_bits};
    const Matches& by_entries = matcher.match(truth, ranked, exclude);
    if (entries.empty()) continue;
    check_matches(by_entries, expected);
    CHECK(by_entries.ties == ties);
    CHECK(by_entries.unscored_entries == unscored);
  }
}

TEST_CASE("rankings of a located list are matched by its entries, repeatedly") {
  ListMatcher matcher(kAnyId, true, idle_run);
  const Ids truth = {7, 3, 3, 9, 5, 8};
  const Ids list = {5, 8, 3, 7, 8, 3, 8, 2};
  matcher.find_item_positions(truth, list, Ids{8, 1});
  // The ranked items are 3, 2, 7, the other 3, and 5.
  const Counts entries = {1, RankedList::kNoEntry, 0, 1, 4};
  const std::vector<Tie> ties = {{1, 1}, {2, 3}, {2, 3}, {4, 4}, {5, 5}};
  for (int time = 0; time < 2; ++time) {
    const RankedList best{.entries = entries, .length = 5};
    const Matches& matches = matcher.match_located(best);
    check_matches(matches, {{1, 1, false}, {3, 0, false}, {4, 1, true}, {5, 4, false}});
    CHECK(matches.ties.empty());
    CHECK(matches.list_length == 5);
    CHECK(matches.list_duplicates == 3);
    CHECK(matches.first_list_duplicate == 4);
    CHECK(matches.excluded_recommended == 0);
    CHECK(matches.truth_size == 6);
    CHECK(matches.truth_duplicates == 1);
    CHECK(matches.first_truth_duplicate == 2);
    CHECK(matches.first_entry == Counts{0, 1, 1, 3, 4, 5});
    CHECK(matches.excluded_entries == Counts{5});
    CHECK(matches.unscored_entries == Counts{2, 3});
  }
  const Counts ranks = {2, 5, 6, 8, 9};
  const RankedList ranked{.entries = entries, .ranks = ranks, .ties = ties, .length = 9};
  const Matches& matches = matcher.match_located(ranked);
  check_matches(matches, {{2, 1, false}, {6, 0, false}, {8, 1, true}, {9, 4, false}});
  CHECK(matches.ties == std::vector<Tie>{{1, 1}, {2, 3}, {4, 4}, {5, 5}});
}

TEST_CASE("small ids have slots of their own") {
  check_many_users(1023, true, 1);
  check_many_users(1023, false, 1);
}

TEST_CASE("large ids share slots") {
  check_many_users(kAnyId, true, 1);
  check_many_users(kAnyId, true, 0x1234567891234U);
  check_many_users(kAnyId, false, 0x1234567891234U);
}

TEST_CASE("lists longer than a chunk, with repeats, excluded items and hits everywhere") {
  for (const std::uint64_t id_bits : {std::uint64_t{0x3ffff}, kAnyId}) {
    CAPTURE(id_bits);
    Ids list;
    for (std::int64_t i = 0; i < 200000; ++i) list.push_back(i);
    list[65536] = 7;  // the first of the second chunk
    list[199999] = 65535;
    ListMatcher matcher(id_bits, true, idle_run);
    const Matches& matches = match(matcher, {150000, 7, 3}, list, {0, 100000, 3});
    check_matches(matches, {{6, 1, false}, {65535, 1, true}, {149998, 0, false}});
    CHECK(matches.list_duplicates == 2);
    CHECK(matches.first_list_duplicate == 65536);
    CHECK(matches.excluded_recommended == 3);
    CHECK(matches.excluded_entries == Counts{2});
    CHECK(matches.list_length == 199997);
  }
}

TEST_CASE("a list of repeats takes time proportional to its length") {
  ListMatcher matcher(kAnyId, true, idle_run);
  const Ids list(1 << 20U, 5);  // comparing each with all above would take 2^39 steps
  const Matches& matches = match(matcher, {5}, list);
  CHECK(matches.list_duplicates == (1 << 20U) - 1);
  CHECK(matches.hits.size() == list.size());
}

TEST_CASE("a long list calls the checkpoint, and the next user is matched afresh") {
  bool is_stopped = true;
  const Run run = polling_run([&] {
    if (is_stopped) throw std::runtime_error("stop");
  });
  ListMatcher matcher(kAnyId, true, run);
  const Ids list(200000, 5);
  CHECK_THROWS_AS(match(matcher, {}, list), std::runtime_error);
  is_stopped = false;
  check_matches(match(matcher, {5}, Ids{4, 5}), matches_by_search({5}, {4, 5}, {}));
}

TEST_CASE("F19: ids that share their low or their high bits are distinguished") {
  ListMatcher matcher(kAnyId, true, idle_run);
  for (const unsigned shift : {0U, 20U, 40U}) {
    CAPTURE(shift);
    Ids list(20000);
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i << shift);
    const Matches& matches = match(matcher, list, list);
    CHECK(matches.hits.size() == list.size());
    CHECK(matches.list_duplicates == 0);
  }
}

TEST_CASE("exponential gains are exact for integer grades and bounded for all grades") {
  Rules rules;
  rules.gain = Gain::exp2;
  const JudgingRules judging(rules, true);
  CHECK(judging.gain_of(0) == 0);
  CHECK(judging.gain_of(1) == 1);
  CHECK(judging.gain_of(10) == 1023);
  CHECK(judging.gain_of(53) == 0x1.fffffffffffffp+52);
  CHECK(judging.gain_of(256) == 0x1p256);
  CHECK(judging.gain_of(0.5) == doctest::Approx(0.41421356237309505).epsilon(1e-15));
  CHECK(judging.gain_of(1e308) == 0x1p256);  // rejected earlier, but nothing may overflow
  CHECK(judging.gain_of(-5) == 0);
}

TEST_CASE("a gain table is read within its bounds for any grade") {
  Rules rules;
  rules.gain = Gain::table;
  rules.gain_table = {1, 2};
  const JudgingRules judging(rules, true);
  CHECK(judging.gain_of(0) == 1);
  CHECK(judging.gain_of(1) == 2);
  CHECK(judging.gain_of(2) == 0);
  CHECK(judging.gain_of(-1) == 0);
  CHECK(judging.gain_of(std::numeric_limits<double>::infinity()) == 0);
  CHECK(judging.gain_of(std::numeric_limits<double>::quiet_NaN()) == 0);
}

TEST_CASE("one judge serves users and judging rules in turn") {
  ListMatcher matcher(kAnyId, true, idle_run);
  Judge judge(idle_run);
  Rules graded;
  graded.min_grade = 2;
  const std::vector<double> grades = {1, 2, 3};
  for (int i = 0; i < 3; ++i) {
    const Matches& matches = match(matcher, {1, 2, 3}, Ids{3, 2, 1});
    HitRows rows;
    HitRow row = judge.judge(JudgingRules(Rules{}, true), matches, grades, rows);
    CHECK(row.relevant == 3);
    CHECK(row.ideal_gains.size() == 3);
    row = judge.judge(JudgingRules(graded, true), matches, grades, rows);
    CHECK(row.relevant == 2);
    CHECK(row.ideal_gains.size() == 2);
    row = judge.judge(JudgingRules(graded, true), match(matcher, {}, Ids{5}), {}, rows);
    CHECK(row.relevant == 0);
    CHECK(row.unit_gains);
    CHECK(row.judged_items.empty());
    CHECK(row.ideal_gains.empty());
    CHECK(row.recommended == 1);
    // All rows refer to their own items, even if the memory was reallocated.
    const std::span<const HitRow> all = rows.rows();
    REQUIRE(all.size() == 3);
    CHECK(all[0].judged_items.size() == 3);
    CHECK(all[0].ideal_gains[0] == 3);
    CHECK(all[1].judged_items[2].hits == 2);
    CHECK(all[1].ideal_gains[1] == 2);
    CHECK(all[2].judged_items.empty());
  }
}

TEST_CASE("a set of cutoffs counts down to each cutoff") {
  std::vector<JudgedItem> judged_items;
  for (const Count rank : {1, 3, 5, 1024, 1025, 5000, 5001}) {
    const bool relevant = rank != 3;
    judged_items.push_back({rank, static_cast<Count>(judged_items.size()), 1, relevant});
  }
  HitRow row;
  row.judged_items = judged_items;
  const CutoffSet cutoff_set({1, 4, 1024, 5000, kNoCutoff});
  std::vector<HitCounts> counts(5, HitCounts{.judged = 9, .hits = 9});
  cutoff_set.count_hits(row, counts, idle_run);
  const std::vector<Count> judged = {1, 2, 4, 6, 7};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    CAPTURE(i);
    CHECK(counts[i].judged == judged[i]);
    CHECK(counts[i].hits == judged[i] - (i == 0 ? 0 : 1));
  }
}

TEST_CASE("the counts at a cutoff") {
  HitRow row;
  row.recommended = 7;
  row.relevant = 9;
  row.nonrelevant = 2;
  for (const Count cutoff : {Count{4}, Count{7}, kNoCutoff}) {
    const CutoffCounts counts = cutoff_counts(row, cutoff, {.judged = 3, .hits = 1});
    CHECK(counts.cutoff == cutoff);
    CHECK(counts.list_length == std::min(cutoff, Count{7}));
    CHECK(counts.relevant == 9);
    CHECK(counts.nonrelevant == 2);
    CHECK(counts.judged == 3);
    CHECK(counts.hits == 1);
  }
}

TEST_CASE("judging rules are equal if they judge alike") {
  Rules rules;
  Rules other;
  other.average = Average::micro;
  other.precision_over = Over::list;
  other.discount = Discount::log2_floored;
  other.gain_table = {1, 2, 3};  // has no effect with another gain
  CHECK(JudgingRules(rules, true) == JudgingRules(other, true));
  other.gain = Gain::table;
  CHECK_FALSE(JudgingRules(rules, true) == JudgingRules(other, true));
  rules.duplicate_items = Duplicates::first;
  CHECK_FALSE(JudgingRules(rules, true).equals_except_gains(JudgingRules(Rules{}, true)));
}

TEST_CASE("judging rules without gains are binary, and judge as those with gains") {
  Rules rules;
  rules.gain = Gain::table;
  rules.gain_table = {0, 7};
  const JudgingRules judging(rules, false);
  CHECK(judging.gain == Gain::binary);
  CHECK(judging.gain_table.empty());
  CHECK_FALSE(judging == JudgingRules(rules, true));
  CHECK(judging.equals_except_gains(JudgingRules(rules, true)));
}

TEST_CASE("judging rules differ in the judging fields, and in no others") {
  struct OtherValue {
    FieldValue operator()(const ChoiceField& field) const {
      return std::string(field.names[field.choices.back()]);
    }
    FieldValue operator()(const NumberField& field) const { return field.high; }
    FieldValue operator()(const NumbersField& field) const { return std::vector{field.high}; }
  };
  Rules rules;
  rules.gain = Gain::exp2;  // not the last choice
  for (const ConventionField& field : convention_fields()) {
    CAPTURE(field.name);
    if (field.name == "gain_table") rules.gain = Gain::table;  // has no effect with another gain
    if (field.name == "gain_range") rules.gain = Gain::scaled;
    Rules changed = rules;
    set_field(changed, field.name, std::visit(OtherValue{}, field.kind));
    REQUIRE_FALSE(changed == rules);
    const bool is_equal = JudgingRules(changed, true) == JudgingRules(rules, true);
    CHECK(is_equal == !field.is_judging);
  }
}

}  // namespace
}  // namespace exactk
