#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/isa.hpp"
#include "exactk/resampling.hpp"
#include "gil.hpp"
#include "progress.hpp"

namespace exactk::bindings {

namespace {

using Integers = py::array_t<std::int64_t>;

std::vector<ScaledColumn> columns_of(const std::vector<py::array>& columns,
                                     const std::vector<int>& scales) {
  if (scales.size() != columns.size()) {
    throw InputError({.argument = "scales",
                      .expected = "one scale per column (" + std::to_string(columns.size()) + ")",
                      .found = std::to_string(scales.size())});
  }
  std::vector<ScaledColumn> views;
  views.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    views.push_back({.numbers = view<double>(columns[i], "columns[" + std::to_string(i) + "]"),
                     .scale = scales[i]});
  }
  return views;
}

template <ResampledSums (*sum)(const Resampling&)>
std::pair<Integers, Integers> sums_of(const std::vector<py::array>& columns,
                                      const std::vector<int>& scales, const py::array& keys,
                                      const py::array& units, std::uint64_t seed, Count first,
                                      Count count, int threads, const std::string& isa,
                                      const Progress& progress) {
  std::atomic<Count> finished = 0;
  const std::vector<ScaledColumn> views = columns_of(columns, scales);
  const std::vector<Offset> owned_units = snapshot<Offset>(units, "units");
  const Resampling request{.columns = views,
                           .keys = view<std::uint64_t>(keys, "keys"),
                           .units = owned_units,
                           .seed = seed,
                           .first = first,
                           .count = count,
                           .threads = threads,
                           .isa = isa_of(isa),
                           .poll = make_poll(progress, finished),
                           .finished = &finished};
  ResampledSums result = [&] {
    const GilRelease release;  // below, only poll touches Python
    return sum(request);
  }();
  return {array_of(std::move(result.totals)),
          array_of(std::move(result.sums),
                   {static_cast<py::ssize_t>(columns.size()), static_cast<py::ssize_t>(count)})};
}

template <ResampledSums (*sum)(const Resampling&)>
void bind_sums(py::module_& module, const char* name, const char* doc) {
  module.def(name, &sums_of<sum>, py::kw_only(), py::arg("columns").noconvert(), py::arg("scales"),
             py::arg("keys").noconvert(), py::arg("units").noconvert(), py::arg("seed"),
             py::arg("first") = 0, py::arg("count"), py::arg("threads") = 1, py::arg("isa") = "",
             py::arg("progress") = py::none(), doc);
}

}  // namespace

void bind_resampling(py::module_& module) {
  bind_sums<&sum_sign_flips>(
      module, "sign_flip_sums",
      "Return the sum of each column's integers, and the sums of shape (columns, count) in which "
      "each unit has a random sign. A column's integers are its numbers times 2^scale, rounded; "
      "see exactk/resampling.hpp.");
  bind_sums<&sum_resamples>(
      module, "resample_sums",
      "Return the sum of each column's integers, and the sums of shape (columns, count) in which "
      "each unit counts as often as it is drawn. A column's integers are its numbers times "
      "2^scale, rounded; see exactk/resampling.hpp.");
}

}  // namespace exactk::bindings
