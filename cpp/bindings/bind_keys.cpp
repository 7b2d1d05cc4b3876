#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/capacity.hpp"
#include "exactk/grouping.hpp"
#include "owned.hpp"
#include "owned_keys.hpp"

namespace exactk::bindings {
namespace {

Numbers number_integers(OwnedKeys& self, const py::array& column, int threads,
                        const std::string& argument) {
  const ItemArray values = item_view(column, argument);
  Numbers numbers(column.size());
  const auto out = writable(numbers);
  Keys& keys = self.to_extend();
  const OwnedKeys::Extension extension(self);
  const py::gil_scoped_release release;
  number_keys(keys, values, out, argument, attentive(threads));
  return numbers;
}

Numbers number_packed(OwnedKeys& self, const py::array& offsets, const py::array& bytes,
                      int threads, const std::string& argument) {
  const auto places = view<std::int64_t>(offsets, argument + ".offsets");
  const auto data = view<std::uint8_t>(bytes, argument + ".bytes");
  if (places.empty()) {
    throw InputError({.argument = argument + ".offsets",
                      .expected = "one offset more than there are strings",
                      .found = "none"});
  }
  const PackedStrings<std::int64_t> column{
      .offsets = places, .bytes = {reinterpret_cast<const char*>(data.data()), data.size()}};
  Numbers numbers(static_cast<py::ssize_t>(column.size()));
  const auto out = writable(numbers);
  Keys& keys = self.to_extend();
  const OwnedKeys::Extension extension(self);
  const py::gil_scoped_release release;
  number_keys(keys, column, out, attentive(threads));
  return numbers;
}

// As int64, or as uint64 if one needs it.
py::array integers_of(const OwnedKeys& self) {
  const Keys& keys = self.keys();
  py::array_t<std::int64_t> values(keys.size());
  std::int64_t* const out = values.mutable_data();
  for (Count i = 0; i < keys.size(); ++i) {
    out[i] = static_cast<std::int64_t>(keys.integer(static_cast<KeyNumber>(i)));
  }
  if (!keys.has_wide()) return values;
  return values.attr("view")("uint64");
}

// What Keys.number_packed takes.
py::typing::Tuple<py::array_t<std::int64_t>, py::array_t<std::uint8_t>> packed(
    const OwnedKeys& self) {
  const Keys& keys = self.keys();
  py::array_t<std::int64_t> offsets(keys.size() + 1);
  std::int64_t* const ends = offsets.mutable_data();
  ends[0] = 0;
  for (Count i = 0; i < keys.size(); ++i) {
    ends[i + 1] = ends[i] + std::ssize(keys.string(static_cast<KeyNumber>(i)));
  }
  py::array_t<std::uint8_t> bytes(ends[keys.size()]);
  std::uint8_t* next = bytes.mutable_data();
  for (Count i = 0; i < keys.size(); ++i) {
    next = std::ranges::copy(keys.string(static_cast<KeyNumber>(i)), next).out;
  }
  return py::make_tuple(offsets, bytes);
}

using PyGrouping = py::typing::Tuple<py::array_t<Offset>, std::optional<py::array_t<Offset>>>;

void check_users(Count users) {
  if (users < 0) {
    throw InputError(
        {.argument = "users", .expected = "0 or more", .found = std::to_string(users)});
  }
  require_memory(users + 1, 2 * sizeof(Offset), {.argument = "users"});
}

PyGrouping grouped(const py::array& numbers, Count users, const std::optional<py::array>& ranks,
                   const std::string& argument) {
  check_users(users);
  const auto rows = view<KeyNumber>(numbers, argument);
  Grouping grouping = group_rows(rows, users, argument, attentive());
  if (ranks) {
    check_size(ranks, std::ssize(rows), argument + ".ranks");
    if (py::isinstance<py::array_t<double>>(*ranks)) {
      const auto values = snapshot<double>(ranks, argument + ".ranks");
      order_by_rank(grouping, std::span<const double>(values), argument, attentive());
    } else {
      const auto values = snapshot<std::int64_t>(ranks, argument + ".ranks");
      order_by_rank(grouping, std::span<const std::int64_t>(values), argument, attentive());
    }
  }
  const auto array = [](const std::vector<Offset>& values) {
    return py::array_t<Offset>(static_cast<py::ssize_t>(values.size()), values.data());
  };
  std::optional<py::array_t<Offset>> order;
  if (!grouping.order.empty()) order = array(grouping.order);
  return py::make_tuple(array(grouping.indptr), order);
}

using PyMoved = py::typing::Tuple<py::array_t<Offset>, std::optional<py::typing::List<py::array>>>;

// The columns user by user, or None if they stand so already.
PyMoved moved(const py::array& numbers, Count users, const std::vector<py::array>& columns,
              int threads, const std::string& argument) {
  check_users(users);
  const auto rows = view<KeyNumber>(numbers, argument);
  const Effort effort = attentive(threads);
  RowCounts counts = [&] {
    const py::gil_scoped_release release;
    return count_rows(rows, users, argument, effort);
  }();
  const py::array_t<Offset> indptr(static_cast<py::ssize_t>(counts.indptr.size()),
                                   counts.indptr.data());
  if (counts.sorted) return py::make_tuple(indptr, py::none());
  py::list results;
  std::vector<MovedColumn> moves;
  for (const py::array& column : columns) {
    const auto width = static_cast<std::size_t>(column.itemsize());
    const bool fits = column.ndim() == 1 && column.size() == std::ssize(rows) &&
                      std::has_single_bit(width) && width <= sizeof(std::uint64_t) &&
                      std::string_view("iuf").find(column.dtype().kind()) != std::string_view::npos;
    if (!fits) {
      throw TypeFault(
          {.argument = argument,
           .expected = "columns of numbers, one a row",
           .found = std::string(py::str(column.dtype())) + " of " + std::to_string(column.size())});
    }
    py::array result(column.dtype(), column.size());
    moves.push_back({.from = static_cast<const std::byte*>(column.data()),
                     .stride = column.strides(0),
                     .to = static_cast<std::byte*>(result.mutable_data()),
                     .width = width});
    results.append(std::move(result));
  }
  {
    const py::gil_scoped_release release;
    move_rows(std::move(counts), rows, moves, argument, effort);
  }
  return py::make_tuple(indptr, results);
}

}  // namespace

void bind_keys(py::module_& module) {
  py::class_<OwnedKeys>(module, "Keys",
                        "Distinct keys, numbered as they come; see exactk/keys.hpp.")
      .def(py::init<bool>(), py::arg("integers").noconvert())
      .def("extended", &OwnedKeys::extended, "Keys that go on after these, which stay as they are.")
      .def("__len__", [](const OwnedKeys& self) { return self.keys().size(); })
      .def_property_readonly("integers",
                             [](const OwnedKeys& self) { return self.keys().integers(); })
      .def("number_integers", &number_integers, py::arg("column").noconvert(), py::arg("threads"),
           py::arg("argument"),
           "The number of each integer; those that are not known get new ones.")
      .def("number_packed", &number_packed, py::arg("offsets").noconvert(),
           py::arg("bytes").noconvert(), py::arg("threads"), py::arg("argument"),
           "The number of each string, of which the i-th is bytes[offsets[i]:offsets[i + 1]].")
      .def(
          "adopt",
          [](OwnedKeys& self, const OwnedKeys& others, const std::string& argument) {
            return as_array(adopt(self.to_extend(), others.keys(), argument, attentive()));
          },
          py::arg("others"), py::arg("argument"),
          "The number of each of the other keys; those that are not known get new ones.")
      .def(
          "places_in_order",
          [](const OwnedKeys& self) { return as_array(places_in_order(self.keys(), attentive())); },
          "The place of each key among all of them in ascending order.")
      .def(
          "as_integers",
          [](const OwnedKeys& self) {
            if (self.keys().integers()) return integers_of(self);
            throw TypeFault({.argument = "keys", .expected = "integers", .found = "strings"});
          },
          "The integers by number.")
      .def(
          "as_packed",
          [](const OwnedKeys& self) {
            if (!self.keys().integers()) return packed(self);
            throw TypeFault({.argument = "keys", .expected = "strings", .found = "integers"});
          },
          "The strings by number, as number_packed takes them.");
  module.def("moved", &moved, py::arg("numbers").noconvert(), py::arg("users"), py::arg("columns"),
             py::arg("threads"), py::arg("argument"),
             "Where the rows of each user begin once they stand user by user, and the columns so; "
             "None if they stand so already.");
  module.def("grouped", &grouped, py::arg("numbers").noconvert(), py::arg("users"),
             py::arg("ranks").noconvert(), py::arg("argument"),
             "Where the rows of each user begin once they stand user by user, and which row then "
             "stands where; None if they stand so already.");
}

}  // namespace exactk::bindings
