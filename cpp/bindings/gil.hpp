// Use of the GIL. Before Python 3.14, a thread that requests the GIL after the interpreter has
// begun to finalize is ended by pthread_exit. Its unwinding aborts a C++ process: a destructor must
// not throw, and no handler may swallow it. Here such a thread waits for the end of the process
// instead, as in Python 3.14. Only the functions below may take the GIL or run Python code.
#pragma once

#include <pybind11/pybind11.h>

namespace exactk::bindings {

namespace py = pybind11;

[[noreturn]] void wait_for_exit() noexcept;

// Calls a function of Python's C API that may run Python code, and so give up the GIL.
template <class Result, class... Parameters>
Result call_c_api(Result (*function)(Parameters...), Parameters... arguments) {
  try {
    return function(arguments...);
  } catch (...) {  // C throws nothing: this is pthread_exit
    wait_for_exit();
  }
}

// Calls a Python function with one argument or none.
py::object call_python(py::handle function);
py::object call_python(py::handle function, py::handle argument);

// Iterates over any Python object; the result of next_item is null at the end.
[[nodiscard]] py::object iterator_of(py::handle object);
[[nodiscard]] py::object next_item(py::handle iterator);

[[nodiscard]] inline bool is_python_instance(py::handle object, py::handle type) {
  const int result = call_c_api(&PyObject_IsInstance, object.ptr(), type.ptr());
  if (result < 0) throw py::error_already_set();
  return result == 1;
}

// Releases the GIL, which this thread holds.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { call_c_api(&PyEval_RestoreThread, state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// Takes the GIL in a thread that Python started, unless it already holds the GIL.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  bool is_taken_ = false;
};

// Runs Python's signal handlers, and throws if one of them raises.
void poll_signals();

}  // namespace exactk::bindings
