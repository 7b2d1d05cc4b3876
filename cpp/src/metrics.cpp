#include "metrik/metrics.hpp"

#include "metrics/all.hpp"

namespace metrik {

std::span<const MetricInfo> metric_table() noexcept { return AllMetrics::info; }

}  // namespace metrik
