// Vocabularies map external ids of users or items (keys) to integers (codes). Everything downstream
// works on codes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exactk/lists.hpp"
#include "exactk/strings.hpp"
#include "exactk/types.hpp"

namespace exactk {

using Code = std::uint32_t;
inline constexpr Code kNoCode = ~Code{0};  // the code of an unknown key

template <class Key>
struct Lookup;

// The distinct keys of one kind, integers or byte strings, in order of first appearance. A key's
// code is its position in that order. Keys are only ever added, so a recorded size identifies the
// keys that existed then.
class Vocabulary {
 public:
  explicit Vocabulary(bool of_integers);
  Vocabulary(Vocabulary&&) noexcept;
  Vocabulary& operator=(Vocabulary&&) noexcept;
  ~Vocabulary();

  // Returns an independent vocabulary with the same keys. The two share tables until either adds a
  // key.
  [[nodiscard]] Vocabulary copy();

  [[nodiscard]] bool of_integers() const noexcept { return of_integers_; }
  [[nodiscard]] bool has_negative() const noexcept;
  // Whether an integer needs bit 63 without being negative.
  [[nodiscard]] bool has_wide() const noexcept;
  [[nodiscard]] Count size() const noexcept;

  // Returns the key's code, adding the key if it is new. Throws InputError if the key is an integer
  // and the vocabulary holds strings, or the other way round.
  Code encode(std::string_view key);
  Code encode(std::uint64_t key);
  [[nodiscard]] Code find(std::string_view key) const;
  [[nodiscard]] Code find(std::uint64_t key) const;
  [[nodiscard]] std::string_view string(Code code) const;
  [[nodiscard]] std::uint64_t integer(Code code) const;

  // Throws InputError if negative integers would meet integers that need bit 63.
  void check_range(bool negative, bool wide, const std::string& argument) const;
  // Records that later integers may be negative or need bit 63, after the same check.
  void declare_range(bool negative, bool wide, const std::string& argument);

  struct Tables;      // defined with the functions that fill it
  struct DenseCodes;  // the codes of all keys in a range of integers, kept from column to column

  // For columns of keys: a Lookup holds what is computed once per key; prefetch loads its slot.
  template <class Key>
  void prefetch(const Lookup<Key>& lookup) const;
  template <class Key>
  [[nodiscard]] Code find_lookup(const Lookup<Key>& lookup) const;
  template <class Key>
  Code encode_lookup(const Lookup<Key>& lookup);

  // Removes the kept codes, which a copy lacks; returns null if there are none.
  [[nodiscard]] std::shared_ptr<DenseCodes> release_dense() noexcept;
  void keep_dense(std::shared_ptr<DenseCodes> dense) noexcept;

 private:
  Vocabulary(const Vocabulary&) = default;

  std::shared_ptr<Tables> tables_;
  std::shared_ptr<DenseCodes> dense_;  // this vocabulary's alone
  bool of_integers_;                   // not in the tables, which another thread may replace
  bool shares_tables_ = false;
  bool has_negative_ = false;
  bool has_wide_ = false;
};

// Writes the code of each key of a column, adding new keys.
void encode(Vocabulary& vocabulary, const ItemArray& column, std::span<Code> codes,
            const std::string& argument, const Execution& execution);

// For strings: threads encode slices independently, which are then merged.
template <class Strings>
void encode(Vocabulary& vocabulary, const Strings& column, std::span<Code> codes,
            const Execution& execution);

// Throws InputError unless `size` is from 0 to the number of keys.
void check_size(const Vocabulary& vocabulary, Count size);

// Adds the first `size` keys of another vocabulary and returns their codes here.
[[nodiscard]] std::vector<Code> extend(Vocabulary& vocabulary, const Vocabulary& other, Count size,
                                       const std::string& argument, const Execution& execution);

// Returns the codes here of the first `size` keys of another vocabulary; kNoCode where missing.
[[nodiscard]] std::vector<Code> find(const Vocabulary& vocabulary, const Vocabulary& other,
                                     Count size, const std::string& argument,
                                     const Execution& execution);

// Returns the position of each of the first `size` keys in ascending key order. Strings are
// compared bytewise.
[[nodiscard]] std::vector<Code> positions_in_key_order(const Vocabulary& vocabulary, Count size,
                                                       const Execution& execution);

}  // namespace exactk
