// The share of pairs in which a relevant item ranks above one that is not.
#pragma once

#include <algorithm>
#include <limits>

#include "metrics/metric.hpp"

namespace exactk {

// Pairs of a hit and another ranked item in the wrong order, ties half; of the first other items
// alone, as far down as the area under a ROC curve is taken.
class WrongPairs {
 public:
  explicit WrongPairs(double most_others = std::numeric_limits<double>::infinity()) noexcept
      : most_others_(most_others) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant) sum_ += std::min(static_cast<double>(item.rank - item.hits), most_others_);
    return sum_;
  }
  // The hits of a tie rise evenly with its other items, of which some may be beyond the last.
  [[nodiscard]] double expectation(const TiedHits& tied, Count /*ranks*/) const noexcept {
    const auto above = static_cast<double>(tied.tie.first - 1 - tied.hits_above);
    const auto tied_others = static_cast<double>(tied.tie.size() - tied.hits);
    const double reached = std::clamp(most_others_ - above, 0.0, tied_others);
    const double right = reached > 0 ? reached * (reached / tied_others) / 2 : 0;
    return static_cast<double>(tied.hits) * (std::min(above, most_others_) + reached - right);
  }

 private:
  double most_others_;
  double sum_ = 0;
};

// The number of pairs in the right order, over that of all pairs.
[[nodiscard]] inline Ratio right_pairs(double wrong_pairs, const CutoffCounts& counts) noexcept {
  const auto others = static_cast<double>(counts.list_length - counts.hits);
  return {static_cast<double>(counts.hits) * others - wrong_pairs,
          static_cast<double>(counts.relevant) * others};
}

class Auc {
 public:
  static constexpr std::string_view kAliases[] = {"roc_auc"};
  static constexpr MetricInfo info{
      .name = "auc",
      .aliases = kAliases,
      .summary =
          "share of the pairs of a relevant and another ranked item that are in the right order; "
          "ties count half, and pairs with an unranked relevant item count 0; of a lower max_fpr, "
          "the area under the ROC curve up to this share of the others, scaled so that a random "
          "order has 0.5",
      .formula =
          "(sum over hits of the N - h others below + half of those tied) / "
          "(|T| (N - h)), with N ranked items; of a lower max_fpr m: (A + m (1 - m)) / (m (2 - m)) "
          "with the area A up to m",
      .source = "Hanley, McNeil 1982; McClish 1989, of max_fpr",
      .parameter = {.name = "max_fpr", .standard = 1, .low = 1e-9, .high = 1},
      .undefined_case = "all ranked items are relevant, or none is",
      .pairwise = true};

  explicit Auc(const Context& context) noexcept
      : max_fpr_(context.parameter),
        most_others_(max_fpr_ * static_cast<double>(count_others(context.row))),
        wrong_pairs_(most_others_),
        hits_repeat_(context.row.hits_repeat) {}

  double accumulate(const JudgedItem& item) noexcept { return wrong_pairs_.accumulate(item); }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const noexcept {
    return wrong_pairs_.expectation(tied, ranks);
  }
  [[nodiscard]] Ratio ratio_at(double wrong_pairs, const CutoffCounts& counts,
                               const Rules&) const noexcept {
    const double pairs = right_pairs(0, counts).denominator;
    const double right = static_cast<double>(counts.hits) * most_others_ - wrong_pairs;
    const double whole = pairs * (max_fpr_ * (2 - max_fpr_));
    const double scaled = right + pairs * (max_fpr_ * (1 - max_fpr_));
    return {hits_repeat_ ? scaled : std::min(scaled, whole), whole};  // no more, except by rounding
  }

 private:
  static Count count_others(const HitRow& row) noexcept {
    return row.recommended - (row.judged_items.empty() ? 0 : row.judged_items.back().hits);
  }

  double max_fpr_;
  double most_others_;
  WrongPairs wrong_pairs_;
  bool hits_repeat_;
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

  double accumulate(const JudgedItem& item) noexcept { return wrong_pairs_.accumulate(item); }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const noexcept {
    return wrong_pairs_.expectation(tied, ranks);
  }
  static Ratio ratio_at(double wrong_pairs, const CutoffCounts& counts,
                        const Rules& rules) noexcept {
    const Ratio auc = right_pairs(wrong_pairs, counts);
    if (auc.denominator == 0) return {0, 0};
    const double weight = gauc_weight(rules.gauc_over, counts);
    return {weight * (auc.numerator / auc.denominator), weight};
  }

 private:
  WrongPairs wrong_pairs_;
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
  WrongPairs misses_above_hits_;
};

// AUC of the items down to the cutoff, as if there were no others.
class PairwiseAccuracy {
 public:
  static constexpr MetricInfo info{
      .name = "pairwise_accuracy",
      .summary =
          "share of the pairs of a hit and a miss among the first k items in which the hit is "
          "above, 1 for hits without misses; 0 / 0 without hits",
      .formula = "(sum over hits of the misses below) / (h (min(k, |L|) - h))",
      .source = "RePlay, RocAuc; ir_measures, Accuracy",
      .undefined_case = "no item down to the cutoff is relevant",
      .micro = false};

  double accumulate(const JudgedItem& item) noexcept { return wrong_pairs_.accumulate(item); }
  static Ratio ratio_at(double wrong_pairs, const CutoffCounts& counts, const Rules&) noexcept {
    const Count misses = std::min(counts.cutoff, counts.list_depth) - counts.hits;
    if (misses <= 0) return ratio(counts.hits > 0 ? 1 : 0, counts.hits > 0 ? 1 : 0);
    const double pairs = static_cast<double>(counts.hits) * static_cast<double>(misses);
    return {pairs - wrong_pairs, pairs};
  }

 private:
  WrongPairs wrong_pairs_;
};

}  // namespace exactk
