// Requests that own their arrays.
#pragma once

#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/metrics.hpp"

namespace exactk::tests {

using Row = std::vector<std::int64_t>;

using OwnedItems = std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>,
                                std::vector<std::uint32_t>, std::vector<std::uint64_t>>;

// Lists that own their arrays.
struct OwnedLists {
  OwnedItems items;
  std::vector<Offset> indptr;
  std::vector<Offset> lengths = {};
  std::vector<std::uint8_t> present = {};
  std::vector<Count> ranks = {};

  [[nodiscard]] Lists view() const {
    const ItemArray array = std::visit(
        [](const auto& ids) -> ItemArray { return std::span(ids.data(), ids.size()); }, items);
    return {
        .items = array, .indptr = indptr, .lengths = lengths, .present = present, .ranks = ranks};
  }
  [[nodiscard]] Row& ids() { return std::get<Row>(items); }
};

inline OwnedLists lists(const std::vector<Row>& rows) {
  OwnedLists owned{.items = Row{}, .indptr = {0}};
  for (const Row& row : rows) {
    owned.ids().insert(owned.ids().end(), row.begin(), row.end());
    owned.indptr.push_back(static_cast<Offset>(owned.ids().size()));
  }
  return owned;
}

// Two tags of each of 10,000 items.
inline ItemFeatures tags_of_items() {
  static const auto arrays = [] {
    std::pair<std::vector<Offset>, std::vector<std::int64_t>> made{{0}, {}};
    for (std::int64_t id = 0; id < 10'000; ++id) {
      made.second.push_back(id % 13);
      made.second.push_back(13 + id % 7);
      made.first.push_back(static_cast<Offset>(made.second.size()));
    }
    return made;
  }();
  static const std::vector<std::uint8_t> is_missing(10'000);
  return {.width = 20,
          .is_missing = is_missing,
          .indptr = arrays.first,
          .columns = arrays.second,
          .are_sets = true};
}

// What each of `users` users has in train: the same, wherever a user is.
inline Histories histories(std::vector<Offset>& rows, std::size_t users) {
  static const std::vector<Offset> indptr = {0, 3, 8};
  static const std::vector<std::uint32_t> items = {1, 5, 900, 1, 3, 5, 7, 9999};
  rows.assign(users, 1);
  return {.indptr = indptr, .items = items, .rows = rows};
}

// A catalogue of the ids below 10,000, some of them in no list of train.
inline Items catalogue() {
  static const auto arrays = [] {
    std::pair<std::vector<std::int64_t>, std::vector<Count>> made;
    for (std::int64_t id = 0; id < 10'000; ++id) {
      made.first.push_back(id);
      made.second.push_back(id % 7);
    }
    return made;
  }();
  return {.ids = arrays.first,
          .users = arrays.second,
          .interactions = arrays.second,
          .train_users = 9,
          .features = tags_of_items()};
}

// A request that owns its arrays.
struct Input {
  OwnedLists truth;
  std::vector<double> grades = {};
  OwnedLists predictions;
  std::optional<OwnedLists> exclude = {};
  std::optional<Items> items = catalogue();
  std::optional<OwnedLists> base = {};  // by default, the truth
  bool has_base = true;
  std::optional<std::vector<double>> weights = {};
  std::vector<Offset> groups = {};
  Count group_count = 1;
  std::vector<PlannedValue> values = {};
  std::vector<double> given = {};
  Rules tally_rules = {};
  std::vector<double> per_user = {};
  std::vector<double> ratios = {};
  int threads = 1;
  Isa isa = isa_of("");
  std::function<void()> poll = [] {};
  std::atomic<Count>* finished = nullptr;

  Result run() {
    std::optional<Lists> excluded;
    if (exclude) excluded = exclude->view();
    std::optional<std::span<const double>> weighted;
    if (weights) weighted = *weights;
    std::vector<Offset> history_rows;  // of this call, as threads may share the input
    std::optional<Histories> train;
    if (items && items->features) {
      train = histories(history_rows, std::max<std::size_t>(truth.indptr.size(), 1) - 1);
    }
    return evaluate({.truth = truth.view(),
                     .grades = grades,
                     .predictions = predictions.view(),
                     .exclude = excluded,
                     .items = items,
                     .histories = train,
                     .base = has_base ? std::optional((base ? *base : truth).view()) : std::nullopt,
                     .weights = weighted,
                     .groups = groups,
                     .group_count = group_count,
                     .values = values,
                     .given = given,
                     .tally_rules = tally_rules,
                     .per_user = per_user,
                     .ratios = ratios,
                     .threads = threads,
                     .isa = isa,
                     .poll = poll,
                     .finished = finished});
  }
  // Returns one row per value.
  std::vector<std::vector<double>> table() {
    const auto users = truth.indptr.size() - 1;
    per_user.assign(values.size() * users, -1);
    static_cast<void>(run());
    std::vector<std::vector<double>> rows;
    for (auto at = per_user.begin(); at != per_user.end();) {
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(users));
      at += static_cast<std::ptrdiff_t>(users);
    }
    return rows;
  }
};

// A value, with gains up to 1 where the metric needs such.
inline PlannedValue value(std::string metric, Count cutoff = kNoCutoff, Rules rules = {},
                          double parameter = 1) {
  const auto info = std::ranges::find(metric_table(), metric, &MetricInfo::name);
  if (info != metric_table().end() && info->gains_to_one) {
    rules.gain = Gain::scaled;
    rules.gain_range = {0, 1};
  }
  return {.metric = std::move(metric),
          .cutoff = cutoff,
          .parameter = parameter,
          .rules = std::move(rules)};
}

// Returns the default of the metric's parameter, or a number that fits the lists of the tests.
inline double parameter_of(const MetricInfo& info) {
  return std::isnan(info.parameter.standard) ? std::min(1000.0, info.parameter.high)
                                             : info.parameter.standard;
}

inline void check_equal(const Sums& actual, const Sums& expected) {
  CHECK(actual.users == expected.users);
  CHECK(actual.undefined == expected.undefined);
  for (const auto integer : {&Sums::total, &Sums::squares, &Sums::weight}) {
    CHECK((actual.*integer).scale == (expected.*integer).scale);
    CHECK((actual.*integer).bytes == (expected.*integer).bytes);
  }
}

inline void check_equal(const std::vector<Sums>& actual, const std::vector<Sums>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    check_equal(actual[i], expected[i]);
  }
}

inline void check_equal(const Tally& actual, const Tally& expected) {
  for (const auto count :
       {&Tally::empty_truth, &Tally::empty_predictions, &Tally::missing_lists,
        &Tally::missing_truth, &Tally::duplicates, &Tally::excluded_recommended,
        &Tally::foreign_recommended, &Tally::unseen_recommended, &Tally::relevant_excluded,
        &Tally::relevant_not_rankable, &Tally::longest_list, &Tally::candidates,
        &Tally::candidate_users, &Tally::fewest_candidates, &Tally::most_candidates}) {
    CHECK(actual.*count == expected.*count);
  }
  CHECK(actual.tie_dependent == expected.tie_dependent);
  CHECK(actual.undefined == expected.undefined);
  CHECK(actual.tie_spread == expected.tie_spread);
}

// Compares numbers; NaN equals NaN.
inline bool same_numbers(std::span<const double> actual, std::span<const double> expected) {
  return std::ranges::equal(actual, expected, [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  });
}

}  // namespace exactk::tests
