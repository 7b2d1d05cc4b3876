// The two text formats of TREC: qrels ("query iteration document grade") and runs ("query Q0
// document rank score tag"), fields between any number of blanks. As in trec_eval, the rank and any
// text after the tag are ignored: scores rank. Numbers are written as in exactk/number_syntax.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exactk/types.hpp"

namespace exactk {

// What a line, and a key in it, may have at most, in bytes: a file of something else is found out
// early.
inline constexpr std::size_t kMaxTrecLine = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxTrecKey = 4096;

enum class TrecFormat : std::uint8_t { qrels, run };

// String i is bytes[offsets[i], offsets[i + 1]), and is UTF-8 without a zero in it.
struct StringColumn {
  std::vector<Offset> offsets = {0};
  std::vector<std::uint8_t> bytes = {};
};

struct TrecColumns {
  StringColumn queries = {};
  StringColumn documents = {};
  std::vector<double> numbers = {};  // grades of qrels, scores of a run
};

// What is wrong with a line. Only the caller knows the name of the file.
struct LineFault {
  Count line = 0;  // from 1
  std::string expected;
  std::string found;
  std::string text;  // how the line begins, byte for byte
};

class LineError : public std::runtime_error {
 public:
  explicit LineError(LineFault fault);
  [[nodiscard]] const LineFault& fault() const noexcept { return fault_; }

 private:
  LineFault fault_;
};

// Reads a whole file: `next` returns more of it, which stays where it is until the next call, and
// nothing at its end. Lines may be cut anywhere. Empty lines and those that begin with # are
// skipped; a line that begins with # and would be a row without it ("#q 0 d 1") is an error.
// Without a format, the number of fields of the first line decides. Throws LineError.
[[nodiscard]] TrecColumns parse_trec(std::optional<TrecFormat> format,
                                     const std::function<std::string_view()>& next);

}  // namespace exactk
