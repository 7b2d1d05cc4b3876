// Exact integers, for Python.
#pragma once

#include <pybind11/pybind11.h>

#include "exactk/types.hpp"

namespace exactk::bindings {

[[nodiscard]] pybind11::int_ python_integer(const ExactInteger& integer);

}  // namespace exactk::bindings
