#include "exactk/truth_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/checks.hpp"
#include "base/hash.hpp"
#include "base/read_once.hpp"
#include "base/run.hpp"
#include "exactk/error.hpp"
#include "kernels/dispatch.hpp"

namespace exactk {
namespace {

// The first bits of pi. These and all below are part of the format: states keep digests.
constexpr std::array<std::uint64_t, 4> kSeeds = {0x243f6a8885a308d3, 0x13198a2e03707344,
                                                 0xa4093822299f31d0, 0x452821e638d01377};

// What is hashed other than an integer of 64 bits with sign.
constexpr std::uint64_t kText = 1;
constexpr std::uint64_t kBytes = 2;
constexpr std::uint64_t kWideInteger = 3;
constexpr std::uint64_t kNoKey = 4;

// Mixes two words by two multiplications, as wyhash does.
UInt128 mix_wide(std::uint64_t first, std::uint64_t second) {
  const UInt128 product = static_cast<UInt128>(first ^ kSeeds[0]) * (second ^ kSeeds[1]);
  return static_cast<UInt128>(static_cast<std::uint64_t>(product) ^ kSeeds[2]) *
         (static_cast<std::uint64_t>(product >> 64U) ^ kSeeds[3]);
}

std::uint64_t mix_words(std::uint64_t first, std::uint64_t second) {
  const UInt128 mixed = mix_wide(first, second);
  return static_cast<std::uint64_t>(mixed) ^ static_cast<std::uint64_t>(mixed >> 64U);
}

std::uint64_t little_endian_word(std::string_view bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof(word)));
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

KeyHash hash_text(std::string_view text, std::uint64_t kind) {
  KeyHash hash = mix_words(kind, text.size());
  while (!text.empty()) {
    hash = mix_words(hash, little_endian_word(text));
    text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)));
  }
  return hash;
}

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63U;

KeyHash hash_integer(std::uint64_t key, bool is_unsigned) {
  return is_unsigned && key >= kSignBit ? mix_words(kWideInteger, key) : key;
}

constexpr Count kBlockWork = Count{1} << 19U;  // less work is not worth a thread
constexpr Count kRowWork = 4;                  // of a row, in items
constexpr std::size_t kChunkRows = 4096;       // between two checkpoints
constexpr std::size_t kWindow = 512;           // items that are mixed at a time: they stay in L1

// The digests of rows, read by one thread mostly in their order.
template <class Id>
class RowDigests {
 public:
  // `mixed_keys`: of items with keys, if they have no grades.
  RowDigests(const DigestRequest& request, std::span<const Id> items,
             std::span<const std::uint64_t> mixed_keys, const Run& run)
      : request_(request),
        items_(items),
        has_users_(request.users.has_value()),
        has_keys_(request.items.has_value()),
        users_(request.users.value_or(std::span<const KeyHash>())),
        keys_(request.items.value_or(std::span<const KeyHash>())),
        mixed_keys_(mixed_keys),
        kernels_(kernels(request.isa)),
        run_(run),
        no_key_(mix_words(kNoKey, 0)) {}

  UInt128 digest(Count row) {
    const Lists& lists = request_.truth;
    const Offset begin = lists.begin(row);
    const Count length = lists.length(row);
    if (begin < 0 || length < 0 || begin > std::ssize(items_) - length) refuse_row(row);
    if (length == 0) return 0;
    std::uint64_t sum = 0;
    in_chunks(static_cast<std::size_t>(length), run_, [&](std::size_t from, std::size_t to) {
      const auto first = static_cast<std::size_t>(begin);
      sum += sum_of_items(row, first + from, first + to);
    });
    const KeyHash user = has_users_ ? users_[static_cast<std::size_t>(row)] : no_key_;
    return mix_wide(user, sum);
  }

 private:
  [[nodiscard]] std::uint64_t sum_of_items(Count row, std::size_t begin, std::size_t end) {
    if (!has_keys_) return sum_of_integers(begin, end);
    return request_.grades.empty() ? sum_of_keys(row, begin, end)
                                   : sum_of_graded_keys(row, begin, end);
  }

  [[nodiscard]] std::uint64_t sum_of_integers(std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    while (begin < end) {
      const bool is_mixed = window_begin_ <= begin && begin < window_end_;
      if (!is_mixed) {
        const std::uint64_t sum_of_window = mix_window(begin);
        if (window_end_ <= end) {
          sum += sum_of_window;
          begin = window_end_;
          continue;
        }
      }
      const std::size_t stop = std::min(end, window_end_);
      for (; begin < stop; ++begin) sum += window_[begin - window_begin_];
    }
    return sum;
  }

  std::uint64_t mix_window(std::size_t begin) {
    window_begin_ = begin;
    window_end_ = std::min(begin + kWindow, items_.size());
    const auto ids = items_.subspan(begin, window_end_ - begin);
    const std::uint64_t* keys = window_.data();
    if constexpr (sizeof(Id) == sizeof(std::uint64_t)) {
      keys = reinterpret_cast<const std::uint64_t*>(ids.data());
    } else {
      std::ranges::transform(ids, window_.begin(),
                             [](Id id) { return static_cast<std::uint64_t>(id); });
    }
    return kernels_.mix_items(keys, grades_from(begin), ids.size(), window_.data());
  }

  [[nodiscard]] std::uint64_t sum_of_keys(Count row, std::size_t begin, std::size_t end) const {
    std::uint64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += mixed_keys_[code_at(i, row)];
    return sum;
  }

  [[nodiscard]] std::uint64_t sum_of_graded_keys(Count row, std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    window_end_ = window_begin_;
    while (begin < end) {
      const std::size_t size = std::min(kWindow, end - begin);
      for (std::size_t i = 0; i < size; ++i) window_[i] = keys_[code_at(begin + i, row)];
      sum += kernels_.mix_items(window_.data(), grades_from(begin), size, window_.data());
      begin += size;
    }
    return sum;
  }

  [[nodiscard]] const double* grades_from(std::size_t begin) const {
    return request_.grades.empty() ? nullptr : request_.grades.subspan(begin).data();
  }

  [[nodiscard]] std::size_t code_at(std::size_t item, Count row) const {
    const auto code = static_cast<std::uint64_t>(read_once(items_[item]));
    if (code < keys_.size()) return static_cast<std::size_t>(code);
    throw InputError({.argument = "truth",
                      .expected = "item codes below " + std::to_string(keys_.size()),
                      .found = std::to_string(code),
                      .row = row});
  }

  [[noreturn]] static void refuse_row(Count row) {
    throw InputError({.argument = "truth",
                      .expected = "rows within the items",
                      .found = "a row outside",
                      .row = row});
  }

  const DigestRequest& request_;
  std::span<const Id> items_;
  bool has_users_;
  bool has_keys_;
  std::span<const KeyHash> users_;
  std::span<const KeyHash> keys_;
  std::span<const std::uint64_t> mixed_keys_;
  const Kernels& kernels_;
  const Run& run_;
  KeyHash no_key_;
  std::array<std::uint64_t, kWindow> window_{};  // mixed items from window_begin_ to window_end_
  std::size_t window_begin_ = 0;
  std::size_t window_end_ = 0;
};

template <class Id>
UInt128 digest_of_rows(const DigestRequest& request, std::span<const Id> items, const Run& run) {
  std::vector<std::uint64_t> mixed_keys;
  if (request.items && request.grades.empty()) {
    mixed_keys.resize(request.items->size());
    kernels(request.isa)
        .mix_items(request.items->data(), nullptr, mixed_keys.size(), mixed_keys.data());
  }
  const Count row_count = request.truth.row_count();
  const auto sum_rows = [&](Count begin, Count end) {
    RowDigests<Id> digests(request, items, mixed_keys, run);
    UInt128 sum = 0;
    const auto add_rows = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        sum += digests.digest(begin + static_cast<Count>(i));
      }
    };
    in_chunks(static_cast<std::size_t>(end - begin), run, add_rows, kChunkRows);
    return sum;
  };
  const Count blocks = (std::ssize(items) + kRowWork * row_count) / kBlockWork + 1;
  if (blocks == 1) return sum_rows(0, row_count);
  const Count block_rows = (row_count + blocks - 1) / blocks;
  UInt128 sum = 0;
  std::mutex mutex;
  parallel_for(run, blocks, [&](int /*worker*/, Count block) {
    const Count begin = std::min(block * block_rows, row_count);
    const UInt128 of_block = sum_rows(begin, std::min(begin + block_rows, row_count));
    const std::scoped_lock lock(mutex);
    sum += of_block;
  });
  return sum;
}

}  // namespace

KeyHash hash_string(std::string_view text) { return hash_text(text, kText); }

std::vector<KeyHash> hash_keys(const Vocabulary& vocabulary, Count size, bool as_bytes,
                               const Execution& execution) {
  const Run run(execution);
  check_size(vocabulary, size);
  std::vector<KeyHash> hashes;
  hashes.reserve(static_cast<std::size_t>(size));
  const bool is_unsigned = vocabulary.has_wide();
  in_chunks(static_cast<std::size_t>(size), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto code = static_cast<Code>(i);
      hashes.push_back(vocabulary.of_integers()
                           ? hash_integer(vocabulary.integer(code), is_unsigned)
                           : hash_text(vocabulary.string(code), as_bytes ? kBytes : kText));
    }
  });
  return hashes;
}

void join_hashes(std::span<KeyHash> first_parts, std::span<const KeyHash> next_part) {
  check_size(next_part.size(), std::ssize(first_parts), "hashes", "one hash per key");
  std::ranges::transform(first_parts, next_part, first_parts.begin(), mix_words);
}

Digest truth_digest(const DigestRequest& request, const Execution& execution) {
  const Run run(execution);
  const Lists& lists = request.truth;
  const Count rows = lists.row_count();
  if (rows < 0) {
    throw InputError({.argument = "truth",
                      .expected = "indptr with one more offset than rows",
                      .found = "none"});
  }
  if (!lists.lengths.empty()) check_size(lists.lengths.size(), rows, "truth", "one length per row");
  if (request.users) check_size(request.users->size(), rows, "truth", "one user key per row");
  const UInt128 sum = std::visit(
      [&](auto items) {
        if (!request.grades.empty()) {
          check_size(request.grades.size(), std::ssize(items), "truth", "one grade per item");
        }
        return digest_of_rows(request, items, run);
      },
      lists.items);
  return {.low = static_cast<std::uint64_t>(sum), .high = static_cast<std::uint64_t>(sum >> 64U)};
}

}  // namespace exactk
