#include "exactk/metrics.hpp"
#include "metrics/all.hpp"

namespace exactk {

std::span<const MetricInfo> metric_table() noexcept {
  return std::span(AllMetrics::info).first(AllMetrics::info.size() - 1);
}

}  // namespace exactk
