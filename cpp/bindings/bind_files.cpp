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
#include "exactk/delimited.hpp"
#include "exactk/number_syntax.hpp"
#include "exactk/trec.hpp"
#include "gil.hpp"

namespace exactk::bindings {

namespace {

// The columns of a file as arrays.
struct TrecArrays {
  py::array_t<Offset> query_offsets;
  py::array_t<std::uint8_t> queries;
  py::array_t<Offset> document_offsets;
  py::array_t<std::uint8_t> documents;
  py::array_t<double> numbers;
  TrecFacts facts;
};

}  // namespace

template <>
inline constexpr bool kIsBound<TrecArrays> = true;

namespace {

std::optional<TrecFormat> format_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (*name == "qrels") return TrecFormat::qrels;
  if (*name == "run") return TrecFormat::run;
  throw InputError(
      {.argument = "format", .expected = "qrels, run or None", .found = "'" + *name + "'"});
}

py::typing::Dict<py::str, py::object> facts_of(const TrecFacts& facts) {
  const auto sample = [](const TrecSample& row) {
    return py::make_tuple(row.line, py::bytes(row.text));
  };
  using namespace py::literals;
  return py::dict(
      "is_run"_a = facts.is_run, "rows"_a = facts.rows, "iterations"_a = facts.iterations,
      "other_iteration"_a = sample(facts.other_iteration),
      "documents_are_numbers"_a = facts.documents_are_numbers, "times"_a = facts.times,
      "score_times"_a = facts.score_times, "copied_ranks"_a = facts.copied_ranks,
      "rank_text"_a = sample(facts.rank_text), "fraction_rank"_a = sample(facts.fraction_rank),
      "shifted"_a = sample(facts.shifted), "tags_vary"_a = facts.tags_vary,
      "tags_are_numbers"_a = facts.tags_are_numbers, "queries"_a = facts.queries,
      "contradicted"_a = facts.contradicted, "first_contradicted"_a = facts.first_contradicted,
      "counted_scores"_a = facts.counted_scores, "counted_ranks"_a = facts.counted_ranks);
}

using PyReadBytes = py::typing::Callable<py::bytes()>;

std::variant<LineFault, TrecArrays> read_trec(const std::optional<std::string>& format,
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
    return TrecArrays{.query_offsets = array_of(std::move(columns.queries.offsets)),
                      .queries = array_of(std::move(columns.queries.bytes)),
                      .document_offsets = array_of(std::move(columns.documents.offsets)),
                      .documents = array_of(std::move(columns.documents.bytes)),
                      .numbers = array_of(std::move(columns.numbers)),
                      .facts = std::move(columns.facts)};
  } catch (const LineError& error) {
    return error.fault();
  }
}

std::optional<py::array_t<double>> read_numbers(const py::array& offsets, const py::array& data) {
  const auto text_offsets = view<std::int32_t>(offsets, "offsets");
  const auto bytes = view<std::uint8_t>(data, "data");
  if (text_offsets.empty()) {
    throw InputError({.argument = "offsets", .expected = "at least one offset", .found = "none"});
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

using PyTexts = std::vector<std::pair<py::array_t<Offset>, py::array_t<std::uint8_t>>>;

std::optional<PyTexts> split_rows(std::string_view lines, std::string_view delimiter,
                                  bool has_quotes, std::size_t field_count,
                                  const std::vector<std::size_t>& columns) {
  if (delimiter.size() != 1 || delimiter.find_first_of("\"\r\n") == 0) {
    throw InputError({.argument = "delimiter",
                      .expected = "one byte that is no quote and ends no line",
                      .found = "'" + std::string(delimiter) + "'"});
  }
  auto texts = [&] {
    const GilRelease release;
    return split_plain_rows(
        lines,
        {.delimiter = delimiter.front(), .has_quotes = has_quotes, .field_count = field_count},
        columns);
  }();
  if (!texts) return std::nullopt;
  PyTexts arrays;
  for (StringColumn& column : *texts)
    arrays.emplace_back(array_of(std::move(column.offsets)), array_of(std::move(column.bytes)));
  return arrays;
}

}  // namespace

void bind_files(py::module_& module) {
  bind_class<LineFault>(module, "LineFault", "A fault in a line of a file.")
      .def_readonly("line", &LineFault::line)
      .def_readonly("expected", &LineFault::expected)
      .def_readonly("found", &LineFault::found)
      .def_property_readonly("text", [](const LineFault& self) { return py::bytes(self.text); });
  bind_class<TrecArrays>(module, "TrecColumns", "The columns of a TREC file.")
      .def_readonly("query_offsets", &TrecArrays::query_offsets)
      .def_readonly("queries", &TrecArrays::queries)
      .def_readonly("document_offsets", &TrecArrays::document_offsets)
      .def_readonly("documents", &TrecArrays::documents)
      .def_readonly("numbers", &TrecArrays::numbers)
      .def_property_readonly(
          "facts", [](const TrecArrays& self) { return facts_of(self.facts); },
          "What the fields show, by the names of exactk/trec.hpp; samples are lines and texts.");
  module.def(
      "read_trec", &read_trec, py::arg("format"), py::arg("read"),
      "Return the columns of a TREC file, or its first fault. `read` returns the bytes in parts; "
      "`format` is \"qrels\", \"run\", or None to detect it.");
  module.def(
      "split_rows",
      [](const py::bytes& lines, std::string_view delimiter, bool has_quotes,
         std::size_t field_count, const std::vector<std::size_t>& columns) {
        return split_rows(lines, delimiter, has_quotes, field_count, columns);
      },
      py::arg("lines"), py::arg("delimiter"), py::arg("has_quotes"), py::arg("field_count"),
      py::arg("columns"),
      "Split delimited lines; return the offsets and the bytes of each of these columns, or None "
      "if any row is not plain: see exactk/delimited.hpp.");
  module.def(
      "parse_number", [](std::string_view text) { return parse_number(text); }, py::arg("text"),
      "Parse a number; return None if the text is not one.");
  module.def(
      "parse_numbers", &read_numbers, py::arg("offsets"), py::arg("data"),
      "Parse the texts data[offsets[i]:offsets[i + 1]] as numbers; return None if one of them "
      "is not a number.");
}

}  // namespace exactk::bindings
