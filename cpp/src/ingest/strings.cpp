#include "exactk/strings.hpp"

#include <string>

#include "base/read_once.hpp"
#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

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
