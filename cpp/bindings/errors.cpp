#include <pybind11/gil_safe_call_once.h>
#include <pybind11/typing.h>

#include <atomic>
#include <exception>

#include "bindings.hpp"
#include "gil.hpp"

namespace exactk::bindings {
namespace {

// The factories of each kind of exception. Python registers them on import, because the core
// imports none of its modules.
struct ErrorMakers {
  py::object input;
  py::object input_type;
  py::object capacity;
};

PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<ErrorMakers> error_makers;
std::atomic<bool> is_registered = false;

using ErrorMaker = py::typing::Callable<py::object(py::ellipsis)>;

void register_errors(const ErrorMaker& input, const ErrorMaker& input_type,
                     const ErrorMaker& capacity) {
  error_makers.call_once_and_store_result([&] { return ErrorMakers{input, input_type, capacity}; });
  is_registered = true;
}

py::object optional_index(std::int64_t index) {
  return index < 0 ? py::object(py::none()) : py::object(py::int_(index));
}

py::dict parts_of(const Fault& fault) {
  py::dict parts;
  parts["argument"] = fault.argument;
  parts["expected"] = fault.expected;
  parts["found"] = fault.found;
  parts["item"] = optional_index(fault.item);
  parts["row"] = optional_index(fault.row);
  parts["position"] = optional_index(fault.position);
  parts["count"] = fault.count;
  parts["change"] = py::none();
  if (fault.change) {
    const auto& [field, choice, is_keyword] = *fault.change;
    parts["change"] = py::make_tuple(field, choice, is_keyword);
  }
  parts["hint"] = fault.hint;
  return parts;
}

// Raises the exception made from the parts of the fault.
void raise(py::object ErrorMakers::* maker, const Error& error) {
  if (!is_registered) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return;
  }
  const py::object& make = error_makers.get_stored().*maker;
  const py::dict parts = parts_of(error.fault());
  const auto exception = py::reinterpret_steal<py::object>(
      call_c_api(&PyObject_Call, make.ptr(), py::tuple().ptr(), parts.ptr()));
  if (exception)  // otherwise another is already set
    PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
  module.def(
      "register_errors", &register_errors, py::arg("input"), py::arg("input_type"),
      py::arg("capacity"),
      "Register the factories of the exceptions that the core raises. They take the parts of a "
      "fault as keywords. Only the first call has an effect.");
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const TypeFault& error) {
      raise(&ErrorMakers::input_type, error);
    } catch (const InputError& error) {
      raise(&ErrorMakers::input, error);
    } catch (const CapacityError& error) {
      raise(&ErrorMakers::capacity, error);
    }
  });
}

}  // namespace exactk::bindings
