#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/capacity.hpp"
#include "exactk/group_rows.hpp"
#include "gil.hpp"
#include "owned.hpp"
#include "owned_vocabulary.hpp"

namespace exactk::bindings {
namespace {

Codes encode_integers(OwnedVocabulary& self, const py::array& column, int threads,
                      const std::string& argument) {
  const ItemArray values = item_view(column, argument);
  Codes codes(column.size());
  const auto out = writable_span(codes);
  const VocabularyLock lock(self);
  Vocabulary& vocabulary = lock.vocabulary();
  const GilRelease release;
  encode(vocabulary, values, out, argument, interruptible_execution(threads));
  return codes;
}

Codes encode_packed(OwnedVocabulary& self, const py::array& offsets, const py::array& bytes,
                    int threads, const std::string& argument) {
  const auto offset_view = view<std::int64_t>(offsets, argument + ".offsets");
  const auto data = view<std::uint8_t>(bytes, argument + ".bytes");
  if (offset_view.empty()) {
    throw InputError({.argument = argument + ".offsets",
                      .expected = "one more offset than strings",
                      .found = "none"});
  }
  const PackedStrings<std::int64_t> column{
      .offsets = offset_view, .bytes = {reinterpret_cast<const char*>(data.data()), data.size()}};
  Codes codes(static_cast<py::ssize_t>(column.size()));
  const auto out = writable_span(codes);
  const VocabularyLock lock(self);
  Vocabulary& vocabulary = lock.vocabulary();
  const GilRelease release;
  encode(vocabulary, column, out, interruptible_execution(threads));
  return codes;
}

// Returns the keys as int64, or as uint64 if one of them needs it.
py::array integer_keys(OwnedVocabulary& self, Count size) {
  if (!self.of_integers())
    throw TypeFault({.argument = "keys", .expected = "integers", .found = "strings"});
  const VocabularyLock lock(self);
  const Vocabulary& vocabulary = lock.vocabulary();
  check_size(vocabulary, size);
  py::array_t<std::int64_t> values(size);
  std::int64_t* const out = values.mutable_data();
  for (Count i = 0; i < size; ++i) {
    out[i] = static_cast<std::int64_t>(vocabulary.integer(static_cast<Code>(i)));
  }
  if (!vocabulary.has_wide()) return values;
  return values.attr("view")("uint64");
}

// Returns the keys as Vocabulary.encode_packed takes them.
py::typing::Tuple<py::array_t<std::int64_t>, py::array_t<std::uint8_t>> packed_keys(
    OwnedVocabulary& self, Count size) {
  if (self.of_integers())
    throw TypeFault({.argument = "keys", .expected = "strings", .found = "integers"});
  const VocabularyLock lock(self);
  const Vocabulary& vocabulary = lock.vocabulary();
  check_size(vocabulary, size);
  py::array_t<std::int64_t> offsets(size + 1);
  std::int64_t* const ends = offsets.mutable_data();
  ends[0] = 0;
  for (Count i = 0; i < size; ++i) {
    ends[i + 1] = ends[i] + std::ssize(vocabulary.string(static_cast<Code>(i)));
  }
  py::array_t<std::uint8_t> bytes(ends[size]);
  std::uint8_t* next = bytes.mutable_data();
  for (Count i = 0; i < size; ++i) {
    next = std::ranges::copy(vocabulary.string(static_cast<Code>(i)), next).out;
  }
  return py::make_tuple(offsets, bytes);
}

// Calls make_codes(vocabulary, other) while no other thread touches either.
template <class MakeCodes>
Codes with_both(OwnedVocabulary& self, OwnedVocabulary& other, const MakeCodes& make_codes) {
  if (&self == &other) {
    const VocabularyLock lock(self);
    return copy_of(make_codes(lock.vocabulary(), lock.vocabulary()));
  }
  // Locks in the order of addresses, because two threads may extend two vocabularies by each other.
  const bool self_is_first = std::less<>()(&self, &other);
  const VocabularyLock first(self_is_first ? self : other);
  const VocabularyLock second(self_is_first ? other : self);
  return copy_of(make_codes((self_is_first ? first : second).vocabulary(),
                            (self_is_first ? second : first).vocabulary()));
}

Codes extend_by(OwnedVocabulary& self, OwnedVocabulary& other, Count size,
                const std::string& argument) {
  return with_both(self, other, [&](Vocabulary& vocabulary, const Vocabulary& new_keys) {
    return extend(vocabulary, new_keys, size, argument, interruptible_execution());
  });
}

Codes find_keys(OwnedVocabulary& self, OwnedVocabulary& other, Count size,
                const std::string& argument) {
  return with_both(self, other, [&](const Vocabulary& vocabulary, const Vocabulary& keys) {
    return find(vocabulary, keys, size, argument, interruptible_execution());
  });
}

using PyOrderByUser = py::typing::Tuple<py::array_t<Offset>, std::optional<py::array_t<Offset>>>;

void check_user_count(Count users) {
  if (users < 0) {
    throw InputError(
        {.argument = "users", .expected = "0 or more", .found = std::to_string(users)});
  }
  require_memory(users, 2 * sizeof(Offset), {.argument = "users"});
}

PyOrderByUser order_by_user(const py::array& codes, Count users,
                            const std::optional<py::array>& ranks, const std::string& argument) {
  check_user_count(users);
  const auto rows = view<Code>(codes, argument);
  Grouping grouping = group_rows(rows, users, argument, interruptible_execution());
  if (ranks) {
    check_size(ranks, std::ssize(rows), argument + ".ranks");
    if (py::isinstance<py::array_t<double>>(*ranks)) {
      const auto values = snapshot<double>(ranks, argument + ".ranks");
      order_by_rank(grouping, std::span<const double>(values), argument, interruptible_execution());
    } else {
      const auto values = snapshot<std::int64_t>(ranks, argument + ".ranks");
      order_by_rank(grouping, std::span<const std::int64_t>(values), argument,
                    interruptible_execution());
    }
  }
  std::optional<py::array_t<Offset>> order;
  if (!grouping.order.empty()) order = copy_of(grouping.order);
  return py::make_tuple(copy_of(grouping.indptr), order);
}

using PyColumnsByUser =
    py::typing::Tuple<py::array_t<Offset>, std::optional<py::typing::List<py::array>>>;

py::array_t<Offset> find_run_starts(const py::array& codes, const std::string& argument) {
  const auto rows = view<Code>(codes, argument);
  const Execution execution = interruptible_execution();
  const std::vector<Offset> starts = [&] {
    const GilRelease release;
    return run_starts(rows, execution);
  }();
  return copy_of(starts);
}

// Returns the columns grouped by user, or None if they already are.
PyColumnsByUser group_by_user(const py::array& codes, Count users,
                              const std::vector<py::array>& columns, int threads,
                              const std::string& argument) {
  check_user_count(users);
  const auto rows = view<Code>(codes, argument);
  const Execution execution = interruptible_execution(threads);
  RowCounts counts = [&] {
    const GilRelease release;
    return count_rows(rows, users, argument, execution);
  }();
  const py::array_t<Offset> indptr = copy_of(counts.indptr);
  if (counts.is_grouped) return py::make_tuple(indptr, py::none());
  py::list results;
  std::vector<ColumnCopy> copies;
  for (const py::array& column : columns) {
    const auto width = static_cast<std::size_t>(column.itemsize());
    const bool fits = column.ndim() == 1 && column.size() == std::ssize(rows) &&
                      std::has_single_bit(width) && width <= sizeof(std::uint64_t) &&
                      std::string_view("iuf").find(column.dtype().kind()) != std::string_view::npos;
    if (!fits) {
      throw TypeFault({.argument = argument,
                       .expected = "columns of numbers with one entry per row",
                       .found = std::string(py::str(column.dtype())) + " of length " +
                                std::to_string(column.size())});
    }
    py::array result(column.dtype(), column.size());
    copies.push_back({.from = static_cast<const std::byte*>(column.data()),
                      .stride = column.strides(0),
                      .to = static_cast<std::byte*>(result.mutable_data()),
                      .width = width});
    results.append(std::move(result));
  }
  {
    const GilRelease release;
    copy_grouped(std::move(counts), rows, copies, argument, execution);
  }
  return py::make_tuple(indptr, results);
}

}  // namespace

void bind_vocabulary(py::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { ++fork_count; });
  bind_class<OwnedVocabulary>(module, "Vocabulary",
                              "Distinct keys and their codes; see exactk/vocabulary.hpp.")
      .def(py::init<bool>(), py::arg("of_integers").noconvert())
      .def(
          "copy",
          [](OwnedVocabulary& self) {
            return std::make_unique<OwnedVocabulary>(VocabularyLock(self).vocabulary().copy())
                .release();
          },
          py::return_value_policy::take_ownership,  // a unique_ptr would be deleted twice
                                                    // if memory runs out
          "Return an independent vocabulary with the same keys, sharing memory until either adds "
          "one.")
      .def("__len__",
           [](OwnedVocabulary& self) { return VocabularyLock(self).vocabulary().size(); })
      .def_property_readonly("of_integers", &OwnedVocabulary::of_integers)
      .def("encode_integers", &encode_integers, py::arg("column").noconvert(), py::arg("threads"),
           py::arg("argument"), "Return the code of each integer, adding new keys.")
      .def("encode_packed", &encode_packed, py::arg("offsets").noconvert(),
           py::arg("bytes").noconvert(), py::arg("threads"), py::arg("argument"),
           "Return the code of each string bytes[offsets[i]:offsets[i + 1]], adding new keys.")
      .def("extend", &extend_by, py::arg("other"), py::arg("size"), py::arg("argument"),
           "Add the first `size` keys of another vocabulary; return their codes here.")
      .def("find", &find_keys, py::arg("other"), py::arg("size"), py::arg("argument"),
           "Return the codes here of the first `size` keys of another vocabulary; 2^32 - 1 where "
           "missing.")
      .def(
          "positions_in_key_order",
          [](OwnedVocabulary& self, Count size) {
            const VocabularyLock lock(self);
            return copy_of(
                positions_in_key_order(lock.vocabulary(), size, interruptible_execution()));
          },
          py::arg("size"),
          "Return the position of each of the first `size` keys in ascending key order.")
      .def("as_integers", &integer_keys, py::arg("size"),
           "Return the first `size` integers, in code order.")
      .def("as_packed", &packed_keys, py::arg("size"),
           "Return the first `size` strings, in code order, as encode_packed takes them.");
  module.def("run_starts", &find_run_starts, py::arg("codes").noconvert(), py::arg("argument"),
             "Return the positions of the rows whose user is another than that of the row before.");
  module.def(
      "group_by_user", &group_by_user, py::arg("codes").noconvert(), py::arg("users"),
      py::arg("columns"), py::arg("threads"), py::arg("argument"),
      "Group rows by user: return the offset of each user's rows, and the grouped columns, or "
      "None if the rows are already grouped.");
  module.def(
      "order_by_user", &order_by_user, py::arg("codes").noconvert(), py::arg("users"),
      py::arg("ranks").noconvert(), py::arg("argument"),
      "Group rows by user: return the offset of each user's rows, and the order of the rows, or "
      "None if they are already grouped.");
}

}  // namespace exactk::bindings
