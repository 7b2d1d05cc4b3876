// The share of pairs in which a relevant item ranks above one that is not.
#pragma once

#include <limits>

#include "metrics/metric.hpp"

namespace exactk {

class Auc {
 public:
  static constexpr std::string_view kAliases[] = {"roc_auc"};
  static constexpr MetricInfo info{
      .name = "auc",
      .aliases = kAliases,
      .summary =
          "share of the pairs of a relevant and another ranked item that are in the right order; "
          "ties count half, and pairs with an unranked relevant item count 0",
      .formula =
          "(sum over hits of the N - h others below + half of those tied) / "
          "(|T| (N - h)), with N ranked items",
      .source = "Hanley, McNeil 1982",
      .undefined_case = "all ranked items are relevant, or none is",
      .pairwise = true};

  // Returns the number of misordered pairs: for each hit, the other items above it.
  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) wrong_pairs_ += static_cast<double>(item.rank - item.hits);
    return wrong_pairs_;
  }
  static double expectation(const TiedHits& tied, Count /*ranks*/) noexcept {
    const auto above = static_cast<double>(tied.tie.first - 1 - tied.hits_above);
    const auto tied_others = static_cast<double>(tied.tie.size() - tied.hits);
    return static_cast<double>(tied.hits) * (above + tied_others / 2);
  }
  static Ratio ratio_at(double wrong_pairs, const CutoffCounts& counts, const Rules&) noexcept {
    const auto others = static_cast<double>(counts.list_length - counts.hits);
    return {static_cast<double>(counts.hits) * others - wrong_pairs,
            static_cast<double>(counts.relevant) * others};
  }

 private:
  double wrong_pairs_ = 0;
};

// The mean of AUC over users, weighted by how much there is to rank. Others are left out.
class GroupedAuc {
 public:
  static constexpr std::string_view kAliases[] = {"grouped_auc", "group_auc"};
  static constexpr std::string_view kOwnFields[] = {"gauc_over"};
  static constexpr MetricInfo info{
      .name = "gauc",
      .aliases = kAliases,
      .summary =
          "mean of auc over users with relevant and other ranked items, weighted by their number",
      .formula = "(sum over users of w auc) / (sum over users of w), w = |T| + N - h",
      .source = "Zhou et al. 2018 (Deep Interest Network)",
      .undefined_case = Auc::info.undefined_case,
      .own_fields = kOwnFields,
      .pairwise = true,
      .weighs_users = true};

  double accumulate(const JudgedItem& item) noexcept { return auc_.accumulate(item); }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return Auc::expectation(tied, ranks);
  }
  static Ratio ratio_at(double wrong_pairs, const CutoffCounts& counts,
                        const Rules& rules) noexcept {
    const Ratio auc = Auc::ratio_at(wrong_pairs, counts, rules);
    if (auc.denominator == 0) return {0, 0};
    const double weight = gauc_weight(rules.gauc_over, counts);
    return {weight * (auc.numerator / auc.denominator), weight};
  }

 private:
  Auc auc_;
};

// AUC over all items. Every order of the items that are not recommended is equally likely, so a
// relevant item among them is expected halfway down.
class ListAuc {
 public:
  static constexpr MetricInfo info{
      .name = "list_auc",
      .summary =
          "auc over all items, with items that are not recommended in random order below the list",
      .formula =
          "(sum over misses at ranks i <= k of h(i) + (h + |T|) / 2 (N - |T| - misses)) / "
          "(|T| (N - |T|)), N = num_items",
      .source = "implicit, which calls it AUC",
      .parameter = {"num_items", std::numeric_limits<double>::quiet_NaN(), 1, 1e15, true},
      .undefined_case = "all items are relevant, or none is",
      .positive_without_hits = true,
      .takes_item_count = true};

  explicit ListAuc(const Context& context) : items_(static_cast<Count>(context.parameter)) {}

  double accumulate(const JudgedItem& item) noexcept { return misses_above_hits_.accumulate(item); }
  [[nodiscard]] Ratio ratio_at(double misses_above_hits, const CutoffCounts& counts,
                               const Rules&) const noexcept {
    const auto hits = static_cast<double>(counts.hits);
    const auto misses = static_cast<double>(counts.list_length - counts.hits);
    const auto relevant = static_cast<double>(counts.relevant);
    const auto others = static_cast<double>(items_ - counts.relevant);
    const double below_hits = hits * misses - misses_above_hits;
    return {below_hits + (hits + relevant) / 2 * (others - misses), relevant * others};
  }

 private:
  Count items_;
  Auc misses_above_hits_;
};

}  // namespace exactk
