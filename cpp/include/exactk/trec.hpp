// Reads the two text formats of TREC: qrels ("query iteration document grade") and runs ("query Q0
// document rank score tag"), with fields separated by any number of blanks. As in trec_eval, scores
// rank; the rank field and any text after the tag are ignored. exactk/number_syntax.hpp defines the
// syntax of numbers. Files of other kinds have as many fields per line: the facts tell them apart.
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

// A row of the file, for messages.
struct TrecSample {
  Count line = 0;    // from 1; 0 if no row is one
  std::string text;  // the beginning of the line, byte for byte
};

// What the fields of all rows show, whose meaning the caller judges.
struct TrecFacts {
  bool is_run = false;
  Count rows = 0;
  // The distinct second fields in the order of their first rows, at most kMaxTrecIterations + 1.
  std::vector<std::string> iterations = {};
  TrecSample other_iteration = {};  // the first row whose second field differs from the first
  // Unless all second fields are 0 or Q0: whether all documents are digits, perhaps with a
  // fraction.
  bool documents_are_numbers = true;
  Count times = 0;  // rows whose grade or rank looks like a timestamp
  // Of runs. The rank is what a number says in the fourth field.
  Count score_times = 0;
  Count copied_ranks = 0;         // rows whose score is the rank
  TrecSample rank_text = {};      // the first row without a rank
  TrecSample fraction_rank = {};  // the first row whose rank is no integer
  TrecSample shifted = {};  // the first row of more fields whose last ones are a rank and a score
  bool tags_vary = false;
  bool tags_are_numbers = true;
  Count queries = 0;              // with several rows, not all of one rank
  Count contradicted = 0;         // of these, those of which a better rank has a lower score
  Count first_contradicted = -1;  // the first row of the first, from 0
  Count counted_scores = 0;       // of these, those whose scores are 1 to n, or 0 to n - 1
  Count counted_ranks = 0;        // of these, those whose ranks begin at 1 or 0
};

inline constexpr std::size_t kMaxTrecIterations = 32;

struct TrecColumns {  // strings are valid UTF-8 without zero bytes
  StringColumn queries = {};
  StringColumn documents = {};
  std::vector<double> numbers = {};  // grades of qrels or scores of a run
  TrecFacts facts = {};
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
