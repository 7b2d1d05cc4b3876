// How often a relevant item is ranked above one that is not.
#pragma once

#include "metrics/metric.hpp"

namespace metrik {

class Auc {
 public:
  static constexpr std::string_view kAliases[] = {"roc_auc"};
  static constexpr MetricInfo info{
      .name = "auc",
      .aliases = kAliases,
      .summary =
          "share of the pairs of a relevant and another ranked item that are in the right "
          "order; ties count half, and relevant items that are not ranked not at all",
      .formula =
          "(sum over hits of the N - h others below + half of those tied) / "
          "(|T| (N - h)), N ranked items",
      .source = "Hanley, McNeil 1982",
      .pairwise = true};

  // Returns how many pairs are in the wrong order: the others above each hit.
  double see(const Hit& hit) noexcept {
    if (hit.relevant) wrong_ += static_cast<double>(hit.rank - hit.hits);
    return wrong_;
  }
  static double expect(const TiedHits& tied, Count /*reached*/) noexcept {
    const auto above = static_cast<double>(tied.tie.first - 1 - tied.hits_above);
    const auto beside = static_cast<double>(tied.tie.size() - tied.hits);
    return static_cast<double>(tied.hits) * (above + beside / 2);
  }
  static Ratio at(double wrong, const Depth& depth, const Rules&) noexcept {
    const auto others = static_cast<double>(depth.list - depth.hits);
    return {static_cast<double>(depth.hits) * others - wrong,
            static_cast<double>(depth.relevant) * others};
  }

 private:
  double wrong_ = 0;
};

}  // namespace metrik
