// The names of users and items as their owners have them: integers, or strings of bytes. Each is
// numbered once, in the order in which they come, and everything after works on the numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exactk/lists.hpp"
#include "exactk/types.hpp"

namespace exactk {

using KeyNumber = std::uint32_t;
inline constexpr KeyNumber kNoKey = ~KeyNumber{0};  // of a key that is not known

// Strings as they lie in memory: one after another, or as Arrow's views.
template <class Place>
struct PackedStrings {
  std::span<const Place> offsets;  // one more than there are strings
  std::string_view bytes;

  [[nodiscard]] std::size_t size() const noexcept { return offsets.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const;  // throws if it lies outside
};

// Sixteen bytes a string: its length, then the string itself if it has up to 12 bytes; else its
// first four, the number of a buffer, and its place there.
struct StringViews {
  struct View {
    std::int32_t length;
    std::int32_t prefix;
    std::int32_t buffer;
    std::int32_t offset;
  };
  std::span<const View> views;
  std::vector<std::string_view> buffers;

  [[nodiscard]] std::size_t size() const noexcept { return views.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const;
};

struct FixedStrings {
  std::string_view bytes;
  std::size_t width;
  std::size_t count;

  [[nodiscard]] std::size_t size() const noexcept { return count; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    return bytes.substr(i * width, width);
  }
};

struct ScatteredStrings {
  std::span<const std::string_view> strings;

  [[nodiscard]] std::size_t size() const noexcept { return strings.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return strings[i]; }
};

// What tells a key from others at a glance: an integer, or a string of up to 16 bytes, wholly. Of a
// longer string it is a hash, and two that look alike have yet to be compared.
struct Glance {
  std::uint64_t head;
  std::uint64_t tail;
  std::uint32_t length;  // of the string; of a longer one 17

  [[nodiscard]] bool tells_all() const noexcept { return length <= 16; }
  friend bool operator==(const Glance&, const Glance&) = default;
};

// A key to look up, and what is computed of it once.
template <class Key>
struct Sought {
  Sought() = default;
  explicit Sought(Key wanted);

  Key key{};
  Glance glance{};
  std::uint64_t hash = 0;
};

class IntegerStore {
 public:
  using Key = std::uint64_t;

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] Key operator[](std::size_t i) const { return keys_[i]; }
  void push_back(Key key) { keys_.push_back(key); }

 private:
  std::vector<Key> keys_;
};

class StringStore {
 public:
  using Key = std::string_view;

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

// Open addressing with linear probing, never more than half full. The hash is seeded at random, so
// that nobody can choose keys that meet; no result depends on it, for numbers follow the order of
// the keys.
template <class Store>
class NumberTable {
 public:
  using Key = Store::Key;

  [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }
  [[nodiscard]] const Store& store() const noexcept { return store_; }
  [[nodiscard]] KeyNumber find(const Sought<Key>& sought) const;
  KeyNumber find_or_add(const Sought<Key>& sought);
  // Has the memory fetched where the key will be sought.
  void prefetch(const Sought<Key>& sought) const {
    if (!slots_.empty())
      __builtin_prefetch(&slots_[static_cast<std::size_t>(sought.hash) & (slots_.size() - 1)]);
  }

 private:
  struct Slot {
    Glance glance{};
    KeyNumber number = kNoKey;
  };
  [[nodiscard]] std::size_t slot_of(const Sought<Key>& sought) const;
  void grow();

  Store store_;
  std::vector<Slot> slots_;
};

// Distinct keys of one kind.
class Keys {
 public:
  explicit Keys(bool integers) : integers_(integers) {}
  // Goes on after the keys of another, which nobody may add to from then on.
  explicit Keys(std::shared_ptr<const Keys> base);

  [[nodiscard]] bool integers() const noexcept { return integers_; }
  [[nodiscard]] bool has_negative() const noexcept { return negative_; }
  // Whether an integer needs bit 63 without being negative.
  [[nodiscard]] bool has_wide() const noexcept { return wide_; }
  [[nodiscard]] Count size() const noexcept;

  // Throw InputError if integers are asked of strings, or the other way round.
  KeyNumber number_of(std::string_view key);  // a new one if it is not known
  KeyNumber number_of(std::uint64_t key);
  KeyNumber number_of(const Sought<std::string_view>& sought);
  KeyNumber number_of(const Sought<std::uint64_t>& sought);
  void prefetch(const Sought<std::string_view>& sought) const;
  void prefetch(const Sought<std::uint64_t>& sought) const;
  [[nodiscard]] KeyNumber find(std::string_view key) const;
  [[nodiscard]] KeyNumber find(std::uint64_t key) const;
  [[nodiscard]] std::string_view string(KeyNumber number) const;
  [[nodiscard]] std::uint64_t integer(KeyNumber number) const;

  // That integers to come may have a sign, or need bit 63: not both.
  void expect(bool negative, bool wide, const std::string& argument);

 private:
  template <class Key>
  [[nodiscard]] KeyNumber found(const Sought<Key>& sought) const;
  template <class Key>
  KeyNumber found_or_added(const Sought<Key>& sought);
  template <class Key>
  void fetch(const Sought<Key>& sought) const;
  [[nodiscard]] const Keys& holder_of(KeyNumber number) const;  // of it and its bases

  auto& table_of(std::uint64_t) { return integer_table_; }
  auto& table_of(std::string_view) { return string_table_; }
  [[nodiscard]] const auto& table_of(std::uint64_t) const { return integer_table_; }
  [[nodiscard]] const auto& table_of(std::string_view) const { return string_table_; }

  bool integers_;
  bool negative_ = false;
  bool wide_ = false;
  int bases_ = 0;     // the base, its base, and so on
  Count before_ = 0;  // how many keys they have
  std::shared_ptr<const Keys> base_;
  NumberTable<IntegerStore> integer_table_;
  NumberTable<StringStore> string_table_;
};

// The number of each key of a column; keys that are not known get new ones.
void number_keys(Keys& keys, const ItemArray& column, std::span<KeyNumber> numbers,
                 const std::string& argument, const Effort& effort);

// Several threads number rows of their own, and then agree.
template <class Strings>
void number_keys(Keys& keys, const Strings& column, std::span<KeyNumber> numbers,
                 const Effort& effort);

// The number of each key of others; those that are not known get new ones.
[[nodiscard]] std::vector<KeyNumber> adopt(Keys& keys, const Keys& others,
                                           const std::string& argument, const Effort& effort);

// The place of each key among all of them in ascending order; of strings, that of their bytes.
[[nodiscard]] std::vector<KeyNumber> places_in_order(const Keys& keys, const Effort& effort);

}  // namespace exactk
