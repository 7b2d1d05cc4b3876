#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <string>

#include "arrow_column.hpp"
#include "arrow_table.hpp"
#include "bindings.hpp"

namespace exactk::bindings {

void bind_arrow(py::module_& module) {  // NOLINT(misc-const-correctness): as the others
  bind_class<ArrowColumn>(module, "ArrowColumn", "A column of an Arrow table.")
      .def("__len__", &ArrowColumn::length)
      .def_property_readonly("type", &ArrowColumn::type,
                             "The type of the rows; for a dictionary, the type of its codes.")
      .def_property_readonly("is_dictionary", &ArrowColumn::is_dictionary)
      .def("nulls", &ArrowColumn::nulls,
           "Return the number of null rows and the first of them, or -1.")
      .def("values", &ArrowColumn::values, py::arg("argument"),
           "Return the numbers of each piece, zero-copy.")
      .def("encode", &ArrowColumn::encode_strings, py::arg("vocabulary"), py::arg("threads"),
           py::arg("argument"),
           "Return the code of each string, adding new strings to the vocabulary.")
      .def("dictionaries", &ArrowColumn::dictionaries,
           "Return the dictionary values of each piece.")
      .def("lists", &ArrowColumn::lists, py::arg("argument"),
           "Return the offset of each row's list, and the column of all items.");
  bind_class<ArrowTable>(module, "ArrowTable", "The columns of an Arrow stream.")
      .def(py::init<const py::capsule&, const std::string&>(), py::arg("capsule"),
           py::arg("argument"))
      .def_property_readonly("columns", &ArrowTable::columns,
                             "The names of the columns, with the columns.");
}

}  // namespace exactk::bindings
