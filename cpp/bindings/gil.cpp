#include "gil.hpp"

#include <chrono>
#include <thread>

namespace exactk::bindings {

void wait_for_exit() noexcept {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

namespace {

py::object object_or_error(PyObject* result) {
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

}  // namespace

py::object call_python(py::handle function) {
  return object_or_error(call_c_api(&PyObject_CallNoArgs, function.ptr()));
}

py::object call_python(py::handle function, py::handle argument) {
  return object_or_error(call_c_api(&PyObject_CallOneArg, function.ptr(), argument.ptr()));
}

py::object iterator_of(py::handle object) {
  return object_or_error(call_c_api(&PyObject_GetIter, object.ptr()));
}

py::object next_item(py::handle iterator) {
  PyObject* const item = call_c_api(&PyIter_Next, iterator.ptr());
  if (item == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(item);
}

GilAcquire::GilAcquire() {
  PyThreadState* const state = PyGILState_GetThisThreadState();
  if (state == nullptr) wait_for_exit();  // the interpreter has ended
  if (state == py::detail::get_thread_state_unchecked()) return;
  call_c_api(&PyEval_RestoreThread, state);
  is_taken_ = true;
}

GilAcquire::~GilAcquire() {
  if (is_taken_) PyEval_SaveThread();
}

void poll_signals() {
  const GilAcquire gil;
  if (call_c_api(&PyErr_CheckSignals) != 0) throw py::error_already_set();
}

}  // namespace exactk::bindings
