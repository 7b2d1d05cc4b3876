// The Arrow C data interface, through which tables of any library arrive: three C structs, and no
// library to link. https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "exactk/lists.hpp"

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace exactk::bindings {

// Owns one of the structs and releases it.
template <class Struct>
struct OwnedStruct {
  Struct value{};

  OwnedStruct() = default;
  OwnedStruct(const OwnedStruct&) = delete;
  OwnedStruct& operator=(const OwnedStruct&) = delete;
  ~OwnedStruct() {
    if (value.release != nullptr) value.release(&value);
  }
};

[[noreturn]] void refuse_arrow(const std::string& argument, std::string expected, std::string found,
                               Count position = -1, Count count = 1);

// Returns the name of a format; for numbers, NumPy's name.
[[nodiscard]] std::string type_of(std::string_view format);

// Returns the width of a fixed-width format, which follows the colon.
[[nodiscard]] std::int64_t width_of(std::string_view format, const std::string& argument);

inline constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
// Longer arrays would have buffers beyond any address, for the widest element of 16 bytes.
inline constexpr std::int64_t kMaxRows = kLongest / 16 - 1;

// Throw TypeFault. They check the producer's sizes and pointers before use, as far as possible.
void check_schema(const ArrowSchema& schema, const std::string& argument);
void check_array(const ArrowSchema& schema, const ArrowArray& array, const std::string& argument);

}  // namespace exactk::bindings
