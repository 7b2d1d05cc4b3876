// What the binding files share.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "metrik/error.hpp"

namespace metrik::bindings {

namespace py = pybind11;

// An argument of the wrong type: becomes metrik.InputTypeError.
class TypeFault : public InputError {
 public:
  using InputError::InputError;
};

void bind_errors();
void bind_conventions(py::module_& module);
void bind_metrics(py::module_& module);
void bind_evaluate(py::module_& module);

}  // namespace metrik::bindings
