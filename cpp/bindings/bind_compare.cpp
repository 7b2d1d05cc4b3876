#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/geometric_terms.hpp"
#include "exactk/isa.hpp"
#include "exactk/paired_sums.hpp"
#include "gil.hpp"
#include "integers.hpp"
#include "owned.hpp"
#include "progress.hpp"

namespace exactk::bindings {

namespace {

// The sums of groups x pairs x values. Python reads one field of all of them at a time.
struct PyPairedSums {
  std::shared_ptr<const std::vector<PairedSums>> records;
  std::vector<Count> shape;
};

}  // namespace

template <>
inline constexpr bool kIsBound<PyPairedSums> = true;

namespace {

// Returns a table of one row per value and one number per user.
std::span<const double> table_view(const py::array& table, const std::string& argument) {
  constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  const bool fits = py::isinstance<py::array_t<double, py::array::c_style>>(table) &&
                    table.ndim() == 2 && (table.flags() & kAligned) != 0;
  if (!fits) {
    throw TypeFault({.argument = argument,
                     .expected = "an aligned, contiguous, two-dimensional array of float64",
                     .found = std::string(py::str(table.dtype())) + " of " +
                              std::to_string(table.ndim()) + " dimension(s)"});
  }
  return {static_cast<const double*>(table.data()), static_cast<std::size_t>(table.size())};
}

std::vector<std::span<const double>> table_views(const std::vector<py::array>& tables) {
  std::vector<std::span<const double>> views;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string argument = "tables[" + std::to_string(i) + "]";
    views.push_back(table_view(tables[i], argument));
    const py::array& first = tables.front();
    const auto shape_of = [](const py::array& table) {
      return std::to_string(table.shape(0)) + " x " + std::to_string(table.shape(1));
    };
    if (shape_of(tables[i]) == shape_of(first)) continue;
    throw InputError({.argument = argument,
                      .expected = "the shape of tables[0], " + shape_of(first),
                      .found = shape_of(tables[i])});
  }
  return views;
}

PyPairedSums sum_pairs(const std::vector<py::array>& tables, const std::vector<PairedValue>& values,
                       const std::vector<std::pair<Offset, Offset>>& pairs,
                       const std::optional<py::array>& weights,
                       const std::optional<py::array>& groups, Count group_count,
                       const std::optional<py::array>& clusters, Count cluster_count, int threads,
                       const std::string& isa, const Progress& progress) {
  std::atomic<Count> finished = 0;
  const std::vector<std::span<const double>> views = table_views(tables);
  const Count users = tables.empty() ? 0 : tables.front().shape(1);
  check_size(groups, users, "groups");
  check_size(clusters, users, "clusters");
  const auto owned_groups = snapshot<Offset>(groups, "groups");
  const auto owned_clusters = snapshot<Offset>(clusters, "clusters");
  std::vector<SystemPair> system_pairs;
  system_pairs.reserve(pairs.size());
  for (const auto& [system, baseline] : pairs) system_pairs.push_back({system, baseline});
  PairedRequest request{.tables = views,
                        .rows = tables.empty() ? 0 : tables.front().shape(0),
                        .users = users,
                        .values = values,
                        .pairs = system_pairs,
                        .groups = owned_groups,
                        .group_count = group_count,
                        .cluster_count = cluster_count,
                        .threads = threads,
                        .isa = isa_of(isa),
                        .poll = make_poll(progress, finished),
                        .finished = &finished};
  if (weights) request.weights = view<double>(*weights, "weights");
  if (clusters) request.clusters = owned_clusters;
  std::vector<PairedSums> records = [&] {
    const GilRelease release;  // below, only poll touches Python
    return paired_sums(request);
  }();
  return {
      .records = std::make_shared<const std::vector<PairedSums>>(std::move(records)),
      .shape = {group_count, static_cast<Count>(pairs.size()), static_cast<Count>(values.size())}};
}

py::array_t<double> terms_of_numbers(const py::array& numbers) {
  const std::span<const double> view_of_numbers = view<double>(numbers, "numbers");
  py::array_t<double> terms(numbers.size());
  const std::span<double> view_of_terms(terms.mutable_data(), view_of_numbers.size());
  {
    const GilRelease release;  // below, only poll touches Python
    geometric_terms(view_of_numbers, view_of_terms, &poll_signals);
  }
  return terms;
}

template <auto count>
py::array_t<Count> counts_of(const PyPairedSums& sums) {
  py::array_t<Count> counts(sums.shape);
  std::ranges::transform(*sums.records, counts.mutable_data(),
                         [](const PairedSums& record) { return record.*count; });
  return counts;
}

using PyIntegers = py::typing::Tuple<py::int_, py::ellipsis>;

template <auto integers>
py::typing::List<PyIntegers> integers_of(const PyPairedSums& sums) {
  py::typing::List<PyIntegers> rows;
  for (const PairedSums& record : *sums.records) {
    if (rows.size() % 256 == 255) poll_signals();
    py::tuple row((record.*integers).size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = python_integer((record.*integers)[i]);
    rows.append(row);
  }
  return rows;
}

// Returns the scale of each value.
template <auto integers>
std::vector<int> scales_of(const PyPairedSums& sums) {
  std::vector<int> scales;
  if (sums.records->empty()) return scales;
  for (Count value = 0; value < sums.shape.back(); ++value) {
    scales.push_back(((*sums.records)[static_cast<std::size_t>(value)].*integers).front().scale);
  }
  return scales;
}

}  // namespace

void bind_compare(py::module_& module) {
  bind_class<PairedValue>(module, "PairedValue",
                          "A value to compare, as rows of the systems' tables; see "
                          "exactk/paired_sums.hpp.")
      .def(py::init([](std::vector<Offset> rows, Offset shown, bool is_geometric, bool is_unit,
                       bool is_ratio) {
             return PairedValue{.rows = std::move(rows),
                                .shown = shown,
                                .is_geometric = is_geometric,
                                .is_unit = is_unit,
                                .is_ratio = is_ratio};
           }),
           py::arg("rows"), py::arg("shown"), py::arg("is_geometric"), py::arg("is_unit"),
           py::arg("is_ratio"));
  bind_class<PyPairedSums>(module, "PairedSums",
                           "The sums of groups x pairs x values; see exactk/paired_sums.hpp. "
                           "Counts are arrays of that shape, and sums and products lists in that "
                           "order. An integer times 2^-scale is the sum; there is a scale per "
                           "value.")
      .def_property_readonly("users", &counts_of<&PairedSums::users>)
      .def_property_readonly("only_system", &counts_of<&PairedSums::only_system>)
      .def_property_readonly("only_baseline", &counts_of<&PairedSums::only_baseline>)
      .def_property_readonly("wins", &counts_of<&PairedSums::wins>)
      .def_property_readonly("losses", &counts_of<&PairedSums::losses>)
      .def_property_readonly("units", &counts_of<&PairedSums::units>)
      .def_property_readonly("sums", &integers_of<&PairedSums::sums>)
      .def_property_readonly("sums_scale", &scales_of<&PairedSums::sums>)
      .def_property_readonly("products", &integers_of<&PairedSums::products>)
      .def_property_readonly("products_scale", &scales_of<&PairedSums::products>);
  module.def("paired_sums", &sum_pairs, py::kw_only(), py::arg("tables").noconvert(),
             py::arg("values"), py::arg("pairs"), py::arg("weights").noconvert() = py::none(),
             py::arg("groups").noconvert() = py::none(), py::arg("group_count") = 1,
             py::arg("clusters").noconvert() = py::none(), py::arg("cluster_count") = 1,
             py::arg("threads") = 1, py::arg("isa") = "", py::arg("progress") = py::none(),
             "Sum over the users that two systems have in common.");
  module.def("geometric_terms", &terms_of_numbers, py::arg("numbers").noconvert(),
             "Return what each number adds to the logarithm of a geometric mean.");
}

}  // namespace exactk::bindings
