// Numbers the strings of a row among those of another row, such as the items of a user in the
// truth. No vocabulary is made, and Python has the hash of each string that was ever a key. For the
// digest of a truth, strings are hashed as its vocabulary would hash them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/truth_digest.hpp"
#include "object_rows.hpp"
#include "text_objects.hpp"

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
int compare(PyObject* left, PyObject* right) { return PyUnicode_Compare(left, right); }

// Distinct strings, numbered in the order in which they came.
class StringNumbers {
 public:
  static constexpr std::int64_t kNone = -1;

  // Removes all strings, and makes room for as many as are expected.
  void start(std::size_t expected) {
    strings_.clear();
    use_slots(std::bit_ceil(4 * (expected + 1)));
  }
  [[nodiscard]] std::size_t size() const noexcept { return strings_.size(); }
  [[nodiscard]] std::span<const py::object> strings() const noexcept { return strings_; }

  // Returns the number of a string of type str; kNone if it has none.
  [[nodiscard]] std::int64_t find(PyObject* string) const {
    const Slot& slot = slots_[slot_of(string, hash_of(string))];
    return is_empty(slot) ? kNone : slot.number;
  }
  // Returns the number of a string of type str, which gets one.
  std::int64_t find_or_add(PyObject* string) {
    if (2 * (size() + 1) > mask_ + 1) grow();
    Slot& slot = slots_[slot_of(string, hash_of(string))];
    if (is_empty(slot)) {
      strings_.push_back(py::reinterpret_borrow<py::object>(string));
      fill(slot, size() - 1);
    }
    return slot.number;
  }

 private:
  struct Slot {
    std::int64_t number;
    std::uint32_t tag;    // of the hash
    std::uint32_t round;  // in which it was filled; in another it is empty
  };

  [[nodiscard]] static Py_hash_t hash_of(PyObject* string) {
    const Py_hash_t kept = reinterpret_cast<const PyASCIIObject*>(string)->hash;
    if (kept != -1) return kept;
    const Py_hash_t hash = PyObject_Hash(string);
    if (hash == -1) throw py::error_already_set();
    return hash;
  }
  [[nodiscard]] static std::uint32_t tag_of(Py_hash_t hash) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(hash) >> 32U);
  }
  [[nodiscard]] bool is_empty(const Slot& slot) const noexcept { return slot.round != round_; }
  // Returns the slot of a string, or the empty one that it would get.
  [[nodiscard]] std::size_t slot_of(PyObject* string, Py_hash_t hash) const {
    std::size_t index = static_cast<std::size_t>(hash) & mask_;
    for (; !is_empty(slots_[index]); index = (index + 1) & mask_) {
      if (slots_[index].tag != tag_of(hash)) continue;
      PyObject* const numbered = strings_[static_cast<std::size_t>(slots_[index].number)].ptr();
      if (numbered == string || compare(numbered, string) == 0) break;
    }
    return index;
  }
  void fill(Slot& slot, std::size_t number) {
    slot = {.number = static_cast<std::int64_t>(number),
            .tag = tag_of(hash_of(strings_[number].ptr())),
            .round = round_};
  }
  // Empties the slots, and uses so many of them, a power of two.
  void use_slots(std::size_t count) {
    if (slots_.size() < count || ++round_ == 0) {
      slots_.assign(std::max(count, slots_.size()), {.number = kNone, .tag = 0, .round = 0});
      round_ = 1;
    }
    mask_ = count - 1;
  }
  void grow() {
    use_slots(2 * (mask_ + 1));
    for (std::size_t number = 0; number < size(); ++number) {
      std::size_t index = static_cast<std::size_t>(hash_of(strings_[number].ptr())) & mask_;
      while (!is_empty(slots_[index])) index = (index + 1) & mask_;
      fill(slots_[index], number);
    }
  }

  std::vector<py::object> strings_;  // held, as Python code may run between two rows
  std::vector<Slot> slots_;          // by hash
  std::size_t mask_ = 0;             // of those in use, at most half of which are filled
  std::uint32_t round_ = 0;
};

// What append_plain asks of items: calls visit(string) for objects of type str.
template <class Visit>
struct PlainStrings {
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size() && PyUnicode_CheckExact(objects[count]); ++count)
      visit(objects[count]);
    return count;
  }
  void process_collected() {}

  Visit visit;
};

// Calls visit(string) for the items of a row, which must be strings; for none if the row is None.
template <class Visit>
void visit_strings(py::handle row, Count row_number, const std::string& argument, Block& block,
                   const Visit& visit) {
  if (row.is_none()) return;
  PlainStrings<Visit> plain_strings{visit};
  const Cursor rest = append_plain(row, block, plain_strings, nullptr);
  visit_row(row, rest, [&](py::handle item, py::handle, Count position) {
    const py::object string = exact_string(item);
    if (!string)
      refuse(argument, "strings as ids", item, {.row = row_number, .position = position});
    visit(string.ptr());
    if (position % kSignalInterval == kSignalInterval - 1) poll_signals();
  });
}

// For each row, the strings among which those of the row are looked up.
using PyOthers = PyRows;

// Numbers the others of a row, and calls visit(number) for each of them.
// `more`: how many other strings are expected.
template <class Visit>
void number_others(const PyOthers& others, Count row, std::size_t more, StringNumbers& numbers,
                   Block& block, const Visit& visit) {
  if (std::cmp_greater_equal(row, others.size())) {
    throw InputError({.argument = "others",
                      .expected = "a row for each row",
                      .found = std::to_string(others.size())});
  }
  const auto others_of_row =
      py::reinterpret_borrow<py::object>(others[static_cast<std::size_t>(row)]);
  numbers.start(plain_size(others_of_row.ptr()) + more);
  const auto add = [&](PyObject* string) { visit(numbers.find_or_add(string)); };
  visit_strings(others_of_row, row, "others", block, add);
}

// Collects the number of each item among the others of its row; -1 for items that are not there.
class OtherNumbers {
 public:
  OtherNumbers(PyOthers others, std::string argument)
      : others_(std::move(others)), argument_(std::move(argument)) {}

  void reserve(std::size_t count) { items_.reserve(count); }
  void begin_row(Count row, std::size_t /*size*/) {
    number_others(others_, row, 0, numbers_, block_, [](std::int64_t /*number*/) {});
  }
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size() && PyUnicode_CheckExact(objects[count]); ++count)
      items_.push_back(numbers_.find(objects[count]));
    return count;
  }
  void process_collected() {}
  void append(py::handle item, Position location) {
    const py::object string = exact_string(item);
    if (!string) refuse(argument_, "strings as ids", item, location);
    items_.push_back(numbers_.find(string.ptr()));
  }
  py::array_t<std::int64_t> finish() { return array_of(std::move(items_)); }

 private:
  PyOthers others_;
  std::string argument_;
  StringNumbers numbers_;  // of the row's others
  Block block_;
  std::vector<std::int64_t> items_;
};

// Finds out whether numbers are distinct even as float32, which is what some conventions compare.
class DistinctNumbers {
 public:
  // Returns whether no two of the numbers are equal. All NaNs are, in the order of scores.
  [[nodiscard]] bool contain_all(std::span<const double> numbers) {
    const std::size_t size = std::bit_ceil(4 * numbers.size() + 1);
    if (slots_.size() < size || ++round_ == 0) {
      slots_.assign(std::max(size, slots_.size()), 0);
      round_ = 1;
    }
    return std::ranges::all_of(numbers, [&](double number) {
      return !std::isnan(number) &&
             enter(std::bit_cast<std::uint32_t>(static_cast<float>(number) + 0.0F));
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

// Numbers the strings of each row and of its others: equal strings have equal numbers, and where
// scores of the row are equal, numbers ascend as the strings do.
class NumberedItems {
 public:
  // The keys of mappings are distinct, so that those that are not among the others need no look-up.
  NumberedItems(PyOthers others, std::string argument, bool are_distinct)
      : others_(std::move(others)), argument_(std::move(argument)), are_distinct_(are_distinct) {}

  void reserve(std::size_t count) { items_.reserve(count); }
  void begin_row(Count row, std::size_t size) {
    row_ = row;
    item_begin_ = items_.size();
    other_begin_ = of_others_.size();
    number_others(others_, row, are_distinct_ ? 0 : size, numbers_, block_,
                  [&](std::int64_t number) { of_others_.push_back(number); });
    next_ = static_cast<std::int64_t>(numbers_.size());
  }
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size() && PyUnicode_CheckExact(objects[count]); ++count)
      items_.push_back(number_of(objects[count]));
    return count;
  }
  void process_collected() {}
  // Objects of other types are refused: if they are strings, two may be equal that are two keys.
  void append(py::handle item, Position location) {
    refuse(argument_, "objects of type str as ids", item, location);
  }
  void end_row(py::handle row, std::span<const double> scores) {
    if (distinct_numbers_.contain_all(scores)) return;
    const std::vector<std::int64_t> ranks = ranks_of_strings(row);
    const auto replace = [&](std::int64_t& number) {
      number = ranks[static_cast<std::size_t>(number)];
    };
    std::ranges::for_each(std::span(items_).subspan(item_begin_), replace);
    std::ranges::for_each(std::span(of_others_).subspan(other_begin_), replace);
  }
  py::array_t<std::int64_t> finish() { return array_of(std::move(items_)); }
  py::array_t<std::int64_t> finish_others() { return array_of(std::move(of_others_)); }

 private:
  [[nodiscard]] std::int64_t number_of(PyObject* string) {
    if (!are_distinct_) return numbers_.find_or_add(string);
    const std::int64_t number = numbers_.find(string);
    return number == StringNumbers::kNone ? next_++ : number;
  }
  // Returns the rank of each number's string among all strings of the row and its others.
  [[nodiscard]] std::vector<std::int64_t> ranks_of_strings(py::handle row) {
    const auto add = [&](PyObject* string) { numbers_.find_or_add(string); };
    visit_strings(row, row_, argument_, block_, add);
    const std::span<const py::object> strings = numbers_.strings();
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

  PyOthers others_;
  std::string argument_;
  bool are_distinct_;
  StringNumbers numbers_;
  Block block_;
  DistinctNumbers distinct_numbers_;
  Count row_ = 0;
  std::size_t item_begin_ = 0;   // of the row's items
  std::size_t other_begin_ = 0;  // of its others
  std::int64_t next_ = 0;        // the next number of an item that is not among the others
  std::vector<std::int64_t> items_;
  std::vector<std::int64_t> of_others_;
};

// Collects the hash of each item, as a truth digest has it.
class HashedItems {
 public:
  explicit HashedItems(std::string argument) : argument_(std::move(argument)) {}

  void reserve(std::size_t count) { hashes_.reserve(count); }
  std::size_t append_plain(PlainObjects objects) {
    std::size_t count = 0;
    for (; count < objects.size(); ++count) {
      const auto text = plain_text_of(objects[count], false);
      if (!text) break;
      append_hash(*text);
    }
    return count;
  }
  void process_collected() {}
  void append(py::handle item, Position location) {
    py::object holder;
    const auto text = text_of(item, false, holder);
    if (!text) refuse(argument_, "strings as ids", item, location);
    append_hash(*text);
  }
  py::array_t<std::int64_t> finish() { return array_of(std::move(hashes_)); }

 private:
  void append_hash(std::string_view text) {
    hashes_.push_back(std::bit_cast<std::int64_t>(hash_string(text)));
  }

  std::string argument_;
  std::vector<std::int64_t> hashes_;
};

IntegerRows hashed_rows(const PyRows& rows, const std::optional<ExactFloat>& exact_float,
                        const std::string& argument, const std::string& what) {
  HashedItems items(argument);
  return read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
}

IntegerRows other_numbers(const PyRows& rows, const PyOthers& others,
                          const std::optional<ExactFloat>& exact_float, const std::string& argument,
                          const std::string& what) {
  OtherNumbers items(others, argument);
  return read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
}

std::pair<IntegerRows, py::array_t<std::int64_t>> numbered_rows(
    const PyRows& rows, const PyOthers& others, const std::optional<ExactFloat>& exact_float,
    const std::string& argument, const std::string& what) {
  NumberedItems items(others, argument, exact_float.has_value());
  auto read = read_rows<py::array_t<std::int64_t>>(rows, items, exact_float, argument, what);
  return {std::move(read), items.finish_others()};
}

}  // namespace

void bind_matched_rows(py::module_& module) {
  module.def("hashed_rows", &hashed_rows, py::arg("rows"), py::arg("exact_float"),
             py::arg("argument"), py::arg("what"),
             "Convert rows of strings to arrays of their hashes, as integer_rows does. A truth of "
             "these integers without keys has the digest of one that has the strings as keys.");
  module.def("other_numbers", &other_numbers, py::arg("rows"), py::arg("others"),
             py::arg("exact_float"), py::arg("argument"), py::arg("what"),
             "Convert rows of strings to arrays of the number that each has among the distinct "
             "strings of the same row of others, or -1, as integer_rows does.");
  module.def(
      "numbered_rows", &numbered_rows, py::arg("rows"), py::arg("others"), py::arg("exact_float"),
      py::arg("argument"), py::arg("what"),
      "Convert rows of strings to arrays of numbers, as integer_rows does, and also return those "
      "of the others. In a row, equal strings have equal numbers, and where values of the row are "
      "equal as float32, numbers ascend as the strings do.");
}

}  // namespace exactk::bindings
