#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "exactk/conventions.hpp"

namespace exactk::bindings {
namespace {

std::string kind(const ConventionField& field) {
  constexpr auto kKinds = std::to_array({"choice", "number", "numbers"});
  static_assert(kKinds.size() == std::variant_size_v<decltype(field.kind)>);
  return kKinds[field.kind.index()];
}

py::typing::Tuple<py::str, py::ellipsis> choices(const ConventionField& field) {
  py::list names;
  if (const auto* const choice = std::get_if<ChoiceField>(&field.kind)) {
    for (const std::uint8_t code : choice->choices)
      names.append(py::str(std::string(choice->names[code])));
  }
  return py::tuple(names);
}

py::typing::Dict<py::typing::Optional<py::str>, py::float_> names(const ConventionField& field) {
  py::typing::Dict<py::typing::Optional<py::str>, py::float_> numbers;
  if (const auto* const number = std::get_if<NumberField>(&field.kind)) {
    for (const NamedNumber& named : number->names) numbers[py::cast(named.name)] = named.number;
  }
  return numbers;
}

using Bounds = std::pair<double, double>;

std::optional<Bounds> bounds(const ConventionField& field) {
  const auto bounds_of = [](const auto& kind) -> std::optional<Bounds> {
    if constexpr (requires { kind.low; }) {
      return Bounds{kind.low, kind.high};
    } else {
      return std::nullopt;
    }
  };
  return std::visit(bounds_of, field.kind);
}

Rules make_rules(const std::map<std::string, FieldValue, std::less<>>& values) {
  Rules rules;
  for (const auto& [name, value] : values) set_field(rules, name, value);
  for (const ConventionField& field : convention_fields()) {
    if (!values.contains(field.name)) {
      throw InputError({.argument = "convention",
                        .expected = "a value for every field",
                        .found = "none for " + std::string(field.name)});
    }
  }
  return rules;
}

py::array_t<double> discounts(const Rules& rules, std::int64_t count) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24U;
  if (count < 0 || count > kMost) {
    throw InputError({.argument = "count",
                      .expected = "a number of ranks from 0 to 2^24",
                      .found = format_number(static_cast<double>(count))});
  }
  py::array_t<double> weights(static_cast<py::ssize_t>(count));
  for (std::int64_t i = 0; i < count; ++i) weights.mutable_data()[i] = discount(rules, i + 1);
  return weights;
}

}  // namespace

void bind_conventions(py::module_& module) {
  bind_class<ConventionField>(module, "ConventionField", "A field of a convention.")
      .def_property_readonly("name", [](const ConventionField& field) { return field.name; })
      .def_property_readonly("summary", [](const ConventionField& field) { return field.summary; })
      .def_property_readonly(
          "is_judging", [](const ConventionField& field) { return field.is_judging; },
          "Whether the field affects how a list is judged, rather than only how it is scored.")
      .def_property_readonly("kind", &kind, "'choice', 'number' or 'numbers'.")
      .def_property_readonly("expected", &expected_value,
                             "The accepted values, as error messages describe them.")
      .def_property_readonly("choices", &choices,
                             "The names that a choice accepts; empty for numbers.")
      .def_property_readonly("names", &names, "Names that stand for certain numbers.")
      .def_property_readonly("bounds", &bounds,
                             "The lowest and the highest number; None for a choice.")
      .def_property_readonly(
          "standard", [](const ConventionField& field) { return get_field(Rules{}, field); },
          "The value in the standard convention, which the C++ defaults define.");
  module.def(
      "convention_fields",
      [] {
        const auto fields = convention_fields();
        return std::vector<ConventionField>(fields.begin(), fields.end());
      },
      "Return the convention fields that the core reads.");
  bind_class<Rules>(module, "Rules", "The rules for computing one value.")
      .def(py::init(&make_rules), py::arg("values").noconvert());
  module.def("discounts", &discounts, py::arg("rules"), py::arg("count").noconvert(),
             "Return the discounts of so many ranks.");
}

}  // namespace exactk::bindings
