#include "bindings.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  using namespace exactk::bindings;
  module.doc() = "The C++ core. Arguments are taken as they are: no casts, no defaults, no policy.";
  bind_errors(module);
  bind_build(module);
  bind_conventions(module);
  bind_metrics(module);
  bind_evaluate(module);
  bind_files(module);
  bind_vocabulary(module);
  bind_objects(module);
  bind_arrow(module);
}
