// The GIL. Before Python 3.14, a thread that asks for it after the interpreter has begun to end is
// ended by pthread_exit, whose unwinding aborts the process in C++: a destructor must not throw,
// and no handler may swallow it. Such a thread waits for the end of the process here instead, as
// Python 3.14 lets it. Nothing but what is below may take the GIL or run Python code.
#pragma once

#include <pybind11/pybind11.h>

namespace exactk::bindings {

namespace py = pybind11;

[[noreturn]] void wait_for_exit() noexcept;

// Calls a function of Python's C API that may run Python code, and with it give up the GIL.
template <class Result, class... Parameters>
Result call_c_api(Result (*function)(Parameters...), Parameters... arguments) {
  try {
    return function(arguments...);
  } catch (...) {  // C throws nothing: this is pthread_exit
    wait_for_exit();
  }
}

// Calls a Python function, with an argument or without.
py::object call_python(py::handle function);
py::object call_python(py::handle function, py::handle argument);

// Iterates over any Python object; no item is null.
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

// Takes the GIL in a thread that was started by Python, unless it holds the GIL already.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  bool is_taken_ = false;
};

// Lets Python's signal handlers run, and ends the call if one of them raises.
void poll_signals();

}  // namespace exactk::bindings
