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

#include "base/read_once.hpp"
#include "base/run.hpp"
#include "base/runs.hpp"
#include "exactk/error.hpp"
#include "ingest/code_table.hpp"

namespace exactk {
namespace {

[[noreturn]] void throw_too_many_keys() {
  throw CapacityError(
      {.argument = "keys", .expected = "fewer than 2^32 - 1 distinct keys", .found = "more"});
}

void check_key_type(const Vocabulary& vocabulary, bool integers) {
  if (vocabulary.of_integers() == integers) return;
  throw InputError({.argument = "keys",
                    .expected = vocabulary.of_integers() ? "integers" : "strings",
                    .found = integers ? "integers" : "strings"});
}

}  // namespace

// One of the tables is used; the other stays empty.
struct Vocabulary::Tables {
  [[nodiscard]] std::size_t size() const noexcept { return integers.size() + strings.size(); }
  auto& table_for(std::uint64_t /*key*/) { return integers; }
  auto& table_for(std::string_view /*key*/) { return strings; }

  CodeTable<IntegerStore> integers;
  CodeTable<StringStore> strings;
};

struct Vocabulary::DenseCodes {
  std::uint64_t low = 0;    // the smallest integer of the range
  std::vector<Code> codes;  // of low, low + 1, ...; kNoCode for integers that are no keys
  Count entered = 0;        // the keys that the vocabulary had when these were last updated
};

Vocabulary::Vocabulary(bool of_integers)
    : tables_(std::make_shared<Tables>()), of_integers_(of_integers) {}

Vocabulary::Vocabulary(Vocabulary&&) noexcept = default;
Vocabulary& Vocabulary::operator=(Vocabulary&&) noexcept = default;
Vocabulary::~Vocabulary() = default;

Vocabulary Vocabulary::copy() {
  shares_tables_ = true;
  Vocabulary copied(*this);
  copied.dense_ = nullptr;
  return copied;
}

std::shared_ptr<Vocabulary::DenseCodes> Vocabulary::release_dense() noexcept {
  return std::exchange(dense_, nullptr);
}

void Vocabulary::keep_dense(std::shared_ptr<DenseCodes> dense) noexcept {
  dense_ = std::move(dense);
}

template <class Key>
void Vocabulary::prefetch(const Lookup<Key>& lookup) const {
  tables_->table_for(lookup.key).prefetch(lookup);
}

template <class Key>
Code Vocabulary::find_lookup(const Lookup<Key>& lookup) const {
  return tables_->table_for(lookup.key).find(lookup);
}

template <class Key>
Code Vocabulary::encode_lookup(const Lookup<Key>& lookup) {
  if (shares_tables_) {
    const Code code = find_lookup(lookup);
    if (code != kNoCode) return code;
    tables_ = std::make_shared<Tables>(*tables_);
    shares_tables_ = false;
  }
  auto& table = tables_->table_for(lookup.key);
  if (table.size() >= kNoCode - 1) throw_too_many_keys();
  return table.find_or_add(lookup);
}

bool Vocabulary::has_negative() const noexcept { return has_negative_; }

bool Vocabulary::has_wide() const noexcept { return has_wide_; }

Count Vocabulary::size() const noexcept { return static_cast<Count>(tables_->size()); }

Code Vocabulary::encode(std::string_view key) {
  check_key_type(*this, false);
  return encode_lookup(Lookup(key));
}

Code Vocabulary::encode(std::uint64_t key) {
  check_key_type(*this, true);
  return encode_lookup(Lookup(key));
}

Code Vocabulary::find(std::string_view key) const { return tables_->strings.find(Lookup(key)); }

Code Vocabulary::find(std::uint64_t key) const { return tables_->integers.find(Lookup(key)); }

std::string_view Vocabulary::string(Code code) const { return tables_->strings.store()[code]; }

std::uint64_t Vocabulary::integer(Code code) const { return tables_->integers.store()[code]; }

void Vocabulary::check_range(bool negative, bool wide, const std::string& argument) const {
  if ((has_negative_ || negative) && (has_wide_ || wide)) {
    throw InputError({.argument = argument,
                      .expected = "integers that all fit int64 or all fit uint64",
                      .found = "negative integers and integers of 2^63 or more"});
  }
}

void Vocabulary::declare_range(bool negative, bool wide, const std::string& argument) {
  check_range(negative, wide, argument);
  has_negative_ = has_negative_ || negative;
  has_wide_ = has_wide_ || wide;
}

namespace {

struct Range {
  std::uint64_t low;  // in the order of the column's type
  std::uint64_t high;
};

template <class T>
Range range_of(std::span<const T> column, const Run& run) {
  T low = std::numeric_limits<T>::max();
  T high = std::numeric_limits<T>::min();
  in_chunks(column.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T value = read_once(column[i]);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  });
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
}

// Slots of the table are scattered in memory, so those of several rows are prefetched before the
// first lookup.
constexpr std::size_t kLookahead = 32;

template <class Target, class KeyAt>
void encode_each(Target& vocabulary, std::size_t rows, const KeyAt& key_at, std::span<Code> codes,
                 const Run& run) {
  std::array<Lookup<std::invoke_result_t<KeyAt, std::size_t>>, kLookahead> lookups;
  in_chunks(rows, run, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += kLookahead) {
      const std::size_t count = std::min(kLookahead, end - begin);
      for (std::size_t i = 0; i < count; ++i) {
        vocabulary.prefetch(*std::construct_at(&lookups[i], key_at(begin + i)));
      }
      for (std::size_t i = 0; i < count; ++i)
        codes[begin + i] = vocabulary.encode_lookup(lookups[i]);
    }
  });
}

template <class T>
Range declare_range_of(Vocabulary& vocabulary, std::span<const T> column,
                       const std::string& argument, const Run& run) {
  const Range range = range_of(column, run);
  if constexpr (std::is_signed_v<T>) {
    vocabulary.declare_range(static_cast<std::int64_t>(range.low) < 0, false, argument);
  } else {
    vocabulary.declare_range(false, range.high >> 63U != 0, argument);
  }
  return range;
}

// The keys of adjacent rows with equal keys, and the row after the last of each.
template <class T>
struct Runs {
  std::vector<T> keys;
  std::vector<std::size_t> ends;
};

constexpr std::size_t kRunLength = 8;  // shorter runs on average are not worth a list of them

// Returns false, with the first of the runs, as soon as they are short.
template <class T>
bool collect_runs(std::span<const T> column, Runs<T>& runs, const Run& run) {
  constexpr std::size_t kRows = 1024;  // between two looks at how many runs there are
  bool are_long = true;
  T last = read_once(column[0]);
  const auto collect = [&](std::size_t begin, std::size_t end) {
    if (!are_long) return;
    visit_changes(column.subspan(begin, end - begin), last, [&](std::size_t position) {
      runs.keys.push_back(last);
      runs.ends.push_back(begin + position);
    });
    are_long = runs.keys.size() <= end / kRunLength;
  };
  in_chunks(column.size(), run, collect, kRows);
  runs.keys.push_back(last);
  runs.ends.push_back(column.size());
  return are_long;
}

// Looks up the key of each run once, as in files that are sorted by user.
template <class T>
void encode_runs(Vocabulary& vocabulary, const Runs<T>& runs, std::span<Code> codes,
                 const std::string& argument, const Run& run) {
  declare_range_of(vocabulary, std::span<const T>(runs.keys), argument, run);
  std::vector<Code> run_codes;
  grow(run_codes, runs.keys.size(), kNoCode, run);
  const auto key_at = [&](std::size_t i) { return static_cast<std::uint64_t>(runs.keys[i]); };
  encode_each(vocabulary, runs.keys.size(), key_at, run_codes, run);
  std::size_t index = 0;
  in_chunks(codes.size(), run, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t stop = std::min(end, runs.ends[index]);
      std::ranges::fill(codes.subspan(begin, stop - begin), run_codes[index]);
      if (stop == runs.ends[index]) ++index;
      begin = stop;
    }
  });
}

using DenseCodes = Vocabulary::DenseCodes;

constexpr std::size_t kSparsity = 4;    // integers of a range per key or row, at most
constexpr std::size_t kMaxBacklog = 8;  // keys to enter per row; for more, hashing is cheaper

// Returns the codes of a range that includes the column's integers, updated to the vocabulary's
// keys; null if such a range is too wide or takes too long to fill.
std::shared_ptr<DenseCodes> dense_codes(Vocabulary& vocabulary, Range range, std::size_t rows,
                                        const Run& run) {
  std::shared_ptr<DenseCodes> dense = vocabulary.release_dense();
  const auto keys = static_cast<std::size_t>(vocabulary.size());
  const std::size_t widest = kSparsity * std::max(rows, keys) + kChunk;
  // Makes the order of keys that of unsigned integers.
  const std::uint64_t sign = vocabulary.has_wide() ? 0 : std::uint64_t{1} << 63U;
  std::uint64_t low = range.low ^ sign;
  std::uint64_t high = range.high ^ sign;
  if (dense != nullptr) {
    const std::uint64_t kept_low = dense->low ^ sign;
    const std::uint64_t kept_high = kept_low + dense->codes.size() - 1;
    const std::uint64_t both_low = std::min(low, kept_low);
    const std::uint64_t both_high = std::max(high, kept_high);
    if (both_high - both_low < widest) {
      low = both_low;
      high = both_high;
    }
    if (low != kept_low || high != kept_high) dense = nullptr;
  }
  const std::size_t entered = dense == nullptr ? 0 : static_cast<std::size_t>(dense->entered);
  if (high - low >= widest || keys - entered > kMaxBacklog * rows + kChunk) return nullptr;
  if (dense == nullptr) {
    dense = std::make_shared<DenseCodes>();
    dense->low = low ^ sign;
    grow(dense->codes, static_cast<std::size_t>(high - low) + 1, kNoCode, run);
  }
  in_chunks(keys - entered, run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t key = entered + begin; key < entered + end; ++key) {
      const auto code = static_cast<Code>(key);
      const std::uint64_t distance = vocabulary.integer(code) - dense->low;
      if (distance < dense->codes.size()) dense->codes[static_cast<std::size_t>(distance)] = code;
    }
  });
  return dense;
}

// Looks up integers by their distance from the smallest, and then adds the new ones in bulk.
template <class T>
void encode_densely(Vocabulary& vocabulary, std::shared_ptr<DenseCodes> dense,
                    std::span<const T> column, std::span<Code> codes, const Run& run) {
  const std::uint64_t low = dense->low;
  const std::span<Code> code_at = dense->codes;
  const auto first_new_code = static_cast<Code>(vocabulary.size());
  std::vector<std::uint64_t> new_keys;
  in_chunks(column.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto key = static_cast<std::uint64_t>(read_once(column[i]));
      // Another thread may have written keys outside the range since the scan.
      const std::uint64_t distance = std::min<std::uint64_t>(key - low, code_at.size() - 1);
      Code& code = code_at[static_cast<std::size_t>(distance)];
      if (code == kNoCode) {
        code = first_new_code + static_cast<Code>(new_keys.size());
        new_keys.push_back(low + distance);
      }
      codes[i] = code;
    }
  });
  std::vector<Code> new_codes;
  grow(new_codes, new_keys.size(), kNoCode, run);
  const auto key_at = [&](std::size_t i) { return new_keys[i]; };
  encode_each(vocabulary, new_keys.size(), key_at, new_codes, run);
  dense->entered = vocabulary.size();
  const bool is_small = code_at.size() <= kSparsity * static_cast<std::size_t>(dense->entered);
  if (is_small) vocabulary.keep_dense(std::move(dense));
}

template <class T>
void encode_integers(Vocabulary& vocabulary, std::span<const T> column, std::span<Code> codes,
                     const std::string& argument, const Run& run) {
  if (column.empty()) return;
  if (Runs<T> runs; collect_runs(column, runs, run)) {
    encode_runs(vocabulary, runs, codes, argument, run);
    return;
  }
  const Range range = declare_range_of(vocabulary, column, argument, run);
  if (auto dense = dense_codes(vocabulary, range, column.size(), run)) {
    encode_densely(vocabulary, std::move(dense), column, codes, run);
    return;
  }
  const auto key_at = [&](std::size_t i) {
    return static_cast<std::uint64_t>(read_once(column[i]));
  };
  encode_each(vocabulary, column.size(), key_at, codes, run);
}

}  // namespace

void encode(Vocabulary& vocabulary, const ItemArray& column, std::span<Code> codes,
            const std::string& argument, const Execution& execution) {
  const Run run(execution);
  check_key_type(vocabulary, true);
  std::visit([&](auto values) { encode_integers(vocabulary, values, codes, argument, run); },
             column);
}

namespace {

template <class Target, class Strings>
void encode_slice(Target& target, const Strings& column, std::size_t first, std::span<Code> codes,
                  const Run& run) {
  const auto key_at = [&](std::size_t i) -> std::string_view { return column[first + i]; };
  encode_each(target, codes.size(), key_at, codes, run);
}

// The keys of a slice that the vocabulary lacks. Their provisional codes follow its existing codes.
struct NewKeys {
  void prefetch(const Lookup<std::string_view>& lookup) const {
    vocabulary.prefetch(lookup);
    keys.prefetch(lookup);
  }
  Code encode_lookup(const Lookup<std::string_view>& lookup) {
    const Code code = vocabulary.find_lookup(lookup);
    if (code != kNoCode) return code;
    const Code new_code = keys.encode_lookup(lookup);
    if (new_code >= kNoCode - 1 - static_cast<Code>(vocabulary.size())) throw_too_many_keys();
    return static_cast<Code>(vocabulary.size()) + new_code;
  }

  const Vocabulary& vocabulary;
  Vocabulary keys{false};
};

// Encodes slices concurrently, each with its own new keys.
template <class Strings>
void encode_in_slices(Vocabulary& vocabulary, const Strings& column, std::span<Code> codes,
                      std::size_t slices, const Run& run) {
  const std::size_t slice_size = (codes.size() + slices - 1) / slices;
  const auto slice_codes = [&](std::size_t slice) {
    const std::size_t begin = slice * slice_size;
    return codes.subspan(begin, std::min(slice_size, codes.size() - begin));
  };
  const auto first_new_code = static_cast<Code>(vocabulary.size());
  std::vector<NewKeys> parts;
  parts.reserve(slices);
  for (std::size_t slice = 0; slice < slices; ++slice) parts.push_back({.vocabulary = vocabulary});
  parallel_for(run, static_cast<Count>(slices), [&](int /*worker*/, Count block) {
    const auto slice = static_cast<std::size_t>(block);
    encode_slice(parts[slice], column, slice * slice_size, slice_codes(slice), run);
  });
  // Merges slices in order, so codes are the same as after reading the keys in sequence.
  std::vector<std::vector<Code>> translations;
  translations.reserve(slices);
  for (NewKeys& part : parts) {
    translations.push_back(
        extend(vocabulary, part.keys, part.keys.size(), "keys", run.execution()));
    part.keys = Vocabulary(false);  // frees its memory
  }
  parallel_for(run, static_cast<Count>(slices), [&](int /*worker*/, Count block) {
    const auto slice = static_cast<std::size_t>(block);
    const auto& translation = translations[slice];
    if (translation.empty()) return;
    const auto part = slice_codes(slice);
    in_chunks(part.size(), run, [&](std::size_t begin, std::size_t end) {
      for (Code& code : part.subspan(begin, end - begin)) {
        if (code >= first_new_code) code = translation[code - first_new_code];
      }
    });
  });
}

}  // namespace

template <class Strings>
void encode(Vocabulary& vocabulary, const Strings& column, std::span<Code> codes,
            const Execution& execution) {
  constexpr std::size_t kMinSliceStrings = std::size_t{1} << 18U;  // fewer are not worth a thread
  const Run run(execution);
  check_key_type(vocabulary, false);
  const std::size_t slices = std::clamp<std::size_t>(codes.size() / kMinSliceStrings, 1,
                                                     static_cast<std::size_t>(run.threads()));
  if (slices == 1) {
    encode_slice(vocabulary, column, 0, codes, run);
  } else {
    encode_in_slices(vocabulary, column, codes, slices, run);
  }
}

template void encode(Vocabulary&, const PackedStrings<std::int32_t>&, std::span<Code>,
                     const Execution&);
template void encode(Vocabulary&, const PackedStrings<std::int64_t>&, std::span<Code>,
                     const Execution&);
template void encode(Vocabulary&, const StringViews&, std::span<Code>, const Execution&);
template void encode(Vocabulary&, const FixedStrings&, std::span<Code>, const Execution&);
template void encode(Vocabulary&, const ScatteredStrings&, std::span<Code>, const Execution&);

void check_size(const Vocabulary& vocabulary, Count size) {
  if (0 <= size && size <= vocabulary.size()) return;
  throw InputError(
      {.argument = "size",
       .expected = "0 to " + std::to_string(vocabulary.size()) + ", the number of keys",
       .found = std::to_string(size)});
}

namespace {

// Encodes the first `size` keys of another vocabulary with the target.
template <class Target>
std::vector<Code> encode_keys(Target& target, const Vocabulary& other, Count size, const Run& run) {
  check_size(other, size);
  std::vector<Code> codes(static_cast<std::size_t>(size));
  if (other.of_integers()) {
    const auto key_at = [&](std::size_t i) { return other.integer(static_cast<Code>(i)); };
    encode_each(target, codes.size(), key_at, codes, run);
  } else {
    const auto key_at = [&](std::size_t i) { return other.string(static_cast<Code>(i)); };
    encode_each(target, codes.size(), key_at, codes, run);
  }
  return codes;
}

struct ExistingKeys {
  template <class Key>
  void prefetch(const Lookup<Key>& lookup) const {
    vocabulary.prefetch(lookup);
  }
  template <class Key>
  [[nodiscard]] Code encode_lookup(const Lookup<Key>& lookup) const {
    return vocabulary.find_lookup(lookup);
  }

  const Vocabulary& vocabulary;
};

}  // namespace

std::vector<Code> extend(Vocabulary& vocabulary, const Vocabulary& other, Count size,
                         const std::string& argument, const Execution& execution) {
  const Run run(execution);
  check_key_type(vocabulary, other.of_integers());
  vocabulary.declare_range(other.has_negative(), other.has_wide(), argument);
  return encode_keys(vocabulary, other, size, run);
}

std::vector<Code> find(const Vocabulary& vocabulary, const Vocabulary& other, Count size,
                       const std::string& argument, const Execution& execution) {
  const Run run(execution);
  check_key_type(vocabulary, other.of_integers());
  vocabulary.check_range(other.has_negative(), other.has_wide(), argument);
  const ExistingKeys keys{vocabulary};
  return encode_keys(keys, other, size, run);
}

namespace {

// Sorts most strings without reading them: the eight bytes after the prefix that all share.
struct SortKey {
  std::uint64_t head;
  Code code;
};

std::size_t common_prefix_length(const Vocabulary& vocabulary, std::size_t count, const Run& run) {
  if (count == 0) return 0;
  const std::string_view first = vocabulary.string(0);
  std::size_t length = first.size();
  in_chunks(count, run, [&](std::size_t begin, std::size_t end) {
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
  if (!string.empty()) std::memcpy(&head, string.data(), std::min(string.size(), sizeof(head)));
  if constexpr (std::endian::native == std::endian::little) head = __builtin_bswap64(head);
  return head;
}

}  // namespace

std::vector<Code> positions_in_key_order(const Vocabulary& vocabulary, Count size,
                                         const Execution& execution) {
  const Run run(execution);
  check_size(vocabulary, size);
  std::vector<SortKey> order(static_cast<std::size_t>(size));
  const std::size_t prefix_length =
      vocabulary.of_integers() ? 0 : common_prefix_length(vocabulary, order.size(), run);
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
  sort(std::span(order), before, run);
  std::vector<Code> positions(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    positions[order[i].code] = static_cast<Code>(i);
  }
  return positions;
}

}  // namespace exactk
