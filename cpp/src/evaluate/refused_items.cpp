#include "evaluate/refused_items.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "judge/judge.hpp"

namespace exactk {
namespace {

bool refuses_under(Violation violation, const Rules& rules, ItemNumber number, ItemNumber foreign) {
  const bool is_foreign = number == foreign;
  if (violation == Violation::foreign_item)
    return is_foreign && rules.foreign_items == ForeignItems::raise;
  const bool is_counted = is_foreign && rules.foreign_items == ForeignItems::count;
  return (is_counted || (number & kUnseen) != 0) && rules.unseen_items == UnseenItems::raise;
}

// Searches the lists of one user, and stops at the first that has refused items.
class RefusedItemSearch {
 public:
  RefusedItemSearch(const Job& job, UserMatcher& matcher, Count user)
      : job_(job), matcher_(matcher), user_(user) {}

  [[nodiscard]] const RefusedItems& refused() const noexcept { return refused_; }

  // Searches the list under the rules, down to a rank.
  template <class Refuses>
  void search_list(const Rules& rules, Count depth, const Refuses& refuses) {
    if (refused_.count > 0) return;
    matcher_.open(user_);
    const Matches& matches = matcher_.match(ranking_ties(rules.ties));
    const Count length =
        matches.list_ranks.empty() ? matches.list_length : matches.list_ranks.back();
    std::vector<std::int64_t> items(static_cast<std::size_t>(std::min(depth, length)));
    matcher_.read_list(matches, rules.ties, items);
    for (const std::int64_t item : items) {
      if (item < 0 || !refuses(job_.catalogue.find_marked(static_cast<std::uint64_t>(item))))
        continue;
      if (refused_.count++ == 0) refused_.first = item;
    }
  }

  // Searches what the user has in train for items without features.
  void search_history(const Pass& pass) {
    if (refused_.count > 0 || !job_.request.histories || !job_.request.items) return;
    for (const ItemNumber item : job_.request.histories->of_user(user_)) {
      if (!refuses_for_features(pass, item, job_.catalogue.foreign())) continue;
      if (refused_.count++ == 0) {
        refused_.first = job_.request.items->ids[item];
        refused_.is_of_train = true;
      }
    }
  }

 private:
  const Job& job_;
  UserMatcher& matcher_;
  Count user_;
  RefusedItems refused_;
};

}  // namespace

RefusedItems find_refused_items(Violation violation, const Job& job, UserMatcher& matcher,
                                Count user) {
  const ItemNumber foreign = job.catalogue.foreign();
  RefusedItemSearch search(job, matcher, user);
  for (const Pass& pass : job.plan.passes) {
    if (!pass.info->walks_list) continue;
    const Count depth = job.plan.cutoff_sets[pass.cutoff_set_index].cutoffs().back();
    search.search_list(pass.rules, depth, [&](ItemNumber number) {
      if (violation == Violation::missing_features)
        return refuses_for_features(pass, number & ~kUnseen, foreign);
      const bool reads_rule = violation == Violation::foreign_item || pass.needs.popularity;
      return reads_rule && refuses_under(violation, pass.rules, number, foreign);
    });
    if (violation == Violation::missing_features && pass.needs.history) search.search_history(pass);
  }
  if (violation == Violation::missing_features) return search.refused();
  for (const ListCount& list_count : job.plan.list_counts) {
    search.search_list(*list_count.rules, list_count.depth, [&](ItemNumber number) {
      return refuses_under(violation, *list_count.rules, number, foreign);
    });
  }
  return search.refused();
}

RefusedItems find_items_without_value(const Job& job, UserMatcher& matcher, Count user) {
  RefusedItems refused;
  matcher.open(user);
  const auto items = int64_row_items(job.request.truth, user);
  const std::span<const double> values = matcher.values();
  const std::span<const std::uint64_t> groups = matcher.item_groups();
  Judge judge(job.run);
  HitRows rows;
  for (const Pass& pass : job.plan.passes) {
    if (!pass.reads_values() || refused.count > 0) continue;
    const JudgingRules& rules = job.plan.judging_rules[pass.judging_rules_index];
    const Matches& matches = matcher.match(ranking_ties(rules.ties));
    judge.judge(rules, matches, matcher.grades(), rows, values, groups);
    in_chunks(items.size(), job.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto entry = static_cast<Count>(i);
        if (!std::isnan(values[i]) || judge.count_relevant(matches, {&entry, 1}) == 0) continue;
        if (refused.count++ == 0) refused.first = items[i];
      }
    });
  }
  return refused;
}

}  // namespace exactk
