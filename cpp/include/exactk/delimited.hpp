// Splits CSV and TSV into columns: plain rows alone. The strict reader of Python's standard library
// defines the format, and reads what is not plain: rows that span lines, and whatever is a fault.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exactk/strings.hpp"

namespace exactk {

struct DelimitedSyntax {
  char delimiter = ',';
  bool has_quotes = true;       // otherwise a quote is an ordinary character
  std::size_t field_count = 1;  // of every row
};

// Returns these columns of complete lines, of which the last ends in a line feed; nullopt if any
// line is not plain: it has another number of fields, a quoted field that spans lines or does not
// end where its last quote is, or a carriage return elsewhere than before the line feed. Skips
// empty lines; removes the quotes around fields, and one of two quotes within. Bytes other than
// delimiters, quotes and ends of lines are not looked at, so that the caller checks for UTF-8.
// Throws InputError if a column is not one of the fields, or is repeated.
[[nodiscard]] std::optional<std::vector<StringColumn>> split_plain_rows(
    std::string_view lines, const DelimitedSyntax& syntax, std::span<const std::size_t> columns);

}  // namespace exactk
