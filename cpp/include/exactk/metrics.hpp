// Metadata of the metrics.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace exactk {

struct MetricParameter {
  std::string_view name;  // empty: the metric has none
  double standard = 0;    // the default; NaN: required
  double low = 0;         // inclusive bounds
  double high = 0;
  bool whole = false;  // whether it must be an integer
};

// Which of two values of a metric is the better one.
enum class Direction : std::uint8_t { higher, lower, none };

struct MetricInfo {
  std::string_view name;
  std::span<const std::string_view> aliases = {};  // accepted on input, in lower case
  std::string_view summary;
  std::string_view formula;
  std::string_view source;
  MetricParameter parameter = {};
  Direction direction = Direction::higher;
  // The value is within [0, 1] unless repeated items count, so 2^-80 fixed point holds its sum.
  bool unit_range = true;
  // Of values that are not within [0, 1]: the bounds for any lists.
  double least = 0;
  double greatest = std::numeric_limits<double>::infinity();
  bool at_most_cutoff = false;
  bool always_divided = false;  // by a number above 0, so a value is never 0 / 0
  // When the value of a user who has a list is 0 / 0, for messages; empty: nothing to say.
  std::string_view undefined_case = {};
  bool micro = true;  // a pooled numerator over a pooled denominator is meaningful
  // Convention fields that this metric reads and most others do not.
  std::span<const std::string_view> own_fields = {};
  // A mean of the precisions at the hits; late hits lower it.
  bool averages_precisions = false;
  bool uses_gains = false;
  bool uses_ideal = false;  // uses the gains of the ideal ranking; implies uses_gains
  // Compares every pair of items: takes no cutoff, and ties broken by id count half.
  bool pairwise = false;
  bool weighs_users = false;  // a mean weighted by what the lists have, always a ratio of sums
  bool discounted = false;    // discounts gains by rank, as the convention says
  bool every_rank = false;    // visits every rank down to the cutoff, not only hits
  // The gain is exp2 under any convention, for grades up to the parameter.
  bool takes_max_grade = false;
  bool gains_to_one = false;        // no gain may be above 1
  bool expects_unit_gains = false;  // has an expectation over ties if all gains are 1
  // May be above 0 without any hit, so a positive value does not imply a hit.
  bool positive_without_hits = false;
  bool takes_item_count = false;  // the parameter is the total number of items
  // Asks which items of the list are judged, so it reads those that are not under any convention.
  bool counts_unjudged = false;
  // Whether the value depends on the user's relevant items. If not, users without any count as all
  // others do.
  bool reads_truth = true;
  bool reads_predictions = true;  // depends on more of them than whether the user has a list
  // Whether a user without a list counts as one with an empty list under any convention.
  bool counts_missing_lists = false;
  // Compares two lists: the truth is one of them, and the grade of an item is its rank there.
  bool compares_lists = false;
  // Also reads the ranks of that list beyond the cutoff.
  bool reads_beyond_cutoff = false;
  // Reads the items of the list, which must be known: needs a catalogue, and an order of ties that
  // does not depend on the truth.
  bool walks_list = false;
  // Reads the ranks of these items, although it discounts nothing by rank.
  bool reads_list_ranks = false;
  // A value of all lists together, from how many of them have each item: no user has one.
  bool of_collection = false;
  bool reads_features = false;  // needs the features of items
  // Compares the list with a list of other predictions: needs these, and such an order of ties.
  bool reads_base = false;
  bool reads_popularity = false;  // needs to know in how many lists of train an item is
  bool reads_history = false;     // needs to know what each user has in train
  // A value of the groups of items, from how often the items of each are recommended; implies
  // of_collection.
  bool reads_groups = false;
  // Stands for another metric of a group of items, which is the parameter: no one asks for it by
  // its name.
  bool of_item_group = false;
  // The request has the numerators and denominators. The parameter is their row there.
  bool is_given = false;
};

// Whether the metric reads which items are in the list, relevant or not.
[[nodiscard]] constexpr bool reads_list(const MetricInfo& info) noexcept {
  return info.walks_list || info.reads_base;
}

// Whether the metric reads the list without the items that are not judged where the convention
// removes these.
[[nodiscard]] constexpr bool may_condense(const MetricInfo& info) noexcept {
  return info.reads_truth && info.reads_predictions && !reads_list(info) && !info.of_collection &&
         !info.counts_unjudged && !info.is_given;
}

// Names of values whose numerators and denominators the request has: of lists beside the truth, and
// of lists alone, for which users without relevant items count as all others do.
inline constexpr std::string_view kGivenOfJudged = "given";
inline constexpr std::string_view kGivenOfLists = "given_of_lists";

[[nodiscard]] std::span<const MetricInfo> metric_table() noexcept;

}  // namespace exactk
