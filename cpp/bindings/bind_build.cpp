#include "bindings.hpp"

namespace exactk::bindings {

void bind_build(py::module_& module) {
  // A function rather than an attribute, whose value on one machine the stub would contain.
  module.def(
      "built_with", [] { return EXACTK_BUILT_WITH; },
      "Return the compiler that built this module, its version, and its flags without warnings.");
}

}  // namespace exactk::bindings
