// What the binding files share.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "exactk/conventions.hpp"
#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/metrics.hpp"
#include "exactk/trec.hpp"

namespace exactk::bindings {

namespace py = pybind11;

// An argument of the wrong type: becomes exactk.InputTypeError.
class TypeFault : public InputError {
 public:
  using InputError::InputError;
};

// Lets Python's signal handlers run, and ends the call if one of them raises.
void poll_signals();

void bind_errors(py::module_& module);
void bind_build(py::module_& module);
void bind_conventions(py::module_& module);
void bind_metrics(py::module_& module);
void bind_evaluate(py::module_& module);
void bind_files(py::module_& module);
void bind_vocabulary(py::module_& module);
void bind_objects(py::module_& module);
void bind_arrow(py::module_& module);

}  // namespace exactk::bindings

namespace pybind11::detail {

// `type.__new__(type)` makes an object whose C++ part was never constructed, and pybind11 would
// hand out raw memory for it. Such an object is of the right type and still no argument.
template <class T>
struct ConstructedCaster : type_caster_base<T> {
  bool load(handle source, bool convert) {
    return is_constructed(source) && type_caster_base<T>::load(source, convert);
  }

 private:
  static bool is_constructed(handle source) {
    if (!source || !isinstance<T>(source))
      return true;  // not one of ours: the base says what it is
    auto* const object = reinterpret_cast<instance*>(source.ptr());
    return object->get_value_and_holder(get_type_info(typeid(T))).holder_constructed();
  }
};

template <>
struct type_caster<exactk::ConventionField> : ConstructedCaster<exactk::ConventionField> {};
template <>
struct type_caster<exactk::LineFault> : ConstructedCaster<exactk::LineFault> {};
template <>
struct type_caster<exactk::MetricInfo> : ConstructedCaster<exactk::MetricInfo> {};
template <>
struct type_caster<exactk::MetricParameter> : ConstructedCaster<exactk::MetricParameter> {};
template <>
struct type_caster<exactk::PlannedValue> : ConstructedCaster<exactk::PlannedValue> {};
template <>
struct type_caster<exactk::Rules> : ConstructedCaster<exactk::Rules> {};

}  // namespace pybind11::detail
