#include "exactk/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/checkpoint.hpp"
#include "base/parallel.hpp"
#include "base/read_once.hpp"
#include "exactk/error.hpp"
#include "ingest/code_table.hpp"

namespace exactk {
namespace {

constexpr int kMaxBases = 64;  // each is searched for a key

[[noreturn]] void throw_too_many_keys() {
  throw CapacityError(
      {.argument = "keys", .expected = "fewer than 2^32 - 1 different ones", .found = "more"});
}

void check_key_type(const Vocabulary& vocabulary, bool integers) {
  if (vocabulary.of_integers() == integers) return;
  throw InputError({.argument = "keys",
                    .expected = vocabulary.of_integers() ? "integers" : "strings",
                    .found = integers ? "integers" : "strings"});
}

}  // namespace

// The keys of a vocabulary, and the vocabulary that it continues after, if any.
struct Vocabulary::Tables {
  explicit Tables(bool integer_keys) : of_integers(integer_keys) {}
  explicit Tables(std::shared_ptr<const Vocabulary> previous);

  [[nodiscard]] Count size() const noexcept {
    return base_size + static_cast<Count>(of_integers ? integers.size() : strings.size());
  }
  template <class Key>
  [[nodiscard]] Code find(const Lookup<Key>& lookup) const;
  template <class Key>
  Code find_or_add(const Lookup<Key>& lookup);
  template <class Key>
  void prefetch(const Lookup<Key>& lookup) const;
  [[nodiscard]] const Tables* base_tables() const noexcept {
    return base == nullptr ? nullptr : &base->tables();
  }
  [[nodiscard]] const Tables& tables_of(Code code) const;  // this one, or a base

  auto& table_for(std::uint64_t /*key*/) { return integers; }
  auto& table_for(std::string_view /*key*/) { return strings; }
  [[nodiscard]] const auto& table_for(std::uint64_t /*key*/) const { return integers; }
  [[nodiscard]] const auto& table_for(std::string_view /*key*/) const { return strings; }

  bool of_integers;
  bool has_negative = false;
  bool has_wide = false;
  int base_count = 0;   // the base, its base, and so on
  Count base_size = 0;  // how many keys they have
  std::shared_ptr<const Vocabulary> base;
  CodeTable<IntegerStore> integers;
  CodeTable<StringStore> strings;
};

Vocabulary::Tables::Tables(std::shared_ptr<const Vocabulary> previous)
    : of_integers(previous->of_integers()),
      has_negative(previous->has_negative()),
      has_wide(previous->has_wide()),
      base_count(previous->tables().base_count + 1),
      base_size(previous->size()),
      base(std::move(previous)) {
  if (base_count <= kMaxBases) return;
  throw InputError(
      {.argument = "keys",
       .expected = "at most " + std::to_string(kMaxBases) + " that continue one another",
       .found = "more"});
}

template <class Key>
Code Vocabulary::Tables::find(const Lookup<Key>& lookup) const {
  for (const Tables* tables = this; tables != nullptr; tables = tables->base_tables()) {
    const Code code = tables->table_for(lookup.key).find(lookup);
    if (code != kNoCode) return static_cast<Code>(tables->base_size) + code;
  }
  return kNoCode;
}

template <class Key>
Code Vocabulary::Tables::find_or_add(const Lookup<Key>& lookup) {
  if (const Tables* previous = base_tables()) {
    const Code code = previous->find(lookup);
    if (code != kNoCode) return code;
  }
  if (size() >= Count{kNoCode} - 1) throw_too_many_keys();
  return static_cast<Code>(base_size) + table_for(lookup.key).find_or_add(lookup);
}

template <class Key>
void Vocabulary::Tables::prefetch(const Lookup<Key>& lookup) const {
  for (const Tables* tables = this; tables != nullptr; tables = tables->base_tables()) {
    tables->table_for(lookup.key).prefetch(lookup);
  }
}

const Vocabulary::Tables& Vocabulary::Tables::tables_of(Code code) const {
  const Tables* tables = this;
  while (std::cmp_less(code, tables->base_size)) tables = tables->base_tables();
  return *tables;
}

Vocabulary::Vocabulary(bool of_integers) : tables_(std::make_unique<Tables>(of_integers)) {}

Vocabulary::Vocabulary(std::shared_ptr<const Vocabulary> base)
    : tables_(std::make_unique<Tables>(std::move(base))) {}

Vocabulary::Vocabulary(Vocabulary&&) noexcept = default;
Vocabulary& Vocabulary::operator=(Vocabulary&&) noexcept = default;
Vocabulary::~Vocabulary() = default;

bool Vocabulary::of_integers() const noexcept { return tables_->of_integers; }

bool Vocabulary::has_negative() const noexcept { return tables_->has_negative; }

bool Vocabulary::has_wide() const noexcept { return tables_->has_wide; }

Count Vocabulary::size() const noexcept { return tables_->size(); }

Code Vocabulary::encode(std::string_view key) {
  check_key_type(*this, false);
  return tables_->find_or_add(Lookup(key));
}

Code Vocabulary::encode(std::uint64_t key) {
  check_key_type(*this, true);
  return tables_->find_or_add(Lookup(key));
}

Code Vocabulary::find(std::string_view key) const { return tables_->find(Lookup(key)); }

Code Vocabulary::find(std::uint64_t key) const { return tables_->find(Lookup(key)); }

std::string_view Vocabulary::string(Code code) const {
  const Tables& tables = tables_->tables_of(code);
  return tables.strings.store()[code - static_cast<std::size_t>(tables.base_size)];
}

std::uint64_t Vocabulary::integer(Code code) const {
  const Tables& tables = tables_->tables_of(code);
  return tables.integers.store()[code - static_cast<std::size_t>(tables.base_size)];
}

void Vocabulary::declare_range(bool negative, bool wide, const std::string& argument) {
  if ((has_negative() || negative) && (has_wide() || wide)) {
    throw InputError({.argument = argument,
                      .expected = "integers of int64 or of uint64",
                      .found = "negative ones and others of 2^63 or more"});
  }
  tables_->has_negative = has_negative() || negative;
  tables_->has_wide = has_wide() || wide;
}

namespace {

struct Range {
  std::uint64_t low;  // as they are ordered in their own type
  std::uint64_t high;
};

template <class T>
Range range_of(std::span<const T> column, const Checkpoint& checkpoint) {
  T low = std::numeric_limits<T>::max();
  T high = std::numeric_limits<T>::min();
  in_chunks(column.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T value = read_once(column[i]);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  });
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
}

// Keys lie anywhere in a table: those of some rows are fetched before the first of them is looked
// at.
constexpr std::size_t kLookahead = 32;

template <class KeyAt>
void encode_each(Vocabulary& vocabulary, std::size_t rows, const KeyAt& key_at,
                 std::span<Code> codes, const Checkpoint& checkpoint) {
  Vocabulary::Tables& tables = vocabulary.tables();
  std::array<Lookup<std::invoke_result_t<KeyAt, std::size_t>>, kLookahead> lookups;
  in_chunks(rows, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += kLookahead) {
      const std::size_t count = std::min(kLookahead, end - begin);
      for (std::size_t i = 0; i < count; ++i) {
        tables.prefetch(*std::construct_at(&lookups[i], key_at(begin + i)));
      }
      for (std::size_t i = 0; i < count; ++i) codes[begin + i] = tables.find_or_add(lookups[i]);
    }
  });
}

// Integers that are close to each other are looked up by their distance from the least of them.
template <class T>
void encode_integers(Vocabulary& vocabulary, std::span<const T> column, std::span<Code> codes,
                     const std::string& argument, const Checkpoint& checkpoint) {
  if (column.empty()) return;
  const auto [low, high] = range_of(column, checkpoint);
  if constexpr (std::is_signed_v<T>) {
    vocabulary.declare_range(static_cast<std::int64_t>(low) < 0, false, argument);
  } else {
    vocabulary.declare_range(false, high >> 63U != 0, argument);
  }
  const std::uint64_t span = high - low;
  std::vector<Code> positions;
  if (span < 4 * column.size() + kChunk) {
    grow(positions, static_cast<std::size_t>(span) + 1, kNoCode, checkpoint);
  }
  const auto key_at = [&](std::size_t i) {
    return static_cast<std::uint64_t>(read_once(column[i]));
  };
  if (positions.empty()) {
    encode_each(vocabulary, column.size(), key_at, codes, checkpoint);
    return;
  }
  // First each key gets its position among the distinct ones, then these are looked up, many at
  // a time.
  std::vector<std::uint64_t> distinct_keys;
  const auto position_of = [&](std::uint64_t key) {
    const std::uint64_t distance = key - low;
    Code unlisted = kNoCode;  // of a key that another thread has written since
    Code& position =
        distance < positions.size() ? positions[static_cast<std::size_t>(distance)] : unlisted;
    if (position != kNoCode) return position;
    position = static_cast<Code>(distinct_keys.size());
    distinct_keys.push_back(key);
    return position;
  };
  std::uint64_t last_key = low;
  Code last_position = kNoCode;
  in_chunks(column.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t key = key_at(i);
      if (last_position == kNoCode || key != last_key) {  // those of a user are often adjacent
        last_key = key;
        last_position = position_of(key);
      }
      codes[i] = last_position;
    }
  });
  std::vector<Code> distinct_codes;
  grow(distinct_codes, distinct_keys.size(), kNoCode, checkpoint);
  const auto distinct_key_at = [&](std::size_t i) { return distinct_keys[i]; };
  encode_each(vocabulary, distinct_keys.size(), distinct_key_at, distinct_codes, checkpoint);
  in_chunks(codes.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (Code& code : codes.subspan(begin, end - begin)) code = distinct_codes[code];
  });
}

}  // namespace

void encode(Vocabulary& vocabulary, const ItemArray& column, std::span<Code> codes,
            const std::string& argument, const Execution& execution) {
  check_threads(execution.threads);
  const Checkpoint checkpoint = timed_checkpoint(execution.poll);
  check_key_type(vocabulary, true);
  std::visit([&](auto values) { encode_integers(vocabulary, values, codes, argument, checkpoint); },
             column);
}

namespace {

template <class Strings>
void encode_slice(Vocabulary& vocabulary, const Strings& column, std::size_t first,
                  std::span<Code> codes, const Checkpoint& checkpoint) {
  const auto key_at = [&](std::size_t i) -> std::string_view { return column[first + i]; };
  encode_each(vocabulary, codes.size(), key_at, codes, checkpoint);
}

}  // namespace

template <class Strings>
void encode(Vocabulary& vocabulary, const Strings& column, std::span<Code> codes,
            const Execution& execution) {
  constexpr std::size_t kMinSliceStrings = std::size_t{1} << 18U;  // worth a thread
  check_threads(execution.threads);
  check_key_type(vocabulary, false);
  const std::size_t slices = std::clamp<std::size_t>(codes.size() / kMinSliceStrings, 1,
                                                     static_cast<std::size_t>(execution.threads));
  if (slices == 1) {
    encode_slice(vocabulary, column, 0, codes, timed_checkpoint(execution.poll));
    return;
  }
  const std::size_t slice_size = (codes.size() + slices - 1) / slices;
  const auto slice_codes = [&](Count block) {
    const std::size_t begin = static_cast<std::size_t>(block) * slice_size;
    return codes.subspan(begin, std::min(slice_size, codes.size() - begin));
  };
  std::vector<Vocabulary> parts;
  parts.reserve(slices);
  for (std::size_t slice = 0; slice < slices; ++slice) parts.emplace_back(false);
  parallel_for(
      static_cast<Count>(slices), execution.threads,
      [&](int /*worker*/, Count block, const Checkpoint& checkpoint) {
        const auto slice = static_cast<std::size_t>(block);
        encode_slice(parts[slice], column, slice * slice_size, slice_codes(block), checkpoint);
      },
      execution.poll);
  // One slice after another, so that codes are the same as if the keys had been read in order.
  std::vector<std::vector<Code>> translations;
  translations.reserve(slices);
  for (const Vocabulary& part : parts)
    translations.push_back(extend(vocabulary, part, "keys", execution));
  parallel_for(
      static_cast<Count>(slices), execution.threads,
      [&](int /*worker*/, Count block, const Checkpoint& checkpoint) {
        const auto& translation = translations[static_cast<std::size_t>(block)];
        const auto slice = slice_codes(block);
        in_chunks(slice.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
          for (Code& code : slice.subspan(begin, end - begin)) code = translation[code];
        });
      },
      execution.poll);
}

template void encode(Vocabulary&, const PackedStrings<std::int32_t>&, std::span<Code>,
                     const Execution&);
template void encode(Vocabulary&, const PackedStrings<std::int64_t>&, std::span<Code>,
                     const Execution&);
template void encode(Vocabulary&, const StringViews&, std::span<Code>, const Execution&);
template void encode(Vocabulary&, const FixedStrings&, std::span<Code>, const Execution&);
template void encode(Vocabulary&, const ScatteredStrings&, std::span<Code>, const Execution&);

std::vector<Code> extend(Vocabulary& vocabulary, const Vocabulary& other,
                         const std::string& argument, const Execution& execution) {
  check_threads(execution.threads);
  check_key_type(vocabulary, other.of_integers());
  vocabulary.declare_range(other.has_negative(), other.has_wide(), argument);
  std::vector<Code> codes(static_cast<std::size_t>(other.size()));
  in_chunks(codes.size(), timed_checkpoint(execution.poll),
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i) {
                const auto code = static_cast<Code>(i);
                codes[i] = other.of_integers() ? vocabulary.encode(other.integer(code))
                                               : vocabulary.encode(other.string(code));
              }
            });
  return codes;
}

namespace {

// A key whose order is mostly that of the strings: eight of their bytes, after the prefix that all
// share.
struct SortKey {
  std::uint64_t head;
  Code code;
};

std::size_t common_prefix_length(const Vocabulary& vocabulary, const Checkpoint& checkpoint) {
  const auto count = static_cast<std::size_t>(vocabulary.size());
  if (count == 0) return 0;
  const std::string_view first = vocabulary.string(0);
  std::size_t length = first.size();
  in_chunks(count, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view other = vocabulary.string(static_cast<Code>(i));
      const auto prefix = first.substr(0, length);
      length = static_cast<std::size_t>(std::ranges::mismatch(prefix, other).in1 - prefix.begin());
    }
  });
  return length;
}

std::uint64_t sort_head(std::string_view string) {
  std::uint64_t head = 0;
  std::memcpy(&head, string.data(), std::min(string.size(), sizeof(head)));
  if constexpr (std::endian::native == std::endian::little) head = __builtin_bswap64(head);
  return head;
}

}  // namespace

std::vector<Code> positions_in_key_order(const Vocabulary& vocabulary, const Execution& execution) {
  check_threads(execution.threads);
  const Checkpoint checkpoint = timed_checkpoint(execution.poll);
  std::vector<SortKey> order(static_cast<std::size_t>(vocabulary.size()));
  const std::size_t prefix_length =
      vocabulary.of_integers() ? 0 : common_prefix_length(vocabulary, checkpoint);
  const std::uint64_t sign = vocabulary.has_wide() ? 0 : std::uint64_t{1} << 63U;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto code = static_cast<Code>(i);
    order[i] = {.head = vocabulary.of_integers()
                            ? vocabulary.integer(code) ^ sign
                            : sort_head(vocabulary.string(code).substr(prefix_length)),
                .code = code};
  }
  const auto before = [&](const SortKey& one, const SortKey& other) {
    if (one.head != other.head || vocabulary.of_integers()) return one.head < other.head;
    return vocabulary.string(one.code) < vocabulary.string(other.code);
  };
  sort(std::span(order), before, checkpoint);
  std::vector<Code> positions(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    positions[order[i].code] = static_cast<Code>(i);
  }
  return positions;
}

}  // namespace exactk
