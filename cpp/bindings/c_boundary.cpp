// Functions that Python calls as C. No C++ exception may leave them, but pybind11 may throw outside
// of its own handlers if memory runs out, which ends the process.
#include <new>

#include "bindings.hpp"

namespace exactk::bindings {
namespace {

using Dispatcher = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

Dispatcher pybind11_dispatcher = nullptr;  // shared by all functions

PyObject* dispatch(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  try {
    forget_pending_error();
    PyObject* const result = pybind11_dispatcher(self, arguments, count, names);
    if (result == nullptr) raise_pending_error();
    return result;
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

// Returns the function of a module or class member, or null.
PyObject* function_of(PyObject* member) {
  if (PyInstanceMethod_Check(member)) member = PyInstanceMethod_GET_FUNCTION(member);
  return PyCFunction_Check(member) ? member : nullptr;
}

void contain_exceptions_of(PyObject* member) {
  PyObject* const function = function_of(member);
  if (function == nullptr) return;
  PyMethodDef& method = *reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  if (method.ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return;
  const auto wrapped = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&dispatch));
  if (method.ml_meth == wrapped) return;
  pybind11_dispatcher = reinterpret_cast<Dispatcher>(reinterpret_cast<void (*)()>(method.ml_meth));
  method.ml_meth = wrapped;
}

}  // namespace

PyObject* new_instance(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  try {
    reinterpret_cast<py::detail::instance*>(self)->allocate_layout();
    return self;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  type->tp_free(self);  // nothing else in it is initialized
  Py_DECREF(type);
  return nullptr;
}

int refuse_init(PyObject* self, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  PyErr_Format(PyExc_TypeError, "%s has no constructor", Py_TYPE(self)->tp_name);
  return -1;
}

void contain_exceptions(const py::module_& module) {
  for (const auto& [name, member] : py::dict(module.attr("__dict__"))) {
    contain_exceptions_of(member.ptr());
    if (!PyType_Check(member.ptr())) continue;
    for (const auto& [attribute, descriptor] : py::dict(member.attr("__dict__"))) {
      contain_exceptions_of(descriptor.ptr());
      if (py::isinstance(descriptor, reinterpret_cast<PyObject*>(&PyProperty_Type)))
        contain_exceptions_of(descriptor.attr("fget").ptr());
    }
  }
}

}  // namespace exactk::bindings
