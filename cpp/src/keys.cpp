#include "exactk/keys.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <utility>

#include "checkpoint.hpp"
#include "exactk/error.hpp"
#include "parallel.hpp"
#include "read_once.hpp"

namespace exactk {
namespace {

__extension__ using UInt128 = unsigned __int128;

std::uint64_t mixed(std::uint64_t one, std::uint64_t other) {
  const UInt128 product = static_cast<UInt128>(one) * other;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// Nothing that is multiplied is known outside this process: else keys could be made that meet.
struct Secrets {
  std::uint64_t first;
  std::uint64_t second;
};

std::uint64_t random_bits(std::random_device& device) {
  return (std::uint64_t{device()} << 32U) | device();
}

const Secrets& secrets() {
  static const Secrets drawn = [] {
    std::random_device device;
    const std::uint64_t first = random_bits(device) | 1U;
    return Secrets{.first = first, .second = random_bits(device) | 1U};
  }();
  return drawn;
}

template <class T>
std::uint64_t loaded(const char* bytes) {
  T value = 0;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// A string of up to 16 bytes is known by its first and its last eight, which may overlap, and its
// length.
constexpr std::size_t kGlance = 16;

Glance glance_at(std::uint64_t key) { return {.head = key, .tail = 0, .length = 0}; }

Glance glance_at_long(std::string_view key) {
  const auto [first, second] = secrets();
  std::uint64_t hash = second ^ key.size();
  const char* bytes = key.data();
  for (std::size_t left = key.size(); left > 16; left -= 16, bytes += 16) {
    hash = mixed(loaded<std::uint64_t>(bytes) ^ first, loaded<std::uint64_t>(bytes + 8) ^ hash);
  }
  const char* const end = key.data() + key.size();
  return {.head = mixed(loaded<std::uint64_t>(end - 16) ^ first, hash),
          .tail = loaded<std::uint64_t>(end - 8),
          .length = kGlance + 1};
}

Glance glance_at(std::string_view key) {
  const char* const bytes = key.data();
  const std::size_t size = key.size();
  if (size > kGlance) return glance_at_long(key);
  const auto length = static_cast<std::uint32_t>(size);
  if (size >= 8) {
    return {.head = loaded<std::uint64_t>(bytes),
            .tail = loaded<std::uint64_t>(bytes + size - 8),
            .length = length};
  }
  if (size >= 4) {
    return {.head = loaded<std::uint32_t>(bytes),
            .tail = loaded<std::uint32_t>(bytes + size - 4),
            .length = length};
  }
  if (size == 0) return {.head = 0, .tail = 0, .length = 0};
  const std::uint64_t middle = loaded<std::uint8_t>(bytes + size / 2);
  return {.head = loaded<std::uint8_t>(bytes),
          .tail = (middle << 8U) | loaded<std::uint8_t>(bytes + size - 1),
          .length = length};
}

std::uint64_t hash_of(const Glance& glance) {
  const auto [first, second] = secrets();
  const std::uint64_t hash = mixed(glance.head ^ first, glance.tail ^ (second + glance.length));
  return mixed(hash ^ first, second);
}

[[noreturn]] void throw_too_many() {
  throw CapacityError(
      {.argument = "keys", .expected = "fewer than 2^32 - 1 different ones", .found = "more"});
}

void check_kind(const Keys& keys, bool integers) {
  if (keys.integers() == integers) return;
  throw InputError({.argument = "keys",
                    .expected = keys.integers() ? "integers" : "strings",
                    .found = integers ? "integers" : "strings"});
}

}  // namespace

void StringStore::push_back(Key key) {
  if (ends_.size() == ends_.capacity()) ends_.reserve(2 * ends_.size() + 64);  // may throw: first
  bytes_.insert(bytes_.end(), key.begin(), key.end());
  ends_.push_back(bytes_.size());
}

template <class Key>
Sought<Key>::Sought(Key wanted) : key(wanted), glance(glance_at(wanted)), hash(hash_of(glance)) {}

template <class Store>
std::size_t NumberTable<Store>::slot_of(const Sought<Key>& sought) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t place = static_cast<std::size_t>(sought.hash) & mask;
  for (;; place = (place + 1) & mask) {
    const Slot& slot = slots_[place];
    if (slot.number == kNoKey) return place;
    if (slot.glance == sought.glance &&
        (slot.glance.tells_all() || store_[slot.number] == sought.key))
      return place;
  }
}

template <class Store>
void NumberTable<Store>::grow() {
  std::vector<Slot> wider(std::max<std::size_t>(64, 2 * slots_.size()));
  const std::size_t mask = wider.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.number == kNoKey) continue;
    std::size_t place = static_cast<std::size_t>(hash_of(slot.glance)) & mask;
    while (wider[place].number != kNoKey) place = (place + 1) & mask;
    wider[place] = slot;
  }
  slots_ = std::move(wider);
}

template <class Store>
KeyNumber NumberTable<Store>::find(const Sought<Key>& sought) const {
  return slots_.empty() ? kNoKey : slots_[slot_of(sought)].number;
}

template <class Store>
KeyNumber NumberTable<Store>::find_or_add(const Sought<Key>& sought) {
  if (2 * (store_.size() + 1) > slots_.size()) grow();
  Slot& slot = slots_[slot_of(sought)];
  if (slot.number == kNoKey) {
    const auto number = static_cast<KeyNumber>(store_.size());
    store_.push_back(sought.key);  // first, as it may throw
    slot = {.glance = sought.glance, .number = number};
  }
  return slot.number;
}

namespace {

constexpr int kMostBases = 64;  // each is looked through for a key

}  // namespace

Keys::Keys(std::shared_ptr<const Keys> base)
    : integers_(base->integers_),
      negative_(base->negative_),
      wide_(base->wide_),
      bases_(base->bases_ + 1),
      before_(base->size()),
      base_(std::move(base)) {
  if (bases_ <= kMostBases) return;
  throw InputError({.argument = "keys",
                    .expected = "at most " + std::to_string(kMostBases) + " that go on from others",
                    .found = "more"});
}

Count Keys::size() const noexcept {
  return before_ + static_cast<Count>(integers_ ? integer_table_.size() : string_table_.size());
}

template <class Key>
KeyNumber Keys::found(const Sought<Key>& sought) const {
  for (const Keys* keys = this; keys != nullptr; keys = keys->base_.get()) {
    const KeyNumber own = keys->table_of(sought.key).find(sought);
    if (own != kNoKey) return static_cast<KeyNumber>(keys->before_) + own;
  }
  return kNoKey;
}

template <class Key>
KeyNumber Keys::found_or_added(const Sought<Key>& sought) {
  check_kind(*this, std::is_same_v<Key, std::uint64_t>);
  if (base_) {
    const KeyNumber known = base_->found(sought);
    if (known != kNoKey) return known;
  }
  if (size() >= Count{kNoKey} - 1) throw_too_many();
  return static_cast<KeyNumber>(before_) + table_of(sought.key).find_or_add(sought);
}

template <class Key>
void Keys::fetch(const Sought<Key>& sought) const {
  for (const Keys* keys = this; keys != nullptr; keys = keys->base_.get()) {
    keys->table_of(sought.key).prefetch(sought);
  }
}

KeyNumber Keys::find(std::string_view key) const { return found(Sought(key)); }

KeyNumber Keys::find(std::uint64_t key) const { return found(Sought(key)); }

KeyNumber Keys::number_of(std::string_view key) { return found_or_added(Sought(key)); }

KeyNumber Keys::number_of(std::uint64_t key) { return found_or_added(Sought(key)); }

KeyNumber Keys::number_of(const Sought<std::string_view>& sought) { return found_or_added(sought); }

KeyNumber Keys::number_of(const Sought<std::uint64_t>& sought) { return found_or_added(sought); }

void Keys::prefetch(const Sought<std::string_view>& sought) const { fetch(sought); }

void Keys::prefetch(const Sought<std::uint64_t>& sought) const { fetch(sought); }

const Keys& Keys::holder_of(KeyNumber number) const {
  const Keys* keys = this;
  while (std::cmp_less(number, keys->before_)) keys = keys->base_.get();
  return *keys;
}

std::string_view Keys::string(KeyNumber number) const {
  const Keys& keys = holder_of(number);
  return keys.string_table_.store()[number - static_cast<std::size_t>(keys.before_)];
}

std::uint64_t Keys::integer(KeyNumber number) const {
  const Keys& keys = holder_of(number);
  return keys.integer_table_.store()[number - static_cast<std::size_t>(keys.before_)];
}

void Keys::expect(bool negative, bool wide, const std::string& argument) {
  if ((negative_ || negative) && (wide_ || wide)) {
    throw InputError({.argument = argument,
                      .expected = "integers of int64 or of uint64",
                      .found = "negative ones and others of 2^63 or more"});
  }
  negative_ = negative_ || negative;
  wide_ = wide_ || wide;
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
constexpr std::size_t kAhead = 32;

template <class KeyAt>
void number_each(Keys& keys, std::size_t rows, const KeyAt& key_at, std::span<KeyNumber> numbers,
                 const Checkpoint& checkpoint) {
  std::array<Sought<std::invoke_result_t<KeyAt, std::size_t>>, kAhead> ahead;
  in_chunks(rows, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += kAhead) {
      const std::size_t some = std::min(kAhead, end - begin);
      for (std::size_t i = 0; i < some; ++i) {
        keys.prefetch(*std::construct_at(&ahead[i], key_at(begin + i)));
      }
      for (std::size_t i = 0; i < some; ++i) numbers[begin + i] = keys.number_of(ahead[i]);
    }
  });
}

// Integers that lie close to each other are looked up by their distance from the least of them.
template <class T>
void number_integers(Keys& keys, std::span<const T> column, std::span<KeyNumber> numbers,
                     const std::string& argument, const Checkpoint& checkpoint) {
  if (column.empty()) return;
  const auto [low, high] = range_of(column, checkpoint);
  if constexpr (std::is_signed_v<T>) {
    keys.expect(static_cast<std::int64_t>(low) < 0, false, argument);
  } else {
    keys.expect(false, high >> 63U != 0, argument);
  }
  const std::uint64_t span = high - low;
  std::vector<KeyNumber> near;
  if (span < 4 * column.size() + kChunk) {
    grow(near, static_cast<std::size_t>(span) + 1, kNoKey, checkpoint);
  }
  const auto key_at = [&](std::size_t i) {
    return static_cast<std::uint64_t>(read_once(column[i]));
  };
  if (near.empty()) {
    number_each(keys, column.size(), key_at, numbers, checkpoint);
    return;
  }
  // First each key gets its place among the different ones, then these are looked up, many at a
  // time.
  std::vector<std::uint64_t> different;
  const auto place_of = [&](std::uint64_t key) {
    const std::uint64_t distance = key - low;
    KeyNumber none = kNoKey;  // of a key that another thread has written since
    KeyNumber& place = distance < near.size() ? near[static_cast<std::size_t>(distance)] : none;
    if (place != kNoKey) return place;
    place = static_cast<KeyNumber>(different.size());
    different.push_back(key);
    return place;
  };
  std::uint64_t last = low;
  KeyNumber last_place = kNoKey;
  in_chunks(column.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t key = key_at(i);
      if (last_place == kNoKey || key != last) {  // those of a user often stand together
        last = key;
        last_place = place_of(key);
      }
      numbers[i] = last_place;
    }
  });
  std::vector<KeyNumber> found;
  grow(found, different.size(), kNoKey, checkpoint);
  const auto different_at = [&](std::size_t i) { return different[i]; };
  number_each(keys, different.size(), different_at, found, checkpoint);
  in_chunks(numbers.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
    for (KeyNumber& number : numbers.subspan(begin, end - begin)) number = found[number];
  });
}

}  // namespace

void number_keys(Keys& keys, const ItemArray& column, std::span<KeyNumber> numbers,
                 const std::string& argument, const Effort& effort) {
  const Checkpoint checkpoint = timed(effort.poll);
  check_kind(keys, true);
  std::visit([&](auto values) { number_integers(keys, values, numbers, argument, checkpoint); },
             column);
}

template <class Place>
std::string_view PackedStrings<Place>::operator[](std::size_t i) const {
  const auto begin = static_cast<std::size_t>(read_once(offsets[i]));
  const auto end = static_cast<std::size_t>(read_once(offsets[i + 1]));
  if (begin > end || end > bytes.size()) {
    throw InputError(
        {.argument = "strings",
         .expected = "offsets from 0 to " + std::to_string(bytes.size()) + " that do not decrease",
         .found = std::to_string(begin) + " and " + std::to_string(end),
         .position = static_cast<Offset>(i)});
  }
  return bytes.substr(begin, end - begin);
}

std::string_view StringViews::operator[](std::size_t i) const {
  const View& view = views[i];
  const auto length = static_cast<std::size_t>(view.length);
  constexpr std::size_t kInline = 12;
  if (length <= kInline)
    return {reinterpret_cast<const char*>(&view) + sizeof(view.length), length};
  const auto buffer = static_cast<std::size_t>(view.buffer);
  const auto offset = static_cast<std::size_t>(view.offset);
  if (view.length < 0 || buffer >= buffers.size() || offset > buffers[buffer].size() ||
      length > buffers[buffer].size() - offset) {
    throw InputError({.argument = "strings",
                      .expected = "views into their buffers",
                      .found = "one outside of them",
                      .position = static_cast<Offset>(i)});
  }
  return buffers[buffer].substr(offset, length);
}

namespace {

template <class Strings>
void number_slice(Keys& keys, const Strings& column, std::size_t first,
                  std::span<KeyNumber> numbers, const Checkpoint& checkpoint) {
  const auto key_at = [&](std::size_t i) -> std::string_view { return column[first + i]; };
  number_each(keys, numbers.size(), key_at, numbers, checkpoint);
}

}  // namespace

template <class Strings>
void number_keys(Keys& keys, const Strings& column, std::span<KeyNumber> numbers,
                 const Effort& effort) {
  constexpr std::size_t kSlice = std::size_t{1} << 18U;  // strings that are worth a thread
  check_kind(keys, false);
  const std::size_t slices =
      std::clamp<std::size_t>(numbers.size() / kSlice, 1, static_cast<std::size_t>(effort.threads));
  if (slices == 1) {
    number_slice(keys, column, 0, numbers, timed(effort.poll));
    return;
  }
  const std::size_t size = (numbers.size() + slices - 1) / slices;
  const auto slice_of = [&](Count block) {
    const std::size_t begin = static_cast<std::size_t>(block) * size;
    return numbers.subspan(begin, std::min(size, numbers.size() - begin));
  };
  std::vector<Keys> own(slices, Keys(false));
  parallel_for(
      static_cast<Count>(slices), effort.threads,
      [&](int /*worker*/, Count block, const Checkpoint& checkpoint) {
        const auto slice = static_cast<std::size_t>(block);
        number_slice(own[slice], column, slice * size, slice_of(block), checkpoint);
      },
      effort.poll);
  // One slice after another, so that keys are numbered as if they had been read in their order.
  std::vector<std::vector<KeyNumber>> agreed;
  agreed.reserve(slices);
  for (const Keys& one : own) agreed.push_back(adopt(keys, one, "keys", effort));
  parallel_for(
      static_cast<Count>(slices), effort.threads,
      [&](int /*worker*/, Count block, const Checkpoint& checkpoint) {
        const auto& translation = agreed[static_cast<std::size_t>(block)];
        const auto slice = slice_of(block);
        in_chunks(slice.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
          for (KeyNumber& number : slice.subspan(begin, end - begin)) number = translation[number];
        });
      },
      effort.poll);
}

template struct PackedStrings<std::int32_t>;
template struct PackedStrings<std::int64_t>;
template void number_keys(Keys&, const PackedStrings<std::int32_t>&, std::span<KeyNumber>,
                          const Effort&);
template void number_keys(Keys&, const PackedStrings<std::int64_t>&, std::span<KeyNumber>,
                          const Effort&);
template void number_keys(Keys&, const StringViews&, std::span<KeyNumber>, const Effort&);
template void number_keys(Keys&, const FixedStrings&, std::span<KeyNumber>, const Effort&);
template void number_keys(Keys&, const ScatteredStrings&, std::span<KeyNumber>, const Effort&);

std::vector<KeyNumber> adopt(Keys& keys, const Keys& others, const std::string& argument,
                             const Effort& effort) {
  check_kind(keys, others.integers());
  keys.expect(others.has_negative(), others.has_wide(), argument);
  std::vector<KeyNumber> numbers(static_cast<std::size_t>(others.size()));
  in_chunks(numbers.size(), timed(effort.poll), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto other = static_cast<KeyNumber>(i);
      numbers[i] = others.integers() ? keys.number_of(others.integer(other))
                                     : keys.number_of(others.string(other));
    }
  });
  return numbers;
}

namespace {

// A key whose order is mostly that of the strings: eight of their bytes, after those that all
// share.
struct Sortable {
  std::uint64_t head;
  KeyNumber number;
};

std::size_t shared_length(const Keys& keys, const Checkpoint& checkpoint) {
  const auto count = static_cast<std::size_t>(keys.size());
  if (count == 0) return 0;
  const std::string_view first = keys.string(0);
  std::size_t length = first.size();
  in_chunks(count, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view other = keys.string(static_cast<KeyNumber>(i));
      const auto shared = first.substr(0, length);
      length = static_cast<std::size_t>(std::ranges::mismatch(shared, other).in1 - shared.begin());
    }
  });
  return length;
}

std::uint64_t head_of(std::string_view string) {
  std::uint64_t head = 0;
  std::memcpy(&head, string.data(), std::min(string.size(), sizeof(head)));
  if constexpr (std::endian::native == std::endian::little) head = __builtin_bswap64(head);
  return head;
}

}  // namespace

std::vector<KeyNumber> places_in_order(const Keys& keys, const Effort& effort) {
  const Checkpoint checkpoint = timed(effort.poll);
  std::vector<Sortable> order(static_cast<std::size_t>(keys.size()));
  const std::size_t shared = keys.integers() ? 0 : shared_length(keys, checkpoint);
  const std::uint64_t sign = keys.has_wide() ? 0 : std::uint64_t{1} << 63U;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto number = static_cast<KeyNumber>(i);
    order[i] = {.head = keys.integers() ? keys.integer(number) ^ sign
                                        : head_of(keys.string(number).substr(shared)),
                .number = number};
  }
  const auto before = [&](const Sortable& one, const Sortable& other) {
    if (one.head != other.head || keys.integers()) return one.head < other.head;
    return keys.string(one.number) < keys.string(other.number);
  };
  sort(std::span(order), before, checkpoint);
  std::vector<KeyNumber> places(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    places[order[place].number] = static_cast<KeyNumber>(place);
  }
  return places;
}

}  // namespace exactk
