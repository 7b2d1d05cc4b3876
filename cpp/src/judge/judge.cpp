#include "judge/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

namespace exactk {

JudgingRules::JudgingRules(const Rules& rules, bool uses_gains)
    : gain(uses_gains ? rules.gain : Gain::binary),
      gain_table(gain == Gain::table ? rules.gain_table : std::vector<double>{}),
      duplicate_items(rules.duplicate_items),
      duplicate_truth(rules.duplicate_truth),
      min_grade(rules.min_grade),
      ties(rules.ties) {}

namespace {

// 2^exponent - 1, exact for whole exponents.
double exponential(double wanted) noexcept {
  constexpr double kMaxExponent = 256;
  const double exponent = std::clamp(wanted, 0.0, kMaxExponent);
  const bool whole = exponent == std::floor(exponent);
  return (whole ? std::ldexp(1.0, static_cast<int>(exponent)) : std::exp2(exponent)) - 1;
}

}  // namespace

// The grade was checked, but lies in memory that another thread may write to: it indexes nothing
// before it is checked again.
double JudgingRules::gain_of(double grade) const noexcept {
  switch (gain) {
    case Gain::linear:
      return grade;
    case Gain::exp2:
      return exponential(grade);
    case Gain::exp2_shifted:
      return exponential(grade - min_grade + 1);
    case Gain::table:
      return grade >= 0 && grade < static_cast<double>(gain_table.size())
                 ? gain_table[static_cast<std::size_t>(grade)]
                 : 0;
    case Gain::binary:
      break;
  }
  return 1;
}

namespace {

// Whether the ranks of tied items depend on what these are worth.
constexpr bool arranges(Ties ties) noexcept {
  return ties == Ties::optimistic || ties == Ties::pessimistic || ties == Ties::shared;
}

Count first_entry(const Matches& matches, std::size_t entry) {
  return matches.first_entry.empty() ? static_cast<Count>(entry) : matches.first_entry[entry];
}

}  // namespace

void Judge::judge_truth(const JudgingRules& rules, const Matches& matches,
                        std::span<const double> grades, const Checkpoint& checkpoint) {
  const auto judged = [&](double grade) {
    const bool relevant = grade >= rules.min_grade;
    return Entry{grade, relevant ? rules.gain_of(grade) : 0, relevant};
  };
  entries_.clear();
  entries_.reserve(grades.size());
  ungraded_ = grades.empty();
  if (ungraded_) {
    entries_.push_back(judged(1));
    return;
  }
  in_chunks(grades.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto first = static_cast<std::size_t>(first_entry(matches, i));
      if (first != i && rules.duplicate_truth == Duplicates::max &&
          grades[i] > entries_[first].grade) {
        entries_[first] = judged(grades[i]);
      }
      entries_.push_back(first == i ? judged(grades[i]) : entries_[first]);
    }
  });
}

// How many entries are relevant, and, unless all are 1, the gains of these.
void Judge::count_truth(const JudgingRules& rules, const Matches& matches, HitRow& row,
                        std::vector<double>& ideal, const Checkpoint& checkpoint) {
  const bool each = rules.duplicate_truth == Duplicates::count;
  const std::size_t begin_of_ideal = ideal.size();
  if (ungraded_) {
    const Entry& entry = entries_.front();
    const Count items = matches.truth_size - (each ? 0 : matches.truth_duplicates);
    (entry.relevant ? row.relevant : row.nonrelevant) = items;
    row.unit_gains = !entry.relevant || entry.gain == 1;
    if (!row.unit_gains) ideal.insert(ideal.end(), static_cast<std::size_t>(items), entry.gain);
    return;
  }
  in_chunks(entries_.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!each && std::cmp_not_equal(first_entry(matches, i), i)) continue;
      const Entry& entry = entries_[i];
      ++(entry.relevant ? row.relevant : row.nonrelevant);
      if (!entry.relevant) continue;
      ideal.push_back(entry.gain);
      row.unit_gains = row.unit_gains && entry.gain == 1;
    }
  });
  if (row.unit_gains) ideal.resize(begin_of_ideal);
  sort(std::span(ideal).subspan(begin_of_ideal), std::greater<>(), checkpoint);
}

void Judge::add_hits(const JudgingRules& rules, const Matches& matches, HitRow& row,
                     std::vector<Hit>& hits, const Checkpoint& checkpoint) {
  const bool once = rules.duplicate_items == Duplicates::first;
  Count relevant = 0;
  ties_.clear();
  if (matches.found.size() > kChunk) hits.reserve(hits.size() + matches.found.size());
  in_chunks(matches.found.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Match& match = matches.found[i];
      if (match.repeat && once) continue;
      const Entry& entry = entry_of(match.entry);
      row.hits_repeat = row.hits_repeat || (match.repeat && entry.relevant);
      row.first_hit = relevant == 0 && entry.relevant ? match.rank : row.first_hit;
      relevant += entry.relevant ? 1 : 0;
      hits.push_back({match.rank, relevant, entry.gain, entry.relevant});
      if (!matches.ties.empty()) ties_.push_back(matches.ties[i]);
    }
  });
}

// Puts the judged items of each tie where the convention wants them: those of the highest gain
// first, then those of none, then the unjudged; or all of these the other way round, and, where
// they share a rank, the last one, each with all hits of the tie.
void Judge::arrange_ties(Ties ties, HitRow& row, std::span<Hit> hits,
                         const Checkpoint& checkpoint) {
  const bool best_first = ties == Ties::optimistic;
  const bool shared = ties == Ties::shared;
  const auto before = [&](const Hit& one, const Hit& other) {
    const Hit& better = best_first ? one : other;
    const Hit& worse = best_first ? other : one;
    if (better.relevant != worse.relevant) return better.relevant;
    return better.gain > worse.gain;
  };
  Count relevant = 0;
  row.first_hit = 0;
  for (std::size_t begin = 0; begin < ties_.size();) {
    const Tie tie = ties_[begin];
    std::size_t end = begin;
    while (end < ties_.size() && ties_[end] == tie) ++end;
    const std::span<Hit> tied = hits.subspan(begin, end - begin);
    sort(tied, before, checkpoint);
    Count rank = best_first ? tie.first : tie.last - static_cast<Count>(tied.size()) + 1;
    for (Hit& hit : tied) {
      hit.rank = shared ? tie.last : rank++;
      hit.hits = relevant += hit.relevant ? 1 : 0;
      if (relevant == 1 && hit.relevant) row.first_hit = hit.rank;
    }
    for (Hit& hit : tied) {
      if (shared) hit.hits = relevant;
    }
    begin = end;
    if (begin % kChunk == 0) checkpoint();
  }
}

void Judge::add_tied(std::span<const Hit> hits, std::vector<TiedHits>& tied,
                     const Checkpoint& checkpoint) const {
  const std::size_t begin_of_tied = tied.size();
  in_chunks(hits.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Hit& hit = hits[i];
      if (!hit.relevant) continue;
      const Tie tie = ties_.empty() ? Tie{hit.rank, hit.rank} : ties_[i];
      if (tied.size() == begin_of_tied || tied.back().tie != tie) {
        tied.push_back({.tie = tie, .hits = 0, .hits_above = hit.hits - 1, .gain = 0});
      }
      ++tied.back().hits;
      tied.back().gain += hit.gain;
    }
  });
}

const HitRow& Judge::judge(const JudgingRules& rules, const Matches& matches,
                           std::span<const double> grades, HitRows& rows,
                           const Checkpoint& checkpoint) {
  HitRow& row = rows.rows_.emplace_back();  // in place, as a copy waits for what was just written
  row.recommended = matches.list_length;
  judge_truth(rules, matches, grades, checkpoint);
  const std::size_t begin_of_ideal = rows.ideal_.size();
  count_truth(rules, matches, row, rows.ideal_, checkpoint);
  const std::size_t begin_of_hits = rows.hits_.size();
  add_hits(rules, matches, row, rows.hits_, checkpoint);
  const std::span<Hit> hits = std::span(rows.hits_).subspan(begin_of_hits);
  const std::size_t begin_of_tied = rows.tied_.size();
  if (rules.ties == Ties::expected) add_tied(hits, rows.tied_, checkpoint);
  if (arranges(rules.ties) && !ties_.empty()) arrange_ties(rules.ties, row, hits, checkpoint);
  row.judged = hits;
  row.tied = std::span(rows.tied_).subspan(begin_of_tied);
  row.ideal = std::span(rows.ideal_).subspan(begin_of_ideal);
  return row;
}

// The vectors may have moved since the rows were made.
std::span<const HitRow> HitRows::all() noexcept {
  std::size_t hit = 0;
  std::size_t tie = 0;
  std::size_t place = 0;
  for (HitRow& row : rows_) {
    row.judged = std::span(hits_).subspan(hit, row.judged.size());
    row.tied = std::span(tied_).subspan(tie, row.tied.size());
    row.ideal = std::span(ideal_).subspan(place, row.ideal.size());
    hit += row.judged.size();
    tie += row.tied.size();
    place += row.ideal.size();
  }
  return rows_;
}

Count Judge::count_relevant(const Matches& matches, std::span<const Count> entries) const noexcept {
  return std::ranges::count_if(entries, [&](Count entry) {
    return first_entry(matches, static_cast<std::size_t>(entry)) == entry &&
           entry_of(entry).relevant;
  });
}

}  // namespace exactk
