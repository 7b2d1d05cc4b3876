// Integers, strings and bytes of Python, as arrays.
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
#include "object_rows.hpp"
#include "owned_vocabulary.hpp"
#include "text_objects.hpp"

namespace exactk::bindings {
namespace {

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

using TextRows = RowArrays<Codes>;

IntegerRows integer_rows(const PyRows& rows, const std::optional<ExactFloat>& exact_float,
                         const std::string& argument, const std::string& what) {
  IntegerItems items(argument);
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
  module.def("encode_texts", &encode_texts, py::arg("vocabulary"), py::arg("column"),
             py::arg("as_bytes"), py::arg("argument"),
             "Return the code of each string or bytes object in a list.");
}

}  // namespace exactk::bindings
