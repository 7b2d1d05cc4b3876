// The result of an evaluation, for Python.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "exactk/evaluate.hpp"

namespace exactk::bindings {

// The sums of groups x values. Python reads all of them at a time, because an object per sum would
// cost more than computing it.
struct PySums {
  std::shared_ptr<const std::vector<Sums>> rows;
  Count values;
};
template <>
inline constexpr bool kIsBound<PySums> = true;

struct PyResult {
  PySums sums;
  Tally tally;
  std::optional<py::array_t<double>> per_user;
  std::optional<py::array_t<double>> ratios;
  std::vector<ItemTally> item_tallies;
  std::vector<GroupTally> group_tallies;
};
template <>
inline constexpr bool kIsBound<PyResult> = true;

}  // namespace exactk::bindings
