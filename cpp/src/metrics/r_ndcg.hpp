// Means of nDCG over several ranks: those of the items with a gain, or those where the gains of the
// ideal ranking fall.
#pragma once

#include <algorithm>
#include <cstddef>

#include "metrics/dcg.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// nDCG at ranks that ascend, of the list and of the ideal ranking, which goes on below a cutoff.
class NdcgAtRanks {
 public:
  explicit NdcgAtRanks(const Context& context)
      : dcg_(context),
        discounts_(context.discounts),
        row_(context.row),
        run_(context.run),
        is_expectation_(is_expectation(context.rules.ties)) {}

  // Returns the gain at a rank of the ideal ranking; 0 below its end.
  [[nodiscard]] double ideal_gain(Count rank) const noexcept {
    if (rank > row_.relevant) return 0;
    return row_.unit_gains ? 1 : row_.ideal_gains[static_cast<std::size_t>(rank - 1)];
  }
  // Of the list down to `list_rank`, which may be higher.
  [[nodiscard]] double at(Count rank, Count list_rank) {
    const double gained = is_expectation_ ? expected_to(list_rank) : gained_to(list_rank);
    for (; ranks_ < std::min(rank, row_.relevant); ++ranks_) {
      if (ranks_ % kCheckpointInterval == kCheckpointInterval - 1) run_.checkpoint();
      ideal_ += ideal_gain(ranks_ + 1) * discounts_.at(ranks_ + 1);
    }
    return ideal_ > 0 ? (row_.hits_repeat ? gained : std::min(gained, ideal_)) / ideal_ : 0;
  }

 private:
  double gained_to(Count rank) {
    const auto items = row_.judged_items;
    for (; next_ < items.size() && items[next_].rank <= rank; ++next_)
      sum_ = dcg_.accumulate(items[next_]);
    return sum_;
  }
  double expected_to(Count rank) {
    const auto ties = row_.tied_hits;
    for (; next_ < ties.size() && ties[next_].tie.last <= rank; ++next_)
      sum_ += dcg_.expectation(ties[next_], ties[next_].tie.size());
    if (next_ == ties.size() || ties[next_].tie.first > rank) return sum_;
    return sum_ + dcg_.expectation(ties[next_], rank - ties[next_].tie.first + 1);
  }

  Dcg dcg_;
  const DiscountTable& discounts_;
  const HitRow& row_;
  const Run& run_;
  bool is_expectation_;
  std::size_t next_ = 0;  // item, or tie, that is not in the sum
  double sum_ = 0;
  Count ranks_ = 0;  // of the ideal ranking
  double ideal_ = 0;
};

class AverageNdcg {
 public:
  static constexpr std::string_view kAliases[] = {"ndcg_rel"};
  static constexpr MetricInfo info{
      .name = "average_ndcg",
      .aliases = kAliases,
      .summary =
          "mean of nDCG at the rank of each item with a gain; of those that the list lacks, "
          "nDCG of the whole list",
      .formula =
          "(sum over the ranks i <= k with a gain of DCG@i / IDCG@i + (n - found) DCG@k / "
          "IDCG) / n, with n items of T that have a gain",
      .source = "trec_eval, ndcg_rel",
      .micro = false,
      .uses_gains = true,
      .discounted = true};

  explicit AverageNdcg(const Context& context) : context_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const {
    NdcgAtRanks ndcg(context_);
    const HitRow& row = context_.row;
    const Count last = std::min(counts.cutoff, counts.list_depth);
    double sum = 0;
    Count found = 0;
    for (const JudgedItem& item : row.judged_items.first(static_cast<std::size_t>(counts.judged))) {
      if (!(item.gain > 0)) continue;
      sum += ndcg.at(item.rank, item.rank);
      if (++found % kCheckpointInterval == 0) context_.run.checkpoint();
    }
    const Count gaining = row.unit_gains ? row.relevant : count_positive(row.ideal_gains);
    const Count missed = gaining - found;
    if (missed > 0) sum += static_cast<double>(missed) * ndcg.at(row.relevant, last);
    return {sum, static_cast<double>(gaining)};
  }

 private:
  static Count count_positive(std::span<const double> descending) {
    return std::ranges::lower_bound(descending, 0.0, std::greater<>()) - descending.begin();
  }

  const Context& context_;
};

class RNdcg {
 public:
  static constexpr bool kExpectsTies = true;
  static constexpr std::string_view kAliases[] = {"rndcg"};
  static constexpr MetricInfo info{
      .name = "r_ndcg",
      .aliases = kAliases,
      .summary =
          "mean of nDCG at each rank after which the gains of the ideal ranking fall and, if the "
          "list is longer by two items, of the whole list; 0 where no gain is at least least_gain",
      .formula =
          "(sum over ranks b where IG(b) > IG(b + 1) of DCG@min(b, k) / IDCG@b + [min(k, "
          "|L|) > n + 1] DCG@k / IDCG) / number of terms, IG: ideal gains, n > 0",
      .source = "trec_eval, Rndcg",
      .parameter = {"least_gain", 0, 0, 0x1p256},
      .micro = false,
      .uses_gains = true,
      .discounted = true};

  explicit RNdcg(const Context& context) : context_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const {
    NdcgAtRanks ndcg(context_);
    const Count last = std::min(counts.cutoff, counts.list_depth);
    if (ndcg.ideal_gain(1) < context_.parameter) return {0, 1};
    double sum = 0;
    Count terms = 0;
    Count rank = 1;
    for (; ndcg.ideal_gain(rank) > 0; ++rank) {
      if (rank % kCheckpointInterval == 0) context_.run.checkpoint();
      if (ndcg.ideal_gain(rank + 1) == ndcg.ideal_gain(rank)) continue;
      sum += ndcg.at(rank, std::min(rank, last));
      ++terms;
    }
    if (last > rank && terms > 0) {  // the ideal ranking ends above `rank`
      sum += ndcg.at(rank, last);
      ++terms;
    }
    return {sum, static_cast<double>(terms)};
  }

 private:
  const Context& context_;
};

}  // namespace exactk
