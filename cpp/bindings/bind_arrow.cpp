// Tables of any library by the Arrow C data interface: three structs of C, and no library.
// https://arrow.apache.org/docs/format/CDataInterface.html
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/capacity.hpp"
#include "exactk/lists.hpp"
#include "gil.hpp"
#include "owned_vocabulary.hpp"

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace exactk::bindings {
namespace {

// Owns one of the structs, and releases what it holds.
template <class Struct>
struct OwnedStruct {
  Struct value{};

  OwnedStruct() = default;
  OwnedStruct(const OwnedStruct&) = delete;
  OwnedStruct& operator=(const OwnedStruct&) = delete;
  ~OwnedStruct() {
    if (value.release != nullptr) value.release(&value);
  }
};

[[noreturn]] void refuse(const std::string& argument, std::string expected, std::string found,
                         Count position = -1, Count count = 1) {
  throw TypeFault({.argument = argument,
                   .expected = std::move(expected),
                   .found = std::move(found),
                   .count = count,
                   .position = position});
}

struct NamedType {
  std::string_view format;
  std::string_view name;
};

// What a format is called; those that are numbers, as NumPy calls them.
constexpr NamedType kTypes[] = {
    {"c", "int8"},    {"C", "uint8"},   {"s", "int16"},  {"S", "uint16"},  {"i", "int32"},
    {"I", "uint32"},  {"l", "int64"},   {"L", "uint64"}, {"e", "float16"}, {"f", "float32"},
    {"g", "float64"}, {"u", "string"},  {"U", "string"}, {"vu", "string"}, {"z", "bytes"},
    {"Z", "bytes"},   {"vz", "bytes"},  {"+l", "list"},  {"+L", "list"},   {"b", "bool"},
    {"n", "null"},    {"+s", "struct"}, {"tdD", "date"}, {"tdm", "date"}};

std::string type_of(std::string_view format) {
  for (const auto& [type_format, name] : kTypes) {
    if (type_format == format) return std::string(name);
  }
  if (format.starts_with("w:")) return "bytes";
  if (format.starts_with("+w:")) return "list";
  if (format.starts_with("ts")) return "timestamp";
  if (format.starts_with("d:")) return "decimal";
  return "Arrow's " + std::string(format);
}

constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
// What is longer would have buffers beyond any address: of the widest element, 16 bytes.
constexpr std::int64_t kMaxRows = kLongest / 16 - 1;
constexpr int kMaxDepth = 64;  // of types within types; a schema may lead back to itself

// The width of what has one, after the colon.
std::int64_t width_of(std::string_view format, const std::string& argument) {
  std::int64_t width = 0;
  const std::string_view digits = format.substr(format.find(':') + 1);
  if (digits.empty()) refuse(argument, "a width", "'" + std::string(format) + "'");
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || width > std::numeric_limits<std::int32_t>::max())
      refuse(argument, "a width", "'" + std::string(format) + "'");
    width = 10 * width + (digit - '0');
  }
  return width;
}

// A producer's sizes and pointers are checked before they are used, as far as they can be.
// NOLINTNEXTLINE(misc-no-recursion): as deep as types are nested
void check_schema(const ArrowSchema& schema, const std::string& argument, int depth = 0) {
  if (schema.format == nullptr || schema.n_children < 0 || depth > kMaxDepth ||
      (schema.n_children > 0 && schema.children == nullptr))
    refuse(argument, "a schema of Arrow", "a broken one");
  const std::string_view format = schema.format;
  if (format.starts_with("w:") || format.starts_with("+w:")) width_of(format, argument);
  const bool has_codes =
      format.size() == 1 && std::string_view("cCsSiIlL").find(format) != std::string_view::npos;
  if (schema.dictionary != nullptr && !has_codes)
    refuse(argument, "codes of a dictionary that are integers", type_of(format));
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i] == nullptr) refuse(argument, "a schema of Arrow", "one with a hole");
    check_schema(*schema.children[i], argument, depth + 1);
  }
  if (schema.dictionary != nullptr) check_schema(*schema.dictionary, argument, depth + 1);
}

// The rows that are null are those that the validity bitmap names, whatever the producer counted.
bool has_sound_null_count(std::string_view format, const ArrowArray& array) {
  const bool has_bitmap = array.n_buffers > 0 && array.buffers[0] != nullptr;
  const bool needs_bitmap = array.null_count > 0 && format != "n" && !format.starts_with("+u") &&
                            !format.starts_with("+r");
  return array.null_count >= -1 && array.null_count <= array.length &&
         (has_bitmap || !needs_bitmap);
}

bool has_sound_size(std::string_view format, const ArrowArray& array, const std::string& argument) {
  if (array.length < 0 || array.offset < 0 || array.length > kMaxRows - array.offset) return false;
  if (!format.starts_with("w:") && !format.starts_with("+w:")) return true;
  const std::int64_t width = width_of(format, argument);
  return width == 0 || array.offset + array.length <= kMaxRows / width;
}

// NOLINTNEXTLINE(misc-no-recursion): the same
void check_array(const ArrowSchema& schema, const ArrowArray& array, const std::string& argument) {
  const std::string_view format = schema.format;
  const bool is_valid = has_sound_size(format, array, argument) && array.n_buffers >= 0 &&
                        (array.n_buffers == 0 || array.buffers != nullptr) &&
                        has_sound_null_count(format, array) &&
                        array.n_children == schema.n_children &&
                        (array.n_children == 0 || array.children != nullptr) &&
                        (array.dictionary == nullptr) == (schema.dictionary == nullptr);
  if (!is_valid) refuse(argument, "a batch as the schema says", "a broken one");
  const std::int64_t rows = array.offset + array.length;
  for (std::int64_t i = 0; i < array.n_children; ++i) {
    if (array.children[i] == nullptr) {
      refuse(argument, "a batch as the schema says", "one with a hole");
    }
    check_array(*schema.children[i], *array.children[i], argument);
    if (format == "+s" && array.children[i]->length < rows) {
      refuse(argument, "columns of " + std::to_string(rows) + " rows",
             std::to_string(array.children[i]->length));
    }
  }
  if (array.dictionary != nullptr) check_array(*schema.dictionary, *array.dictionary, argument);
}

using Schema = std::shared_ptr<const OwnedStruct<ArrowSchema>>;
using Batch = std::shared_ptr<const OwnedStruct<ArrowArray>>;

// Rows of a column that are in one batch.
struct Piece {
  Batch batch;  // keeps all of it
  const ArrowArray* array = nullptr;
  std::int64_t offset = 0;  // of the first row in the buffers
  std::int64_t length = 0;

  template <class T>
  [[nodiscard]] const T* buffer(std::int64_t index) const {
    if (index >= array->n_buffers) return nullptr;
    const void* const start = array->buffers[index];
    if (reinterpret_cast<std::uintptr_t>(start) % alignof(T) != 0)
      refuse("buffer", "an address that its type allows", "another");
    return static_cast<const T*>(start);
  }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(length); }
};

// A column of a table, in pieces.
class ArrowColumn {
 public:
  ArrowColumn(Schema owner, const ArrowSchema* schema, std::vector<Piece> pieces)
      : owner_(std::move(owner)), schema_(schema), pieces_(std::move(pieces)) {}

  [[nodiscard]] std::string type() const { return type_of(schema_->format); }
  [[nodiscard]] bool is_dictionary() const { return schema_->dictionary != nullptr; }
  [[nodiscard]] Count length() const {
    Count rows = 0;
    for (const Piece& piece : pieces_) rows += piece.length;
    return rows;
  }
  // How many rows are null, and which is the first.
  [[nodiscard]] std::pair<Count, Count> nulls() const;
  [[nodiscard]] std::vector<py::array> values(const std::string& argument) const;
  [[nodiscard]] Codes encode_strings(OwnedVocabulary& owned, int threads,
                                     const std::string& argument) const;
  [[nodiscard]] std::vector<ArrowColumn> dictionaries() const;
  [[nodiscard]] std::pair<py::array_t<Offset>, ArrowColumn> lists(
      const std::string& argument) const;

 private:
  void encode_piece(const Piece& piece, Vocabulary& vocabulary, std::span<Code> codes, int threads,
                    const std::string& argument) const;

  Schema owner_;
  const ArrowSchema* schema_;
  std::vector<Piece> pieces_;
};

std::pair<Count, Count> count_nulls(const Piece& piece) {
  Count count = 0;
  Count first = -1;
  const auto* const valid = piece.buffer<std::uint8_t>(0);
  for (std::int64_t row = 0; valid != nullptr && row < piece.length; ++row) {
    const std::int64_t bit = piece.offset + row;
    if (((valid[bit / 8] >> static_cast<unsigned>(bit % 8)) & 1U) != 0) continue;
    if (count++ == 0) first = row;
  }
  return {count, first};
}

std::pair<Count, Count> ArrowColumn::nulls() const {
  Count count = 0;
  Count first = -1;
  Count rows_before = 0;
  if (type() == "null") return {length(), length() > 0 ? 0 : -1};
  for (const Piece& piece : pieces_) {
    const auto [piece_count, piece_first] = count_nulls(piece);
    if (piece_count > 0 && count == 0) first = rows_before + piece_first;
    count += piece_count;
    rows_before += piece.length;
  }
  return {count, first};
}

// The arrays refer to the buffers, and keep them alive.
std::vector<py::array> ArrowColumn::values(const std::string& argument) const {
  const std::string_view format = schema_->format;
  if (format.size() != 1 || std::string_view("cCsSiIlLefg").find(format) == std::string_view::npos)
    refuse(argument, "numbers", type());
  const py::dtype dtype(type());
  std::vector<py::array> arrays;
  for (const Piece& piece : pieces_) {
    const auto* const first = piece.buffer<char>(1);
    if (first == nullptr && piece.length > 0) refuse(argument, "numbers in a buffer", "none");
    if (piece.length == 0) {
      arrays.emplace_back(dtype, std::vector<py::ssize_t>{0});
      continue;
    }
    const py::capsule owner(new Batch(piece.batch),
                            [](void* batch) { delete static_cast<Batch*>(batch); });
    py::array array(dtype, {piece.length}, {dtype.itemsize()},
                    first + piece.offset * dtype.itemsize(), owner);
    array.attr("flags").attr("writeable") = false;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

template <class StringOffset>
PackedStrings<StringOffset> packed_strings(const Piece& piece) {
  const auto* const first = piece.buffer<StringOffset>(1);
  const std::span<const StringOffset> offsets(first + piece.offset, piece.size() + 1);
  const auto* const bytes = piece.buffer<char>(2);
  const auto end = static_cast<std::size_t>(std::max<StringOffset>(0, offsets.back()));
  return {.offsets = offsets, .bytes = {bytes, bytes == nullptr ? 0 : end}};
}

StringViews string_views(const Piece& piece, const std::string& argument) {
  const auto* const views = piece.buffer<StringViews::View>(1);
  StringViews strings{.views = {views + piece.offset, piece.size()}, .buffers = {}};
  const std::int64_t buffers = piece.array->n_buffers - 3;  // and last, the size of each
  const auto* const sizes = piece.buffer<std::int64_t>(piece.array->n_buffers - 1);
  for (std::int64_t i = 0; i < buffers; ++i) {
    const auto* const bytes = piece.buffer<char>(2 + i);
    if (sizes == nullptr || sizes[i] < 0 || (bytes == nullptr && sizes[i] > 0))
      refuse(argument, "strings with buffers", "a column without");
    strings.buffers.emplace_back(bytes, static_cast<std::size_t>(sizes[i]));
  }
  return strings;
}

void ArrowColumn::encode_piece(const Piece& piece, Vocabulary& vocabulary, std::span<Code> codes,
                               int threads, const std::string& argument) const {
  const std::string_view format = schema_->format;
  const Execution execution = interruptible_execution(threads);
  if (piece.length == 0) return;
  if (piece.array->n_buffers < 2 || piece.array->buffers[1] == nullptr)
    refuse(argument, "strings with buffers", "a column without");
  if (format == "u" || format == "z") {
    encode(vocabulary, packed_strings<std::int32_t>(piece), codes, execution);
  } else if (format == "U" || format == "Z") {
    encode(vocabulary, packed_strings<std::int64_t>(piece), codes, execution);
  } else if (format == "vu" || format == "vz") {
    encode(vocabulary, string_views(piece, argument), codes, execution);
  } else {
    const auto width = static_cast<std::size_t>(width_of(format, argument));
    const auto* const first =
        piece.buffer<char>(1) + piece.offset * static_cast<std::int64_t>(width);
    const FixedStrings strings{
        .bytes = {first, piece.size() * width}, .width = width, .count = piece.size()};
    encode(vocabulary, strings, codes, execution);
  }
}

Codes ArrowColumn::encode_strings(OwnedVocabulary& owned, int threads,
                                  const std::string& argument) const {
  if (type() != "string" && type() != "bytes") refuse(argument, "strings or bytes", type());
  check_threads(threads);  // even if there are no rows
  require_memory(length(), sizeof(Code), {.argument = argument});
  Codes codes(length());
  std::span<Code> remaining = writable_span(codes);
  const VocabularyLock lock(owned);
  Vocabulary& vocabulary = lock.vocabulary();
  const GilRelease release;
  for (const Piece& piece : pieces_) {
    encode_piece(piece, vocabulary, remaining.first(piece.size()), threads, argument);
    remaining = remaining.subspan(piece.size());
  }
  return codes;
}

// Of each piece, the values that its rows are codes of.
std::vector<ArrowColumn> ArrowColumn::dictionaries() const {
  std::vector<ArrowColumn> columns;
  for (const Piece& piece : pieces_) {
    if (piece.array->dictionary == nullptr) refuse("dictionary", "one", "none");
    const ArrowArray* const values = piece.array->dictionary;
    columns.emplace_back(owner_, schema_->dictionary,
                         std::vector<Piece>{{piece.batch, values, values->offset, values->length}});
  }
  return columns;
}

// Where the list of each row begins in the column of the items of all lists.
std::pair<py::array_t<Offset>, ArrowColumn> ArrowColumn::lists(const std::string& argument) const {
  if (type() != "list" || schema_->n_children != 1) refuse(argument, "lists", type());
  const std::string_view format = schema_->format;
  require_memory(length() + 1, sizeof(Offset), {.argument = argument});
  std::vector<Offset> begins{0};
  Offset total = 0;
  std::vector<Piece> pieces;
  for (const Piece& piece : pieces_) {
    const auto value_offset = [&](std::int64_t row) -> Offset {
      const std::int64_t i = piece.offset + row;
      if (format == "+l") return piece.buffer<std::int32_t>(1)[i];
      if (format == "+L") return piece.buffer<std::int64_t>(1)[i];
      return i * width_of(format, argument);
    };
    if (piece.length == 0) continue;
    if (!format.starts_with("+w") && piece.buffer<char>(1) == nullptr)
      refuse(argument, "lists with offsets", "a column without");
    const ArrowArray* const values = piece.array->children[0];
    if (values->length > kMaxRows - total) refuse(argument, "lists of fewer items", "more");
    const Offset begin = value_offset(0);
    Offset last = begin;
    for (std::int64_t row = 1; row <= piece.length; ++row) {
      const Offset end = value_offset(row);
      if (begin < 0 || end < last || end > values->length)
        refuse(argument, "offsets that do not decrease", std::to_string(end), row);
      last = end;
      begins.push_back(total + (end - begin));
    }
    total += last - begin;
    pieces.push_back({piece.batch, values, values->offset + begin, last - begin});
  }
  return {py::array_t<Offset>(static_cast<py::ssize_t>(begins.size()), begins.data()),
          ArrowColumn(owner_, schema_->children[0], std::move(pieces))};
}

// Reads a stream to its end.
class ArrowTable {
 public:
  ArrowTable(const py::capsule& capsule, const std::string& argument) {
    if (capsule.name() == nullptr || std::string_view(capsule.name()) != "arrow_array_stream")
      refuse(argument, "a capsule of an Arrow stream", "another");
    // The stream is moved out of the capsule, as whoever reads it must: nobody reads it twice.
    auto& source = *capsule.get_pointer<ArrowArrayStream>();
    OwnedStruct<ArrowArrayStream> stream;
    stream.value = source;
    stream.value.release = std::atomic_ref(source.release).exchange(nullptr);
    if (stream.value.release == nullptr)
      refuse(argument, "an Arrow stream", "one that was read before");
    if (stream.value.get_schema == nullptr || stream.value.get_next == nullptr)
      refuse(argument, "an Arrow stream", "a broken one");
    auto schema = std::make_shared<OwnedStruct<ArrowSchema>>();
    read_struct(stream.value.get_schema, stream.value, schema->value, argument);
    if (schema->value.release == nullptr) refuse(argument, "a schema of Arrow", "a released one");
    check_schema(schema->value, argument);
    schema_ = std::move(schema);
    while (read_batch(stream.value, argument)) poll_signals();
  }

  [[nodiscard]] std::vector<std::pair<std::string, ArrowColumn>> columns() const {
    const ArrowSchema& schema = schema_->value;
    const bool is_struct = std::string_view(schema.format) == "+s";
    std::vector<std::pair<std::string, ArrowColumn>> columns;
    for (std::int64_t i = 0; i < (is_struct ? schema.n_children : 1); ++i) {
      const ArrowSchema* const column = is_struct ? schema.children[i] : &schema;
      columns.emplace_back(column->name == nullptr ? "" : column->name,
                           ArrowColumn(schema_, column, pieces(is_struct, i)));
    }
    return columns;
  }

 private:
  // Has the stream write a struct. Whoever makes the batches may need the GIL.
  template <class Struct>
  static void read_struct(int (*get)(ArrowArrayStream*, Struct*), ArrowArrayStream& stream,
                          Struct& value, const std::string& argument) {
    const auto get_value = [&] {
      const GilRelease release;
      return get(&stream, &value);
    };
    if (get_value() == 0) return;
    const char* const message =
        stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream);
    const std::string found = message == nullptr ? "an error" : message;
    if (found.find("KeyboardInterrupt") !=
        std::string::npos) {  // of Python code: words are all that is left of it
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw py::error_already_set();
    }
    throw InputError(
        {.argument = argument, .expected = "an Arrow stream that can be read", .found = found});
  }

  bool read_batch(ArrowArrayStream& stream, const std::string& argument) {
    auto batch = std::make_shared<OwnedStruct<ArrowArray>>();
    read_struct(stream.get_next, stream, batch->value, argument);
    if (batch->value.release == nullptr) return false;
    const ArrowSchema& schema = schema_->value;
    const bool is_struct = std::string_view(schema.format) == "+s";
    check_array(schema, batch->value, argument);
    if (is_struct) {
      const Piece rows{batch, &batch->value, batch->value.offset, batch->value.length};
      const auto [nulls, first] = count_nulls(rows);
      if (nulls > 0) refuse(argument, "rows that are there", "null", rows_ + first, nulls);
    }
    if (batch->value.length > kMaxRows - rows_) refuse(argument, "fewer rows", "more");
    rows_ += batch->value.length;
    batches_.push_back(std::move(batch));
    return true;
  }

  [[nodiscard]] std::vector<Piece> pieces(bool is_struct, std::int64_t column) const {
    std::vector<Piece> column_pieces;
    for (const Batch& batch : batches_) {
      const ArrowArray& root = batch->value;
      if (is_struct) {  // a column begins where the rows of the batch do
        const ArrowArray* const child = root.children[column];
        column_pieces.push_back({batch, child, child->offset + root.offset, root.length});
      } else {
        column_pieces.push_back({batch, &root, root.offset, root.length});
      }
    }
    return column_pieces;
  }

  Schema schema_;
  std::vector<Batch> batches_;
  Count rows_ = 0;
};

}  // namespace
}  // namespace exactk::bindings

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
