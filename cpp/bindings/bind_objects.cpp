// Reads lists, sets and dicts of Python objects without calling Python code per object.
#include <pybind11/critical_section.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "gil.hpp"
#include "owned_vocabulary.hpp"

namespace exactk::bindings {
namespace {

constexpr Count kSignalInterval = 1 << 16;  // objects between checks for signals

// Formats an object, which may fail: an integer may be too long, a __repr__ broken.
template <class Make>
std::string make_text(const Make& make) {
  try {
    return std::string(py::str(make()));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    return "that cannot be shown";
  }
}

std::string describe(py::handle object) {
  return std::string(py::str(py::type::of(object).attr("__name__"))) + " " + make_text([&] {
           return call_python(py::module_::import("reprlib").attr("repr"), object);
         });  // shortened
}

// Whether an object whose type is not int is an integer, as NumPy's are. Objects in a container
// mostly share a type, which is checked once.
class IntegralTypes {
 public:
  [[nodiscard]] bool includes(py::handle object) {
    if (PyLong_CheckExact(object.ptr())) return true;
    if (!py::type::of(object).is(last_)) {
      const py::object integral = py::module_::import("numbers").attr("Integral");
      last_ = py::type::of(object);
      is_integral_ = !PyBool_Check(object.ptr()) && is_python_instance(object, integral);
    }
    return is_integral_;
  }

 private:
  py::object last_;  // held, so that no other type gets its address
  bool is_integral_ = false;
};

// Returns the bytes of a bytes object or of an ASCII string, which live as long as the object.
std::optional<std::string_view> plain_text_of(PyObject* object, bool as_bytes) {
  if (as_bytes) {
    if (!PyBytes_Check(object)) return std::nullopt;
    return std::string_view(PyBytes_AS_STRING(object),
                            static_cast<std::size_t>(PyBytes_GET_SIZE(object)));
  }
  if (!PyUnicode_Check(object) || !PyUnicode_IS_COMPACT_ASCII(object)) return std::nullopt;
  return std::string_view(static_cast<const char*>(PyUnicode_DATA(object)),
                          static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)));
}

// Returns the UTF-8 bytes of a string, or the bytes of a bytes object. They live as long as the
// holder if it is set, otherwise as long as the object.
std::optional<std::string_view> text_of(py::handle object, bool as_bytes, py::object& holder) {
  const auto plain_text = plain_text_of(object.ptr(), as_bytes);
  if (plain_text || !PyUnicode_Check(object.ptr()) || as_bytes) return plain_text;
  holder = py::reinterpret_steal<py::object>(
      PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogatepass"));
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (!holder || PyBytes_AsStringAndSize(holder.ptr(), &bytes, &size) != 0)
    throw py::error_already_set();
  return std::string_view(bytes, static_cast<std::size_t>(size));
}

// Row and position of an object, for messages.
struct Position {
  Count row = -1;
  Count position = -1;
};

[[noreturn]] void refuse(const std::string& argument, std::string expected, py::handle object,
                         Position location) {
  throw TypeFault({.argument = argument,
                   .expected = std::move(expected),
                   .found = describe(object),
                   .row = location.row,
                   .position = location.position});
}

// Objects of a list, tuple or dict. They are borrowed, so no Python code may run while they are in
// use.
using PlainObjects = std::span<PyObject* const>;

// Collects the items of all rows, which must be integers.
class IntegerItems {
 public:
  explicit IntegerItems(std::string argument) : argument_(std::move(argument)) {}

  void reserve(std::size_t count) { items_.reserve(count); }
  // Appends objects of type int, up to the first that is none or no id, and returns how many.
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size() && PyLong_CheckExact(objects[count]); ++count) {
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(objects[count], &overflow);
      if (overflow != 0 || value < 0) break;
      items_.push_back(value);
    }
    return count;
  }
  void process_collected() {}

  void append(py::handle item, Position location) {
    if (!types_.includes(item)) refuse(argument_, "integer ids", item, location);
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(item.ptr(), &overflow);
    if (value == -1 && overflow == 0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (overflow != 0 || value < 0) record_fault(item, location);
    overflows_ = overflows_ || overflow != 0;
    items_.push_back(value);
  }
  // Throws InputError if int64 cannot hold an id; other faults are found when the lists are
  // validated.
  py::array_t<std::int64_t> finish() {
    if (overflows_) throw InputError(std::move(fault_));
    return array_of(std::move(items_));
  }

 private:
  void record_fault(py::handle item, Position location) {
    if (fault_.count++ > 0) return;
    fault_.argument = argument_;
    fault_.expected = "item ids in [0, 2^63)";
    fault_.found = make_text([&] { return py::str(item); });
    fault_.row = location.row;
    fault_.position = location.position;
  }

  std::string argument_;
  IntegralTypes types_;
  bool overflows_ = false;
  std::vector<std::int64_t> items_;
  Fault fault_{.count = 0};
};

// Collects strings or bytes. Holds them until there are many, because encoding them together, while
// they are still in a near cache, hides the cache misses of the key table.
class TextItems {
 public:
  TextItems(OwnedVocabulary& vocabulary, bool as_bytes, std::string argument)
      : vocabulary_(vocabulary), as_bytes_(as_bytes), argument_(std::move(argument)) {}

  void reserve(std::size_t count) { codes_.reserve(count); }
  // Appends objects up to the first that is no bytes object or ASCII string, and returns how many.
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size(); ++count) {
      const auto text = plain_text_of(objects[count], as_bytes_);
      if (!text) break;
      held_objects_.push_back(py::reinterpret_borrow<py::object>(objects[count]));
      texts_.push_back(*text);
    }
    return count;
  }
  void process_collected() {
    if (texts_.size() >= kMaxHeld) encode_held_texts();
  }

  void append(py::handle item, Position location) {
    py::object holder;
    const auto text = text_of(item, as_bytes_, holder);
    if (!text) refuse(argument_, as_bytes_ ? "bytes as ids" : "strings as ids", item, location);
    held_objects_.push_back(holder ? std::move(holder) : py::reinterpret_borrow<py::object>(item));
    texts_.push_back(*text);
    process_collected();
  }
  Codes finish() {
    encode_held_texts();
    return array_of(std::move(codes_));
  }

 private:
  static constexpr std::size_t kMaxHeld = std::size_t{1} << 10U;

  void encode_held_texts() {
    const std::size_t encoded = codes_.size();
    codes_.resize(encoded + texts_.size());
    const VocabularyLock lock(vocabulary_);
    const auto codes = std::span(codes_).subspan(encoded);
    encode(lock.vocabulary(), ScatteredStrings{texts_}, codes, interruptible_execution());
    texts_.clear();
    held_objects_.clear();
  }

  OwnedVocabulary& vocabulary_;
  bool as_bytes_;
  std::string argument_;
  std::vector<py::object> held_objects_;
  std::vector<std::string_view> texts_;
  std::vector<Code> codes_;
};

// Returns the value of a key of a dict; null if it has none.
py::object value_of_key(PyObject* dict, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* value = nullptr;
  if (PyDict_GetItemRef(dict, key, &value) < 0) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(value);
#else
  PyObject* const value = PyDict_GetItemWithError(dict, key);
  if (value == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return py::reinterpret_borrow<py::object>(value);
#endif
}

// For each row, a dict from some of its items to their numbers.
using PyNumbers = py::typing::List<py::typing::Dict<py::str, py::int_>>;

// Collects the number of each item, which must be a string; -1 for items without a number.
class NumberedItems {
 public:
  NumberedItems(PyNumbers numbers, std::string argument)
      : numbers_(std::move(numbers)), argument_(std::move(argument)) {}

  void reserve(std::size_t count) { items_.reserve(count); }
  void begin_row(Count row) {
    if (std::cmp_greater_equal(row, numbers_.size())) {
      throw InputError({.argument = "numbers",
                        .expected = "a dict for each row",
                        .found = std::to_string(numbers_.size())});
    }
    of_row_ = py::reinterpret_borrow<py::object>(numbers_[static_cast<std::size_t>(row)]);
    if (!PyDict_Check(of_row_.ptr()))
      refuse("numbers", "a dict for each row", of_row_, {.row = row});
  }
  // Appends the numbers of strings, up to the first other object, and returns how many. To compare
  // keys may run Python code, so the objects are held.
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    held_.clear();
    for (; count < objects.size() && PyUnicode_CheckExact(objects[count]); ++count)
      held_.push_back(py::reinterpret_borrow<py::object>(objects[count]));
    for (const py::object& object : held_) items_.push_back(number_of(object));
    return count;
  }
  void process_collected() {}

  void append(py::handle item, Position location) {
    if (!PyUnicode_Check(item.ptr())) refuse(argument_, "strings as ids", item, location);
    items_.push_back(number_of(item));
  }
  py::array_t<std::int64_t> finish() { return array_of(std::move(items_)); }

 private:
  [[nodiscard]] std::int64_t number_of(py::handle item) const {
    const py::object number = value_of_key(of_row_.ptr(), item.ptr());
    if (!number) return -1;
    int overflow = 0;
    const long long value = PyLong_CheckExact(number.ptr())
                                ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow)
                                : -1;
    if (overflow != 0 || value < 0) refuse("numbers", "numbers in [0, 2^63)", number, {});
    return value;
  }

  PyNumbers numbers_;
  std::string argument_;
  py::object of_row_;
  std::vector<py::object> held_;
  std::vector<std::int64_t> items_;
};

// Converts a number to a float, or to None if no float equals it.
using ExactFloat = py::typing::Callable<std::optional<double>(py::object)>;

// The numbers that a mapping assigns to its items: grades or scores, as float64.
class RowValues {
 public:
  RowValues(const std::optional<ExactFloat>& exact_float, std::string argument, std::string what)
      : exact_float_(exact_float ? py::object(*exact_float) : py::none()),
        argument_(std::move(argument)),
        what_(std::move(what)) {}

  void reserve(std::size_t count) { values_.reserve(count); }
  // Appends floats and integers that are exact as floats, up to the first other object, and returns
  // how many.
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size(); ++count) {
      const auto value = plain_value(objects[count]);
      if (!value) break;
      values_.push_back(*value);
    }
    return count;
  }
  void remove_last(std::size_t count) { values_.resize(values_.size() - count); }
  void append(py::handle value, Position location) {
    values_.push_back(exact_value(value, location));
  }
  py::array_t<double> finish() { return array_of(std::move(values_)); }

 private:
  [[nodiscard]] static std::optional<double> plain_value(PyObject* value) {
    if (PyFloat_Check(value)) return PyFloat_AS_DOUBLE(value);
    if (!PyLong_CheckExact(value)) return std::nullopt;
    int overflow = 0;
    const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    constexpr long long kExact = 1LL << 53U;
    if (overflow != 0 || integer < -kExact || integer > kExact) return std::nullopt;
    return static_cast<double>(integer);
  }
  [[nodiscard]] double exact_value(py::handle value, Position location) const {
    if (const auto plain = plain_value(value.ptr())) return *plain;
    if (!PyLong_CheckExact(value.ptr()) &&
        (PyBool_Check(value.ptr()) || !is_python_instance(value, real_))) {
      refuse(argument_, "numbers as " + what_, value, location);
    }
    const py::object number = call_python(exact_float_, value);
    if (!number.is_none()) return number.cast<double>();
    throw InputError({.argument = argument_,
                      .expected = what_ + " that float64 holds exactly",
                      .found = describe(value),
                      .row = location.row,
                      .position = location.position});
  }

  py::object exact_float_;  // None if there are no values
  std::string argument_;
  std::string what_;
  py::object real_ = py::module_::import("numbers").attr("Real");
  std::vector<double> values_;
};

// Where reading a list, tuple or dict continues.
struct Cursor {
  Count position = 0;
  Py_ssize_t entry = 0;  // of a dict
};

// Consecutive objects of a row. They are scattered in memory, so all are prefetched before the
// first is read.
class Block {
 public:
  static constexpr std::size_t kCapacity = 64;

  [[nodiscard]] PlainObjects items() const noexcept { return std::span(items_).first(size_); }
  [[nodiscard]] PlainObjects values() const noexcept { return std::span(values_).first(size_); }

  // Reads the objects at the cursor of a list, tuple or dict, and advances the cursor.
  void read(PyObject* row, Cursor& cursor) {
    size_ = 0;
    if (PyDict_CheckExact(row)) {
      PyObject* item = nullptr;
      PyObject* value = nullptr;
      while (size_ < kCapacity && PyDict_Next(row, &cursor.entry, &item, &value) != 0) {
        __builtin_prefetch(value);
        values_[size_] = value;
        append(item);
      }
    } else if (PyList_CheckExact(row) || PyTuple_CheckExact(row)) {
      PyObject* const* const objects = PySequence_Fast_ITEMS(row);
      const Count size = PySequence_Fast_GET_SIZE(row);
      for (Count i = cursor.position; size_ < kCapacity && i < size; ++i) append(objects[i]);
    }
    cursor.position += static_cast<Count>(size_);
  }

 private:
  void append(PyObject* item) {
    __builtin_prefetch(item);
    items_[size_++] = item;
  }

  std::array<PyObject*, kCapacity> items_{};
  std::array<PyObject*, kCapacity> values_{};  // of a dict
  std::size_t size_ = 0;
};

// Returns the cursor behind further items of the row.
Cursor advanced(Cursor cursor, PyObject* row, std::size_t count) {
  cursor.position += static_cast<Count>(count);
  if (PyDict_CheckExact(row)) {
    for (std::size_t i = 0; i < count; ++i) PyDict_Next(row, &cursor.entry, nullptr, nullptr);
  }
  return cursor;
}

// Returns the position of the first item of a row that needs Python code, or that of its end. The
// items before it are appended, with their values if the row is a dict.
template <class Items>
Cursor append_plain(py::handle row, Block& block, Items& items, RowValues* values) {
  Cursor cursor;
  while (true) {
    Cursor next = cursor;
    {
      const py::scoped_critical_section section(row);  // without a GIL
      block.read(row.ptr(), next);
      const std::size_t valued =
          values ? values->append_plain(block.values()) : block.items().size();
      const std::size_t plain = items.append_plain(block.items().first(valued));
      if (values) values->remove_last(valued - plain);
      cursor = plain == block.items().size() ? next : advanced(cursor, row.ptr(), plain);
    }
    items.process_collected();
    if (cursor.position < next.position || block.items().size() < Block::kCapacity) return cursor;
    if (cursor.position % kSignalInterval == 0) poll_signals();
  }
}

// Calls visit(item, value or null, position) for each item of a row from the cursor. Returns the
// number of items.
template <class Visit>
Count visit_row(py::handle row, Cursor cursor, const Visit& visit) {
  Count& position = cursor.position;
  if (PyDict_CheckExact(row.ptr())) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(row.ptr(), &cursor.entry, &key, &value) != 0) {
      const auto held_key = py::reinterpret_borrow<py::object>(key);
      const auto held_value = py::reinterpret_borrow<py::object>(value);
      visit(held_key, held_value, position++);
    }
    return position;
  }
  if (PyList_CheckExact(row.ptr()) || PyTuple_CheckExact(row.ptr())) {
    for (; position < PySequence_Fast_GET_SIZE(row.ptr()); ++position) {  // may change size
      PyObject* const item = PySequence_Fast_GET_ITEM(row.ptr(), position);
      visit(py::reinterpret_borrow<py::object>(item), py::handle(), position);
    }
    return position;
  }
  const py::object iterator = iterator_of(row);
  while (const py::object item = next_item(iterator)) visit(item, py::handle(), position++);
  return position;
}

// The rows of users: lists, tuples, sets, dicts, or None for users without a row.
using PyRows = py::typing::List<py::object>;

// Returns the size of a list, tuple or dict; 0 of other rows.
std::size_t plain_size(PyObject* row) {
  if (PyDict_CheckExact(row)) return static_cast<std::size_t>(PyDict_Size(row));
  const bool has_size = PyList_CheckExact(row) || PyTuple_CheckExact(row);
  return has_size ? static_cast<std::size_t>(PySequence_Fast_GET_SIZE(row)) : 0;
}

// The contents of rows as arrays.
template <class Array>
struct RowArrays {
  py::array_t<Offset> indptr;
  Array items;
  std::optional<py::array_t<double>> values;
  std::optional<py::array_t<bool>> present;  // nullopt: all rows are present
};
using IntegerRows = RowArrays<py::array_t<std::int64_t>>;
using TextRows = RowArrays<Codes>;

template <class Array, class Items>
RowArrays<Array> read_rows(const py::list& rows, Items& items,
                           const std::optional<ExactFloat>& exact_float,
                           const std::string& argument, const std::string& what) {
  const bool has_values = exact_float.has_value();
  std::vector<Offset> indptr{0};
  std::vector<std::uint8_t> present;
  bool all_present = true;
  RowValues values(exact_float, argument, what);
  Block block;  // of all rows, as to clear it takes longer than to read a short row
  std::size_t expected_size = 0;
  for (const py::handle row : rows) expected_size += plain_size(row.ptr());
  items.reserve(expected_size);
  if (has_values) values.reserve(expected_size);
  Count total = 0;
  for (Count row = 0; row < std::ssize(rows); ++row) {
    const auto row_object = py::reinterpret_borrow<py::object>(rows[static_cast<std::size_t>(row)]);
    if (!row_object.is_none()) {
      const bool is_dict = PyDict_CheckExact(row_object.ptr());
      if (is_dict != has_values && !(has_values && py::len(row_object) == 0)) {
        throw TypeFault({.argument = argument,
                         .expected = has_values
                                         ? "a mapping from item to " +
                                               what.substr(0, what.size() - 1) + " in every row"
                                         : "a sequence of ids",
                         .found = py::str(py::type::of(row_object).attr("__name__")),
                         .row = row});
      }
      if constexpr (requires { items.begin_row(row); }) items.begin_row(row);
      const Cursor rest = append_plain(row_object, block, items, is_dict ? &values : nullptr);
      total += visit_row(row_object, rest, [&](py::handle item, py::handle value, Count position) {
        items.append(item, {.row = row, .position = position});
        if (value) values.append(value, {.row = row, .position = position});
        if (position % kSignalInterval == kSignalInterval - 1) poll_signals();
      });
    }
    indptr.push_back(total);
    present.push_back(row_object.is_none() ? 0 : 1);
    all_present = all_present && !row_object.is_none();
    if (row % (kSignalInterval / 64) == 0) poll_signals();
  }
  std::optional<py::array_t<bool>> present_flags;
  if (!all_present) {
    present_flags =
        py::array_t<std::uint8_t>(static_cast<py::ssize_t>(present.size()), present.data())
            .attr("view")("bool");
  }
  std::optional<py::array_t<double>> numbers;
  if (has_values) numbers = values.finish();
  return {.indptr = py::array_t<Offset>(static_cast<py::ssize_t>(indptr.size()), indptr.data()),
          .items = items.finish(),
          .values = std::move(numbers),
          .present = std::move(present_flags)};
}

IntegerRows integer_rows(const PyRows& rows, const std::optional<ExactFloat>& exact_float,
                         const std::string& argument, const std::string& what) {
  IntegerItems items(argument);
  return read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
}

IntegerRows numbered_rows(const PyRows& rows, const PyNumbers& numbers,
                          const std::optional<ExactFloat>& exact_float, const std::string& argument,
                          const std::string& what) {
  NumberedItems items(numbers, argument);
  return read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
}

TextRows text_rows(OwnedVocabulary& vocabulary, const PyRows& rows, bool as_bytes,
                   const std::optional<ExactFloat>& exact_float, const std::string& argument,
                   const std::string& what) {
  TextItems items(vocabulary, as_bytes, argument);
  return read_rows<Codes>(rows, items, exact_float, argument, what);
}

Codes encode_texts(OwnedVocabulary& vocabulary, const PyRows& column, bool as_bytes,
                   const std::string& argument) {
  TextItems texts(vocabulary, as_bytes, argument);
  const auto size = static_cast<Count>(column.size());
  texts.reserve(static_cast<std::size_t>(size));
  Block block;
  const Cursor rest = append_plain(column, block, texts, nullptr);
  const Count visited_rows =
      visit_row(column, rest, [&](py::handle text, py::handle, Count position) {
        texts.append(text, {.position = position});
        if (position % kSignalInterval == 0) poll_signals();
      });
  if (visited_rows == size) return texts.finish();
  throw InputError({.argument = argument,
                    .expected = "a list of constant length",
                    .found = "a list that changed length"});
}

template <class Arrays>
void bind_row_arrays(py::module_& module, const char* name, const char* doc) {
  bind_class<Arrays>(module, name, doc)
      .def_readonly("indptr", &Arrays::indptr)
      .def_readonly("items", &Arrays::items)
      .def_readonly("values", &Arrays::values, "The values; None if the rows have none.")
      .def_readonly("present", &Arrays::present, "Whether each row is present; None if all are.");
}

}  // namespace
}  // namespace exactk::bindings

namespace pybind11::detail {

template <>
struct type_caster<exactk::bindings::IntegerRows>
    : ConstructedCaster<exactk::bindings::IntegerRows> {};
template <>
struct type_caster<exactk::bindings::TextRows> : ConstructedCaster<exactk::bindings::TextRows> {};

}  // namespace pybind11::detail

namespace exactk::bindings {

void bind_objects(py::module_& module) {
  bind_row_arrays<IntegerRows>(module, "IntegerRows", "Rows of integers, as arrays.");
  bind_row_arrays<TextRows>(module, "TextRows", "Rows of strings or bytes, as arrays of codes.");
  module.def(
      "integer_rows", &integer_rows, py::arg("rows"), py::arg("exact_float"), py::arg("argument"),
      py::arg("what"),
      "Convert rows of integers to arrays. With `exact_float`, which converts other numbers to "
      "floats, each row maps its items to values.");
  module.def("text_rows", &text_rows, py::arg("vocabulary"), py::arg("rows"), py::arg("as_bytes"),
             py::arg("exact_float"), py::arg("argument"), py::arg("what"),
             "Convert rows of strings or bytes to arrays of codes, as integer_rows does.");
  module.def(
      "numbered_rows", &numbered_rows, py::arg("rows"), py::arg("numbers"), py::arg("exact_float"),
      py::arg("argument"), py::arg("what"),
      "Convert rows of strings to arrays of their numbers, which a dict for each row has, or "
      "-1, as integer_rows does.");
  module.def("encode_texts", &encode_texts, py::arg("vocabulary"), py::arg("column"),
             py::arg("as_bytes"), py::arg("argument"),
             "Return the code of each string or bytes object in a list.");
}

}  // namespace exactk::bindings
