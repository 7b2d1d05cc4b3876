// Counts of the groups of items of all lists.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk::tests {
namespace {

Result count(Input& input, const std::vector<PlannedValue>& tallies, const Items& items,
             int threads) {
  return evaluate({.truth = input.truth.view(),
                   .grades = {},
                   .predictions = input.predictions.view(),
                   .exclude = std::nullopt,
                   .items = items,
                   .weights = std::nullopt,
                   .groups = {},
                   .values = {},
                   .group_tallies = tallies,
                   .tally_rules = {},
                   .per_user = {},
                   .threads = threads,
                   .isa = isa_of("")});
}

PlannedValue exposure(Count cutoff, ForeignItems foreign_items = ForeignItems::ignore) {
  PlannedValue value{.metric = "exposure", .cutoff = cutoff, .rules = {}};
  value.rules.foreign_items = foreign_items;
  return value;
}

TEST_CASE("groups are counted by rank, down to the last rank that has one") {
  Input input{.truth = lists({{1}, {1}, {1}}), .predictions = lists({{7, 3, 5, 6}, {5, 4}, {}})};
  const std::vector<std::int64_t> ids = {3, 4, 5, 6};
  const std::vector<Count> groups = {1, 0, 1, -1};
  const Items items{
      .ids = ids, .users = {}, .interactions = {}, .groups = groups, .group_count = 2};
  const Result result = count(input, {exposure(kNoCutoff), exposure(1)}, items, 1);
  const GroupTally& whole = result.group_tallies.front();
  CHECK(whole.lists == 3);
  CHECK(whole.counts == std::vector<Count>{0, 1, 1, 1, 0, 1});
  CHECK(result.group_tallies.back().counts == std::vector<Count>{0, 1});
}

TEST_CASE("any number of threads counts the same groups") {
  std::vector<Row> rows;
  std::vector<Row> truth;
  for (std::int64_t user = 0; user < 3000; ++user) {
    Row& row = rows.emplace_back();
    for (std::int64_t rank = 0; rank < user % 9; ++rank) row.push_back((user * 31 + rank * 7) % 97);
    truth.push_back({user % 97});
  }
  Input input{.truth = lists(truth), .predictions = lists(rows)};
  const std::vector<std::int64_t> ids = {1, 5, 9, 11, 40, 41, 42};
  const std::vector<Count> groups = {0, 1, 2, 0, 1, -1, 2};
  const Items items{
      .ids = ids, .users = {}, .interactions = {}, .groups = groups, .group_count = 3};
  const GroupTally one = count(input, {exposure(kNoCutoff)}, items, 1).group_tallies.front();
  CHECK(one.lists == 3000);
  CHECK(one.counts.size() == 24);
  for (const int threads : {2, 5}) {
    const GroupTally other =
        count(input, {exposure(kNoCutoff)}, items, threads).group_tallies.front();
    CHECK(other.counts == one.counts);
    CHECK(other.lists == one.lists);
  }
}

TEST_CASE("groups that cannot be counted are refused") {
  Input input{.truth = lists({{1}}), .predictions = lists({{7, 3}})};
  const std::vector<std::int64_t> ids = {3, 4, 5};
  const auto refuse = [&](const PlannedValue& tally, const std::vector<Count>& groups,
                          Count group_count) {
    const Items items{
        .ids = ids, .users = {}, .interactions = {}, .groups = groups, .group_count = group_count};
    try {
      static_cast<void>(count(input, {tally}, items, 1));
    } catch (const InputError& error) {
      return error.fault().argument;
    }
    return std::string("accepted");
  };
  CHECK(refuse(exposure(2), {0, 1, -1}, 2) == "accepted");
  CHECK(refuse(exposure(2), {}, 0) == "items");
  CHECK(refuse(exposure(2), {}, 2) == "items.groups");
  CHECK(refuse(exposure(2), {0, 1}, 2) == "items.groups");
  CHECK(refuse(exposure(2), {0, 2, 1}, 2) == "items.groups");
  CHECK(refuse(exposure(2), {0, -2, 1}, 2) == "items.groups");
  CHECK(refuse(exposure(2), {0, 1, 1}, -1) == "items.group_count");
  CHECK(refuse(exposure(2), {0, 1, 1}, 4) == "items.group_count");
  CHECK(refuse(exposure(0), {0, 1, 1}, 2) == "metrics");
  CHECK(refuse({.metric = "recall", .cutoff = 2, .rules = {}}, {0, 1, 1}, 2) == "metrics");
  CHECK(refuse({.metric = "none", .cutoff = 2, .rules = {}}, {0, 1, 1}, 2) == "metrics");
  CHECK(refuse(exposure(2, ForeignItems::raise), {0, 1, 1}, 2) == "predictions");
}

}  // namespace
}  // namespace exactk::tests
