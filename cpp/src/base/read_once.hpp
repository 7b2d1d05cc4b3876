// Memory of the caller may be written to by another thread meanwhile.
#pragma once

namespace exactk {

// The value as it was at one moment: what is checked is then what is used.
template <class T>
[[nodiscard]] T read_once(const T& value) {
  return *static_cast<const volatile T*>(&value);
}

}  // namespace exactk
