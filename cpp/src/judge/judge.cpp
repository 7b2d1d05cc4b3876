#include "judge/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "base/checks.hpp"
#include "numeric/power_of_two.hpp"

namespace exactk {

JudgingRules::JudgingRules(const Rules& rules, bool uses_gains, ItemGroupRule of_items)
    : JudgingFields(static_cast<const JudgingFields&>(rules)), item_group(of_items) {
  if (!uses_gains) {
    weight = Weight::one;
    gain = Gain::binary;
  }
  if (weight == Weight::self_normalized) weight = Weight::values;  // another divisor alone
  if (gain != Gain::table) gain_table.clear();
  if (gain != Gain::scaled) gain_range.clear();
}

namespace {

// Returns 2^exponent - 1, exactly for integer exponents.
double exponential(double exponent) noexcept {
  constexpr double kMaxExponent = 256;
  if (!(exponent > 0)) return 0;  // NaN too, which another thread may have written
  return power_of_two(std::min(exponent, kMaxExponent)) - 1;
}

}  // namespace

// The grade has been checked, but another thread may write to its memory, so it is checked again
// before it indexes the table.
double JudgingRules::gain_of(double grade) const noexcept {
  switch (gain) {
    case Gain::linear:
      return std::max(grade, 0.0);
    case Gain::exp2:
      return exponential(grade);
    case Gain::exp2_shifted:
      if (grade < 0 && negative_grades == NegativeGrades::zero_gain) return 0;
      return exponential(grade - min_grade + 1);
    case Gain::table:
      return grade >= 0 && grade < static_cast<double>(gain_table.size())
                 ? gain_table[static_cast<std::size_t>(grade)]
                 : 0;
    case Gain::scaled:
      return (std::clamp(grade, gain_range[0], gain_range[1]) - gain_range[0]) /
             (gain_range[1] - gain_range[0]);
    case Gain::binary:
      break;
  }
  return 1;
}

namespace {

// Whether the ranks of tied items depend on their gains.
constexpr bool needs_gain_order(Ties ties) noexcept {
  return ties == Ties::optimistic || ties == Ties::pessimistic || ties == Ties::shared;
}

void append(std::vector<Count>& to, std::span<const Count> from, const Run& run) {
  in_chunks(from.size(), run, [&](std::size_t begin, std::size_t end) {
    const auto chunk = from.subspan(begin, end - begin);
    to.insert(to.end(), chunk.begin(), chunk.end());
  });
}

Count first_entry(const Matches& matches, std::size_t entry) {
  return matches.first_entry.empty() ? static_cast<Count>(entry) : matches.first_entry[entry];
}

// Whether all items of the truth count alike, and nothing moves a hit.
bool is_plain(const JudgingRules& rules, const Matches& matches, std::span<const double> grades) {
  return grades.empty() && rules.weight != Weight::values && rules.gain_of(1) == 1 &&
         rules.item_group.has_all_items() && rules.unjudged == Unjudged::keep &&
         matches.list_ranks.empty() && matches.ties.empty() && rules.ties != Ties::expected &&
         rules.ties != Ties::optimistic && matches.hits.size() <= kChunk;
}

}  // namespace

void Judge::judge_truth(const JudgingRules& rules, const Matches& matches,
                        std::span<const double> grades, std::span<const double> values,
                        std::span<const std::uint64_t> groups) {
  constexpr double kNotInTruth = std::numeric_limits<double>::quiet_NaN();
  const bool reads_values = rules.weight == Weight::values;
  const bool has_all_items = rules.item_group.has_all_items();
  lacks_values_ = false;
  const auto judge_entry = [&](double grade, std::size_t i) {
    const bool is_in_group = has_all_items || rules.item_group.has(groups[i]);
    if (!is_in_group && !rules.item_group.is_share) return Entry{kNotInTruth, 0, false};
    const bool relevant = grade >= rules.min_grade;
    if (!relevant) return Entry{grade, 0, relevant};
    if (!reads_values) return Entry{grade, rules.gain_of(grade), relevant, is_in_group};
    const bool is_missing = std::isnan(values[i]);
    lacks_values_ = lacks_values_ || is_missing;
    // At most what has been checked, as another thread may write to the memory.
    const double gain = is_missing ? 0 : std::min(values[i] * rules.gain_of(grade), kMaxGain);
    return Entry{grade, gain, relevant, is_in_group};
  };
  entries_.clear();
  is_alike_ = grades.empty() && !reads_values && has_all_items;
  if (is_alike_) {
    entries_.push_back(judge_entry(1, 0));
    return;
  }
  const auto size = static_cast<std::size_t>(matches.truth_size);
  entries_.reserve(size);
  in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double grade = grades.empty() ? 1 : grades[i];
      const auto first = static_cast<std::size_t>(first_entry(matches, i));
      if (first != i && rules.duplicate_truth == Duplicates::max && grade > entries_[first].grade) {
        entries_[first] = judge_entry(grade, i);
      }
      entries_.push_back(first == i ? judge_entry(grade, i) : entries_[first]);
    }
  });
}

// Counts the relevant entries and collects their gains unless all are 1.
void Judge::count_truth(const JudgingRules& rules, const Matches& matches, HitRow& row,
                        std::vector<double>& ideal_gains) {
  const double min_judged_grade = rules.min_judged_grade();
  const bool counts_repeats = rules.duplicate_truth == Duplicates::count;
  const std::size_t ideal_begin = ideal_gains.size();
  if (is_alike_) {
    const Entry& entry = entries_.front();
    const Count items = matches.truth_size - (counts_repeats ? 0 : matches.truth_duplicates);
    (entry.relevant ? row.relevant : row.nonrelevant) = items;
    row.unit_gains = !entry.relevant || entry.gain == 1;
    if (!row.unit_gains)
      ideal_gains.insert(ideal_gains.end(), static_cast<std::size_t>(items), entry.gain);
    return;
  }
  in_chunks(entries_.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!counts_repeats && std::cmp_not_equal(first_entry(matches, i), i)) continue;
      const Entry& entry = entries_[i];
      if (!(entry.grade >= min_judged_grade)) continue;
      ++(entry.relevant ? row.relevant : row.nonrelevant);
      if (!entry.relevant) continue;
      ideal_gains.push_back(entry.gain);
      row.unit_gains = row.unit_gains && entry.gain == 1;
    }
  });
  if (row.unit_gains) ideal_gains.resize(ideal_begin);
  sort(std::span(ideal_gains).subspan(ideal_begin), std::greater<>(), run_);
}

// Returns the matches of the list that is left without its unjudged items.
const Matches& Judge::remove_unjudged(const JudgingRules& rules, const Matches& matches) {
  const double min_judged_grade = rules.min_judged_grade();
  const bool has_ties = !matches.ties.empty();
  condensed_.hits.clear();
  condensed_.ties.clear();
  condensed_.list_length = 0;
  Tie previous;  // of the list with its unjudged items
  in_chunks(matches.hits.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Match& match = matches.hits[i];
      if (!(entry_of(match.entry).grade >= min_judged_grade)) continue;
      const Count rank = ++condensed_.list_length;
      condensed_.hits.push_back({rank, match.entry, match.is_repeat});
      if (!has_ties) continue;
      const bool goes_on = rank > 1 && matches.ties[i] == previous;
      previous = matches.ties[i];
      condensed_.ties.push_back({goes_on ? condensed_.ties.back().first : rank, rank});
    }
  });
  std::vector<Tie>& ties = condensed_.ties;
  in_chunks(ties.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t below = begin; below < end; ++below) {
      const std::size_t i = ties.size() - 1 - below;
      if (below > 0 && ties[i + 1].first == ties[i].first) ties[i].last = ties[i + 1].last;
    }
  });
  return condensed_;
}

void Judge::add_judged_items(const JudgingRules& rules, const Matches& matches, HitRow& row,
                             std::vector<JudgedItem>& judged_items) {
  Count relevant = 0;
  ties_.clear();
  if (matches.hits.size() > kChunk) judged_items.reserve(judged_items.size() + matches.hits.size());
  for_each_judged(rules, matches, [&](std::size_t index, const Entry& entry) {
    const Match& match = matches.hits[index];
    row.hits_repeat = row.hits_repeat || (match.is_repeat && entry.relevant);
    row.first_hit = relevant == 0 && entry.relevant ? match.rank : row.first_hit;
    relevant += entry.relevant ? 1 : 0;
    judged_items.push_back({match.rank, relevant, entry.is_hit ? entry.gain : 0.0, entry.is_hit});
    if (!matches.ties.empty()) ties_.push_back(matches.ties[index]);
  });
}

// Where the convention orders the items of a tie, those that are not judged are at one end.
void Judge::add_pooled_ranks(const JudgingRules& rules, const Matches& matches,
                             std::vector<Count>& pooled_ranks) const {
  if (is_alike_ || rules.negative_grades != NegativeGrades::unjudged) return;
  const bool is_arranged = needs_gain_order(rules.ties) && !matches.ties.empty();
  const bool is_last = rules.ties == Ties::optimistic;
  in_chunks(matches.hits.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Match& match = matches.hits[i];
      if (!(entry_of(match.entry).grade < 0)) continue;
      if (match.is_repeat && rules.duplicate_items == Duplicates::first) continue;
      const Tie tie = is_arranged ? matches.ties[i] : Tie{match.rank, match.rank};
      pooled_ranks.push_back(is_last ? tie.last : tie.first);
    }
  });
}

// Orders the judged items of each tie as the convention says. `optimistic`: by descending gain,
// then the rest, with unjudged items last. `pessimistic`: the reverse. `shared`: all at the last
// rank of the tie, each with all hits of the tie.
void Judge::arrange_ties(Ties ties, HitRow& row, std::span<JudgedItem> judged_items) {
  const bool best_first = ties == Ties::optimistic;
  const bool is_shared = ties == Ties::shared;
  const auto before = [&](const JudgedItem& one, const JudgedItem& other) {
    const JudgedItem& better = best_first ? one : other;
    const JudgedItem& worse = best_first ? other : one;
    if (better.relevant != worse.relevant) return better.relevant;
    return better.gain > worse.gain;
  };
  Count relevant = 0;
  row.first_hit = 0;
  for (std::size_t begin = 0; begin < ties_.size();) {
    const Tie tie = ties_[begin];
    std::size_t end = begin;
    while (end < ties_.size() && ties_[end] == tie) ++end;
    const std::span<JudgedItem> tied_items = judged_items.subspan(begin, end - begin);
    sort(tied_items, before, run_);
    Count rank = best_first ? tie.first : tie.last - static_cast<Count>(tied_items.size()) + 1;
    for (JudgedItem& item : tied_items) {
      item.rank = is_shared ? tie.last : rank++;
      item.hits = relevant += item.relevant ? 1 : 0;
      if (relevant == 1 && item.relevant) row.first_hit = item.rank;
    }
    for (JudgedItem& item : tied_items) {
      if (is_shared) item.hits = relevant;
    }
    begin = end;
    if (begin % kChunk == 0) run_.checkpoint();
  }
}

void Judge::add_tied_hits(std::span<const JudgedItem> judged_items,
                          std::vector<TiedHits>& tied_hits) const {
  const std::size_t tied_begin = tied_hits.size();
  in_chunks(judged_items.size(), run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const JudgedItem& item = judged_items[i];
      if (!item.relevant) continue;
      const Tie tie = ties_.empty() ? Tie{item.rank, item.rank} : ties_[i];
      if (tied_hits.size() == tied_begin || tied_hits.back().tie != tie) {
        tied_hits.push_back({.tie = tie, .hits = 0, .hits_above = item.hits - 1, .gain = 0});
      }
      ++tied_hits.back().hits;
      tied_hits.back().gain += item.gain;
    }
  });
}

// The usual case, without the steps that do nothing there.
void Judge::judge_plain(const JudgingRules& rules, const Matches& matches, HitRow& row,
                        std::vector<JudgedItem>& judged_items) {
  const bool relevant = rules.min_grade <= 1;
  const bool counts_repeats = rules.duplicate_truth == Duplicates::count;
  const bool first_only = rules.duplicate_items == Duplicates::first;
  is_alike_ = true;
  entries_.assign(1, {1, relevant ? 1.0 : 0.0, relevant});
  (relevant ? row.relevant : row.nonrelevant) =
      matches.truth_size - (counts_repeats ? 0 : matches.truth_duplicates);
  const std::size_t begin = judged_items.size();
  Count hits = 0;
  for (const Match& match : matches.hits) {
    if (match.is_repeat && first_only) continue;
    row.hits_repeat = row.hits_repeat || (match.is_repeat && relevant);
    hits += relevant ? 1 : 0;
    judged_items.push_back({match.rank, hits, relevant ? 1.0 : 0.0, relevant});
  }
  row.judged_items = std::span(judged_items).subspan(begin);
  if (hits > 0) row.first_hit = row.judged_items.front().rank;
}

const HitRow& Judge::judge(const JudgingRules& rules, const Matches& matches,
                           std::span<const double> grades, HitRows& rows,
                           std::span<const double> values, std::span<const std::uint64_t> groups) {
  HitRow& row = rows.rows_.emplace_back();  // a copy would stall on fresh stores
  row.is_empty = matches.list_length == 0;
  row.recommended = matches.list_length;
  if (is_plain(rules, matches, grades)) {
    judge_plain(rules, matches, row, rows.judged_items_);
    return row;
  }
  judge_truth(rules, matches, grades, values, groups);
  row.lacks_values = lacks_values_;
  const bool condenses = rules.unjudged == Unjudged::remove;
  const Matches& ranked = condenses ? remove_unjudged(rules, matches) : matches;
  row.recommended = ranked.list_length;
  const std::size_t ranks_begin = rows.list_ranks_.size();
  append(rows.list_ranks_, ranked.list_ranks, run_);
  const std::size_t ideal_begin = rows.ideal_gains_.size();
  count_truth(rules, matches, row, rows.ideal_gains_);
  const std::size_t items_begin = rows.judged_items_.size();
  add_judged_items(rules, ranked, row, rows.judged_items_);
  const std::span<JudgedItem> judged_items = std::span(rows.judged_items_).subspan(items_begin);
  const std::size_t pooled_begin = rows.pooled_ranks_.size();
  add_pooled_ranks(rules, ranked, rows.pooled_ranks_);
  const std::size_t tied_begin = rows.tied_hits_.size();
  if (rules.ties == Ties::expected || rules.ties == Ties::optimistic) {
    add_tied_hits(judged_items, rows.tied_hits_);
  }
  if (needs_gain_order(rules.ties) && !ties_.empty()) arrange_ties(rules.ties, row, judged_items);
  row.judged_items = judged_items;
  row.tied_hits = std::span(rows.tied_hits_).subspan(tied_begin);
  row.ideal_gains = std::span(rows.ideal_gains_).subspan(ideal_begin);
  row.list_ranks = std::span(rows.list_ranks_).subspan(ranks_begin);
  row.pooled_ranks = std::span(rows.pooled_ranks_).subspan(pooled_begin);
  return row;
}

void HitRows::add(Count relevant, Count length, HitBits hits) {
  HitRow& row = rows_.emplace_back();
  row.is_empty = length == 0;
  row.recommended = length;
  row.relevant = relevant;
  row.first_hit = hits.first_rank();
  const std::size_t begin = judged_items_.size();
  Count count = 0;
  for_each_rank(hits, [&](Count rank) { judged_items_.push_back({rank, ++count, 1.0, true}); });
  row.judged_items = std::span(judged_items_).subspan(begin);
}

// Rebuilds the spans, because the vectors may have moved since the rows were made.
std::span<const HitRow> HitRows::rows() noexcept {
  std::size_t item = 0;
  std::size_t tie = 0;
  std::size_t gain = 0;
  std::size_t rank = 0;
  std::size_t pooled = 0;
  for (HitRow& row : rows_) {
    row.judged_items = std::span(judged_items_).subspan(item, row.judged_items.size());
    row.tied_hits = std::span(tied_hits_).subspan(tie, row.tied_hits.size());
    row.ideal_gains = std::span(ideal_gains_).subspan(gain, row.ideal_gains.size());
    row.list_ranks = std::span(list_ranks_).subspan(rank, row.list_ranks.size());
    row.pooled_ranks = std::span(pooled_ranks_).subspan(pooled, row.pooled_ranks.size());
    item += row.judged_items.size();
    tie += row.tied_hits.size();
    gain += row.ideal_gains.size();
    rank += row.list_ranks.size();
    pooled += row.pooled_ranks.size();
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
