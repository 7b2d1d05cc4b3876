#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <string>

#include "arrow_column.hpp"
#include "arrow_table.hpp"
#include "bindings.hpp"

namespace pybind11::detail {

template <>
struct type_caster<exactk::bindings::ArrowColumn>
    : ConstructedCaster<exactk::bindings::ArrowColumn> {};
template <>
struct type_caster<exactk::bindings::ArrowTable> : ConstructedCaster<exactk::bindings::ArrowTable> {
};

}  // namespace pybind11::detail

namespace exactk::bindings {

void bind_arrow(py::module_& module) {  // NOLINT(misc-const-correctness): as the others
  bind_class<ArrowColumn>(module, "ArrowColumn", "A column of an Arrow table.")
      .def("__len__", &ArrowColumn::length)
      .def_property_readonly("type", &ArrowColumn::type,
                             "The type of the rows; of a dictionary's rows, that of its codes.")
      .def_property_readonly("is_dictionary", &ArrowColumn::is_dictionary)
      .def("nulls", &ArrowColumn::nulls, "How many rows are null, and the first; -1 if none is.")
      .def("values", &ArrowColumn::values, py::arg("argument"),
           "The numbers of each piece, in place.")
      .def("encode", &ArrowColumn::encode_strings, py::arg("vocabulary"), py::arg("threads"),
           py::arg("argument"), "The code of each string; new ones are added.")
      .def("dictionaries", &ArrowColumn::dictionaries, "The values of each piece.")
      .def("lists", &ArrowColumn::lists, py::arg("argument"),
           "Where the list of each row begins, and the column of what all of them hold.");
  bind_class<ArrowTable>(module, "ArrowTable", "What an Arrow stream has.")
      .def(py::init<const py::capsule&, const std::string&>(), py::arg("capsule"),
           py::arg("argument"))
      .def_property_readonly("columns", &ArrowTable::columns, "The columns with their names.");
}

}  // namespace exactk::bindings
