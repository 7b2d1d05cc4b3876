// What an evaluation returns to Python.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/typing.h>

#include <optional>

#include "bindings.hpp"
#include "exactk/evaluate.hpp"

namespace exactk::bindings {

struct PyResult {
  py::typing::List<Sums> sums;  // groups x values
  Tally tally;
  std::optional<py::array_t<double>> per_user;
};

}  // namespace exactk::bindings

namespace pybind11::detail {

template <>
struct type_caster<exactk::bindings::PyResult> : ConstructedCaster<exactk::bindings::PyResult> {};

}  // namespace pybind11::detail
