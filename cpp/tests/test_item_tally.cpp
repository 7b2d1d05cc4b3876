// Counts of the items of all lists, and of their groups.
#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "request.hpp"

namespace exactk::tests {
namespace {

struct Tallies {
  std::vector<ItemTallyRequest> of_items = {};
  std::vector<PlannedValue> of_groups = {};
};

Result count(const Input& input, const Tallies& tallies, const Items& items, int threads = 1,
             const std::vector<Offset>& groups = {}, Count group_count = 1) {
  return evaluate({.truth = input.truth.view(),
                   .predictions = input.predictions.view(),
                   .items = items,
                   .groups = groups,
                   .group_count = group_count,
                   .item_tallies = tallies.of_items,
                   .group_tallies = tallies.of_groups,
                   .threads = threads,
                   .isa = isa_of("")});
}

// Returns the argument that is refused.
std::string refused(const Input& input, const Tallies& tallies, const Items& items) {
  try {
    static_cast<void>(count(input, tallies, items));
  } catch (const InputError& error) {
    return error.fault().argument;
  }
  return "nothing";
}

Items catalogue_of(const std::vector<std::int64_t>& ids, const std::vector<Count>& groups = {},
                   Count group_count = 0) {
  return {
      .ids = ids, .users = {}, .interactions = {}, .groups = groups, .group_count = group_count};
}

Rules counting_foreign() {
  Rules rules;
  rules.foreign_items = ForeignItems::count;
  return rules;
}

PlannedValue exposure(Count cutoff, ForeignItems foreign_items = ForeignItems::ignore) {
  PlannedValue planned = value("exposure", cutoff);
  planned.rules.foreign_items = foreign_items;
  return planned;
}

TEST_CASE("any number of threads counts the same items and groups") {
  std::vector<Row> rows;
  std::vector<Row> truth;
  for (std::int64_t user = 0; user < 3000; ++user) {
    Row& row = rows.emplace_back();
    for (std::int64_t rank = 0; rank < user % 9; ++rank) row.push_back((user * 31 + rank * 7) % 97);
    truth.push_back({user % 97});
  }
  const Input input{.truth = lists(truth), .predictions = lists(rows)};
  const std::vector<std::int64_t> ids = {1, 5, 9, 11, 40, 41, 42};
  const std::vector<Count> groups = {0, 1, 2, 0, 1, -1, 2};
  const Items items = catalogue_of(ids, groups, 3);
  const Tallies tallies{{{counting_foreign(), {2, 5}, false}}, {exposure(kNoCutoff)}};
  const Result one = count(input, tallies, items);
  const ItemTally& of_items = one.item_tallies.front();
  const GroupTally& of_groups = one.group_tallies.front();
  CHECK(of_items.foreign_items.size() == 90);
  CHECK(of_groups.lists == 3000);
  CHECK(of_groups.counts.size() == 24);
  for (const int threads : {2, 5}) {
    const Result other = count(input, tallies, items, threads);
    CHECK(other.item_tallies.front().counts == of_items.counts);
    CHECK(other.item_tallies.front().foreign_items == of_items.foreign_items);
    CHECK(other.item_tallies.front().list_lengths == of_items.list_lengths);
    CHECK(other.group_tallies.front().counts == of_groups.counts);
    CHECK(other.group_tallies.front().lists == of_groups.lists);
  }
}

TEST_CASE("groups of users are counted apart, and add up to all users") {
  std::vector<Row> rows;
  std::vector<Row> truth;
  std::vector<Offset> user_groups;
  for (std::int64_t user = 0; user < 3000; ++user) {
    rows.push_back({user % 7, 20 + user % 11});
    truth.push_back({user % 97});
    user_groups.push_back(user % 3);
  }
  const Input input{.truth = lists(truth), .predictions = lists(rows)};
  const std::vector<std::int64_t> ids = {1, 5, 21};
  const std::vector<Count> groups = {0, 1, 1};
  const Items items = catalogue_of(ids, groups, 2);
  const Tallies tallies{{{counting_foreign(), {1, 2}, false}}, {exposure(kNoCutoff)}};
  for (const int threads : {1, 2, 5}) {
    const Result result = count(input, tallies, items, threads, user_groups, 3);
    REQUIRE(result.item_tallies.size() == 4);
    REQUIRE(result.group_tallies.size() == 4);
    CHECK(result.item_tallies.front().counts ==
          count(input, tallies, items).item_tallies.front().counts);
    Count listed = 0;
    std::vector<Count> counts(4);
    for (std::size_t group = 1; group < 4; ++group) {
      listed += result.item_tallies[group].counts[1];
      CHECK(result.item_tallies[group].foreign_items.size() == 15);
      CHECK(result.group_tallies[group].lists == 1000);
      for (std::size_t i = 0; i < 4; ++i) counts[i] += result.group_tallies[group].counts[i];
    }
    CHECK(listed == result.item_tallies.front().counts[1]);
    CHECK(counts == result.group_tallies.front().counts);
  }
}

TEST_CASE("items that cannot be counted are refused") {
  const Input input{.truth = lists({{1}}), .predictions = lists({{7, 3}})};
  const std::vector<std::int64_t> ids = {3, 4, 5};
  const std::vector<std::int64_t> repeated = {3, 4, 3};
  const auto refuse = [&](const ItemTallyRequest& tally, const std::vector<std::int64_t>& of) {
    return refused(input, {{tally}}, catalogue_of(of));
  };
  CHECK(refuse({Rules{}, {2}, false}, ids) == "predictions");
  CHECK(refuse({counting_foreign(), {}, false}, ids) == "item_tallies");
  CHECK(refuse({counting_foreign(), {2, 2}, false}, ids) == "item_tallies");
  CHECK(refuse({counting_foreign(), {0}, false}, ids) == "item_tallies");
  CHECK(refuse({counting_foreign(), {2}, false}, repeated) == "items");
  Rules repeating = counting_foreign();
  repeating.duplicate_items = Duplicates::count;
  CHECK(refuse({repeating, {2}, false}, ids) == "nothing");
  CHECK(refuse({repeating, {2}, false, Counted::hits}, ids) == "item_tallies");
  CHECK(refuse({repeating, {2}, false, Counted::relevant}, ids) == "item_tallies");
}

TEST_CASE("hits and relevant items are counted apart, with those outside the catalogue") {
  const Input input{.truth = lists({{3, 5, 9}, {3, 8}, {7}}),
                    .predictions = lists({{4, 9, 3}, {3, 5}, {}})};
  const std::vector<std::int64_t> ids = {3, 4, 5};
  Rules ignoring;
  ignoring.foreign_items = ForeignItems::ignore;
  const auto counted = [&](const Rules& rules, const std::vector<Count>& cutoffs, Counted what) {
    return count(input, {{{rules, cutoffs, false, what}}}, catalogue_of(ids)).item_tallies.front();
  };
  const ItemTally hits = counted(counting_foreign(), {1, 2, kNoCutoff}, Counted::hits);
  CHECK(hits.counts == std::vector<Count>{1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1});  // 3, 4, 5, 9
  CHECK(hits.foreign_items == std::vector<std::int64_t>{9});
  CHECK(hits.list_lengths.back() == std::vector<Count>{1, 1, 1});
  CHECK(counted(ignoring, {2}, Counted::hits).counts == std::vector<Count>{1, 0, 0});
  const ItemTally relevant = counted(counting_foreign(), {1, 2}, Counted::relevant);
  CHECK(relevant.counts == std::vector<Count>{2, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(relevant.foreign_items == std::vector<std::int64_t>{7, 8, 9});
  CHECK(counted(ignoring, {1}, Counted::relevant).counts == std::vector<Count>{2, 0, 1});
}

TEST_CASE("groups that cannot be counted are refused") {
  const Input input{.truth = lists({{1}}), .predictions = lists({{7, 3}})};
  const std::vector<std::int64_t> ids = {3, 4, 5};
  const auto refuse = [&](const PlannedValue& tally, const std::vector<Count>& groups,
                          Count group_count) {
    return refused(input, {{}, {tally}}, catalogue_of(ids, groups, group_count));
  };
  CHECK(refuse(exposure(2), {0, 1, -1}, 2) == "nothing");
  CHECK(refuse(exposure(2), {}, 0) == "items");
  for (const std::vector<Count>& groups : {std::vector<Count>{}, {0, 1}, {0, 2, 1}, {0, -2, 1}}) {
    CHECK(refuse(exposure(2), groups, 2) == "items.groups");
  }
  for (const Count group_count : {-1, 4}) {
    CHECK(refuse(exposure(2), {0, 1, 1}, group_count) == "items.group_count");
  }
  for (const PlannedValue& tally : {exposure(0), value("recall", 2), value("none", 2)}) {
    CHECK(refuse(tally, {0, 1, 1}, 2) == "metrics");
  }
  CHECK(refuse(exposure(2, ForeignItems::raise), {0, 1, 1}, 2) == "predictions");
}

}  // namespace
}  // namespace exactk::tests
