#include <pybind11/stl.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "exactk/metrics.hpp"

namespace exactk::bindings {

namespace {

std::string_view direction_name(Direction direction) {
  constexpr std::string_view kNames[] = {"higher", "lower", "none"};
  return kNames[static_cast<std::size_t>(direction)];
}

}  // namespace

void bind_metrics(py::module_& module) {
  bind_class<MetricParameter>(module, "MetricParameter", "The parameter of a metric.")
      .def_readonly("name", &MetricParameter::name)
      .def_property_readonly(
          "standard",
          [](const MetricParameter& parameter) -> std::optional<double> {
            if (std::isnan(parameter.standard)) return std::nullopt;
            return parameter.standard;
          },
          "The default; None if the parameter is required.")
      .def_readonly("low", &MetricParameter::low)
      .def_readonly("high", &MetricParameter::high)
      .def_readonly("whole", &MetricParameter::whole);
  bind_class<MetricInfo>(module, "MetricInfo", "The metadata of a metric.")
      .def_readonly("name", &MetricInfo::name)
      .def_property_readonly("aliases",
                             [](const MetricInfo& info) {
                               return std::vector<std::string>(info.aliases.begin(),
                                                               info.aliases.end());
                             })
      .def_readonly("summary", &MetricInfo::summary)
      .def_readonly("formula", &MetricInfo::formula)
      .def_readonly("source", &MetricInfo::source)
      .def_property_readonly("parameter",
                             [](const MetricInfo& info) -> std::optional<MetricParameter> {
                               if (info.parameter.name.empty()) return std::nullopt;
                               return info.parameter;
                             })
      .def_property_readonly(
          "direction", [](const MetricInfo& info) { return direction_name(info.direction); },
          "Which values are better: higher, lower or, where neither is, none.")
      .def_readonly("unit_range", &MetricInfo::unit_range)
      .def_readonly("least", &MetricInfo::least)
      .def_readonly("greatest", &MetricInfo::greatest)
      .def_readonly("at_most_cutoff", &MetricInfo::at_most_cutoff)
      .def_readonly("always_divided", &MetricInfo::always_divided)
      .def_readonly("undefined_case", &MetricInfo::undefined_case)
      .def_readonly("micro", &MetricInfo::micro)
      .def_property_readonly(
          "own_fields",
          [](const MetricInfo& info) {
            return std::vector<std::string>(info.own_fields.begin(), info.own_fields.end());
          },
          "The convention fields that this metric reads and most others do not.")
      .def_readonly("averages_precisions", &MetricInfo::averages_precisions)
      .def_readonly("weighs_users", &MetricInfo::weighs_users)
      .def_readonly("uses_gains", &MetricInfo::uses_gains)
      .def_readonly("uses_ideal", &MetricInfo::uses_ideal)
      .def_readonly("pairwise", &MetricInfo::pairwise)
      .def_readonly("discounted", &MetricInfo::discounted)
      .def_readonly("every_rank", &MetricInfo::every_rank)
      .def_readonly("takes_max_grade", &MetricInfo::takes_max_grade)
      .def_readonly("gains_to_one", &MetricInfo::gains_to_one)
      .def_readonly("expects_unit_gains", &MetricInfo::expects_unit_gains)
      .def_readonly("positive_without_hits", &MetricInfo::positive_without_hits)
      .def_readonly("takes_item_count", &MetricInfo::takes_item_count)
      .def_readonly("reads_truth", &MetricInfo::reads_truth)
      .def_readonly("reads_predictions", &MetricInfo::reads_predictions)
      .def_readonly("counts_missing_lists", &MetricInfo::counts_missing_lists)
      .def_readonly("compares_lists", &MetricInfo::compares_lists)
      .def_readonly("reads_beyond_cutoff", &MetricInfo::reads_beyond_cutoff)
      .def_readonly("walks_list", &MetricInfo::walks_list)
      .def_property_readonly("reads_list", &reads_list)
      .def_property_readonly("may_condense", &may_condense)
      .def_readonly("reads_list_ranks", &MetricInfo::reads_list_ranks)
      .def_readonly("reads_base", &MetricInfo::reads_base)
      .def_readonly("of_collection", &MetricInfo::of_collection)
      .def_readonly("reads_features", &MetricInfo::reads_features)
      .def_readonly("reads_popularity", &MetricInfo::reads_popularity)
      .def_readonly("reads_history", &MetricInfo::reads_history)
      .def_readonly("reads_groups", &MetricInfo::reads_groups);
  module.def(
      "metric_table",
      [] {
        const auto table = metric_table();
        return std::vector<MetricInfo>(table.begin(), table.end());
      },
      "Return all metrics, in display order.");
}

}  // namespace exactk::bindings
