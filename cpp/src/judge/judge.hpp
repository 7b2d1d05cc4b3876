// What a convention makes of the matches of one user after another: grades to relevance and gains,
// matches to hits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/conventions.hpp"
#include "exactk/types.hpp"
#include "judge/batch.hpp"
#include "judge/hit_row.hpp"
#include "match/list_matcher.hpp"

namespace exactk {

// What the judge made of a batch of users.
class HitRows {
 public:
  [[nodiscard]] bool full() const noexcept {
    return rows_.size() == kBatch || hits_.size() >= kHits || ideal_.size() >= kHits;
  }
  void clear() noexcept {
    rows_.clear();
    hits_.clear();
    tied_.clear();
    ideal_.clear();
  }
  [[nodiscard]] std::span<const HitRow> all() noexcept;  // valid until the next is judged

 private:
  friend class Judge;
  static constexpr std::size_t kHits = 4096;

  std::vector<HitRow> rows_;
  std::vector<Hit> hits_;       // of one user after another
  std::vector<TiedHits> tied_;  // the same
  std::vector<double> ideal_;   // the same
};

// What of a convention decides how a user is judged. Values that agree in it share one HitRow.
struct JudgingRules {
  Gain gain;
  std::vector<double> gain_table;
  Duplicates duplicate_items;
  Duplicates duplicate_truth;
  double min_grade;
  Ties ties;

  // Where no gains are asked for, the gain is binary: a table need not fit the grades then.
  JudgingRules(const Rules& rules, bool uses_gains);
  friend bool operator==(const JudgingRules&, const JudgingRules&) = default;

  // Whether the two differ in gains alone.
  [[nodiscard]] bool judges_as(const JudgingRules& other) const noexcept {
    return duplicate_items == other.duplicate_items && duplicate_truth == other.duplicate_truth &&
           min_grade == other.min_grade && ties == other.ties;
  }

  [[nodiscard]] double gain_of(double grade) const noexcept;  // of a relevant item
};

// Turns the matches of one user after another into HitRows.
class Judge {
 public:
  // Adds the user to the rows. `grades` beside the user's truth entries, empty where every grade
  // is 1. Returns the row, valid until the next call.
  const HitRow& judge(const JudgingRules& rules, const Matches& matches,
                      std::span<const double> grades, HitRows& rows, const Checkpoint& checkpoint);

  // How many relevant items are among some entries, by the last rules.
  [[nodiscard]] Count count_relevant(const Matches& matches,
                                     std::span<const Count> entries) const noexcept;

 private:
  struct Entry {  // a truth entry under the rules
    double grade;
    double gain;
    bool relevant;
  };

  void judge_truth(const JudgingRules& rules, const Matches& matches,
                   std::span<const double> grades, const Checkpoint& checkpoint);
  void count_truth(const JudgingRules& rules, const Matches& matches, HitRow& row,
                   std::vector<double>& ideal, const Checkpoint& checkpoint);
  void add_hits(const JudgingRules& rules, const Matches& matches, HitRow& row,
                std::vector<Hit>& hits, const Checkpoint& checkpoint);
  void arrange_ties(Ties ties, HitRow& row, std::span<Hit> hits, const Checkpoint& checkpoint);
  void add_tied(std::span<const Hit> hits, std::vector<TiedHits>& tied,
                const Checkpoint& checkpoint) const;
  [[nodiscard]] const Entry& entry_of(Count entry) const noexcept {
    return entries_[ungraded_ ? 0 : static_cast<std::size_t>(entry)];
  }

  bool ungraded_ = true;  // one entry stands for all
  std::vector<Entry> entries_;
  std::vector<Tie> ties_;  // of the hits; empty: each stands by itself
};

}  // namespace exactk
