#include "common.hpp"
#include "exactk/judged_lists.hpp"
#include "request.hpp"

namespace exactk {
namespace {

using namespace tests;

// Judges two users into cells of a number of users, k items each.
void judge(const std::vector<PlannedValue>& values, std::size_t users, std::size_t k,
           Count first_user = 0) {
  const OwnedLists same = lists({{1}, {2}});
  std::vector<std::int64_t> items(users * k);
  std::vector<double> grades(users * k);
  std::vector<std::uint8_t> hits(users * k);
  std::vector<Count> lengths(users);
  std::vector<Count> relevant(users);
  judge_lists({.truth = same.view(),
               .grades = {},
               .predictions = same.view(),
               .exclude = std::nullopt,
               .weights = std::nullopt,
               .groups = {},
               .values = values,
               .tally_rules = {},
               .per_user = {}},
              {.items = items,
               .grades = grades,
               .hits = hits,
               .lengths = lengths,
               .relevant = relevant,
               .first_user = first_user});
}

TEST_CASE("requests of judged lists that have no answer are refused") {
  const std::vector<PlannedValue> one = {value("num_hits", 2)};
  CHECK_NOTHROW(judge(one, 2, 2));
  CHECK_NOTHROW(judge(one, 1, 2, 1));
  CHECK_THROWS_AS(judge({}, 2, 2), InputError);
  CHECK_THROWS_AS(judge({value("num_hits", 2), value("recall", 2)}, 2, 2), InputError);
  CHECK_THROWS_AS(judge({value("num_hits")}, 2, 2), InputError);
  CHECK_THROWS_AS(judge(one, 2, 3), InputError);
  for (const Count first : {Count{-1}, Count{2}, kNoCutoff}) {
    CHECK_THROWS_AS(judge(one, 1, 2, first), InputError);
  }
}

}  // namespace
}  // namespace exactk
