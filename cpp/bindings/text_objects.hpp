// The text of strings and bytes objects.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace exactk::bindings {

namespace py = pybind11;

// Returns the bytes of a bytes object or of an ASCII string, which live as long as the object.
inline std::optional<std::string_view> plain_text_of(PyObject* object, bool as_bytes) {
  if (as_bytes) {
    if (!PyBytes_Check(object)) return std::nullopt;
    return std::string_view(PyBytes_AS_STRING(object),
                            static_cast<std::size_t>(PyBytes_GET_SIZE(object)));
  }
  if (!PyUnicode_Check(object) || !PyUnicode_IS_COMPACT_ASCII(object)) return std::nullopt;
  return std::string_view(static_cast<const char*>(PyUnicode_DATA(object)),
                          static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)));
}

// Returns the UTF-8 bytes of a string, or the bytes of a bytes object. They live as long as the
// holder if it is set, otherwise as long as the object.
inline std::optional<std::string_view> text_of(py::handle object, bool as_bytes,
                                               py::object& holder) {
  const auto plain_text = plain_text_of(object.ptr(), as_bytes);
  if (plain_text || !PyUnicode_Check(object.ptr()) || as_bytes) return plain_text;
  holder = py::reinterpret_steal<py::object>(
      PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogatepass"));
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (!holder || PyBytes_AsStringAndSize(holder.ptr(), &bytes, &size) != 0)
    throw py::error_already_set();
  return std::string_view(bytes, static_cast<std::size_t>(size));
}

}  // namespace exactk::bindings
