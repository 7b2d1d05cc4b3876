#include "bindings.hpp"

namespace {

// pybind11's registrations and NumPy exist once per process.
bool is_main_interpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

constexpr const char* kRefusal =
    "exactk cannot be imported in a subinterpreter; import it in the main interpreter or in a "
    "process of its own";

}  // namespace

// A build of Python without a GIL switches it on when it imports this: no such build has run the
// tests of threads.
PYBIND11_MODULE(_core_of_main_interpreter, module,
                pybind11::multiple_interpreters::not_supported()) {
  using namespace exactk::bindings;
  if (!is_main_interpreter()) throw pybind11::import_error(kRefusal);
  module.doc() = "The C++ core. It takes arguments as they are: no casts, no defaults, no policy.";
  bind_errors(module);
  bind_build(module);
  bind_conventions(module);
  bind_metrics(module);
  bind_results(module);
  bind_evaluate(module);
  bind_judged_lists(module);
  bind_fuse(module);
  bind_compare(module);
  bind_resampling(module);
  bind_files(module);
  bind_vocabulary(module);
  bind_digest(module);
  bind_objects(module);
  bind_matched_rows(module);
  bind_quicksort_order(module);
  bind_arrow(module);
  contain_exceptions(module);
}

// The entry point that Python calls. Before Python 3.12, pybind11's own entry point waits forever
// for the GIL if a subinterpreter imports first; later versions check by themselves, but not for
// every subinterpreter.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): Python's name for it
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (is_main_interpreter()) return PyInit__core_of_main_interpreter();
  PyErr_SetString(PyExc_ImportError, kRefusal);
  return nullptr;
}
