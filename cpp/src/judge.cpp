#include "judge.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace metrik {

Lens::Lens(const Rules& rules, bool uses_gains)
    : gain(uses_gains ? rules.gain : Gain::binary),
      gain_table(gain == Gain::table ? rules.gain_table : std::vector<double>{}),
      duplicate_items(rules.duplicate_items),
      duplicate_truth(rules.duplicate_truth),
      min_grade(rules.min_grade) {}

// The grade was checked, but lies in memory that another thread may write to: it indexes nothing
// before it is checked again.
double Lens::gain_of(double grade) const noexcept {
  constexpr double kMaxExponent = 256;
  switch (gain) {
    case Gain::linear:
      return grade;
    case Gain::exp2: {  // exact for whole grades
      const double exponent = std::clamp(grade, 0.0, kMaxExponent);
      const bool whole = exponent == std::floor(exponent);
      return (whole ? std::ldexp(1.0, static_cast<int>(exponent)) : std::exp2(exponent)) - 1;
    }
    case Gain::table:
      return grade >= 0 && grade < static_cast<double>(gain_table.size())
                 ? gain_table[static_cast<std::size_t>(grade)]
                 : 0;
    case Gain::binary:
      break;
  }
  return 1;
}

void Judge::judge_truth(const Lens& lens, const Matches& matches, std::span<const double> grades) {
  const std::vector<Count>& first_entry = matches.first_entry;
  entries_.clear();
  for (std::size_t i = 0; i < first_entry.size(); ++i) {
    const double grade = grades.empty() ? 1.0 : grades[i];
    const auto first = static_cast<std::size_t>(first_entry[i]);
    if (first != i && lens.duplicate_truth == Duplicates::max) {
      entries_[first].grade = std::max(entries_[first].grade, grade);
    }
    entries_.push_back({first == i ? grade : entries_[first].grade, 0, false});
  }
  for (Entry& entry : entries_) {
    entry.relevant = entry.grade >= lens.min_grade;
    entry.gain = entry.relevant ? lens.gain_of(entry.grade) : 0;
  }
}

HitRow Judge::judge(const Lens& lens, const Matches& matches, std::span<const double> grades) {
  judge_truth(lens, matches, grades);
  HitRow row;
  row.recommended = matches.list_length;
  ideal_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool repeat = std::cmp_not_equal(matches.first_entry[i], i);
    if (repeat && lens.duplicate_truth != Duplicates::count) continue;
    const Entry& entry = entries_[i];
    ++(entry.relevant ? row.relevant : row.nonrelevant);
    if (!entry.relevant) continue;
    ideal_.push_back(entry.gain);
    row.unit_gains = row.unit_gains && entry.gain == 1;
  }
  if (row.unit_gains) {
    ideal_.clear();
  } else {
    std::ranges::sort(ideal_, std::greater<>());
  }
  row.ideal = ideal_;

  hits_.clear();
  for (const Match& match : matches.found) {
    if (match.repeat && lens.duplicate_items == Duplicates::first) continue;
    const Entry& entry = entries_[static_cast<std::size_t>(match.entry)];
    row.hits_repeat = row.hits_repeat || (match.repeat && entry.relevant);
    hits_.push_back({match.rank, entry.gain, entry.relevant});
  }
  row.judged = hits_;
  return row;
}

}  // namespace metrik
