// Strict views of NumPy arrays: an array of another type, shape or layout is an error and never
// converted. Conversions are policy, which belongs to python/exactk/_inputs.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace exactk::bindings {

// Returns the array as a span. The caller keeps the array alive while the span is in use.
template <class T>
std::span<const T> view(const py::array& array, const std::string& argument) {
  constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  const bool fits = py::isinstance<py::array_t<T, py::array::c_style>>(array) &&
                    array.ndim() == 1 && (array.flags() & kAligned) != 0;
  if (!fits) {
    throw TypeFault({.argument = argument,
                     .expected = "an aligned, contiguous, one-dimensional array of " +
                                 std::string(py::str(py::dtype::of<T>())),
                     .found = std::string(py::str(array.dtype())) + " of " +
                              std::to_string(array.ndim()) + " dimension(s)"});
  }
  return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}

template <class T>
std::span<const T> view(const std::optional<py::array>& array, const std::string& argument) {
  return array ? view<T>(*array, argument) : std::span<const T>{};
}

// Copies an array that is used as an index, because another thread may write to it meanwhile.
template <class T>
std::vector<T> snapshot(const std::optional<py::array>& array, const std::string& argument) {
  const auto span = view<T>(array, argument);
  return {span.begin(), span.end()};
}

// Returns a copy of the values as an array. NumPy's own copy may release the GIL, as only the
// functions of gil.hpp may.
template <class T>
py::array_t<T> copy_of(const std::vector<T>& values) {
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()));
  std::ranges::copy(values, array.mutable_data());
  return array;
}

// Returns the vector's own memory as an array.
template <class T>
py::array_t<T> array_of(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const T* const data = owner->data();
  const py::capsule capsule(owner.get(),
                            [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  static_cast<void>(owner.release());
  return py::array_t<T>(std::move(shape), data, capsule);
}

template <class T>
py::array_t<T> array_of(std::vector<T>&& values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return array_of(std::move(values), {size});
}

}  // namespace exactk::bindings
