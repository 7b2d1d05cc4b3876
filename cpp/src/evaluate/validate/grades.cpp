#include "evaluate/validate/grades.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "base/run.hpp"
#include "evaluate/validate/lists.hpp"
#include "evaluate/validate/search.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"
#include "judge/judge.hpp"

namespace exactk {
namespace {

// Describes the grades that have a gain; empty if every finite grade has one.
std::string required_grades(const Pass& pass) {
  if (pass.info->takes_max_grade)
    return "grades from 0 to max_grade=" + format_number(pass.parameter);
  switch (pass.rules.gain) {
    case Gain::linear:
      return "non-negative grades, at most 2^256, with gain='linear'";
    case Gain::exp2:
      return "non-negative grades, at most 256, with gain='exp2'";
    case Gain::exp2_shifted:
      return "grades up to min_grade + 255 with gain='exp2_shifted'";
    case Gain::table:
      return "whole grades that gain_table covers";
    case Gain::scaled:
      return "non-negative grades with gain='scaled'";
    case Gain::binary:
      break;
  }
  return "";
}

bool has_gain(double grade, const Pass& pass) {
  const Rules& rules = pass.rules;
  if (grade < 0 && rules.negative_grades != NegativeGrades::raise) return true;
  if (pass.info->takes_max_grade) return grade >= 0 && grade <= pass.parameter;
  switch (rules.gain) {
    case Gain::linear:
      return grade >= 0 && grade <= kMaxGain;
    case Gain::exp2:
      return grade >= 0 && grade <= 256;
    case Gain::exp2_shifted:
      return grade - rules.min_grade <= 255;
    case Gain::table:
      return grade >= 0 && grade < static_cast<double>(rules.gain_table.size()) &&
             grade == std::floor(grade);
    case Gain::scaled:
      return grade >= 0;
    case Gain::binary:
      break;
  }
  return true;
}

// Rejects gains whose products with the values of items would be above 2^256.
void check_products(const Request& request, const Pass& pass, std::span<const double> grades,
                    const Run& run) {
  if (!pass.reads_values() || !request.items) return;
  const JudgingRules rules(pass.rules, true);
  double highest_gain = 0;
  double highest_value = 0;
  in_chunks(grades.size(), run, [&](std::size_t begin, std::size_t end) {
    for (const double grade : grades.subspan(begin, end - begin))
      if (grade >= rules.min_grade) highest_gain = std::max(highest_gain, rules.gain_of(grade));
  });
  const std::span<const double> values = request.items->values;
  in_chunks(values.size(), run, [&](std::size_t begin, std::size_t end) {
    for (const double value : values.subspan(begin, end - begin))
      highest_value = std::max(highest_value, value);  // which NaN, for none, leaves as it is
  });
  if (highest_gain * highest_value <= kMaxGain) return;
  throw InputError(
      {.argument = "items",
       .expected = "values whose products with gains are at most 2^256, for " +
                   std::string(pass.info->name),
       .found = format_number(highest_value) + " and gain " + format_number(highest_gain)});
}

}  // namespace

void check_gains(const Request& request, const Pass& pass, const Run& run) {
  if (!pass.info->uses_gains) return;
  static constexpr double kUngraded[] = {1};
  const std::span<const double> grades =
      request.grades.empty() ? std::span<const double>(kUngraded) : request.grades;
  const JudgingRules rules(pass.rules, true);
  const auto is_too_much = [&](double grade) {
    return pass.info->gains_to_one && grade >= rules.min_grade && rules.gain_of(grade) > 1;
  };
  const auto bad = [&](double grade) { return !has_gain(grade, pass) || is_too_much(grade); };
  const Search search(grades, bad, run);
  if (search.count == 0) {
    check_products(request, pass, grades, run);
    return;
  }
  const double grade = grades[static_cast<std::size_t>(search.first)];
  const bool exceeds = has_gain(grade, pass);
  Fault fault{.argument = "truth",
              .expected = (exceeds ? "gains up to 1" : required_grades(pass)) + " for " +
                          std::string(pass.info->name),
              .found = "grade " + format_number(grade),
              .count = search.count};
  if (exceeds)
    fault.hint = "convention={'gain': 'scaled', 'gain_range': [0, 3]} gives grade 3 gain 1";
  if (grade < 0 && has_gain(0, pass)) {
    fault.change = Change{"negative_grades", "zero_gain"};
    fault.hint = "gives it gain 0, and 'unjudged' ignores it";
  }
  if (!request.grades.empty()) {
    const RowPosition location = locate_offset(search.first, request.truth.indptr);
    fault.row = location.row;
    fault.position = location.position;
  }
  throw InputError(std::move(fault));
}

void check_min_grade(const Request& request, const Rules& rules) {
  if (!request.grades.empty() || rules.min_grade <= 1) return;
  if (item_count(request.truth.items) == 0) return;
  throw InputError({.argument = "truth",
                    .expected = "grades with min_grade=" + format_number(rules.min_grade),
                    .found = "no grades (every item has grade 1)"});
}

void validate_grades(std::span<const double> grades, const Lists& truth,
                     const Execution& execution) {
  const Run run(execution);
  if (grades.empty()) return;
  check_size(grades.size(), item_count(truth.items), "truth", "one grade per item");
  const auto bad = [](double grade) { return !std::isfinite(grade); };
  const Search search(grades, bad, run);
  if (search.count == 0) return;
  const RowPosition location = locate_offset(search.first, truth.indptr);
  throw InputError({.argument = "truth",
                    .expected = "finite grades",
                    .found = format_number(grades[static_cast<std::size_t>(search.first)]),
                    .count = search.count,
                    .row = location.row,
                    .position = location.position});
}

}  // namespace exactk
