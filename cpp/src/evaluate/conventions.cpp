#include "exactk/conventions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

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
constexpr std::array<std::string_view, 6> kNames<Gain> = {"linear",       "binary", "exp2",
                                                          "exp2_shifted", "table",  "scaled"};
template <>
constexpr std::array<std::string_view, 3> kNames<Weight> = {"one", "values", "self_normalized"};
template <>
constexpr std::array<std::string_view, 2> kNames<RboOver> = {"extrapolated", "truncated"};
template <>
constexpr std::array<std::string_view, 2> kNames<CompatibilityOver> = {"ideal", "weights"};
template <>
constexpr std::array<std::string_view, 2> kNames<RbpOver> = {"one", "highest_gain"};
template <>
constexpr std::array<std::string_view, 2> kNames<Popularity> = {"users", "interactions"};
template <>
constexpr std::array<std::string_view, 4> kNames<PopularityOver> = {"one", "users", "interactions",
                                                                    "max"};
template <>
constexpr std::array<std::string_view, 5> kNames<UnseenItems> = {"rare", "zero", "skip",
                                                                 "least_popular", "raise"};
template <>
constexpr std::array<std::string_view, 3> kNames<ForeignItems> = {"raise", "ignore", "count"};
template <>
constexpr std::array<std::string_view, 2> kNames<ListUsers> = {"lists", "users"};
template <>
constexpr std::array<std::string_view, 2> kNames<GiniOver> = {"items", "items_less_one"};
template <>
constexpr std::array<std::string_view, 2> kNames<GiniItems> = {"catalogue", "recommended"};
template <>
constexpr std::array<std::string_view, 2> kNames<EntropyBase> = {"2", "e"};
template <>
constexpr std::array<std::string_view, 3> kNames<EntropyOver> = {"one", "log_items",
                                                                 "distinct_items"};
template <>
constexpr std::array<std::string_view, 2> kNames<ListSimilarity> = {"cosine", "overlap"};
template <>
constexpr std::array<std::string_view, 6> kNames<ItemDistance> = {"cosine",  "dot",     "euclidean",
                                                                  "hamming", "jaccard", "matrix"};
template <>
constexpr std::array<std::string_view, 2> kNames<SerendipityOf> = {"features", "popularity"};
template <>
constexpr std::array<std::string_view, 2> kNames<HistoryDistance> = {"nearest", "mean"};
template <>
constexpr std::array<std::string_view, 2> kNames<GaucOver> = {"impressions", "positives"};
template <>
constexpr std::array<std::string_view, 2> kNames<RecallRank> = {"round", "plus_0.9"};
template <>
constexpr std::array<std::string_view, 2> kNames<ResidualTail> = {"always", "if_unjudged"};
template <>
constexpr std::array<std::string_view, 3> kNames<IldOver> = {"pairs", "list", "pairs_or_one"};
template <>
constexpr std::array<std::string_view, 2> kNames<MissingFeatures> = {"raise", "skip"};
template <>
constexpr std::array<std::string_view, 3> kNames<Tail> = {"head_share", "lowest_share", "at_most"};
template <>
constexpr std::array<std::string_view, 9> kNames<Discount> = {
    "log2", "log2_floored", "log", "log_floored", "inverse", "power", "geometric", "none", "table"};
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
constexpr std::array<std::string_view, 5> kNames<Duplicates> = {"raise", "first", "max", "count",
                                                                "collapse"};
template <>
constexpr std::array<std::string_view, 3> kNames<NegativeGrades> = {"raise", "unjudged",
                                                                    "zero_gain"};
template <>
constexpr std::array<std::string_view, 2> kNames<Unjudged> = {"keep", "remove"};
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

template <class T>
struct MemberPointer;
template <class C, class V>
struct MemberPointer<V C::*> {
  using Class = C;
  using Value = V;
};

// Whether the member is declared in JudgingFields or one of its bases.
template <auto member>
constexpr bool kIsJudging =
    std::is_base_of_v<typename MemberPointer<decltype(member)>::Class, JudgingFields>;

template <auto member, auto... values>
constexpr ConventionField choice(std::string_view name, std::string_view summary) {
  using Enum = MemberPointer<decltype(member)>::Value;
  return {
      name, summary, kIsJudging<member>,
      ChoiceField{kNames<Enum>, kChoices<values...>,
                  [](Rules& rules, std::uint8_t code) { rules.*member = static_cast<Enum>(code); },
                  [](const Rules& rules) { return static_cast<std::uint8_t>(rules.*member); }}};
}

constexpr double kLowest = std::numeric_limits<double>::lowest();
constexpr double kHighest = std::numeric_limits<double>::max();

// A field for a number, or a list of numbers, within a range; by default all finite numbers.
template <auto member>
constexpr ConventionField number(std::string_view name, std::string_view summary,
                                 double low = kLowest, double high = kHighest,
                                 std::span<const NamedNumber> names = {}) {
  return {name, summary, kIsJudging<member>, NumberField{low, high, names, member}};
}

template <auto member>
constexpr ConventionField numbers(std::string_view name, std::string_view summary,
                                  double low = kLowest, double high = kHighest) {
  return {name, summary, kIsJudging<member>, NumbersField{low, high, member}};
}

constexpr auto kNamedGrades =
    std::to_array<NamedNumber>({{"any", kAnyGrade}, {std::nullopt, kAnyAboveZero}});

using enum Over;
constexpr auto kFields = std::to_array<ConventionField>({
    choice<&Rules::precision_over, cutoff, list, min_cutoff_relevant, min_list_relevant>(
        "precision_over", "the divisor of precision"),
    choice<&Rules::recall_over, relevant, min_cutoff_relevant, min_list_relevant>(
        "recall_over", "the divisor of recall"),
    choice<&Rules::weight, Weight::one, Weight::values, Weight::self_normalized>(
        "weight",
        "what a relevant item counts: 1, or its value, given by items=, also divided by the values "
        "of all relevant items where the metric does not"),
    choice<&Rules::ap_over, cutoff, list, relevant, min_cutoff_relevant, min_list_relevant, hits>(
        "ap_over", "the divisor of average precision, average recall and q_measure"),
    choice<&Rules::ideal_over, cutoff, min_cutoff_relevant, min_list_relevant, all_judged>(
        "ideal_over", "the number of ranks in the ideal ranking of nDCG"),
    choice<&Rules::gauc_over, GaucOver::impressions, GaucOver::positives>(
        "gauc_over",
        "what weighs the users of gauc: the ranked items of each, or the relevant ones"),
    choice<&Rules::recall_rank, RecallRank::round, RecallRank::plus_0_9>(
        "recall_rank",
        "the number of hits at a recall in interpolated precision: recall |T| rounded half up, or "
        "the integer part of recall |T| + 0.9"),
    choice<&Rules::rbp_over, RbpOver::one, RbpOver::highest_gain>(
        "rbp_over", "the divisor of rbp: 1, or the user's highest gain where that is above 1"),
    choice<&Rules::residual_tail, ResidualTail::always, ResidualTail::if_unjudged>(
        "residual_tail",
        "when the ranks below a list are part of rbp_residual: always, or only if an item of the "
        "list is not judged, which is 0 otherwise"),
    choice<&Rules::rbo_over, RboOver::extrapolated, RboOver::truncated>(
        "rbo_over",
        "the depths of rank-biased overlap: all, with the overlap at the end of the lists for "
        "those below, or those down to the cutoff"),
    choice<&Rules::compatibility_over, CompatibilityOver::ideal, CompatibilityOver::weights>(
        "compatibility_over",
        "the divisor of compatibility: that of the best list, or the weights of the depths"),
    choice<&Rules::popularity, Popularity::users, Popularity::interactions>(
        "popularity", "the popularity of an item: its distinct users in train, or its rows there"),
    choice<&Rules::novelty_over, PopularityOver::users, PopularityOver::interactions>(
        "novelty_over",
        "what novelty and surprisal compare an item's popularity with: the distinct users of "
        "train, or its rows"),
    choice<&Rules::arp_over, PopularityOver::one, PopularityOver::users,
           PopularityOver::interactions, PopularityOver::max>(
        "arp_over",
        "the divisor of a popularity in arp: none, the distinct users of train, its rows, or the "
        "highest popularity"),
    choice<&Rules::unseen_items, UnseenItems::rare, UnseenItems::zero, UnseenItems::skip,
           UnseenItems::least_popular, UnseenItems::raise>(
        "unseen_items",
        "an item of the catalogue that is not in train: as popular as an item of one user where a "
        "logarithm is taken, otherwise of none; 0 in the sum over the list; left out; as popular "
        "as the least popular item of train; or an error"),
    choice<&Rules::foreign_items, ForeignItems::raise, ForeignItems::ignore, ForeignItems::count>(
        "foreign_items",
        "a recommended item outside the catalogue: an error, left out, or an item of popularity 0"),
    choice<&Rules::list_mean_over, list, cutoff>(
        "list_mean_over", "the divisor of a mean over the list: its items, or the cutoff"),
    choice<&Rules::tail, Tail::head_share, Tail::lowest_share, Tail::at_most>(
        "tail",
        "the tail of aplt: the items less popular than the fewest that have the share `head` of "
        "the total popularity, the least popular ones beside the share `head` of the items of "
        "train, or the items of popularity `head` or less"),
    choice<&Rules::distance, ItemDistance::cosine, ItemDistance::dot, ItemDistance::euclidean,
           ItemDistance::hamming, ItemDistance::jaccard, ItemDistance::matrix>(
        "distance",
        "the distance of two items: 1 minus the cosine or the product of their vectors, the length "
        "of the difference, the number of unequal columns, 1 minus the share of common tags, "
        "or "
        "the entry of a matrix of distances"),
    choice<&Rules::ild_over, IldOver::pairs, IldOver::list, IldOver::pairs_or_one>(
        "ild_over",
        "the divisor of ild: the pairs of items of the list, its items, or the pairs, but 1 for a "
        "list of fewer than two items"),
    choice<&Rules::serendipity_of, SerendipityOf::features, SerendipityOf::popularity>(
        "serendipity_of",
        "what serendipity is measured by: the distance of an item from what the user has in train, "
        "or how far the list has it above its place among the most popular items"),
    choice<&Rules::history_distance, HistoryDistance::nearest, HistoryDistance::mean>(
        "history_distance",
        "the distance of an item from what a user has in train: that of the nearest item, or the "
        "mean"),
    choice<&Rules::missing_features, MissingFeatures::raise, MissingFeatures::skip>(
        "missing_features",
        "an item without features, recommended or, where a metric reads it, in train: an error, or "
        "left out"),
    choice<&Rules::list_users, ListUsers::lists, ListUsers::users>(
        "list_users",
        "whose lists count in metrics of all lists: all of them, or those of the users in the "
        "mean, whom neither empty_truth nor empty_list skips"),
    choice<&Rules::gini_over, GiniOver::items, GiniOver::items_less_one>(
        "gini_over", "the divisor of gini beside the recommendations: the items, or one fewer"),
    choice<&Rules::gini_items, GiniItems::catalogue, GiniItems::recommended>(
        "gini_items", "the items of gini: the catalogue, or those that any list has"),
    choice<&Rules::entropy_base, EntropyBase::two, EntropyBase::e>(
        "entropy_base", "the base of the logarithm in entropy"),
    choice<&Rules::entropy_over, EntropyOver::one, EntropyOver::log_items,
           EntropyOver::distinct_items>("entropy_over",
                                        "the divisor of entropy: none, the logarithm of the number "
                                        "of items, or the number of items "
                                        "that any list has"),
    choice<&Rules::list_similarity, ListSimilarity::cosine, ListSimilarity::overlap>(
        "list_similarity",
        "the similarity of two lists in personalization: the items in common over the geometric "
        "mean of their lengths, or all items in common over all mean lengths"),
    choice<&Rules::gain, Gain::linear, Gain::binary, Gain::exp2, Gain::exp2_shifted, Gain::table,
           Gain::scaled>(
        "gain",
        "the gain of a relevant item: its grade, 1, 2^grade - 1, 2^(grade - min_grade + 1) - 1, "
        "gain_table[grade], or from 0 to 1 as the grade is within gain_range"),
    choice<&Rules::discount, Discount::log2, Discount::log2_floored, Discount::log,
           Discount::log_floored, Discount::inverse, Discount::power, Discount::geometric,
           Discount::none, Discount::table>(
        "discount",
        "the weight of rank i: 1/log2(i+1), 1/max(1, log2 i), the same two with the logarithm to "
        "discount_base, 1/i, 1/i^discount_power, discount_persistence^(i-1), 1, or "
        "discount_table[i-1]"),
    choice<&Rules::average, Average::macro, Average::micro, Average::geometric, Average::of_means>(
        "average",
        "the mean of the users' ratios, the ratio of their sums, the geometric mean of the ratios "
        "(each at least 0.00001), or F of the mean precision and the mean recall"),
    choice<&Rules::users, Users::truth, Users::both, Users::predictions, Users::union_>(
        "users",
        "the users in the mean: those in the truth, in both truth and predictions, in the "
        "predictions, or in either"),
    choice<&Rules::empty_truth, Empty::compute, Empty::skip, Empty::zero, Empty::one, Empty::error>(
        "empty_truth", "a user without relevant items"),
    choice<&Rules::empty_list, Empty::compute, Empty::skip, Empty::zero, Empty::one, Empty::error>(
        "empty_list", "a user with an empty list"),
    choice<&Rules::missing_list, Empty::compute, Empty::skip, Empty::zero, Empty::one,
           Empty::error>("missing_list", "a user in the truth without a list"),
    choice<&Rules::undefined, Undefined::zero, Undefined::one, Undefined::nan, Undefined::skip>(
        "undefined", "a ratio with divisor 0"),
    choice<&Rules::duplicate_items, Duplicates::raise, Duplicates::first, Duplicates::count,
           Duplicates::collapse>(
        "duplicate_items",
        "an item repeated in a list: an error, no hit at its later ranks, a hit each time, or one "
        "item at its best rank, with later copies removed before ranks are counted"),
    choice<&Rules::duplicate_truth, Duplicates::raise, Duplicates::first, Duplicates::max,
           Duplicates::count>("duplicate_truth",
                              "an item repeated in a user's truth: an error, one item with its "
                              "first or highest grade, or several items with its first grade"),
    choice<&Rules::negative_grades, NegativeGrades::raise, NegativeGrades::unjudged,
           NegativeGrades::zero_gain>(
        "negative_grades",
        "an item with a negative grade: an error if its gain counts; not judged, as if absent from "
        "the truth; or judged, with gain 0 unless gain='binary'"),
    choice<&Rules::unjudged, Unjudged::keep, Unjudged::remove>(
        "unjudged",
        "an item of the list that is not in the truth: no hit at its rank, or removed before ranks "
        "are counted"),
    choice<&Rules::ties, Ties::lowest_id, Ties::highest_id, Ties::input_order, Ties::optimistic,
           Ties::pessimistic, Ties::shared, Ties::expected, Ties::raise>(
        "ties",
        "the order of ties: lowest or highest id first, in input order, relevant items first or "
        "last, all at the tie's last rank, the mean over all orders, or an error if an item of the "
        "truth is tied"),
    choice<&Rules::nan, NanScores::raise, NanScores::last>(
        "nan", "a NaN score: an error, or ranked below all others"),
    number<&Rules::min_grade>("min_grade",
                              "the lowest grade of a relevant item; None: any grade above 0; "
                              "'any': every grade",
                              kLowest, kHighest, kNamedGrades),
    // Which gains there may be is checked where a metric uses them.
    numbers<&Rules::gain_table>("gain_table",
                                "the gains of the grades 0, 1, 2, ... for gain='table'"),
    numbers<&Rules::gain_range>("gain_range",
                                "the highest grade of gain 0 and the lowest of gain 1 for "
                                "gain='scaled'",
                                0, 0x1p256),
    number<&Rules::discount_base>(
        "discount_base", "the base of the logarithm for discount='log' and discount='log_floored'",
        1.001, 1e6),
    number<&Rules::discount_power>("discount_power", "the exponent for discount='power'", 0, 16),
    number<&Rules::discount_persistence>(
        "discount_persistence",
        "the ratio of the weights of a rank and the one above it for discount='geometric'", 0.001,
        1),
    numbers<&Rules::discount_table>("discount_table",
                                    "the weights of the ranks 1, 2, ... for discount='table', of "
                                    "which none is above the one before; ranks below weigh 0",
                                    0, 1),
});

std::string quoted(std::string_view text) { return std::string("'").append(text) + "'"; }

// Formats "a, b or c".
std::string alternatives(const std::vector<std::string>& texts) {
  std::string joined;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) joined += i + 1 < texts.size() ? ", " : " or ";
    joined += texts[i];
  }
  return joined;
}

// Formats "finite numbers" or "numbers in [0, 1]".
std::string in_range(const std::string& noun, double low, double high) {
  if (low == kLowest && high == kHighest) return "finite " + noun;
  return noun + " in [" + format_number(low) + ", " + format_number(high) + "]";
}

std::string expected_value(const ChoiceField& field) {
  std::string text;
  for (const std::uint8_t code : field.choices)
    text += (text.empty() ? "one of " : ", ") + quoted(field.names[code]);
  return text;
}

std::string expected_value(const NumberField& field) {
  std::vector<std::string> texts = {std::string("a ") + in_range("number", field.low, field.high)};
  for (const NamedNumber& named : field.names)
    texts.push_back(named.name ? quoted(*named.name) : "None");
  return alternatives(texts);
}

std::string expected_value(const NumbersField& field) {
  return "a list of " + in_range("numbers", field.low, field.high);
}

FieldValue get(const Rules& rules, const ChoiceField& field) {
  return std::string(field.names[field.get(rules)]);
}

FieldValue get(const Rules& rules, const NumberField& field) {
  const double number = rules.*field.member;
  const auto named = std::ranges::find(field.names, number, &NamedNumber::number);
  if (named == field.names.end()) return number;
  return named->name ? FieldValue(std::string(*named->name)) : FieldValue();
}

FieldValue get(const Rules& rules, const NumbersField& field) { return rules.*field.member; }

template <class NumericField>
bool is_in_range(const NumericField& field, double number) {
  return field.low <= number && number <= field.high;
}

// Sets the field. Returns whether it accepts the value.
bool set(Rules& rules, const ChoiceField& field, const FieldValue& value) {
  const auto* const name = std::get_if<std::string>(&value);
  if (name == nullptr) return false;
  const auto code = std::ranges::find(field.choices, *name,
                                      [&](std::uint8_t choice) { return field.names[choice]; });
  if (code == field.choices.end()) return false;
  field.set(rules, *code);
  return true;
}

bool set(Rules& rules, const NumberField& field, const FieldValue& value) {
  if (const auto* const number = std::get_if<double>(&value)) {
    if (!is_in_range(field, *number)) return false;
    rules.*field.member = *number;
    return true;
  }
  const auto named = std::ranges::find_if(field.names, [&](const NamedNumber& one) {
    return value == (one.name ? FieldValue(std::string(*one.name)) : FieldValue());
  });
  if (named == field.names.end()) return false;
  rules.*field.member = named->number;
  return true;
}

bool set(Rules& rules, const NumbersField& field, const FieldValue& value) {
  const auto* const numbers = std::get_if<std::vector<double>>(&value);
  if (numbers == nullptr) return false;
  if (!std::ranges::all_of(*numbers, [&](double one) { return is_in_range(field, one); }))
    return false;
  rules.*field.member = *numbers;
  return true;
}

std::string format_value(const FieldValue& value) {
  if (const auto* const name = std::get_if<std::string>(&value)) return quoted(*name);
  if (const auto* const number = std::get_if<double>(&value)) return format_number(*number);
  return std::holds_alternative<std::monostate>(value) ? "None" : "an invalid list";
}

std::optional<double> find_invalid(const Rules& /*rules*/, const ChoiceField& /*field*/) {
  return std::nullopt;
}

std::optional<double> find_invalid(const Rules& rules, const NumberField& field) {
  const double number = rules.*field.member;
  return is_in_range(field, number) ? std::nullopt : std::optional(number);
}

std::optional<double> find_invalid(const Rules& rules, const NumbersField& field) {
  const std::vector<double>& numbers = rules.*field.member;
  const auto invalid =
      std::ranges::find_if_not(numbers, [&](double one) { return is_in_range(field, one); });
  return invalid == numbers.end() ? std::nullopt : std::optional(*invalid);
}

std::string expectation(const ConventionField& field) {
  return std::string(field.name) + " to be " + expected_value(field);
}

}  // namespace

std::span<const ConventionField> convention_fields() noexcept { return kFields; }

std::string expected_value(const ConventionField& field) {
  return std::visit([](const auto& kind) { return expected_value(kind); }, field.kind);
}

FieldValue get_field(const Rules& rules, const ConventionField& field) {
  return std::visit([&](const auto& kind) { return get(rules, kind); }, field.kind);
}

void set_field(Rules& rules, std::string_view field, const FieldValue& value) {
  const auto row = std::ranges::find(kFields, field, &ConventionField::name);
  if (row == kFields.end()) {
    throw InputError(
        {.argument = "convention", .expected = "the name of a field", .found = quoted(field)});
  }
  if (!std::visit([&](const auto& kind) { return set(rules, kind, value); }, row->kind)) {
    throw InputError(
        {.argument = "convention", .expected = expectation(*row), .found = format_value(value)});
  }
}

std::optional<Fault> find_invalid_number(const Rules& rules) {
  for (const ConventionField& field : kFields) {
    const std::optional<double> invalid =
        std::visit([&](const auto& kind) { return find_invalid(rules, kind); }, field.kind);
    if (invalid) return Fault{.expected = expectation(field), .found = format_number(*invalid)};
  }
  return std::nullopt;
}

}  // namespace exactk
