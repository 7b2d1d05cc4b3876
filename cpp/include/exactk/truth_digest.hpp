// The digest of a truth: 128 bits that tell one truth from another, whatever its order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exactk/isa.hpp"
#include "exactk/lists.hpp"
#include "exactk/types.hpp"
#include "exactk/vocabulary.hpp"

namespace exactk {

using KeyHash = std::uint64_t;  // of a key's value, the same in every process

// Returns the hash of a string, in UTF-8.
[[nodiscard]] KeyHash hash_string(std::string_view text);

// Returns the hashes of the first `size` keys. Strings and bytes of the same contents differ.
[[nodiscard]] std::vector<KeyHash> hash_keys(const Vocabulary& vocabulary, Count size,
                                             bool as_bytes, const Execution& execution);

// Joins the hashes of each key's first parts with that of the next part; the spans have equal
// sizes.
void join_hashes(std::span<KeyHash> first_parts, std::span<const KeyHash> next_part);

struct DigestRequest {
  Lists truth;
  std::span<const double> grades;  // parallel to truth.items; empty: every grade is 1
  std::optional<std::span<const KeyHash>> users;  // one per row; nullopt: users have no keys
  // By item code; nullopt: the items are integers, which are their own hashes.
  std::optional<std::span<const KeyHash>> items;
  Isa isa = Isa::scalar;
};

struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// Returns the sum of the users' digests modulo 2^128, so that the digests of different users add up
// to that of all. Users without items have the digest 0. Throws InputError if rows or codes are out
// of range.
[[nodiscard]] Digest truth_digest(const DigestRequest& request, const Execution& execution);

}  // namespace exactk
