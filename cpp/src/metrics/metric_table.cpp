#include "exactk/metrics.hpp"
#include "metrics/all.hpp"

namespace exactk {

std::span<const MetricInfo> metric_table() noexcept { return AllMetrics::info; }

}  // namespace exactk
