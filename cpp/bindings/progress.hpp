// Progress of long calls.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <atomic>
#include <functional>
#include <optional>

#include "exactk/types.hpp"
#include "gil.hpp"

namespace exactk::bindings {

namespace py = pybind11;

// Called with the number of finished users, or resamples. An exception from it ends the call.
using Progress = std::optional<py::typing::Callable<py::object(Count)>>;

// Holds progress and count by reference, because copying a Python object would need the GIL.
inline std::function<void()> make_poll(const Progress& progress,
                                       const std::atomic<Count>& finished) {
  return [&] {
    poll_signals();
    if (!progress) return;
    const GilAcquire gil;
    call_python(*progress, py::int_(finished.load()));
  };
}

}  // namespace exactk::bindings
