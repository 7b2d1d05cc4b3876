// Conventions as data: the choices that let one metric name stand for different numbers. Each
// choice is an enum or a number, each answer a field of Rules, and one table describes the fields
// for Python, the help and the documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exactk/error.hpp"

namespace exactk {

enum class Over : std::uint8_t {
  cutoff,
  list,
  relevant,
  min_cutoff_relevant,
  min_list_relevant,
  hits,
  all_judged
};
enum class Gain : std::uint8_t { linear, binary, exp2, exp2_shifted, table, scaled };
// What a relevant item counts: 1, or its value, in sums that may be divided by those of all.
enum class Weight : std::uint8_t { one, values, self_normalized };
enum class RboOver : std::uint8_t { extrapolated, truncated };
enum class CompatibilityOver : std::uint8_t { ideal, weights };
enum class RbpOver : std::uint8_t { one, highest_gain };
// How popular an item is: by distinct users of train, or by rows of train.
enum class Popularity : std::uint8_t { users, interactions };
// What a popularity is divided by.
enum class PopularityOver : std::uint8_t { one, users, interactions, max };
enum class UnseenItems : std::uint8_t { rare, zero, skip, least_popular, raise };
enum class ForeignItems : std::uint8_t { raise, ignore, count };
// Whose lists count in a metric of all lists: all, or those of users in the mean of a metric that
// needs relevant items.
enum class ListUsers : std::uint8_t { lists, users };
enum class GiniOver : std::uint8_t { items, items_less_one };
enum class GiniItems : std::uint8_t { catalogue, recommended };
enum class EntropyBase : std::uint8_t { two, e };
enum class EntropyOver : std::uint8_t { one, log_items, distinct_items };
enum class ListSimilarity : std::uint8_t { cosine, overlap };
// How far two items are from each other, by their features.
enum class ItemDistance : std::uint8_t { cosine, dot, euclidean, hamming, jaccard, matrix };
// What serendipity is measured against: what the user had, or the most popular items.
enum class SerendipityOf : std::uint8_t { features, popularity };
// Of an item from what a user had: to the nearest item, or on average.
enum class HistoryDistance : std::uint8_t { nearest, mean };
enum class GaucOver : std::uint8_t { impressions, positives };
// How the number of hits at a recall is rounded: half up, or up unless it is hardly above.
enum class RecallRank : std::uint8_t { round, plus_0_9 };
// Whether what is below a list is part of the residual of RBP: always, or only if some item of it
// is not judged.
enum class ResidualTail : std::uint8_t { always, if_unjudged };
enum class IldOver : std::uint8_t { pairs, list, pairs_or_one };
enum class MissingFeatures : std::uint8_t { raise, skip };
enum class Tail : std::uint8_t { head_share, lowest_share, at_most };
enum class Discount : std::uint8_t {
  log2,
  log2_floored,
  log,
  log_floored,
  inverse,
  power,
  geometric,
  none,
  table
};
// `of_means` averages the means of other values. Callers of the core compute it; the core never
// does.
enum class Average : std::uint8_t { macro, micro, geometric, of_means };
enum class Users : std::uint8_t { truth, both, predictions, union_ };
enum class Empty : std::uint8_t { compute, skip, zero, one, error };
enum class Undefined : std::uint8_t { zero, one, nan, skip };
enum class Duplicates : std::uint8_t { raise, first, max, count, collapse };
enum class NegativeGrades : std::uint8_t { raise, unjudged, zero_gain };
// Whether items of the list that are not judged keep their ranks, or what follows moves up.
enum class Unjudged : std::uint8_t { keep, remove };
enum class Ties : std::uint8_t {
  lowest_id,
  highest_id,
  input_order,
  optimistic,
  pessimistic,
  shared,
  expected,
  raise
};
enum class NanScores : std::uint8_t { raise, last };

// min_grade for "relevant if the grade is above 0": the smallest positive double.
inline constexpr double kAnyAboveZero = std::numeric_limits<double>::denorm_min();
// min_grade for "every judged item is relevant": the lowest double.
inline constexpr double kAnyGrade = std::numeric_limits<double>::lowest();

// The fields that decide which items of a list are hits, and at which ranks.
struct HitFields {
  Duplicates duplicate_items = Duplicates::raise;
  Duplicates duplicate_truth = Duplicates::raise;
  NegativeGrades negative_grades = NegativeGrades::raise;
  Unjudged unjudged = Unjudged::keep;
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  double min_grade = kAnyAboveZero;  // an item is relevant if its grade is at least this

  friend bool operator==(const HitFields&, const HitFields&) = default;
};

// The fields that decide how a list is judged: its hits and their gains. Values that agree in all
// of these fields share one judgement.
struct JudgingFields : HitFields {
  Gain gain = Gain::linear;
  std::vector<double> gain_table;  // gains of the grades 0, 1, 2, ...; used by Gain::table
  std::vector<double> gain_range;  // grades of gain 0 and of gain 1; used by Gain::scaled
  Weight weight = Weight::one;     // values: the gains of relevant items are multiplied by them

  friend bool operator==(const JudgingFields&, const JudgingFields&) = default;
};

// The fields that decide the weights of ranks.
struct DiscountFields {
  Discount discount = Discount::log2;
  double discount_base = 2;                 // used by log and log_floored
  double discount_power = 1;                // used by power
  double discount_persistence = 0.85;       // used by geometric
  std::vector<double> discount_table = {};  // of the ranks 1, 2, ..., and 0 below; used by table

  friend bool operator==(const DiscountFields&, const DiscountFields&) = default;
};

// Returns the weight of a rank from 1, rounded once from about 90 bits.
[[nodiscard]] double discount(const DiscountFields& fields, std::int64_t rank) noexcept;

// The rules for computing one value: a convention with its overrides applied.
// NOLINTNEXTLINE(misc-multiple-inheritance): two groups of plain fields
struct Rules : JudgingFields, DiscountFields {
  Over precision_over = Over::cutoff;
  Over recall_over = Over::relevant;
  Over ap_over = Over::min_cutoff_relevant;
  Over ideal_over = Over::min_cutoff_relevant;
  GaucOver gauc_over = GaucOver::impressions;
  RecallRank recall_rank = RecallRank::round;
  RbpOver rbp_over = RbpOver::one;
  ResidualTail residual_tail = ResidualTail::always;
  RboOver rbo_over = RboOver::extrapolated;
  CompatibilityOver compatibility_over = CompatibilityOver::ideal;
  Popularity popularity = Popularity::users;
  PopularityOver novelty_over = PopularityOver::users;
  PopularityOver arp_over = PopularityOver::one;
  UnseenItems unseen_items = UnseenItems::rare;
  ForeignItems foreign_items = ForeignItems::raise;
  Over list_mean_over = Over::list;
  Tail tail = Tail::head_share;
  ItemDistance distance = ItemDistance::cosine;
  IldOver ild_over = IldOver::pairs;
  SerendipityOf serendipity_of = SerendipityOf::features;
  HistoryDistance history_distance = HistoryDistance::nearest;
  MissingFeatures missing_features = MissingFeatures::raise;
  ListUsers list_users = ListUsers::lists;
  GiniOver gini_over = GiniOver::items;
  GiniItems gini_items = GiniItems::catalogue;
  EntropyBase entropy_base = EntropyBase::two;
  EntropyOver entropy_over = EntropyOver::one;
  ListSimilarity list_similarity = ListSimilarity::cosine;
  Average average = Average::macro;
  Users users = Users::truth;
  Empty empty_truth = Empty::skip;
  Empty empty_list = Empty::compute;
  Empty missing_list = Empty::compute;
  Undefined undefined = Undefined::zero;

  friend bool operator==(const Rules&, const Rules&) = default;
};

// The value of a field as the user writes it: None, a name, a number or a list of numbers.
using FieldValue = std::variant<std::monostate, std::string, double, std::vector<double>>;

// A field whose value is one of a few names.
struct ChoiceField {
  std::span<const std::string_view> names;  // names of the whole enum, in its order
  std::span<const std::uint8_t> choices;    // the subset that this field accepts
  void (*set)(Rules&, std::uint8_t);
  std::uint8_t (*get)(const Rules&);
};

struct NamedNumber {
  std::optional<std::string_view> name;  // nullopt: None
  double number;
};

// A field whose value is a number within a range.
struct NumberField {
  double low;
  double high;
  std::span<const NamedNumber> names;  // names that stand for certain numbers
  double Rules::* member;
};

// A field whose value is a list of numbers, each within a range.
struct NumbersField {
  double low;
  double high;
  std::vector<double> Rules::* member;
};

struct ConventionField {
  std::string_view name;
  std::string_view summary;
  bool is_judging;  // whether it belongs to JudgingFields
  std::variant<ChoiceField, NumberField, NumbersField> kind;
};

[[nodiscard]] std::span<const ConventionField> convention_fields() noexcept;

// Describes the values that the field accepts, worded for an error message.
[[nodiscard]] std::string expected_value(const ConventionField& field);

[[nodiscard]] FieldValue get_field(const Rules& rules, const ConventionField& field);

// Throws InputError if the field does not exist or does not accept the value.
void set_field(Rules& rules, std::string_view field, const FieldValue& value);

// Returns a fault for the first number in the rules that its field does not accept.
[[nodiscard]] std::optional<Fault> find_invalid_number(const Rules& rules);

}  // namespace exactk
