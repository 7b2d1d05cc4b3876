// Counts of the items of all lists.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "request.hpp"
#include "support.hpp"

namespace exactk::tests {
namespace {

Result count(Input& input, const std::vector<ItemTallyRequest>& tallies, const Items& items,
             int threads) {
  return evaluate({.truth = input.truth.view(),
                   .grades = {},
                   .predictions = input.predictions.view(),
                   .exclude = std::nullopt,
                   .items = items,
                   .weights = std::nullopt,
                   .groups = {},
                   .values = {},
                   .item_tallies = tallies,
                   .tally_rules = {},
                   .per_user = {},
                   .threads = threads,
                   .isa = isa_of("")});
}

Items catalogue_of(const std::vector<std::int64_t>& ids) {
  return {.ids = ids, .users = {}, .interactions = {}};
}

Rules counting_foreign() {
  Rules rules;
  rules.foreign_items = ForeignItems::count;
  return rules;
}

TEST_CASE("items are counted by cutoff, foreign ones by id, and lists by length") {
  Input input{.truth = lists({{1}, {1}, {1}}), .predictions = lists({{7, 3, 5}, {3}, {}})};
  const std::vector<std::int64_t> ids = {3, 4, 5};
  const Items items = catalogue_of(ids);
  const Result result = count(input, {{counting_foreign(), {1, 2, kNoCutoff}, true}}, items, 1);
  const ItemTally& tally = result.item_tallies.front();
  CHECK(tally.foreign_items == std::vector<std::int64_t>{7});
  CHECK(tally.counts == std::vector<Count>{1, 2, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(tally.list_lengths[0] == std::vector<Count>{1, 2});
  CHECK(tally.list_lengths[2] == std::vector<Count>{1, 1, 0, 1});
  REQUIRE(tally.short_lists[1].size() == 1);  // one list of one item, which is item 3
  CHECK(tally.short_lists[1].front().item == 0);
  CHECK(tally.short_lists[1].front().length == 1);
  CHECK(tally.short_lists[1].front().lists == 1);
}

TEST_CASE("any number of threads counts the same items") {
  std::vector<Row> rows;
  std::vector<Row> truth;
  for (std::int64_t user = 0; user < 3000; ++user) {
    Row& row = rows.emplace_back();
    for (std::int64_t rank = 0; rank < user % 9; ++rank) row.push_back((user * 31 + rank * 7) % 97);
    truth.push_back({user % 97});
  }
  Input input{.truth = lists(truth), .predictions = lists(rows)};
  const std::vector<std::int64_t> ids = {1, 5, 9, 11, 40, 41, 42};
  const Items items = catalogue_of(ids);
  const std::vector<ItemTallyRequest> tallies = {{counting_foreign(), {2, 5}, false}};
  const ItemTally one = count(input, tallies, items, 1).item_tallies.front();
  CHECK(one.foreign_items.size() == 90);
  for (const int threads : {2, 5}) {
    const ItemTally other = count(input, tallies, items, threads).item_tallies.front();
    CHECK(other.counts == one.counts);
    CHECK(other.foreign_items == one.foreign_items);
    CHECK(other.list_lengths == one.list_lengths);
  }
}

TEST_CASE("what cannot be counted is refused") {
  Input input{.truth = lists({{1}}), .predictions = lists({{7, 3}})};
  const std::vector<std::int64_t> ids = {3, 4, 5};
  const std::vector<std::int64_t> repeated = {3, 4, 3};
  const Items items = catalogue_of(ids);
  const auto refuse = [&](const ItemTallyRequest& tally, const Items& given) {
    try {
      static_cast<void>(count(input, {tally}, given, 1));
    } catch (const InputError& error) {
      return error.fault().argument;
    }
    return std::string("accepted");
  };
  CHECK(refuse({Rules{}, {2}, false}, items) == "predictions");
  CHECK(refuse({counting_foreign(), {}, false}, items) == "item_tallies");
  CHECK(refuse({counting_foreign(), {2, 2}, false}, items) == "item_tallies");
  CHECK(refuse({counting_foreign(), {0}, false}, items) == "item_tallies");
  CHECK(refuse({counting_foreign(), {2}, false}, catalogue_of(repeated)) == "items");
}

}  // namespace
}  // namespace exactk::tests
