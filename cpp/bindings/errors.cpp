#include <exception>

#include "bindings.hpp"

namespace exactk::bindings {
namespace {

py::object optional_place(std::int64_t place) {
  return place < 0 ? py::object(py::none()) : py::object(py::int_(place));
}

// Raises exactk.<type> with the fault's coordinates as attributes.
void raise(const char* type, const Error& error) {
  const Fault& fault = error.fault();
  const py::object exception_type = py::module_::import("exactk._errors").attr(type);
  const py::object exception =
      exception_type(error.what(), fault.argument, optional_place(fault.row),
                     optional_place(fault.position), fault.count);
  PyErr_SetObject(exception_type.ptr(), exception.ptr());
}

}  // namespace

void bind_errors() {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const TypeFault& error) {
      raise("InputTypeError", error);
    } catch (const InputError& error) {
      raise("InputError", error);
    } catch (const CapacityError& error) {
      raise("CapacityError", error);
    }
  });
}

}  // namespace exactk::bindings
