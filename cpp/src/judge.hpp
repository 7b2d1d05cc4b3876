// From ids to ranks: which judged items a user's ranking reaches, and where. A metric sees
// nothing but the HitRow; it knows no ids, and whatever ranks the items (a list, scores) ends here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrik/conventions.hpp"
#include "metrik/types.hpp"
#include "rank/given.hpp"

namespace metrik {

// A judged item that the ranking reaches.
struct Hit {
  Count rank;
  double gain;  // 0 where it is not relevant
  bool relevant;
};

// One user as the metrics see it.
struct HitRow {
  std::span<const Hit> judged;    // by rank
  std::span<const double> ideal;  // gains of the relevant items, highest first; empty if all are 1
  Count recommended = 0;          // length of the list
  Count relevant = 0;             // relevant items in the truth
  Count nonrelevant = 0;          // judged items that are not relevant
  bool unit_gains = true;         // every relevant item has gain 1
  bool hits_repeat = false;       // a relevant item counts at more than one rank
};

// What of a convention decides how a user is judged. Values that agree in it share one HitRow.
struct Lens {
  Gain gain;
  std::vector<double> gain_table;
  Duplicates duplicate_items;
  Duplicates duplicate_truth;
  double min_grade;

  // Where no gains are asked for, the gain is binary: a table need not fit the grades then.
  Lens(const Rules& rules, bool uses_gains);
  friend bool operator==(const Lens&, const Lens&) = default;

  // Whether the two differ in gains alone.
  [[nodiscard]] bool judges_as(const Lens& other) const noexcept {
    return duplicate_items == other.duplicate_items && duplicate_truth == other.duplicate_truth &&
           min_grade == other.min_grade;
  }

  [[nodiscard]] double gain_of(double grade) const noexcept;  // of a relevant item
};

// Turns the matches of one user into HitRows. Holds the memory that the last HitRow points into.
class Judge {
 public:
  // `grades` beside the user's truth entries, empty where every grade is 1. The HitRow is valid
  // until the next call.
  HitRow judge(const Lens& lens, const Matches& matches, std::span<const double> grades);

  // Whether the item of an entry was relevant under the last lens.
  [[nodiscard]] bool is_relevant(Count entry) const noexcept {
    return entries_[static_cast<std::size_t>(entry)].relevant;
  }

 private:
  struct Entry {  // a truth entry under the lens
    double grade;
    double gain;
    bool relevant;
  };

  void judge_truth(const Lens& lens, const Matches& matches, std::span<const double> grades);

  std::vector<Entry> entries_;
  std::vector<Hit> hits_;
  std::vector<double> ideal_;
};

}  // namespace metrik
