#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/number_syntax.hpp"
#include "exactk/trec.hpp"
#include "gil.hpp"

namespace exactk::bindings {
namespace {

// The vector's own memory as an array.
template <class T>
py::array_t<T> array_of(std::vector<T>&& values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const auto size = static_cast<py::ssize_t>(owner->size());
  const T* const data = owner->data();
  const py::capsule capsule(owner.get(),
                            [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  static_cast<void>(owner.release());
  return py::array_t<T>(size, data, capsule);
}

std::optional<TrecFormat> format_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (*name == "qrels") return TrecFormat::qrels;
  if (*name == "run") return TrecFormat::run;
  throw InputError(
      {.argument = "format", .expected = "qrels, run or None", .found = "'" + *name + "'"});
}

// (offsets and bytes of the queries, of the documents, the numbers)
using PyTrecColumns =
    py::typing::Tuple<py::array_t<Offset>, py::array_t<std::uint8_t>, py::array_t<Offset>,
                      py::array_t<std::uint8_t>, py::array_t<double>>;
using PyReadBytes = py::typing::Callable<py::bytes()>;

std::variant<LineFault, PyTrecColumns> read_trec(const std::optional<std::string>& format,
                                                 const PyReadBytes& read) {
  py::object chunk;  // owns the bytes that are being parsed
  const auto next = [&]() -> std::string_view {
    const GilAcquire gil;
    poll_signals();
    chunk = call_python(read);
    if (PyBytes_CheckExact(chunk.ptr()) == 0) {
      throw TypeFault({.argument = "read",
                       .expected = "bytes from each call",
                       .found = std::string(py::str(py::type::of(chunk).attr("__name__")))});
    }
    return {PyBytes_AS_STRING(chunk.ptr()),
            static_cast<std::size_t>(PyBytes_GET_SIZE(chunk.ptr()))};
  };
  try {
    TrecColumns columns = [&] {
      const GilRelease release;
      return parse_trec(format_of(format), next);
    }();
    return PyTrecColumns(py::make_tuple(
        array_of(std::move(columns.queries.offsets)), array_of(std::move(columns.queries.bytes)),
        array_of(std::move(columns.documents.offsets)),
        array_of(std::move(columns.documents.bytes)), array_of(std::move(columns.numbers))));
  } catch (const LineError& error) {
    return error.fault();
  }
}

std::optional<py::array_t<double>> read_numbers(const py::array& offsets, const py::array& data) {
  const auto text_offsets = view<std::int32_t>(offsets, "offsets");
  const auto bytes = view<std::uint8_t>(data, "data");
  if (text_offsets.empty()) {
    throw InputError({.argument = "offsets", .expected = "an offset or more", .found = "none"});
  }
  const PackedStrings<std::int32_t> texts{
      .offsets = text_offsets,
      .bytes = {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  auto numbers = [&] {
    const GilRelease release;
    return parse_numbers(texts);
  }();
  if (!numbers) return std::nullopt;
  return array_of(std::move(*numbers));
}

}  // namespace

void bind_files(py::module_& module) {
  bind_class<LineFault>(module, "LineFault", "What is wrong with a line of a file.")
      .def_readonly("line", &LineFault::line)
      .def_readonly("expected", &LineFault::expected)
      .def_readonly("found", &LineFault::found)
      .def_property_readonly("text", [](const LineFault& self) { return py::bytes(self.text); });
  module.def(
      "read_trec", &read_trec, py::arg("format"), py::arg("read"),
      "The columns of a file of TREC, \"qrels\" or \"run\" or either, whose bytes `read` returns "
      "part by part: offsets and bytes of queries and of documents, and numbers; or what is "
      "wrong with it.");
  module.def(
      "parse_number", [](std::string_view text) { return parse_number(text); }, py::arg("text"),
      "The number that the text is, or None.");
  module.def("parse_numbers", &read_numbers, py::arg("offsets"), py::arg("data"),
             "The numbers that the texts data[offsets[i]:offsets[i + 1]] are, or None if one is "
             "none.");
}

}  // namespace exactk::bindings
