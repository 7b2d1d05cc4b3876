// Declarations shared by the binding files.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "exactk/conventions.hpp"
#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/item_tally.hpp"
#include "exactk/metrics.hpp"
#include "exactk/paired_sums.hpp"
#include "exactk/trec.hpp"

namespace exactk::bindings {

namespace py = pybind11;

// An argument of the wrong type; raised as exactk.InputTypeError.
class TypeFault : public InputError {
 public:
  using InputError::InputError;
};

// Whether `bind_class` adds the class to the module. Specialized beside each class that it adds.
template <class T>
inline constexpr bool kIsBound = false;
template <>
inline constexpr bool kIsBound<ConventionField> = true;
template <>
inline constexpr bool kIsBound<ItemTallyRequest> = true;
template <>
inline constexpr bool kIsBound<LineFault> = true;
template <>
inline constexpr bool kIsBound<MetricInfo> = true;
template <>
inline constexpr bool kIsBound<MetricParameter> = true;
template <>
inline constexpr bool kIsBound<PairedValue> = true;
template <>
inline constexpr bool kIsBound<PlannedValue> = true;
template <>
inline constexpr bool kIsBound<Rules> = true;
template <>
inline constexpr bool kIsBound<Tally> = true;

// tp_new of all classes, and tp_init of those without a constructor.
PyObject* new_instance(PyTypeObject* type, PyObject* arguments, PyObject* keywords);
int refuse_init(PyObject* self, PyObject* arguments, PyObject* keywords);

// Adds a class to the module.
template <class T>
py::class_<T> bind_class(const py::module_& module, const char* name, const char* doc) {
  static_assert(kIsBound<T>);
  const auto set_slots = [](PyHeapTypeObject* type) {
    type->ht_type.tp_new = &new_instance;
    type->ht_type.tp_init = &refuse_init;
  };
  return py::class_<T>(module, name, doc, py::custom_type_setup(set_slots));
}

// Makes all functions of the module and its classes raise exceptions for which pybind11 would end
// the process.
void contain_exceptions(const py::module_& module);

void bind_errors(py::module_& module);
// The error of the core that a function has thrown becomes one of Python's when pybind11 has
// handled it, in `raise_pending_error`.
void forget_pending_error() noexcept;
void raise_pending_error();
void bind_build(py::module_& module);
void bind_conventions(py::module_& module);
void bind_metrics(py::module_& module);
void bind_results(py::module_& module);
void bind_evaluate(py::module_& module);
void bind_judged_lists(py::module_& module);
void bind_fuse(py::module_& module);
void bind_compare(py::module_& module);
void bind_resampling(py::module_& module);
void bind_files(py::module_& module);
void bind_vocabulary(py::module_& module);
void bind_digest(py::module_& module);
void bind_objects(py::module_& module);
void bind_quicksort_order(py::module_& module);
void bind_matched_rows(py::module_& module);
void bind_arrow(py::module_& module);

}  // namespace exactk::bindings

namespace pybind11::detail {

// Rejects objects without a C++ part. `type.__new__(type)` creates an object of the right type
// whose C++ part was never constructed, and pybind11 would pass on its raw memory. For None,
// pybind11 would pass a null pointer, even as the object of a method.
template <class T>
struct ConstructedCaster : type_caster_base<T> {
  bool load(handle source, bool convert) {
    return isinstance<T>(source) && is_constructed(source) &&
           type_caster_base<T>::load(source, convert);
  }

 private:
  static bool is_constructed(handle source) {
    auto* const object = reinterpret_cast<instance*>(source.ptr());
    return object->get_value_and_holder(get_type_info(typeid(T))).holder_constructed();
  }
};

template <class T>
struct type_caster<T, enable_if_t<exactk::bindings::kIsBound<T>>> : ConstructedCaster<T> {};

}  // namespace pybind11::detail
