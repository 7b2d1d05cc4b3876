#include <string>
#include <utility>

#include "bindings.hpp"
#include "exactk/capacity.hpp"
#include "exactk/types.hpp"

namespace exactk::bindings {

void bind_build(py::module_& module) {
  // A function rather than an attribute, whose value on one machine the stub would contain.
  module.def(
      "built_with", [] { return EXACTK_BUILT_WITH; },
      "Return the compiler that built this module, its version, and its flags without warnings.");
  module.def(
      "memory_limit", &memory_limit,
      "Return the bytes of memory that this process may use, infinity if that is not known.");
  module.def(
      "require_memory",
      [](Count cells, Count bytes_per_cell, std::string argument) {
        require_memory(cells, bytes_per_cell, {.argument = std::move(argument)});
      },
      py::arg("cells"), py::arg("bytes_per_cell"), py::arg("argument"),
      "Raise CapacityError if so many bytes exceed memory_limit().");
}

}  // namespace exactk::bindings
