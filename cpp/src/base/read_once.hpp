// Reads of the caller's memory, which another thread may write at the same time.
#pragma once

namespace exactk {

// Returns the value at one moment, so that the value that is checked is the value that is used.
template <class T>
[[nodiscard]] T read_once(const T& value) {
  return *static_cast<const volatile T*>(&value);
}

}  // namespace exactk
