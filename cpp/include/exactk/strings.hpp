// Columns of strings in the layouts that callers hold, read without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "exactk/types.hpp"

namespace exactk {

[[nodiscard]] bool is_utf8(std::string_view text);

// Strings that were read: string i is bytes[offsets[i], offsets[i + 1]).
struct StringColumn {
  std::vector<Offset> offsets = {0};
  std::vector<std::uint8_t> bytes = {};
};

// Concatenated strings. StringOffset is the type of the offsets: 32 or 64 bits.
template <class StringOffset>
struct PackedStrings {
  std::span<const StringOffset> offsets;  // one more than the number of strings
  std::string_view bytes;

  [[nodiscard]] std::size_t size() const noexcept { return offsets.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const;  // throws if out of bounds
};

// Arrow's string views: 16 bytes per string. A view holds the length, then the string itself if it
// has at most 12 bytes; otherwise its first four bytes, the index of a buffer and the offset there.
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

}  // namespace exactk
