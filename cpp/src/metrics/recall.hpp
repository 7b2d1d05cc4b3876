// The share of the relevant items that are recommended.
#pragma once

#include <algorithm>

#include "metrics/metric.hpp"
#include "numeric/rounded_sum.hpp"

namespace exactk {

// Recall whose items count by their values, which are their gains.
class RecallOfValues {
 public:
  explicit RecallOfValues(const Context& context) : row_(context.row) {
    if (row_.unit_gains) {
      relevant_ = static_cast<double>(row_.relevant);
      return;
    }
    RoundedSum sum;
    in_chunks(row_.ideal_gains.size(), context.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sum.add(row_.ideal_gains[i]);
    });
    relevant_ = sum.total();
  }

  double accumulate(const JudgedItem& item) {
    if (!item.relevant) return found_.total();
    found_.add(item.gain);
    return found_.total();
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return tied.gain * static_cast<double>(ranks) / static_cast<double>(tied.tie.size());
  }
  // No hits are worth more than all relevant items, except by the rounding of an expectation.
  [[nodiscard]] Ratio ratio_at(double found, const CutoffCounts&, const Rules&) const noexcept {
    return {row_.hits_repeat ? found : std::min(found, relevant_), relevant_};
  }

 private:
  const HitRow& row_;
  double relevant_ = 0;
  RoundedSum found_;
};

struct Recall {
  using OfValues = RecallOfValues;
  static constexpr std::string_view kAliases[] = {"r"};
  static constexpr std::string_view kOwnFields[] = {"recall_over", "weight"};
  static constexpr MetricInfo info{
      .name = "recall",
      .aliases = kAliases,
      .summary = "share of the relevant items that are recommended",
      .formula = "h / |T|",
      .source = "Kent, Berry, Luehrs, Perry 1955; Manning, Raghavan, Schuetze 2008, section 8.4",
      .own_fields = kOwnFields};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules& rules) noexcept {
    return ratio(counts.hits, divisor(rules.recall_over, counts));
  }
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    return expected_hits(tied, ranks);
  }
};

struct HitRate {
  static constexpr std::string_view kAliases[] = {"success", "hit", "hit_ratio", "hr"};
  static constexpr MetricInfo info{.name = "hit_rate",
                                   .aliases = kAliases,
                                   .summary = "1 if any relevant item is recommended",
                                   .formula = "[h > 0]",
                                   .source = "Deshpande, Karypis 2004",
                                   .always_divided = true,
                                   .micro = false};

  static Ratio ratio_at(const CutoffCounts& counts, const Rules&) noexcept {
    return ratio(counts.hits > 0 ? 1 : 0, 1);
  }
  // Only the first tie with hits matters: 1 - the chance that all of its hits are further down.
  static double expectation(const TiedHits& tied, Count ranks) noexcept {
    if (tied.hits_above > 0) return 0;
    double no_hit = 1;
    for (Count i = 0; i < tied.hits && no_hit > 0; ++i) {
      no_hit *= static_cast<double>(std::max(tied.tie.size() - ranks - i, Count{0})) /
                static_cast<double>(tied.tie.size() - i);
    }
    return 1 - no_hit;
  }
};

// Recall at the cutoff |T|, where precision equals recall.
class RPrecision {
 public:
  static constexpr std::string_view kAliases[] = {"rprec", "r_prec"};
  static constexpr MetricInfo info{
      .name = "r_precision",
      .aliases = kAliases,
      .summary = "share of the relevant items among the first |T| recommended",
      .formula = "h(min(k, |T|)) / |T|",
      .source = "Manning, Raghavan, Schuetze 2008, section 8.4"};

  explicit RPrecision(const Context& context) : relevant_(context.row.relevant) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (item.relevant && item.rank <= relevant_) ++early_hits_;
    return static_cast<double>(early_hits_);
  }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const noexcept {
    return expected_hits(tied, std::clamp(relevant_ - tied.tie.first + 1, Count{0}, ranks));
  }
  static Ratio ratio_at(double early_hits, const CutoffCounts& counts, const Rules&) noexcept {
    return {early_hits, static_cast<double>(counts.relevant)};
  }

 private:
  Count relevant_;
  Count early_hits_ = 0;
};

}  // namespace exactk
