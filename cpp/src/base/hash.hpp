// The keyed hash of all tables. Each process draws its own secrets, so nobody can craft keys that
// collide. No result depends on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace exactk {

struct Secrets {
  std::uint64_t first;  // both are odd
  std::uint64_t second;
};

[[nodiscard]] Secrets draw_secrets();

// Drawn at random once per process.
[[nodiscard]] inline const Secrets& process_secrets() {
  static const Secrets secrets = draw_secrets();
  return secrets;
}

__extension__ using UInt128 = unsigned __int128;

[[nodiscard]] inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const UInt128 product = static_cast<UInt128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// Hashes a key of two words and a length.
[[nodiscard]] inline std::uint64_t keyed_hash(std::uint64_t head, std::uint64_t tail,
                                              std::uint32_t length) {
  const auto [first, second] = process_secrets();
  return mix(mix(head ^ first, tail ^ (second + length)) ^ first, second);
}

[[nodiscard]] inline std::uint64_t keyed_hash(std::uint64_t key) { return keyed_hash(key, 0, 0); }

template <class T>
[[nodiscard]] std::uint64_t load(const char* bytes) {
  T value = 0;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

inline constexpr std::size_t kHashBlock = 2 * sizeof(std::uint64_t);

// Hashes a string of at least one block, block by block; the last block may overlap its
// predecessor.
[[nodiscard]] inline std::uint64_t keyed_hash(std::string_view string) {
  const auto [first, second] = process_secrets();
  std::uint64_t hash = second ^ string.size();
  const char* bytes = string.data();
  for (std::size_t remaining = string.size(); remaining > kHashBlock; remaining -= kHashBlock) {
    hash = mix(load<std::uint64_t>(bytes) ^ first, load<std::uint64_t>(bytes + 8) ^ hash);
    bytes += kHashBlock;
  }
  const char* const end = string.data() + string.size();
  return mix(load<std::uint64_t>(end - kHashBlock) ^ first, load<std::uint64_t>(end - 8) ^ hash);
}

// Hashes with one multiplication: the high bits of a product with a secret, as many as index the
// table's slots. For tables in which a collision costs only time.
struct ShortHash {
  [[nodiscard]] std::size_t operator()(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * factor) >> shift);
  }

  std::uint64_t factor = process_secrets().first;
  unsigned shift = 0;  // 64 minus the number of bits
};

}  // namespace exactk
