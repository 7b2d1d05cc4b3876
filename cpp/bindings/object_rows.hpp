// Reads rows that are lists, sets or dicts of Python objects, without calling Python code per
// object.
#pragma once

#include <pybind11/critical_section.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "gil.hpp"

namespace exactk::bindings {

inline constexpr Count kSignalInterval = 1 << 16;  // objects between checks for signals

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

inline std::string describe(py::handle object) {
  return std::string(py::str(py::type::of(object).attr("__name__"))) + " " + make_text([&] {
           return call_python(py::module_::import("reprlib").attr("repr"), object);
         });  // shortened
}

// Row and position of an object, for messages.
struct Position {
  Count row = -1;
  Count position = -1;
};

[[noreturn]] inline void refuse(const std::string& argument, std::string expected,
                                py::handle object, Position location) {
  throw TypeFault({.argument = argument,
                   .expected = std::move(expected),
                   .found = describe(object),
                   .row = location.row,
                   .position = location.position});
}

// Objects of a list, tuple or dict. They are borrowed, so no Python code may run while they are in
// use.
using PlainObjects = std::span<PyObject* const>;

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
  [[nodiscard]] std::span<const double> from(Count begin) const {
    return std::span(values_).subspan(std::min(static_cast<std::size_t>(begin), values_.size()));
  }
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
inline Cursor advanced(Cursor cursor, PyObject* row, std::size_t count) {
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
    auto next = static_cast<std::size_t>(position);
    for (; std::cmp_less(next, PySequence_Fast_GET_SIZE(row.ptr())); ++next) {  // may change size
      PyObject* const item = PySequence_Fast_ITEMS(row.ptr())[next];
      visit(py::reinterpret_borrow<py::object>(item), py::handle(), static_cast<Count>(next));
    }
    return static_cast<Count>(next);
  }
  const py::object iterator = iterator_of(row);
  while (const py::object item = next_item(iterator)) visit(item, py::handle(), position++);
  return position;
}

// The rows of users: lists, tuples, sets, dicts, or None for users without a row.
using PyRows = py::typing::List<py::object>;

// Returns the size of a list, tuple, dict or set; 0 of other rows.
inline std::size_t plain_size(PyObject* row) {
  if (PyDict_CheckExact(row)) return static_cast<std::size_t>(PyDict_Size(row));
  if (PyAnySet_CheckExact(row)) return static_cast<std::size_t>(PySet_Size(row));
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
template <class Array>
inline constexpr bool kIsBound<RowArrays<Array>> = true;
using IntegerRows = RowArrays<py::array_t<std::int64_t>>;

// Reads the items of all rows, and their values if these are numbers of mappings. Where `items` has
// them, calls begin_row(row, its size if it is plain) before each row, and end_row(row, its values)
// after it.
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
    if constexpr (requires { items.begin_row(row, std::size_t{}); })
      items.begin_row(row, plain_size(row_object.ptr()));
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
      const Cursor rest = append_plain(row_object, block, items, is_dict ? &values : nullptr);
      total += visit_row(row_object, rest, [&](py::handle item, py::handle value, Count position) {
        items.append(item, {.row = row, .position = position});
        if (value) values.append(value, {.row = row, .position = position});
        if (position % kSignalInterval == kSignalInterval - 1) poll_signals();
      });
    }
    if constexpr (requires { items.end_row(row_object, values.from(0)); })
      items.end_row(row_object, values.from(indptr.back()));
    indptr.push_back(total);
    present.push_back(row_object.is_none() ? 0 : 1);
    all_present = all_present && !row_object.is_none();
    if (row % (kSignalInterval / 64) == 0) poll_signals();
  }
  std::optional<py::array_t<bool>> present_flags;
  if (!all_present) {
    present_flags = copy_of(present).attr("view")("bool");
  }
  std::optional<py::array_t<double>> numbers;
  if (has_values) numbers = values.finish();
  return {.indptr = copy_of(indptr),
          .items = items.finish(),
          .values = std::move(numbers),
          .present = std::move(present_flags)};
}

}  // namespace exactk::bindings
