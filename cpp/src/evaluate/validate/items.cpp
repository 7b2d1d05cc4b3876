#include "evaluate/validate/items.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "base/checks.hpp"
#include "evaluate/validate/item_features.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

// Sums of counts stay exact as doubles.
constexpr Count kMaxTotal = Count{1} << 53U;

void check_counts(std::span<const Count> counts, const std::string& argument, Count highest,
                  const Items& items, const Run& run) {
  if (counts.empty()) return;
  check_size(counts.size(), static_cast<Count>(items.ids.size()), argument, "one per item");
  refuse_bad(
      counts, [&](Count count) { return count < 0 || count > highest; }, argument,
      "counts from 0 to " + std::to_string(highest), run);
  Count total = 0;
  for (const Count count : counts) total = std::min(total + count, kMaxTotal + 1);
  if (total <= kMaxTotal) return;
  throw InputError(
      {.argument = argument, .expected = "counts with a sum of at most 2^53", .found = "more"});
}

void check_ids(const Items& items, const Run& run) {
  if (std::cmp_greater(items.ids.size(), kMaxItems)) {
    throw InputError({.argument = "items",
                      .expected = "at most " + std::to_string(kMaxItems),
                      .found = std::to_string(items.ids.size())});
  }
  refuse_bad(items.ids, [](std::int64_t id) { return id < 0; }, "items", "ids of at least 0", run);
}

void check_values(const Items& items, const Run& run) {
  if (items.values.empty()) return;
  check_size(items.values.size(), static_cast<Count>(items.ids.size()), "items.values",
             "one per item");
  const auto is_wrong = [](double value) {
    return !std::isnan(value) && !(value >= 0 && value <= kMaxGain);
  };
  refuse_bad(items.values, is_wrong, "items.values", "numbers from 0 to 2^256, or NaN for none",
             run);
}

void check_groups(const Items& items, const Run& run) {
  if (items.groups.empty() && items.group_count == 0) return;
  check_size(items.groups.size(), static_cast<Count>(items.ids.size()), "items.groups",
             "one per item");
  if (items.group_count < 0 || std::cmp_greater(items.group_count, items.ids.size())) {
    throw InputError({.argument = "items.group_count",
                      .expected = "a number up to that of the items",
                      .found = std::to_string(items.group_count)});
  }
  const auto is_wrong = [&](Count group) { return group < -1 || group >= items.group_count; };
  refuse_bad(items.groups, is_wrong, "items.groups",
             "groups from 0 to " + std::to_string(items.group_count - 1) + ", or -1 for none", run);
}

// Whether the value is of a group of items.
bool is_of_group(const Pass& pass) {
  return pass.info->of_item_group || !pass.item_group.has_all_items();
}

void check_group_bits(const Request& request, const Plan& plan) {
  if (std::ranges::none_of(plan.passes, is_of_group)) return;
  const std::size_t size = request.items ? request.items->group_bits.size() : 0;
  if (request.items && size == request.items->ids.size() + 1) return;
  throw InputError({.argument = "items.group_bits",
                    .expected = "the groups of each item, and of others",
                    .found = std::to_string(size)});
}

bool reads(const Pass& pass, std::string_view field) {
  return std::ranges::find(pass.info->own_fields, field) != pass.info->own_fields.end();
}

// Whether the metric divides by the number of users in train.
bool needs_train_users(const Pass& pass) {
  if (reads(pass, "novelty_over")) return pass.rules.novelty_over == PopularityOver::users;
  if (reads(pass, "arp_over")) return pass.rules.arp_over == PopularityOver::users;
  return pass.needs.popularity && !reads(pass, "popularity");
}

// Whether the metric divides by the number of rows in train.
bool needs_interactions(const Pass& pass) {
  return (reads(pass, "novelty_over") && pass.rules.novelty_over == PopularityOver::interactions) ||
         (reads(pass, "arp_over") && pass.rules.arp_over == PopularityOver::interactions);
}

[[noreturn]] void refuse_missing(const Pass& pass, std::string what, std::string hint) {
  throw InputError({.argument = "items",
                    .expected = std::string(pass.info->name) + " to have " + std::move(what),
                    .found = "none",
                    .hint = std::move(hint)});
}

void check_needs(const Request& request, const Pass& pass) {
  if (pass.reads_values() && (!request.items || request.items->values.empty())) {
    throw InputError({.argument = "items",
                      .expected = "values of items, by which " + std::string(pass.info->name) +
                                  " counts them (weight='values')",
                      .found = "none",
                      .hint = "items=exactk.Items(catalogue, values=...) gives them"});
  }
  if (pass.info->reads_base && !request.base) {
    throw InputError(
        {.argument = "base_predictions",
         .expected = "predictions to compare the lists with, for " + std::string(pass.info->name),
         .found = "none"});
  }
  if (!pass.info->walks_list) return;
  if (!request.items) {
    refuse_missing(pass, "a catalogue", "items=exactk.Items(train=...) gives one");
  }
  const auto& features = request.items->features;
  if ((pass.needs.distances || pass.needs.tags) && !features) {
    refuse_missing(pass, "the features of items", "items=exactk.Items(..., features=...) has them");
  }
  if (pass.needs.tags && features && !(features->are_sets && features->are_sparse())) {
    throw InputError({.argument = "items.features",
                      .expected = std::string(pass.info->name) + " to have the tags of items",
                      .found = "vectors",
                      .hint = "features={item: [tag, ...]} has the tags of each item"});
  }
  if (!pass.needs.popularity) return;
  const bool by_users = pass.rules.popularity == Popularity::users;
  const bool reads_interactions = !by_users || needs_interactions(pass);
  const bool lacks_interactions = reads_interactions && request.items->interactions.empty();
  if (lacks_interactions && !request.items->users.empty()) {
    throw InputError(
        {.argument = "items",
         .expected = std::string(pass.info->name) + " to have the interactions with items",
         .found = "popularity=, which has the users of each item alone",
         .hint = "items=exactk.Items(train=...) has both, and popularity=users, with "
                 "divisors other than interactions, needs users alone"});
  }
  if (!request.items->ids.empty() &&
      (lacks_interactions || (by_users && request.items->users.empty()))) {
    refuse_missing(pass, "the popularity of items", "items=exactk.Items(train=...) counts it");
  }
  if (request.items->train_users == kUnknownUsers && needs_train_users(pass)) {
    refuse_missing(pass, "the number of users in train",
                   "items=exactk.Items(..., train_users=...) gives it");
  }
}

// The order of a list must be one: other ties have none, or one that depends on the truth.
void check_list_ties(const Request& request, Ties ties, const std::string& metric) {
  if (std::holds_alternative<Lists>(request.predictions) || is_strict(ties) || ties == Ties::raise)
    return;
  throw InputError(
      {.argument = "metrics",
       .expected = metric + ": ties of 'lowest_id', 'highest_id', 'input_order' or 'raise'",
       .found = "ties in an order that depends on the truth, or in several",
       .change = Change{"ties", "lowest_id"},
       .hint = "orders them by id"});
}

}  // namespace

void validate_items(const Request& request, const Plan& plan, const Run& run) {
  for (const Pass& pass : plan.passes) {
    check_needs(request, pass);
    if (reads_list(*pass.info) || pass.item_group.is_share) {
      const std::string of = pass.item_group.is_share ? "the share of a group in " : "";
      check_list_ties(request, pass.rules.ties, of + std::string(pass.info->name));
    }
  }
  check_group_bits(request, plan);
  for (const ListCount& list_count : plan.list_counts) {
    if (!request.items) {
      throw InputError({.argument = "items", .expected = "a catalogue", .found = "none"});
    }
    check_list_ties(request, list_count.rules->ties, "metrics of all lists");
  }
  if (!request.items) return;
  const Items& items = *request.items;
  check_ids(items, run);
  check_groups(items, run);
  for (const PlannedValue& tally : request.group_tallies) {
    if (items.group_count == 0) {
      throw InputError({.argument = "items",
                        .expected = tally.metric + " to have groups of items",
                        .found = "none",
                        .hint = "items=exactk.Items(..., item_groups=...) gives them"});
    }
  }
  const bool is_known = items.train_users != kUnknownUsers;
  if (is_known && (items.train_users < 0 || items.train_users > kMaxTotal)) {
    throw InputError({.argument = "items.train_users",
                      .expected = "a number of users",
                      .found = std::to_string(items.train_users)});
  }
  // Millions of numbers, which nothing else reads.
  const bool reads_features = std::ranges::any_of(
      plan.passes, [](const Pass& pass) { return pass.needs.distances || pass.needs.tags; });
  if (items.features && reads_features) check_features(*items.features, items, run);
  check_counts(items.users, "items.users", is_known ? items.train_users : kMaxTotal, items, run);
  check_counts(items.interactions, "items.interactions", kMaxTotal, items, run);
  check_values(items, run);
  if (items.users.empty() || items.interactions.empty()) return;
  for (std::size_t i = 0; i < items.ids.size(); ++i) {
    if (items.interactions[i] >= items.users[i]) continue;
    throw InputError({.argument = "items.interactions",
                      .expected = "at least as many rows as users of each item",
                      .found = std::to_string(items.interactions[i]),
                      .position = static_cast<Offset>(i)});
  }
}

void check_distinct_items(const Items& items, const CatalogueIndex& catalogue, const Run& run) {
  Count repeats = 0;
  std::size_t first = 0;
  in_chunks(items.ids.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_first = catalogue.find(static_cast<std::uint64_t>(items.ids[i])) == i;
      if (!is_first && repeats++ == 0) first = i;
    }
  });
  if (repeats == 0) return;
  throw InputError({.argument = "items",
                    .expected = "each item once",
                    .found = "again",
                    .item = items.ids[first],
                    .count = repeats,
                    .position = static_cast<Offset>(first)});
}

}  // namespace exactk
