#include <pybind11/gil_safe_call_once.h>
#include <pybind11/typing.h>

#include <atomic>
#include <exception>
#include <optional>
#include <utility>

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

struct PendingError {
  py::object ErrorMakers::* maker;
  Fault fault;
};

// What the function that the thread is in has thrown. While C++ handles it, no Python code may run:
// the end of the interpreter would end the thread by unwinding it, which is a second exception.
thread_local std::optional<PendingError> pending_error;

void keep(py::object ErrorMakers::* maker, const Error& error) {
  if (is_registered) pending_error = PendingError{maker, error.fault()};
  PyErr_SetString(PyExc_ValueError, is_registered ? "an error of the core" : error.what());
}

}  // namespace

void forget_pending_error() noexcept { pending_error.reset(); }

void raise_pending_error() {
  const std::optional<PendingError> pending = std::exchange(pending_error, std::nullopt);
  if (!pending) return;
  PyErr_Clear();
  const py::object& make = error_makers.get_stored().*pending->maker;
  const py::dict parts = parts_of(pending->fault);
  const auto exception = py::reinterpret_steal<py::object>(
      call_c_api(&PyObject_Call, make.ptr(), py::tuple().ptr(), parts.ptr()));
  if (exception)  // otherwise another is already set
    PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
}

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
      keep(&ErrorMakers::input_type, error);
    } catch (const InputError& error) {
      keep(&ErrorMakers::input, error);
    } catch (const CapacityError& error) {
      keep(&ErrorMakers::capacity, error);
    }
  });
}

}  // namespace exactk::bindings
