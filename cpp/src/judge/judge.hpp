// What a convention makes of the matches of one user after another: grades to relevance and gains,
// matches to hits.
#pragma once

#include <cstddef>
#include <limits>
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
  [[nodiscard]] bool is_full() const noexcept {
    return rows_.size() == kBatchSize || judged_items_.size() >= kMaxItems ||
           ideal_gains_.size() >= kMaxItems || list_ranks_.size() >= kMaxItems;
  }
  void clear() noexcept {
    rows_.clear();
    judged_items_.clear();
    tied_hits_.clear();
    ideal_gains_.clear();
    list_ranks_.clear();
  }
  [[nodiscard]] std::span<const HitRow> rows() noexcept;  // valid until the next is judged

 private:
  friend class Judge;
  static constexpr std::size_t kMaxItems = 4096;

  std::vector<HitRow> rows_;
  std::vector<JudgedItem> judged_items_;  // of one user after another
  std::vector<TiedHits> tied_hits_;       // the same
  std::vector<double> ideal_gains_;       // the same
  std::vector<Count> list_ranks_;         // the same
};

// What of a convention decides how a user is judged. Values that agree in it share one HitRow.
struct JudgingRules : JudgingFields {
  // Where no gains are asked for, the gain is binary: a table need not fit the grades then.
  JudgingRules(const Rules& rules, bool uses_gains);
  friend bool operator==(const JudgingRules&, const JudgingRules&) = default;

  // Whether the two are equal, except perhaps in their gains.
  [[nodiscard]] bool equals_except_gains(const JudgingRules& other) const noexcept {
    return static_cast<const HitFields&>(*this) == static_cast<const HitFields&>(other);
  }

  [[nodiscard]] double gain_of(double grade) const noexcept;  // of a relevant item
  // Items of a lower grade are ignored, as if the truth did not have them.
  [[nodiscard]] double min_judged_grade() const noexcept {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    return negative_grades == NegativeGrades::unjudged ? 0 : kNone;
  }
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
                   std::vector<double>& ideal_gains, const Checkpoint& checkpoint);
  void add_judged_items(const JudgingRules& rules, const Matches& matches, HitRow& row,
                        std::vector<JudgedItem>& judged_items, const Checkpoint& checkpoint);
  void arrange_ties(Ties ties, HitRow& row, std::span<JudgedItem> judged_items,
                    const Checkpoint& checkpoint);
  void add_tied_hits(std::span<const JudgedItem> judged_items, std::vector<TiedHits>& tied_hits,
                     const Checkpoint& checkpoint) const;
  [[nodiscard]] const Entry& entry_of(Count entry) const noexcept {
    return entries_[is_ungraded_ ? 0 : static_cast<std::size_t>(entry)];
  }

  bool is_ungraded_ = true;  // one entry stands for all
  std::vector<Entry> entries_;
  std::vector<Tie> ties_;  // beside the judged items; empty: there are none
};

}  // namespace exactk
