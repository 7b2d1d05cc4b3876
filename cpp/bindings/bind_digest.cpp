#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/truth_digest.hpp"
#include "gil.hpp"
#include "integers.hpp"
#include "owned.hpp"
#include "owned_vocabulary.hpp"

namespace exactk::bindings {
namespace {

std::optional<std::span<const KeyHash>> hash_view(const std::optional<py::array>& hashes,
                                                  const std::string& argument) {
  if (!hashes) return std::nullopt;
  return view<KeyHash>(*hashes, argument);
}

py::int_ digest_of_truth(const OwnedLists& truth, const std::optional<py::array>& grades,
                         const std::optional<py::array>& users,
                         const std::optional<py::array>& items, int threads,
                         const std::string& isa) {
  const DigestRequest request{.truth = truth.lists(),
                              .grades = view<double>(grades, "truth.grades"),
                              .users = hash_view(users, "truth.users"),
                              .items = hash_view(items, "truth.items"),
                              .isa = isa_of(isa)};
  const Digest digest = [&] {
    const GilRelease release;
    return truth_digest(request, interruptible_execution(threads));
  }();
  ExactInteger integer;
  for (const std::uint64_t word : {digest.low, digest.high}) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      integer.bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  }
  integer.bytes.push_back(0);  // no sign
  return python_integer(integer);
}

}  // namespace

void bind_digest(py::module_& module) {
  module.def(
      "hash_keys",
      [](OwnedVocabulary& vocabulary, Count size, bool as_bytes) {
        const VocabularyLock lock(vocabulary);
        return copy_of(hash_keys(lock.vocabulary(), size, as_bytes, interruptible_execution()));
      },
      py::arg("vocabulary"), py::arg("size"), py::arg("as_bytes"),
      "Return 64 bits of each of the first `size` keys, the same in every process.");
  module.def(
      "join_hashes",
      [](const py::array& first_parts, const py::array& next_part) {
        const auto first = view<KeyHash>(first_parts, "first_parts");
        std::vector<KeyHash> joined(first.begin(), first.end());
        join_hashes(joined, view<KeyHash>(next_part, "next_part"));
        return copy_of(joined);
      },
      py::arg("first_parts").noconvert(), py::arg("next_part").noconvert(),
      "Return the hash of each key of several parts from that of its first parts and that of the "
      "next.");
  module.def("truth_digest", &digest_of_truth, py::arg("truth"), py::arg("grades").noconvert(),
             py::arg("users").noconvert(), py::arg("items").noconvert(), py::arg("threads"),
             py::arg("isa"),
             "Return the digest of a truth, whose users and items have the given hashes: users by "
             "row, items by code. Without hashes, users have no keys, and items are integers.");
}

}  // namespace exactk::bindings
