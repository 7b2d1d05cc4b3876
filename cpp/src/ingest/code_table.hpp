// A hash table from keys to codes, with the keys in code order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "exactk/vocabulary.hpp"

namespace exactk {

// The longest string that a digest holds: its first and its last eight bytes, which may overlap.
inline constexpr std::size_t kDigestBytes = kHashBlock;

// A digest that distinguishes most strings without reading them. It holds strings of up to
// kDigestBytes completely. For longer strings it is a hash, and equal digests require a comparison.
struct TextDigest {
  std::uint64_t head;
  std::uint64_t tail;
  std::uint32_t length;  // of the string; kDigestBytes + 1 if longer

  [[nodiscard]] bool is_complete() const noexcept { return length <= kDigestBytes; }
  friend bool operator==(const TextDigest&, const TextDigest&) = default;
};

// The integer itself.
struct IntegerDigest {
  std::uint64_t head;

  [[nodiscard]] static bool is_complete() noexcept { return true; }
  friend bool operator==(const IntegerDigest&, const IntegerDigest&) = default;
};

[[nodiscard]] inline IntegerDigest digest_of(std::uint64_t key) { return {.head = key}; }

[[nodiscard]] inline TextDigest digest_of(std::string_view key) {
  const char* const bytes = key.data();
  const std::size_t size = key.size();
  if (size > kDigestBytes) {
    return {.head = keyed_hash(key),
            .tail = load<std::uint64_t>(bytes + size - 8),
            .length = kDigestBytes + 1};
  }
  const auto length = static_cast<std::uint32_t>(size);
  if (size >= 8) {
    return {.head = load<std::uint64_t>(bytes),
            .tail = load<std::uint64_t>(bytes + size - 8),
            .length = length};
  }
  if (size >= 4) {
    return {.head = load<std::uint32_t>(bytes),
            .tail = load<std::uint32_t>(bytes + size - 4),
            .length = length};
  }
  if (size == 0) return {.head = 0, .tail = 0, .length = 0};
  const std::uint64_t middle = load<std::uint8_t>(bytes + size / 2);
  return {.head = load<std::uint8_t>(bytes),
          .tail = (middle << 8U) | load<std::uint8_t>(bytes + size - 1),
          .length = length};
}

[[nodiscard]] inline std::uint64_t hash_of(const TextDigest& digest) {
  return keyed_hash(digest.head, digest.tail, digest.length);
}

[[nodiscard]] inline std::uint64_t hash_of(const IntegerDigest& digest) {
  return keyed_hash(digest.head);
}

// A key to look up, with its hash and digest computed once.
template <class Key>
struct Lookup {
  Lookup() = default;
  explicit Lookup(Key requested)
      : key(requested), digest(digest_of(requested)), hash(hash_of(digest)) {}

  Key key{};
  decltype(digest_of(Key{})) digest{};
  std::uint64_t hash = 0;
};

class IntegerStore {
 public:
  using Key = std::uint64_t;
  struct Slot {
    std::uint64_t head = 0;
    Code code = kNoCode;

    [[nodiscard]] IntegerDigest digest() const noexcept { return {.head = head}; }
    void fill(const IntegerDigest& digest, Code new_code) noexcept {
      head = digest.head;
      code = new_code;
    }
  };

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] Key operator[](std::size_t i) const { return keys_[i]; }
  void push_back(Key key) { keys_.push_back(key); }

 private:
  std::vector<Key> keys_;
};

class StringStore {
 public:
  using Key = std::string_view;
  struct Slot {  // flattens the digest's members, because a digest ends in padding
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint32_t length = 0;
    Code code = kNoCode;

    [[nodiscard]] TextDigest digest() const noexcept {
      return {.head = head, .tail = tail, .length = length};
    }
    void fill(const TextDigest& digest, Code new_code) noexcept {
      head = digest.head;
      tail = digest.tail;
      length = digest.length;
      code = new_code;
    }
  };

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] Key operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }
  void push_back(Key key);

 private:
  std::vector<char> bytes_;
  std::vector<std::size_t> ends_;
};

// Open addressing with linear probing, at most half full. The hash is seeded at random, so nobody
// can choose keys that collide. No result depends on it, because codes follow the order of the
// keys.
template <class Store>
class CodeTable {
 public:
  using Key = Store::Key;

  [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }
  [[nodiscard]] const Store& store() const noexcept { return store_; }
  [[nodiscard]] Code find(const Lookup<Key>& lookup) const;
  Code find_or_add(const Lookup<Key>& lookup);
  // Prefetches the slot of the key.
  void prefetch(const Lookup<Key>& lookup) const {
    if (!slots_.empty())
      __builtin_prefetch(&slots_[static_cast<std::size_t>(lookup.hash) & (slots_.size() - 1)]);
  }

 private:
  using Slot = Store::Slot;

  [[nodiscard]] std::size_t slot_of(const Lookup<Key>& lookup) const;
  void grow_slots();

  Store store_;
  std::vector<Slot> slots_;
};

inline void StringStore::push_back(Key key) {
  if (ends_.size() == ends_.capacity()) ends_.reserve(2 * ends_.size() + 64);  // may throw: first
  bytes_.insert(bytes_.end(), key.begin(), key.end());
  ends_.push_back(bytes_.size());
}

template <class Store>
std::size_t CodeTable<Store>::slot_of(const Lookup<Key>& lookup) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot_index = static_cast<std::size_t>(lookup.hash) & mask;
  for (;; slot_index = (slot_index + 1) & mask) {
    const Slot& slot = slots_[slot_index];
    if (slot.code == kNoCode) return slot_index;
    if (slot.digest() == lookup.digest &&
        (lookup.digest.is_complete() || store_[slot.code] == lookup.key))
      return slot_index;
  }
}

template <class Store>
void CodeTable<Store>::grow_slots() {
  std::vector<Slot> new_slots(std::max<std::size_t>(64, 2 * slots_.size()));
  const std::size_t mask = new_slots.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.code == kNoCode) continue;
    std::size_t slot_index = static_cast<std::size_t>(hash_of(slot.digest())) & mask;
    while (new_slots[slot_index].code != kNoCode) slot_index = (slot_index + 1) & mask;
    new_slots[slot_index] = slot;
  }
  slots_ = std::move(new_slots);
}

template <class Store>
Code CodeTable<Store>::find(const Lookup<Key>& lookup) const {
  return slots_.empty() ? kNoCode : slots_[slot_of(lookup)].code;
}

template <class Store>
Code CodeTable<Store>::find_or_add(const Lookup<Key>& lookup) {
  if (2 * (store_.size() + 1) > slots_.size()) grow_slots();
  Slot& slot = slots_[slot_of(lookup)];
  if (slot.code == kNoCode) {
    const auto code = static_cast<Code>(store_.size());
    store_.push_back(lookup.key);  // first, because it may throw
    slot.fill(lookup.digest, code);
  }
  return slot.code;
}

}  // namespace exactk
