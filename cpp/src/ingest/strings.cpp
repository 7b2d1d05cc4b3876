#include "exactk/strings.hpp"

#include <cstring>
#include <string>

#include "base/read_once.hpp"
#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

namespace {

// Returns the length of the UTF-8 character at the start, or 0 if it is invalid, overlong or a
// surrogate.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    const bool is_overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool is_surrogate = lead == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool is_overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool is_beyond_unicode = lead == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !is_overlong && !is_beyond_unicode ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint64_t word = 0;
    if (text.size() >= sizeof word) {  // mostly, all is ASCII
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080808080808080U) == 0) {
        text.remove_prefix(sizeof word);
        continue;
      }
    }
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

template <class StringOffset>
std::string_view PackedStrings<StringOffset>::operator[](std::size_t i) const {
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
                      .expected = "views within their buffers",
                      .found = "a view outside of its buffer",
                      .position = static_cast<Offset>(i)});
  }
  return buffers[buffer].substr(offset, length);
}

template struct PackedStrings<std::int32_t>;
template struct PackedStrings<std::int64_t>;

}  // namespace exactk
