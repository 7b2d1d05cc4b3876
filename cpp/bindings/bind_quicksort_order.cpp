#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/quicksort_order.hpp"
#include "gil.hpp"

namespace exactk::bindings {
namespace {

py::array_t<std::int64_t> order_of_rows(const py::array& numbers, const py::array& lengths) {
  const auto values = view<double>(numbers, "numbers");
  const auto row_lengths = snapshot<Count>(lengths, "lengths");
  std::vector<std::int64_t> order = [&] {
    const GilRelease release;
    return quicksort_order(values, row_lengths, {.threads = 1, .poll = &poll_signals});
  }();
  return array_of(std::move(order));
}

}  // namespace

void bind_quicksort_order(py::module_& module) {
  module.def("quicksort_order", &order_of_rows, py::arg("numbers").noconvert(),
             py::arg("lengths").noconvert(),
             "Return the positions of each row's numbers in ascending order, with ties as Numba's "
             "argsort leaves them; rows have these lengths.");
}

}  // namespace exactk::bindings
