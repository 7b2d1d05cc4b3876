// Applies a convention to the matches of each user: turns grades into relevance and gains, and
// matches into hits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "exactk/items.hpp"
#include "exactk/types.hpp"
#include "judge/batch.hpp"
#include "judge/hit_row.hpp"
#include "match/hit_bits.hpp"
#include "match/list_matcher.hpp"

namespace exactk {

// The judged users of a batch.
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
    pooled_ranks_.clear();
  }
  [[nodiscard]] std::span<const HitRow> rows() noexcept;  // valid until the next call of Judge

  // Adds a user whose judged items are all relevant, with gain 1, and whose list has `length`
  // items.
  void add(Count relevant, Count length, HitBits hits);

 private:
  friend class Judge;
  static constexpr std::size_t kMaxItems = 4096;

  std::vector<HitRow> rows_;
  std::vector<JudgedItem> judged_items_;  // of all users, in order
  std::vector<TiedHits> tied_hits_;       // likewise
  std::vector<double> ideal_gains_;       // likewise
  std::vector<Count> list_ranks_;         // likewise
  std::vector<Count> pooled_ranks_;       // likewise
};

// The part of a convention that decides how a user is judged. Values with equal rules share one
// HitRow.
struct JudgingRules : JudgingFields {
  ItemGroupRule item_group;

  // If no gains of grades are needed, the gain becomes binary, so a gain table need not cover the
  // grades.
  JudgingRules(const Rules& rules, bool uses_gains, ItemGroupRule of_items = {});
  friend bool operator==(const JudgingRules&, const JudgingRules&) = default;

  // Whether the two are equal in everything but their gains.
  [[nodiscard]] bool equals_except_gains(const JudgingRules& other) const noexcept {
    return static_cast<const HitFields&>(*this) == static_cast<const HitFields&>(other) &&
           item_group == other.item_group;
  }

  [[nodiscard]] double gain_of(double grade) const noexcept;  // for a relevant item
  // Items with a lower grade are ignored, as if they were not in the truth.
  [[nodiscard]] double min_judged_grade() const noexcept {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    return negative_grades == NegativeGrades::unjudged ? 0 : kNone;
  }
};

// Turns the matches of each user into a HitRow.
class Judge {
 public:
  explicit Judge(const Run& run) : run_(run) {}

  // Adds the user to the rows. `grades` and `values` are parallel to the user's truth. Without
  // grades, every grade is 1; values, NaN for none, are needed if they are the gains, and the
  // groups of the items, as bits, if the rules are of one. Returns the row, valid until the next
  // call.
  const HitRow& judge(const JudgingRules& rules, const Matches& matches,
                      std::span<const double> grades, HitRows& rows,
                      std::span<const double> values = {},
                      std::span<const std::uint64_t> groups = {});

  struct Entry {   // a truth entry under the rules
    double grade;  // NaN: as if it were not in the truth
    double gain;
    bool relevant;
    bool is_hit = relevant;  // where the list has it
  };

  // Calls body(index of the match, entry) for each judged item of the user judged last, by rank.
  template <class Body>
  void for_each_judged(const JudgingRules& rules, const Matches& matches, const Body& body) const {
    const double min_judged_grade = rules.min_judged_grade();
    const bool first_only = rules.duplicate_items == Duplicates::first;
    in_chunks(matches.hits.size(), run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Match& match = matches.hits[i];
        if (match.is_repeat && first_only) continue;
        const Entry& entry = entry_of(match.entry);
        if (entry.grade >= min_judged_grade) body(i, entry);
      }
    });
  }

  // Calls body(entry) for each distinct relevant item of the truth of the user judged last.
  template <class Body>
  void for_each_relevant(const JudgingRules& rules, const Matches& matches,
                         const Body& body) const {
    const double min_judged_grade = rules.min_judged_grade();
    const auto size = static_cast<std::size_t>(matches.truth_size);
    in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto index = static_cast<Count>(i);
        if (!matches.first_entry.empty() && matches.first_entry[i] != index) continue;
        const Entry& entry = entry_of(index);
        if (entry.relevant && entry.grade >= min_judged_grade) body(i);
      }
    });
  }

  // The hits of the list judged last without its unjudged items, if the rules remove these.
  [[nodiscard]] const Matches& condensed() const noexcept { return condensed_; }

  // Counts the distinct relevant items among the entries under the last rules.
  [[nodiscard]] Count count_relevant(const Matches& matches,
                                     std::span<const Count> entries) const noexcept;

 private:
  void judge_plain(const JudgingRules& rules, const Matches& matches, HitRow& row,
                   std::vector<JudgedItem>& judged_items);
  void judge_truth(const JudgingRules& rules, const Matches& matches,
                   std::span<const double> grades, std::span<const double> values,
                   std::span<const std::uint64_t> groups);
  void count_truth(const JudgingRules& rules, const Matches& matches, HitRow& row,
                   std::vector<double>& ideal_gains);
  void add_judged_items(const JudgingRules& rules, const Matches& matches, HitRow& row,
                        std::vector<JudgedItem>& judged_items);
  void add_pooled_ranks(const JudgingRules& rules, const Matches& matches,
                        std::vector<Count>& pooled_ranks) const;
  void arrange_ties(Ties ties, HitRow& row, std::span<JudgedItem> judged_items);
  const Matches& remove_unjudged(const JudgingRules& rules, const Matches& matches);
  void add_tied_hits(std::span<const JudgedItem> judged_items,
                     std::vector<TiedHits>& tied_hits) const;
  [[nodiscard]] const Entry& entry_of(Count entry) const noexcept {
    return entries_[is_alike_ ? 0 : static_cast<std::size_t>(entry)];
  }

  const Run& run_;
  bool is_alike_ = true;       // one element of entries_ stands for all
  bool lacks_values_ = false;  // gains are values, and a relevant item has none
  std::vector<Entry> entries_;
  std::vector<Tie> ties_;  // parallel to the judged items; empty: none
  Matches condensed_;      // hits, ties and length of the list without its unjudged items
};

}  // namespace exactk
