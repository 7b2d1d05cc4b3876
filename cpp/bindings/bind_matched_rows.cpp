// Looks strings of a row up among those of another row, such as the items of a user in the truth.
// Nothing is encoded: Python has the hash of each string that was ever a key.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "object_rows.hpp"

namespace exactk::bindings {
namespace {

// Returns a string as an object of type str itself, which compares without Python code; null if it
// is no string.
py::object exact_string(py::handle object) {
  if (PyUnicode_CheckExact(object.ptr())) return py::reinterpret_borrow<py::object>(object);
  if (!PyUnicode_Check(object.ptr())) return {};
  auto exact = py::reinterpret_steal<py::object>(PyUnicode_FromObject(object.ptr()));
  if (!exact) throw py::error_already_set();
  return exact;
}

// Compares strings by code points, which is the order of their UTF-8 bytes.
int compare(PyObject* one, PyObject* other) { return PyUnicode_Compare(one, other); }

// Collects the items of a row, which must be strings.
class Strings {
 public:
  explicit Strings(std::string argument) : argument_(std::move(argument)) {}

  // Takes the strings of a row; none if the row is None.
  void assign(py::handle row, Count row_number) {
    strings_.clear();
    if (row.is_none()) return;
    const Cursor rest = exactk::bindings::append_plain(row, block_, *this, nullptr);
    visit_row(row, rest, [&](py::handle item, py::handle, Count position) {
      append(item, {.row = row_number, .position = position});
      if (position % kSignalInterval == kSignalInterval - 1) poll_signals();
    });
  }
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size() && PyUnicode_CheckExact(objects[count]); ++count)
      strings_.push_back(py::reinterpret_borrow<py::object>(objects[count]));
    return count;
  }
  void process_collected() {}
  [[nodiscard]] std::span<const py::object> strings() const noexcept { return strings_; }

 private:
  void append(py::handle item, Position location) {
    py::object string = exact_string(item);
    if (!string) refuse(argument_, "strings as ids", item, location);
    strings_.push_back(std::move(string));
  }

  std::string argument_;
  Block block_;
  std::vector<py::object> strings_;
};

// The position of each string of a row.
class StringPositions {
 public:
  void assign(py::handle row, Count row_number) {
    collected_.assign(row, row_number);
    hashes_.clear();
    for (const py::object& string : strings()) hashes_.push_back(hash_of(string.ptr()));
    fill_slots();
  }
  [[nodiscard]] std::size_t size() const noexcept { return hashes_.size(); }
  [[nodiscard]] std::span<const py::object> strings() const noexcept {
    return collected_.strings();
  }

  // Returns the position of a string of type str; -1 if it is not among the strings.
  [[nodiscard]] std::int64_t find(PyObject* string) const {
    const Py_hash_t hash = hash_of(string);
    for (std::size_t slot = slot_of(hash); slots_[slot] != kEmpty; slot = next(slot)) {
      const std::size_t position = slots_[slot];
      if (hashes_[position] == hash && is_equal(strings()[position].ptr(), string))
        return static_cast<std::int64_t>(position);
    }
    return -1;
  }

 private:
  static constexpr std::size_t kEmpty = ~std::size_t{0};

  [[nodiscard]] static Py_hash_t hash_of(PyObject* string) {
    const Py_hash_t kept = reinterpret_cast<const PyASCIIObject*>(string)->hash;
    if (kept != -1) return kept;
    const Py_hash_t hash = PyObject_Hash(string);
    if (hash == -1) throw py::error_already_set();
    return hash;
  }
  [[nodiscard]] static bool is_equal(PyObject* one, PyObject* other) {
    return one == other || compare(one, other) == 0;
  }
  [[nodiscard]] std::size_t slot_of(Py_hash_t hash) const noexcept {
    return static_cast<std::size_t>(hash) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t slot) const noexcept {
    return (slot + 1) & (slots_.size() - 1);
  }
  // Enters the strings into a table that is at most half full.
  void fill_slots() {
    slots_.assign(std::bit_ceil(2 * size() + 1), kEmpty);
    for (std::size_t position = 0; position < size(); ++position) {
      std::size_t slot = slot_of(hashes_[position]);
      while (slots_[slot] != kEmpty) slot = next(slot);
      slots_[slot] = position;
    }
  }

  Strings collected_{"others"};
  std::vector<Py_hash_t> hashes_;   // of the strings
  std::vector<std::size_t> slots_;  // positions by hash
};

// For each row, the strings among which those of the row are looked up.
using PyOthers = PyRows;

// Finds the strings of each row among those of the row of the others.
class RowMatcher {
 public:
  explicit RowMatcher(PyOthers others) : others_(std::move(others)) {}

  void begin_row(Count row) {
    if (std::cmp_greater_equal(row, others_.size())) {
      throw InputError({.argument = "others",
                        .expected = "a row for each row",
                        .found = std::to_string(others_.size())});
    }
    positions_.assign(others_[static_cast<std::size_t>(row)], row);
  }
  [[nodiscard]] const StringPositions& positions() const noexcept { return positions_; }

  // Calls visit(position) for strings of type str, up to the first other object; returns how many.
  template <class Visit>
  [[nodiscard]] std::size_t visit_plain(PlainObjects objects, const Visit& visit) const {
    std::size_t count = 0;
    for (; count < objects.size() && PyUnicode_CheckExact(objects[count]); ++count)
      visit(positions_.find(objects[count]));
    return count;
  }

 private:
  PyOthers others_;
  StringPositions positions_;  // of the row's others
};

// Collects the position of each item; -1 for items that are not among the others.
class PositionItems {
 public:
  PositionItems(PyOthers others, std::string argument)
      : argument_(std::move(argument)), matcher_(std::move(others)) {}

  void reserve(std::size_t count) { items_.reserve(count); }
  void begin_row(Count row) { matcher_.begin_row(row); }
  std::size_t append_plain(PlainObjects objects) {
    return matcher_.visit_plain(objects,
                                [&](std::int64_t position) { items_.push_back(position); });
  }
  void process_collected() {}
  void append(py::handle item, Position location) {
    const py::object string = exact_string(item);
    if (!string) refuse(argument_, "strings as ids", item, location);
    items_.push_back(matcher_.positions().find(string.ptr()));
  }
  py::array_t<std::int64_t> finish() { return array_of(std::move(items_)); }

 private:
  std::string argument_;
  RowMatcher matcher_;
  std::vector<std::int64_t> items_;
};

// Finds out whether numbers are distinct even as float32, which is what some conventions compare.
class DistinctNumbers {
 public:
  // Returns whether no two of the numbers are equal.
  [[nodiscard]] bool contain_all(std::span<const double> numbers) {
    const std::size_t size = std::bit_ceil(2 * numbers.size() + 1);
    if (slots_.size() < size || ++round_ == 0) {
      slots_.assign(std::max(size, slots_.size()), 0);
      round_ = 1;
    }
    return std::ranges::all_of(numbers, [&](double number) {
      return enter(std::bit_cast<std::uint32_t>(static_cast<float>(number) + 0.0F));
    });
  }

 private:
  // Returns false if the bits are there in this round. A slot has its round in the upper half, so
  // that nothing is cleared.
  bool enter(std::uint32_t bits) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15U;
    const std::uint64_t entry = (std::uint64_t{round_} << 32U) | bits;
    auto slot = static_cast<std::size_t>((bits * kSpread) >> 32U) & (slots_.size() - 1);
    for (; slots_[slot] >> 32U == round_; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == entry) return false;
    }
    slots_[slot] = entry;
    return true;
  }

  std::vector<std::uint64_t> slots_;
  std::uint32_t round_ = 0;
};

// Numbers the strings of each row, which are distinct, and of its others: equal strings have equal
// numbers, and where scores of the row are equal, numbers ascend as the strings do.
class NumberedItems {
 public:
  NumberedItems(PyOthers others, std::string argument)
      : argument_(std::move(argument)), matcher_(std::move(others)), of_row_(argument_) {}

  void reserve(std::size_t count) { items_.reserve(count); }
  void begin_row(Count row) {
    matcher_.begin_row(row);
    row_ = row;
    begin_ = items_.size();
    next_ = static_cast<std::int64_t>(matcher_.positions().size());
  }
  std::size_t append_plain(PlainObjects objects) {
    return matcher_.visit_plain(objects, [&](std::int64_t position) { append_number(position); });
  }
  void process_collected() {}
  // Objects of other types are refused: if they are strings, two may be equal that are two keys.
  void append(py::handle item, Position location) {
    refuse(argument_, "objects of type str as ids", item, location);
  }
  void end_row(py::handle row, std::span<const double> scores) {
    const std::size_t begin = others_.size();
    others_.resize(begin + matcher_.positions().size());
    const auto of_others = std::span(others_).subspan(begin);
    std::iota(of_others.begin(), of_others.end(), std::int64_t{0});
    if (distinct_numbers_.contain_all(scores)) return;
    const std::vector<std::int64_t> ranks = ranks_of_strings(row);
    for (std::int64_t& number : of_others) number = ranks[static_cast<std::size_t>(number)];
    for (std::int64_t& number : std::span(items_).subspan(begin_))
      number = ranks[static_cast<std::size_t>(number)];
  }
  py::array_t<std::int64_t> finish() { return array_of(std::move(items_)); }
  py::array_t<std::int64_t> finish_others() { return array_of(std::move(others_)); }

 private:
  // An item among the others has their number, another the next that is free.
  void append_number(std::int64_t position) {
    items_.push_back(position >= 0 ? position : next_++);
  }
  // Returns the rank of each number's string among all strings of the row and its others.
  [[nodiscard]] std::vector<std::int64_t> ranks_of_strings(py::handle row) {
    const StringPositions& positions = matcher_.positions();
    std::vector<py::object> strings(positions.strings().begin(), positions.strings().end());
    of_row_.assign(row, row_);
    for (const py::object& string : of_row_.strings()) {
      if (positions.find(string.ptr()) < 0) strings.push_back(string);
    }
    if (std::cmp_not_equal(strings.size(), next_)) {
      throw InputError({.argument = argument_,
                        .expected = "rows that stay as they are",
                        .found = "a row that changed",
                        .row = row_});
    }
    std::vector<std::size_t> order(strings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t one, std::size_t other) {
      return compare(strings[one].ptr(), strings[other].ptr()) < 0;
    });
    std::vector<std::int64_t> ranks(order.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank)
      ranks[order[rank]] = static_cast<std::int64_t>(rank);
    return ranks;
  }

  std::string argument_;
  RowMatcher matcher_;
  Strings of_row_;
  DistinctNumbers distinct_numbers_;
  Count row_ = 0;
  std::size_t begin_ = 0;  // of the row's items
  std::int64_t next_ = 0;  // the next number of an item that is not among the others
  std::vector<std::int64_t> items_;
  std::vector<std::int64_t> others_;  // the numbers of the others
};

IntegerRows positions_in_rows(const PyRows& rows, const PyOthers& others,
                              const std::optional<ExactFloat>& exact_float,
                              const std::string& argument, const std::string& what) {
  PositionItems items(others, argument);
  return read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
}

std::pair<IntegerRows, py::array_t<std::int64_t>> numbered_rows(const PyRows& rows,
                                                                const PyOthers& others,
                                                                const ExactFloat& exact_float,
                                                                const std::string& argument,
                                                                const std::string& what) {
  NumberedItems items(others, argument);
  auto read = read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
  return {std::move(read), items.finish_others()};
}

}  // namespace

void bind_matched_rows(py::module_& module) {
  module.def("positions_in_rows", &positions_in_rows, py::arg("rows"), py::arg("others"),
             py::arg("exact_float"), py::arg("argument"), py::arg("what"),
             "Convert rows of strings to arrays of their positions in the same rows of others, or "
             "-1, as integer_rows does.");
  module.def(
      "numbered_rows", &numbered_rows, py::arg("rows"), py::arg("others"), py::arg("exact_float"),
      py::arg("argument"), py::arg("what"),
      "Convert mappings of strings to arrays of numbers, as integer_rows does, and also return "
      "those of the others. In a row, equal strings have equal numbers, and where values of the "
      "row are "
      "equal as float32, numbers ascend as the strings do.");
}

}  // namespace exactk::bindings
