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

// The distinct keys of one kind, integers or strings of bytes, in order of first appearance. A
// key's code is its position in that order.
class Vocabulary {
 public:
  explicit Vocabulary(bool of_integers);
  // Continues after the keys of the base, which must not be extended from then on.
  explicit Vocabulary(std::shared_ptr<const Vocabulary> base);
  Vocabulary(Vocabulary&&) noexcept;
  Vocabulary& operator=(Vocabulary&&) noexcept;
  ~Vocabulary();

  [[nodiscard]] bool of_integers() const noexcept;
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

  // Declares that integers to come may have a sign, or need bit 63. Throws InputError at both.
  void declare_range(bool negative, bool wide, const std::string& argument);

  struct Tables;  // defined with the functions that fill them
  [[nodiscard]] Tables& tables() noexcept { return *tables_; }
  [[nodiscard]] const Tables& tables() const noexcept { return *tables_; }

 private:
  std::unique_ptr<Tables> tables_;
};

// Writes the code of each key of a column; new keys are added.
void encode(Vocabulary& vocabulary, const ItemArray& column, std::span<Code> codes,
            const std::string& argument, const Execution& execution);

// The same for strings: several threads encode slices by themselves, which are then merged.
template <class Strings>
void encode(Vocabulary& vocabulary, const Strings& column, std::span<Code> codes,
            const Execution& execution);

// Adds the keys of another vocabulary. Returns the code of each of them.
[[nodiscard]] std::vector<Code> extend(Vocabulary& vocabulary, const Vocabulary& other,
                                       const std::string& argument, const Execution& execution);

// The position of each key among all of them in ascending order; strings compare by their bytes.
[[nodiscard]] std::vector<Code> positions_in_key_order(const Vocabulary& vocabulary,
                                                       const Execution& execution);

}  // namespace exactk
