#include "exactk/metrics.hpp"
#include "metrics/all.hpp"

namespace exactk {

// All but the last, which stands for precision of a group of items and has no name of its own.
std::span<const MetricInfo> metric_table() noexcept {
  static_assert(AllMetrics::info.back().of_item_group);
  return std::span(AllMetrics::info).first(AllMetrics::info.size() - 1);
}

}  // namespace exactk
