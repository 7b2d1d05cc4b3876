#include "bindings.hpp"

namespace exactk::bindings {

void bind_build(py::module_& module) {
  // A function and not an attribute, which the stub would show with the value of one machine.
  module.def(
      "built_with", [] { return EXACTK_BUILT_WITH; },
      "The compiler that built this module, its version, and the flags but for those of warnings.");
}

}  // namespace exactk::bindings
