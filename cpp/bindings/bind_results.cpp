#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/evaluate.hpp"
#include "gil.hpp"
#include "integers.hpp"
#include "results.hpp"

namespace exactk::bindings {

py::int_ python_integer(const ExactInteger& integer) {
  constexpr const char* kDigits = "0123456789abcdef";
  const bool is_negative = !integer.bytes.empty() && integer.bytes.back() >= 0x80;
  const std::uint8_t sign = is_negative ? 0xff : 0;
  std::span<const std::uint8_t> bytes = integer.bytes;
  while (!bytes.empty() && bytes.back() == sign) bytes = bytes.first(bytes.size() - 1);
  if (bytes.empty()) return py::int_(is_negative ? -1 : 0);
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const std::uint8_t byte : std::views::reverse(bytes)) {
    const unsigned bits = is_negative ? 0xffU ^ byte : byte;
    digits += kDigits[bits >> 4U];
    digits += kDigits[bits & 0xfU];
  }
  const auto number =
      py::reinterpret_steal<py::object>(PyLong_FromString(digits.c_str(), nullptr, 16));
  if (!number) throw py::error_already_set();
  return is_negative ? ~number : number;
}

namespace {

// (users, undefined, total and its scale, squares and theirs, weight and its)
using PySumsRow = py::typing::Tuple<py::int_, py::int_, py::int_, py::int_, py::int_, py::int_,
                                    py::int_, py::int_>;

py::typing::List<PySumsRow> rows_of(const PySums& sums) {
  py::typing::List<PySumsRow> rows;
  for (const Sums& row : *sums.rows) {
    if (rows.size() % 512 == 511) poll_signals();
    rows.append(py::make_tuple(row.users, row.undefined, python_integer(row.total), row.total.scale,
                               python_integer(row.squares), row.squares.scale,
                               python_integer(row.weight), row.weight.scale));
  }
  return rows;
}

// (users, undefined, digits of total, of squares and of weight, scales of these)
using PyColumns =
    py::typing::Tuple<py::array_t<Count>, py::array_t<Count>, py::array_t<std::int64_t>,
                      py::array_t<std::int64_t>, py::array_t<std::int64_t>,
                      py::typing::Tuple<py::int_, py::int_, py::int_>>;

// Writes an integer in base 2^32, least significant digit first; the last one has the sign.
void write_digits(const ExactInteger& integer, std::span<std::int64_t> digits) {
  const std::vector<std::uint8_t>& bytes = integer.bytes;
  const bool is_negative = !bytes.empty() && bytes.back() >= 0x80;
  const std::size_t whole = std::min(digits.size(), bytes.size() / 4);
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint8_t* byte = &bytes[4 * i];
    digits[i] =
        byte[0] | unsigned{byte[1]} << 8U | unsigned{byte[2]} << 16U | unsigned{byte[3]} << 24U;
  }
  for (std::size_t i = whole; i < digits.size(); ++i) {
    std::uint32_t digit = is_negative ? ~0U : 0;
    for (std::size_t j = bytes.size(); j > 4 * i; --j) digit = digit << 8U | bytes[j - 1];
    digits[i] = digit;
  }
  if (!digits.empty()) digits.back() = static_cast<std::int32_t>(digits.back());
}

// Returns an integer of each of some sums, as rows of digits.
template <auto integer>
py::array_t<std::int64_t> digits_of(const std::vector<const Sums*>& rows) {
  std::size_t size = 0;
  for (const Sums* row : rows) size = std::max(size, ((row->*integer).bytes.size() + 3) / 4);
  std::vector<std::int64_t> digits(rows.size() * size);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % 4096 == 4095) poll_signals();
    write_digits(rows[i]->*integer, std::span(digits).subspan(i * size, size));
  }
  return array_of(std::move(digits),
                  {static_cast<py::ssize_t>(rows.size()), static_cast<py::ssize_t>(size)});
}

template <auto count>
py::array_t<Count> array_of_counts(const std::vector<const Sums*>& rows) {
  std::vector<Count> counts;
  counts.reserve(rows.size());
  for (const Sums* row : rows) counts.push_back(row->*count);
  return array_of(std::move(counts));
}

PyColumns columns_of_value(const PySums& sums, Count value) {
  if (value < 0 || value >= sums.values) {
    throw InputError({.argument = "value",
                      .expected = "a number of a value below " + std::to_string(sums.values),
                      .found = std::to_string(value)});
  }
  std::vector<const Sums*> rows;
  rows.reserve(sums.rows->size() / static_cast<std::size_t>(sums.values));
  for (auto i = static_cast<std::size_t>(value); i < sums.rows->size();
       i += static_cast<std::size_t>(sums.values)) {
    rows.push_back(&(*sums.rows)[i]);
  }
  const Sums first = rows.empty() ? Sums{} : *rows.front();
  return py::make_tuple(array_of_counts<&Sums::users>(rows),
                        array_of_counts<&Sums::undefined>(rows), digits_of<&Sums::total>(rows),
                        digits_of<&Sums::squares>(rows), digits_of<&Sums::weight>(rows),
                        py::make_tuple(first.total.scale, first.squares.scale, first.weight.scale));
}

using PyCounts = py::typing::Tuple<py::int_, py::int_, py::int_, py::int_, py::int_, py::int_,
                                   py::int_, py::int_, py::int_>;

// (counts, foreign items, tied lists by cutoff, list lengths by cutoff, short lists by cutoff)
using PyItemTally =
    py::typing::Tuple<py::array_t<Count>, py::array_t<std::int64_t>, py::typing::List<py::int_>,
                      py::typing::List<py::array_t<Count>>, py::typing::List<py::array_t<Count>>>;

// Returns rows of (length, lists), without lengths of no list.
py::array_t<Count> table_of_lengths(const std::vector<Count>& lists) {
  std::vector<Count> cells;
  for (std::size_t length = 0; length < lists.size(); ++length) {
    if (lists[length] > 0) cells.insert(cells.end(), {static_cast<Count>(length), lists[length]});
  }
  const auto rows = static_cast<py::ssize_t>(cells.size() / 2);
  return array_of(std::move(cells), {rows, 2});
}

// Returns rows of (row of the item, length, lists).
py::array_t<Count> table_of_short_lists(const std::vector<ShortLists>& short_lists) {
  std::vector<Count> cells;
  cells.reserve(3 * short_lists.size());
  for (const ShortLists& row : short_lists) {
    cells.insert(cells.end(), {row.item, row.length, row.lists});
  }
  return array_of(std::move(cells), {static_cast<py::ssize_t>(short_lists.size()), 3});
}

PyItemTally python_item_tally(const ItemTally& tally) {
  const auto columns = static_cast<py::ssize_t>(tally.list_lengths.size());
  std::vector<Count> counts = tally.counts;
  const py::ssize_t rows = static_cast<py::ssize_t>(counts.size()) / columns;
  py::typing::List<py::int_> tied_lists;
  for (const Count lists : tally.tied_lists) tied_lists.append(lists);
  py::typing::List<py::array_t<Count>> list_lengths;
  for (const std::vector<Count>& lists : tally.list_lengths) {
    list_lengths.append(table_of_lengths(lists));
  }
  py::typing::List<py::array_t<Count>> short_lists;
  for (const std::vector<ShortLists>& of_cutoff : tally.short_lists) {
    short_lists.append(table_of_short_lists(of_cutoff));
  }
  std::vector<std::int64_t> foreign_items = tally.foreign_items;
  return py::make_tuple(array_of(std::move(counts), {rows, columns}),
                        array_of(std::move(foreign_items)), tied_lists, list_lengths, short_lists);
}

// (lists, counts of ranks x groups, possible items by group, tied lists by rank)
using PyGroupTally =
    py::typing::Tuple<py::int_, py::array_t<Count>, py::array_t<Count>, py::array_t<Count>>;

PyGroupTally python_group_tally(const GroupTally& tally) {
  std::vector<Count> counts = tally.counts;
  std::vector<Count> possible = tally.possible;
  std::vector<Count> tied_lists = tally.tied_lists;
  return py::make_tuple(tally.lists, array_of(std::move(counts)), array_of(std::move(possible)),
                        array_of(std::move(tied_lists)));
}

}  // namespace

void bind_results(py::module_& module) {  // NOLINT(misc-const-correctness): as the others
  bind_class<PySums>(module, "Sums",
                     "The exact sums of groups x values. An integer times "
                     "2^-scale is the sum.")
      .def("columns", &columns_of_value, py::arg("value"),
           "Return the sums of one value in each group: the users and the undefined ones; rows of "
           "digits in base 2^32, least significant first, of the total, the squares and the "
           "weight, of which the last digit has the sign; and the scales of these three.")
      .def_property_readonly("rows", &rows_of,
                             "Of each: the users and the undefined ones; the total, the squares "
                             "and the weight, each with its scale.");
  bind_class<Tally>(module, "Tally", "The counts of an evaluation; see exactk/evaluate.hpp.")
      .def_property_readonly(
          "counts",
          [](const Tally& tally) -> PyCounts {
            return py::make_tuple(tally.empty_truth, tally.empty_predictions, tally.missing_lists,
                                  tally.missing_truth, tally.duplicates, tally.excluded_recommended,
                                  tally.relevant_excluded, tally.relevant_not_rankable,
                                  tally.longest_list);
          },
          "(empty_truth, empty_predictions, missing_lists, missing_truth, duplicates, "
          "excluded_recommended, relevant_excluded, relevant_not_rankable, longest_list)")
      .def_readonly("foreign_recommended", &Tally::foreign_recommended)
      .def_readonly("unseen_recommended", &Tally::unseen_recommended)
      .def_readonly("tie_dependent", &Tally::tie_dependent)
      .def_readonly("tie_spread", &Tally::tie_spread)
      .def_readonly("undefined", &Tally::undefined)
      .def_readonly("candidates", &Tally::candidates)
      .def_readonly("candidate_users", &Tally::candidate_users)
      .def_readonly("fewest_candidates", &Tally::fewest_candidates)
      .def_readonly("most_candidates", &Tally::most_candidates);
  bind_class<PyResult>(module, "Result", "The result of an evaluation.")
      .def_property_readonly("sums", [](const PyResult& result) { return result.sums; })
      .def_property_readonly("tally", [](const PyResult& result) { return result.tally; })
      .def_readonly("per_user", &PyResult::per_user,
                    "The values of each user, an array of values x users, if requested.")
      .def_property_readonly(
          "item_tallies",
          [](const PyResult& result) {
            py::typing::List<PyItemTally> tallies;
            for (const ItemTally& tally : result.item_tallies) {
              tallies.append(python_item_tally(tally));
            }
            return tallies;
          },
          "For each item tally of the request, of all users and, if they have groups, of each: "
          "counts of items x cutoffs, first of the catalogue, then of the foreign items; the ids "
          "of these; per cutoff, rows of length and lists; and, per cutoff, rows of the item's "
          "row, a length below the cutoff and lists.")
      .def_property_readonly(
          "group_tallies",
          [](const PyResult& result) {
            py::typing::List<PyGroupTally> tallies;
            for (const GroupTally& tally : result.group_tallies) {
              tallies.append(python_group_tally(tally));
            }
            return tallies;
          },
          "For each group tally of the request, of all users and, if they have groups, of each: "
          "the number of lists; counts of ranks x groups, one after another; the number of items "
          "that lists could have counted, by group; and the number of tied lists by rank.")
      .def_readonly("ratios", &PyResult::ratios,
                    "The numerators and denominators of each user for the micro values, an array "
                    "of micro values x 2 x users, NaN for users who are left out of the sums; if "
                    "values of users are requested.");
}

}  // namespace exactk::bindings
