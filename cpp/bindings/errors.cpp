#include <pybind11/gil_safe_call_once.h>

#include <atomic>
#include <exception>

#include "bindings.hpp"
#include "gil.hpp"

namespace exactk::bindings {
namespace {

// Python's classes, which it hands over when it is imported: the core imports none of its modules.
struct ErrorTypes {
  py::object input;
  py::object input_type;
  py::object capacity;
};

PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<ErrorTypes> error_types;
std::atomic<bool> is_registered = false;

void register_errors(const py::type& input, const py::type& input_type, const py::type& capacity) {
  error_types.call_once_and_store_result([&] { return ErrorTypes{input, input_type, capacity}; });
  is_registered = true;
}

py::object optional_index(std::int64_t index) {
  return index < 0 ? py::object(py::none()) : py::object(py::int_(index));
}

// Raises the class with the fault's coordinates as attributes.
void raise(py::object ErrorTypes::* type, const Error& error) {
  if (!is_registered) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return;
  }
  const Fault& fault = error.fault();
  const py::object& exception_type = error_types.get_stored().*type;
  const py::tuple arguments =
      py::make_tuple(error.what(), fault.argument, optional_index(fault.row),
                     optional_index(fault.position), fault.count);
  const auto exception = py::reinterpret_steal<py::object>(
      call_c_api(&PyObject_CallObject, exception_type.ptr(), arguments.ptr()));
  if (exception) PyErr_SetObject(exception_type.ptr(), exception.ptr());  // else another is set
}

}  // namespace

void bind_errors(py::module_& module) {
  module.def("register_errors", &register_errors, py::arg("input"), py::arg("input_type"),
             py::arg("capacity"), "Say which classes the core raises. The first call counts.");
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const TypeFault& error) {
      raise(&ErrorTypes::input_type, error);
    } catch (const InputError& error) {
      raise(&ErrorTypes::input, error);
    } catch (const CapacityError& error) {
      raise(&ErrorTypes::capacity, error);
    }
  });
}

}  // namespace exactk::bindings
