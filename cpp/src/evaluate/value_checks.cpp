#include "evaluate/value_checks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/checks.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

// For values computed at every rank down to the cutoff: a full-k ideal, or a mean over the ranks.
constexpr Count kMaxStepwiseCutoff = Count{1} << 20U;

Fault fault_of(const PlannedValue& value, std::string expected, std::string found) {
  return {.argument = "metrics",
          .expected = value.metric + ": " + std::move(expected),
          .found = std::move(found)};
}

[[noreturn]] void refuse(const PlannedValue& value, std::string expected, std::string found) {
  throw InputError(fault_of(value, std::move(expected), std::move(found)));
}

void check_parameter(const MetricInfo& info, const PlannedValue& value) {
  const MetricParameter& parameter = info.parameter;
  const bool is_valid = value.parameter >= parameter.low && value.parameter <= parameter.high &&
                        (!parameter.whole || value.parameter == std::floor(value.parameter));
  if (!parameter.name.empty() && !is_valid) {
    refuse(value,
           std::string(parameter.name) + " in [" + format_number(parameter.low) + ", " +
               format_number(parameter.high) + "]" + (parameter.whole ? ", a whole number" : ""),
           format_number(value.parameter));
  }
}

void check_gain_table(const PlannedValue& value) {
  const std::vector<double>& table = value.rules.gain_table;
  const auto bad =
      std::ranges::find_if_not(table, [](double gain) { return gain >= 0 && gain <= kMaxGain; });
  if (bad != table.end()) {
    refuse(value, "gain_table of numbers from 0 to 2^256", format_number(*bad));
  }
  if (value.rules.gain == Gain::table && table.empty()) {
    refuse(value, "a gain_table with gain='table'", "none");
  }
}

void check_gain_range(const PlannedValue& value) {
  const std::vector<double>& range = value.rules.gain_range;
  if (value.rules.gain != Gain::scaled || (range.size() == 2 && range[0] < range[1])) return;
  std::string found = range.empty() ? "none" : "";
  for (const double grade : range) found += (found.empty() ? "" : ", ") + format_number(grade);
  refuse(value, "a gain_range of two grades, the lower one first, with gain='scaled'", found);
}

void check_discount(const PlannedValue& value) {
  if (value.rules.discount != Discount::table) return;
  const std::vector<double>& table = value.rules.discount_table;
  if (table.empty() || table.front() == 0) {
    refuse(value, "a discount_table with discount='table' whose first number is above 0",
           table.empty() ? "none" : "0");
  }
  const auto riser = std::ranges::is_sorted_until(table, std::greater<>());
  if (riser != table.end()) {
    refuse(value, "a discount_table of numbers that do not rise",
           format_number(*std::prev(riser)) + ", " + format_number(*riser));
  }
}

void check_shifted_gain(const PlannedValue& value) {
  if (value.rules.gain != Gain::exp2_shifted) return;
  const double min_grade = value.rules.min_grade;
  if (min_grade == kAnyAboveZero || min_grade == kAnyGrade) {
    refuse(value, "a number as min_grade with gain='exp2_shifted'",
           min_grade == kAnyGrade ? "'any'" : "none");
  }
}

// Rejects a negative min_grade if negative grades are unjudged: unjudged items cannot be relevant.
void check_negative_grades(const Rules& rules, const std::string& argument) {
  if (rules.negative_grades != NegativeGrades::unjudged || rules.min_grade >= 0) return;
  throw InputError(
      {.argument = argument,
       .expected = "min_grade of 0 or more with negative_grades='unjudged'",
       .found = rules.min_grade == kAnyGrade ? "'any'" : format_number(rules.min_grade),
       .change = Change{"negative_grades", "zero_gain"},
       .hint = "lets such items be relevant"});
}

void check_ideal(const PlannedValue& value) {
  if (value.rules.ideal_over != Over::cutoff) return;
  const auto refuse_ideal = [&](std::string expected, std::string found) {
    Fault fault =
        fault_of(value, std::move(expected) + " with ideal_over='cutoff'", std::move(found));
    fault.change = Change{"ideal_over", "min_cutoff_relevant"};
    fault.hint = "divides by the best list of the relevant items";
    throw InputError(std::move(fault));
  };
  if (value.cutoff > kMaxStepwiseCutoff) {
    refuse_ideal("a cutoff up to 1048576",
                 value.cutoff == kNoCutoff ? "none" : std::to_string(value.cutoff));
  }
  if (value.rules.gain != Gain::binary) refuse_ideal("gain='binary'", "another gain");
}

void check_every_rank(const PlannedValue& value) {
  if (value.cutoff <= kMaxStepwiseCutoff || value.cutoff == kNoCutoff) return;
  refuse(value, "a cutoff up to 1048576, or none", std::to_string(value.cutoff));
}

void check_average(const MetricInfo& info, const PlannedValue& value) {
  if (value.rules.average == Average::of_means) {
    refuse(value, "the values that its means are computed from", "average='of_means'");
  }
  if (value.rules.average != Average::micro) return;
  if (!info.micro && value.rules.weight != Weight::self_normalized) {
    refuse(value, "average='macro' (overrides can set it for one metric)",
           "'micro', which is undefined for this metric");
  }
  for (const Empty empty :
       {value.rules.empty_truth, value.rules.empty_list, value.rules.missing_list}) {
    if (empty == Empty::zero || empty == Empty::one) {
      refuse(value,
             "empty_truth, empty_list and missing_list of compute, skip or error with "
             "average='micro'",
             "zero or one, which are values of a user, not of a sum");
    }
  }
}

void check_ties(const MetricInfo& info, bool has_expectation, const PlannedValue& value) {
  if (info.pairwise && value.cutoff != kNoCutoff) {
    refuse(value, "no cutoff", std::to_string(value.cutoff));
  }
  if (value.rules.ties != Ties::expected || info.is_given) return;
  if (!has_expectation) {
    refuse(value, "ties other than 'expected' (overrides can set them for one metric)",
           "'expected', for which this metric has no formula");
  }
  if (info.expects_unit_gains && value.rules.gain != Gain::binary) {
    refuse(value, "gain='binary' with ties='expected'", "another gain");
  }
  // The expectation of a quotient is not the quotient of the expectations.
  if (is_mean_over_hits(info, value.rules)) {
    refuse(value, "ap_over other than 'hits' with ties='expected'", "'hits'");
  }
}

void check_item_fields(const MetricInfo& info, const PlannedValue& value) {
  const Rules& rules = value.rules;
  if (info.parameter.name == "head" && rules.tail != Tail::at_most && value.parameter > 1) {
    refuse(value, "head in [0, 1] unless tail='at_most'", format_number(value.parameter));
  }
  if (std::ranges::find(info.own_fields, "novelty_over") == info.own_fields.end()) return;
  if (rules.popularity == Popularity::interactions && rules.novelty_over == PopularityOver::users) {
    Fault fault = fault_of(value, "novelty_over='interactions' with popularity='interactions'",
                           "'users', of whom one may have several rows");
    fault.change = Change{"novelty_over", "interactions"};
    fault.hint = "divides by all rows of train";
    throw InputError(std::move(fault));
  }
}

// What counts relevant items by their values needs such items to count.
void check_weight(const MetricInfo& info, const PlannedValue& value) {
  const Rules& rules = value.rules;
  if (rules.weight == Weight::one) return;
  const auto refuse_divisor = [&](std::string expected, std::string found, Change change) {
    Fault fault = fault_of(value, std::move(expected), std::move(found));
    fault.change = std::move(change);
    fault.hint = "divides by the values of relevant items";
    throw InputError(std::move(fault));
  };
  if (is_mean_over_hits(info, rules)) {
    refuse_divisor("ap_over other than 'hits' where items count by their values", "'hits'",
                   {"ap_over", "relevant"});
  }
  if (info.uses_ideal && rules.ideal_over == Over::cutoff) {
    refuse_divisor("ideal_over other than 'cutoff' where items count by their values", "'cutoff'",
                   {"ideal_over", "min_cutoff_relevant"});
  }
}

void check_item_group(const MetricInfo& info, const PlannedValue& value) {
  const ItemGroupRule& rule = value.item_group;
  if (rule.group < kAllItems || rule.group >= kMaxItemGroups) {
    refuse(value, "an item group from 0 to 63, or -1 for none", std::to_string(rule.group));
  }
  if (rule.has_all_items() && rule.is_share) refuse(value, "the group of a share", "none");
  // These hits of other groups are counted no more.
  if (rule.is_share && is_mean_over_hits(info, value.rules)) {
    refuse(value, "ap_over other than 'hits' for the share of a group", "'hits'");
  }
}

void check_cutoff(const PlannedValue& value) {
  if (value.cutoff >= 1 && (value.cutoff <= kMaxCutoff || value.cutoff == kNoCutoff)) return;
  refuse(value, "a cutoff in [1, 2^31)", std::to_string(value.cutoff));
}

}  // namespace

bool is_mean_over_hits(const MetricInfo& info, const Rules& rules) {
  return info.averages_precisions && rules.ap_over == Over::hits;
}

void check_requested_ties(const MetricInfo& info, const PlannedValue& value) {
  if (info.parameter.name == "max_fpr" && value.parameter < 1 &&
      value.rules.ties == Ties::expected) {
    refuse(value, "ties other than 'expected' with a max_fpr below 1", "'expected'");
  }
}

void check_value(const MetricInfo& info, bool has_expectation, const PlannedValue& value) {
  check_cutoff(value);
  if (std::optional<Fault> fault = find_invalid_number(value.rules)) {
    refuse(value, std::move(fault->expected), std::move(fault->found));
  }
  check_negative_grades(value.rules, "metrics");
  check_parameter(info, value);
  check_average(info, value);
  check_ties(info, has_expectation, value);
  if (info.discounted) check_discount(value);
  if (info.uses_gains) {
    check_gain_table(value);
    check_gain_range(value);
    check_shifted_gain(value);
  }
  if (info.uses_ideal) check_ideal(value);
  if (info.every_rank) check_every_rank(value);
  if (info.walks_list) check_item_fields(info, value);
  check_weight(info, value);
  check_item_group(info, value);
  if (info.of_collection) refuse(value, "a metric of users", "one of all lists together");
}

void check_value_at_cutoff(const MetricInfo& info, bool has_expectation,
                           const PlannedValue& value) {
  check_cutoff(value);
  check_ties(info, has_expectation, value);
  if (info.uses_ideal) check_ideal(value);
  if (info.every_rank) check_every_rank(value);
}

void check_rules(const Rules& rules, const std::string& argument) {
  if (std::optional<Fault> fault = find_invalid_number(rules)) {
    fault->argument = argument;
    throw InputError(*std::move(fault));
  }
  check_negative_grades(rules, argument);
}

void check_item_tally(const ItemTallyRequest& tally) {
  check_rules(tally.rules, "item_tallies");
  const auto refuse_cutoffs = [](std::string found) {
    throw InputError({.argument = "item_tallies",
                      .expected = "ascending cutoffs in [1, 2^31), or none as the last one",
                      .found = std::move(found)});
  };
  if (tally.cutoffs.empty()) refuse_cutoffs("no cutoff");
  if (reads_relevant(tally.counted) && tally.rules.duplicate_items == Duplicates::count) {
    throw InputError({.argument = "item_tallies",
                      .expected = "items that count once",
                      .found = "duplicate_items='count'"});
  }
  Count previous = 0;
  for (const Count cutoff : tally.cutoffs) {
    if (cutoff <= previous || (cutoff > kMaxCutoff && cutoff != kNoCutoff))
      refuse_cutoffs(std::to_string(cutoff));
    previous = cutoff;
  }
}

void check_group_tally(const MetricInfo& info, const PlannedValue& tally) {
  check_rules(tally.rules, "metrics");
  check_cutoff(tally);
  if (!info.reads_groups) refuse(tally, "a metric of groups of items", "another");
  if (info.discounted) check_discount(tally);
}

}  // namespace exactk
