#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "exactk/conventions.hpp"

namespace exactk::bindings {
namespace {

py::typing::Tuple<py::str, py::ellipsis> choices(const ConventionField& field) {
  py::list names;
  for (const std::uint8_t code : field.choices)
    names.append(py::str(std::string(field.names[code])));
  return py::tuple(names);
}

Rules make_rules(const std::map<std::string, std::string>& fields, double min_grade,
                 std::vector<double> gain_table) {
  Rules rules;
  for (const auto& [name, choice] : fields) set_field(rules, name, choice);
  rules.min_grade = min_grade;
  rules.gain_table = std::move(gain_table);
  return rules;
}

}  // namespace

void bind_conventions(py::module_& module) {
  bind_class<ConventionField>(module, "ConventionField", "A choice that a convention makes.")
      .def_property_readonly("name", [](const ConventionField& field) { return field.name; })
      .def_property_readonly("summary", [](const ConventionField& field) { return field.summary; })
      .def_property_readonly("choices", &choices)
      .def_property_readonly(
          "standard", [](const ConventionField& field) { return field.names[field.get(Rules{})]; },
          "The choice of the C++ defaults, which are the standard convention.");
  module.def(
      "convention_fields",
      [] {
        const auto fields = convention_fields();
        return std::vector<ConventionField>(fields.begin(), fields.end());
      },
      "The fields whose value is one of a few names.");
  bind_class<Rules>(module, "Rules", "How one value is to be computed.")
      .def(py::init(&make_rules), py::arg("fields"), py::arg("min_grade").noconvert(),
           py::arg("gain_table"));
}

}  // namespace exactk::bindings
