// Vocabularies: external ids of users or items (keys), and the integers that stand for them
// (codes). Everything after a vocabulary works on codes.
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
inline constexpr Code kNoCode = ~Code{0};  // of a key that is not in the vocabulary

template <class Key>
struct Lookup;

// The distinct keys of one kind, integers or strings of bytes, in order of first appearance. A
// key's code is its position in that order. Keys are only ever added: a recorded size stands for
// the keys that existed then.
class Vocabulary {
 public:
  explicit Vocabulary(bool of_integers);
  Vocabulary(Vocabulary&&) noexcept;
  Vocabulary& operator=(Vocabulary&&) noexcept;
  ~Vocabulary();

  // The same keys in a vocabulary of its own. The tables are shared until either adds a key.
  [[nodiscard]] Vocabulary copy();

  [[nodiscard]] bool of_integers() const noexcept { return of_integers_; }
  [[nodiscard]] bool has_negative() const noexcept;
  // Whether an integer needs bit 63 without being negative.
  [[nodiscard]] bool has_wide() const noexcept;
  [[nodiscard]] Count size() const noexcept;

  // The code of the key, which is added if it is new. Throws InputError if integers are asked of
  // strings, or the other way round.
  Code encode(std::string_view key);
  Code encode(std::uint64_t key);
  [[nodiscard]] Code find(std::string_view key) const;
  [[nodiscard]] Code find(std::uint64_t key) const;
  [[nodiscard]] std::string_view string(Code code) const;
  [[nodiscard]] std::uint64_t integer(Code code) const;

  // Throws InputError at integers with a sign beside others that need bit 63.
  void check_range(bool negative, bool wide, const std::string& argument) const;
  // Declares that integers to come may have a sign, or need bit 63; checks them so.
  void declare_range(bool negative, bool wide, const std::string& argument);

  struct Tables;  // defined with the functions that fill them

  // For columns of keys: what is computed from a key once, and the memory of its slot.
  template <class Key>
  void prefetch(const Lookup<Key>& lookup) const;
  template <class Key>
  [[nodiscard]] Code find_lookup(const Lookup<Key>& lookup) const;
  template <class Key>
  Code encode_lookup(const Lookup<Key>& lookup);

 private:
  Vocabulary(const Vocabulary&) = default;

  std::shared_ptr<Tables> tables_;
  bool of_integers_;  // not in the tables, which another thread may replace
  bool shares_tables_ = false;
  bool has_negative_ = false;
  bool has_wide_ = false;
};

// Writes the code of each key of a column; new keys are added.
void encode(Vocabulary& vocabulary, const ItemArray& column, std::span<Code> codes,
            const std::string& argument, const Execution& execution);

// The same for strings: several threads encode slices by themselves, which are then merged.
template <class Strings>
void encode(Vocabulary& vocabulary, const Strings& column, std::span<Code> codes,
            const Execution& execution);

// Throws InputError unless the vocabulary has so many keys.
void check_size(const Vocabulary& vocabulary, Count size);

// Adds the first keys of another vocabulary. Returns the code of each of them.
[[nodiscard]] std::vector<Code> extend(Vocabulary& vocabulary, const Vocabulary& other, Count size,
                                       const std::string& argument, const Execution& execution);

// The codes that the first keys of another vocabulary have here; kNoCode for those that it lacks.
[[nodiscard]] std::vector<Code> find(const Vocabulary& vocabulary, const Vocabulary& other,
                                     Count size, const std::string& argument,
                                     const Execution& execution);

// The position of each of the first keys among them in ascending order; strings compare by their
// bytes.
[[nodiscard]] std::vector<Code> positions_in_key_order(const Vocabulary& vocabulary, Count size,
                                                       const Execution& execution);

}  // namespace exactk
