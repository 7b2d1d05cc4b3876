// The choices that make one metric's name mean different numbers, as data: an enum a question, a
// field of Rules an answer, and a table that names them for every reader (Python, help, README).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

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

// How one value is to be computed: a convention with its overrides applied.
struct Rules {
  Over precision_over = Over::cutoff;
  Over recall_over = Over::relevant;
  Over ap_over = Over::min_cutoff_relevant;
  Over ideal_over = Over::min_cutoff_relevant;
  Gain gain = Gain::linear;
  Discount discount = Discount::log2;
  Average average = Average::macro;
  Users users = Users::truth;
  Empty empty_truth = Empty::skip;
  Empty empty_list = Empty::compute;
  Empty missing_list = Empty::compute;
  Undefined undefined = Undefined::zero;
  Duplicates duplicate_items = Duplicates::raise;
  Duplicates duplicate_truth = Duplicates::raise;
  NegativeGrades negative_grades = NegativeGrades::raise;
  Ties ties = Ties::lowest_id;
  NanScores nan = NanScores::raise;
  // Relevant is a grade >= min_grade.
  double min_grade = kAnyAboveZero;
  std::vector<double> gain_table;  // gain of the grades 0, 1, 2, ...; used by Gain::table

  friend bool operator==(const Rules&, const Rules&) = default;
};

// A field whose value is one of a few names.
struct ConventionField {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> names;  // of the whole enum, in its order
  std::span<const std::uint8_t> choices;    // those that make sense for this field
  void (*set)(Rules&, std::uint8_t);
  std::uint8_t (*get)(const Rules&);
};

[[nodiscard]] std::span<const ConventionField> convention_fields() noexcept;

// Throws InputError unless the name is one of the field's choices.
void set_field(Rules& rules, std::string_view field, std::string_view choice);

}  // namespace exactk
