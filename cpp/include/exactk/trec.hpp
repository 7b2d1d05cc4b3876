// Reads the two text formats of TREC: qrels ("query iteration document grade") and runs ("query Q0
// document rank score tag"), with fields separated by any number of blanks. As in trec_eval, scores
// rank; the rank field and any text after the tag are ignored. exactk/number_syntax.hpp defines the
// syntax of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exactk/strings.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Maximum bytes of a line, and of a key in it, so that a file of another kind is rejected early.
inline constexpr std::size_t kMaxTrecLine = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxTrecKey = 4096;

enum class TrecFormat : std::uint8_t { qrels, run };

struct TrecColumns {  // strings are valid UTF-8 without zero bytes
  StringColumn queries = {};
  StringColumn documents = {};
  std::vector<double> numbers = {};  // grades of qrels or scores of a run
};

// The fault in a line. Only the caller knows the file's name.
struct LineFault {
  Count line = 0;  // from 1
  std::string expected;
  std::string found;
  std::string text;  // the beginning of the line, byte for byte
};

class LineError : public std::runtime_error {
 public:
  explicit LineError(LineFault fault);
  [[nodiscard]] const LineFault& fault() const noexcept { return fault_; }

 private:
  LineFault fault_;
};

// Reads a whole file. `next` returns its next part, which stays valid until the next call, and an
// empty view at the end; lines may be split anywhere. Skips empty lines and comments (#), but
// rejects a comment that would be a row without its # ("#q 0 d 1"). If `format` is nullopt, the
// number of fields in the first line decides. Throws LineError.
[[nodiscard]] TrecColumns parse_trec(std::optional<TrecFormat> format,
                                     const std::function<std::string_view()>& next);

}  // namespace exactk
