// The choices that make one metric's name mean different numbers, as data: an enum or a number per
// question, a field of Rules per answer, and a table that describes them for every reader (Python,
// help, README).
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
enum class Gain : std::uint8_t { linear, binary, exp2, exp2_shifted, table };
enum class Discount : std::uint8_t { log2, log2_floored };
// The last is made of the means of other values, by who asks for them: the core computes none.
enum class Average : std::uint8_t { macro, micro, geometric, of_means };
enum class Users : std::uint8_t { truth, both, predictions, union_ };
enum class Empty : std::uint8_t { compute, skip, zero, one, error };
enum class Undefined : std::uint8_t { zero, one, nan, skip };
enum class Duplicates : std::uint8_t { raise, first, max, count };
enum class NegativeGrades : std::uint8_t { raise, unjudged, zero_gain };
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

// The min_grade that makes relevant what is above 0: the smallest positive double.
inline constexpr double kAnyAboveZero = std::numeric_limits<double>::denorm_min();
// The min_grade that makes relevant whatever is judged: the lowest double.
inline constexpr double kAnyGrade = std::numeric_limits<double>::lowest();

// What decides which items of a list are hits, and at which ranks.
struct HitFields {
  Duplicates duplicate_items = Duplicates::raise;
  Duplicates duplicate_truth = Duplicates::raise;
  NegativeGrades negative_grades = NegativeGrades::raise;
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  double min_grade = kAnyAboveZero;  // an item is relevant if its grade is not lower

  friend bool operator==(const HitFields&, const HitFields&) = default;
};

// What decides how a list is judged: its hits, and what each gains. Values that agree in these
// fields share what was judged.
struct JudgingFields : HitFields {
  Gain gain = Gain::linear;
  std::vector<double> gain_table;  // gain of the grades 0, 1, 2, ...; used by Gain::table

  friend bool operator==(const JudgingFields&, const JudgingFields&) = default;
};

// How one value is to be computed: a convention with its overrides applied.
struct Rules : JudgingFields {
  Over precision_over = Over::cutoff;
  Over recall_over = Over::relevant;
  Over ap_over = Over::min_cutoff_relevant;
  Over ideal_over = Over::min_cutoff_relevant;
  Discount discount = Discount::log2;
  Average average = Average::macro;
  Users users = Users::truth;
  Empty empty_truth = Empty::skip;
  Empty empty_list = Empty::compute;
  Empty missing_list = Empty::compute;
  Undefined undefined = Undefined::zero;

  friend bool operator==(const Rules&, const Rules&) = default;
};

// The value of a field, as it is written: None or another name, a number, or several.
using FieldValue = std::variant<std::monostate, std::string, double, std::vector<double>>;

// A field whose value is one of a few names.
struct ChoiceField {
  std::span<const std::string_view> names;  // of the whole enum, in its order
  std::span<const std::uint8_t> choices;    // those that make sense for this field
  void (*set)(Rules&, std::uint8_t);
  std::uint8_t (*get)(const Rules&);
};

struct NamedNumber {
  std::optional<std::string_view> name;  // nullopt: None
  double number;
};

// A field whose value is a number of a range.
struct NumberField {
  double low;
  double high;
  std::span<const NamedNumber> names;  // what says the same as some numbers
  double Rules::* member;
};

// A field whose value is a list of numbers, all of a range.
struct NumbersField {
  double low;
  double high;
  std::vector<double> Rules::* member;
};

struct ConventionField {
  std::string_view name;
  std::string_view summary;
  bool is_judging;  // one of JudgingFields
  std::variant<ChoiceField, NumberField, NumbersField> kind;
};

[[nodiscard]] std::span<const ConventionField> convention_fields() noexcept;

// What a value of the field must be, as a message says it.
[[nodiscard]] std::string expected_value(const ConventionField& field);

[[nodiscard]] FieldValue get_field(const Rules& rules, const ConventionField& field);

// Throws InputError unless there is such a field and the value is one of its values.
void set_field(Rules& rules, std::string_view field, const FieldValue& value);

// Returns the first number of the rules that is not one of its field's values: what it must be,
// and what it is.
[[nodiscard]] std::optional<Fault> find_invalid_number(const Rules& rules);

}  // namespace exactk
