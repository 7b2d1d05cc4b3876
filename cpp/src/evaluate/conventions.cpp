#include "exactk/conventions.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "exactk/error.hpp"

namespace exactk {
namespace {

// The name of each enumerator, in the order of its enum.
template <class E>
constexpr std::array<std::string_view, 0> kNames = {};
template <>
constexpr std::array<std::string_view, 7> kNames<Over> = {
    "cutoff", "list", "relevant", "min_cutoff_relevant", "min_list_relevant", "hits", "all_judged"};
template <>
constexpr std::array<std::string_view, 5> kNames<Gain> = {"linear", "binary", "exp2",
                                                          "exp2_shifted", "table"};
template <>
constexpr std::array<std::string_view, 2> kNames<Discount> = {"log2", "log2_floored"};
template <>
constexpr std::array<std::string_view, 4> kNames<Average> = {"macro", "micro", "geometric",
                                                             "of_means"};
template <>
constexpr std::array<std::string_view, 4> kNames<Users> = {"truth", "both", "predictions", "union"};
template <>
constexpr std::array<std::string_view, 5> kNames<Empty> = {"compute", "skip", "zero", "one",
                                                           "error"};
template <>
constexpr std::array<std::string_view, 4> kNames<Undefined> = {"zero", "one", "nan", "skip"};
template <>
constexpr std::array<std::string_view, 4> kNames<Duplicates> = {"raise", "first", "max", "count"};
template <>
constexpr std::array<std::string_view, 3> kNames<NegativeGrades> = {"raise", "unjudged",
                                                                    "zero_gain"};
template <>
constexpr std::array<std::string_view, 8> kNames<Ties> = {
    "lowest_id",   "highest_id", "input_order", "optimistic",
    "pessimistic", "shared",     "expected",    "raise"};
template <>
constexpr std::array<std::string_view, 2> kNames<NanScores> = {"raise", "last"};

template <auto... values>
constexpr std::array<std::uint8_t, sizeof...(values)> kChoices = {
    // NOLINTNEXTLINE(modernize-avoid-c-style-cast): clang makes one when it expands the pack
    static_cast<std::uint8_t>(values)...};

template <class E>
struct MemberOfRules;
template <class E>
struct MemberOfRules<E Rules::*> {
  using Enum = E;
};

template <auto Member, auto... values>
constexpr ConventionField field(std::string_view name, std::string_view summary) {
  using Enum = MemberOfRules<decltype(Member)>::Enum;
  return {name,
          summary,
          kNames<Enum>,
          kChoices<values...>,
          [](Rules& rules, std::uint8_t code) { rules.*Member = static_cast<Enum>(code); },
          [](const Rules& rules) { return static_cast<std::uint8_t>(rules.*Member); }};
}

using enum Over;
constexpr auto kFields = std::to_array<ConventionField>({
    field<&Rules::precision_over, cutoff, list, min_cutoff_relevant, min_list_relevant>(
        "precision_over", "what precision divides its hits by"),
    field<&Rules::recall_over, relevant, min_cutoff_relevant, min_list_relevant>(
        "recall_over", "what recall divides its hits by"),
    field<&Rules::ap_over, cutoff, list, relevant, min_cutoff_relevant, min_list_relevant, hits>(
        "ap_over", "what average precision and average recall divide their sums by"),
    field<&Rules::ideal_over, cutoff, min_cutoff_relevant, min_list_relevant, all_judged>(
        "ideal_over", "how many ranks the ideal ranking of nDCG fills"),
    field<&Rules::gain, Gain::linear, Gain::binary, Gain::exp2, Gain::exp2_shifted, Gain::table>(
        "gain",
        "the gain of a relevant item: its grade, 1, 2^grade - 1, 2^(grade - min_grade + 1) - 1, or "
        "gain_table[grade]"),
    field<&Rules::discount, Discount::log2, Discount::log2_floored>(
        "discount", "the weight of rank i: 1/log2(i+1), or 1/max(1, log2 i)"),
    field<&Rules::average, Average::macro, Average::micro, Average::geometric, Average::of_means>(
        "average",
        "the mean of the users' ratios, the ratio of their sums, the geometric mean of the ratios, "
        "each counting at least 0.00001, or F of the mean precision and the mean recall"),
    field<&Rules::users, Users::truth, Users::both, Users::predictions, Users::union_>(
        "users", "whom the mean is over: users present in the truth, in both, ..."),
    field<&Rules::empty_truth, Empty::compute, Empty::skip, Empty::zero, Empty::one, Empty::error>(
        "empty_truth", "a user without a relevant item"),
    field<&Rules::empty_list, Empty::compute, Empty::skip, Empty::zero, Empty::one, Empty::error>(
        "empty_list", "a user whose list is empty"),
    field<&Rules::missing_list, Empty::compute, Empty::skip, Empty::zero, Empty::one, Empty::error>(
        "missing_list", "a user in the truth without a list"),
    field<&Rules::undefined, Undefined::zero, Undefined::one, Undefined::nan, Undefined::skip>(
        "undefined", "a ratio whose divisor is 0"),
    field<&Rules::duplicate_items, Duplicates::raise, Duplicates::first, Duplicates::count>(
        "duplicate_items",
        "an item repeated in a list: an error, no hit at its later ranks, or a hit each time"),
    field<&Rules::duplicate_truth, Duplicates::raise, Duplicates::first, Duplicates::max,
          Duplicates::count>("duplicate_truth",
                             "an item repeated in a user's truth: an error, its first or highest "
                             "grade, or several items of its first grade"),
    field<&Rules::negative_grades, NegativeGrades::raise, NegativeGrades::unjudged,
          NegativeGrades::zero_gain>(
        "negative_grades",
        "an item whose grade is negative: an error where its gain counts; not judged, as if the "
        "truth did not have it; or judged, and of gain 0 unless gain='binary'"),
    field<&Rules::ties, Ties::lowest_id, Ties::highest_id, Ties::input_order, Ties::optimistic,
          Ties::pessimistic, Ties::shared, Ties::expected, Ties::raise>(
        "ties",
        "the order of items of one score: by id, as they were given, the relevant ones first or "
        "last, all at the last of their ranks, the mean over all orders, or an error if one is in "
        "the truth"),
    field<&Rules::nan, NanScores::raise, NanScores::last>(
        "nan", "a score that is NaN: an error, or below every other"),
});

std::string choice_list(const ConventionField& field) {
  std::string text;
  for (const std::uint8_t code : field.choices) {
    text += (text.empty() ? "'" : ", '") + std::string(field.names[code]) + "'";
  }
  return text;
}

}  // namespace

std::span<const ConventionField> convention_fields() noexcept { return kFields; }

void set_field(Rules& rules, std::string_view field, std::string_view choice) {
  const auto row = std::ranges::find(kFields, field, &ConventionField::name);
  if (row == kFields.end()) {
    throw InputError({.argument = "convention",
                      .expected = "the name of a field",
                      .found = "'" + std::string(field) + "'"});
  }
  for (const std::uint8_t code : row->choices) {
    if (row->names[code] == choice) {
      row->set(rules, code);
      return;
    }
  }
  throw InputError(
      {.argument = "convention",
       .expected = row->name.data() + std::string(" to be one of ") + choice_list(*row),
       .found = "'" + std::string(choice) + "'"});
}

}  // namespace exactk
