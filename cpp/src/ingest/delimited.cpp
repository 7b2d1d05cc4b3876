#include "exactk/delimited.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "exactk/error.hpp"

namespace exactk {
namespace {

constexpr char kQuote = '"';

// Reads the fields of plain rows; each step returns false where a row is not plain.
class Splitter {
 public:
  Splitter(std::string_view lines, const DelimitedSyntax& syntax,
           std::span<const std::size_t> columns)
      : next_(lines.data()),
        end_(next_ + lines.size()),
        syntax_(syntax),
        columns_(columns.size()),
        // A row has at most a field per byte.
        column_of_field_(std::min(syntax.field_count, lines.size() + 1), nullptr) {
    ends_field_[static_cast<unsigned char>(syntax.delimiter)] = true;
    ends_field_['\n'] = true;
    ends_field_['\r'] = true;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto before = columns.first(i);
      const bool is_repeated = std::ranges::find(before, columns[i]) != before.end();
      if (columns[i] >= syntax.field_count || is_repeated) {
        throw InputError(
            {.argument = "columns",
             .expected = "distinct columns below " + std::to_string(syntax.field_count),
             .found = std::to_string(columns[i]),
             .position = static_cast<Offset>(i)});
      }
      if (columns[i] < column_of_field_.size()) column_of_field_[columns[i]] = &columns_[i];
    }
  }

  [[nodiscard]] bool read_all() {
    while (next_ != end_) {
      if (read_line_end()) continue;  // an empty line
      if (!read_row()) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<StringColumn> columns() && { return std::move(columns_); }

 private:
  [[nodiscard]] bool read_row() {
    if (syntax_.field_count > column_of_field_.size()) return false;
    for (std::size_t field = 0; field < column_of_field_.size(); ++field) {
      if (field > 0 && !read_delimiter()) return false;
      StringColumn* const column = column_of_field_[field];
      const bool is_quoted = syntax_.has_quotes && next_ != end_ && *next_ == kQuote;
      if (is_quoted ? !read_quoted(column) : !read_unquoted(column)) return false;
      if (column != nullptr) column->offsets.push_back(static_cast<Offset>(column->bytes.size()));
    }
    return read_line_end();
  }

  [[nodiscard]] bool read_delimiter() {
    if (next_ == end_ || *next_ != syntax_.delimiter) return false;
    ++next_;
    return true;
  }

  [[nodiscard]] bool read_line_end() {
    const char* const feed = next_ != end_ && *next_ == '\r' ? next_ + 1 : next_;
    if (feed == end_ || *feed != '\n') return false;
    next_ = feed + 1;
    return true;
  }

  [[nodiscard]] bool read_unquoted(StringColumn* column) {
    const char* const begin = next_;
    while (next_ != end_ && !ends_field_[static_cast<unsigned char>(*next_)]) ++next_;
    append(column, begin, next_);
    return true;
  }

  // Reads up to the closing quote; the caller checks that the field ends there.
  [[nodiscard]] bool read_quoted(StringColumn* column) {
    while (true) {
      const char* const begin = ++next_;  // after a quote
      while (next_ != end_ && *next_ != kQuote && *next_ != '\n' && *next_ != '\r') ++next_;
      if (next_ == end_ || *next_ != kQuote) return false;
      const bool is_doubled = next_ + 1 != end_ && next_[1] == kQuote;
      append(column, begin, is_doubled ? next_ + 1 : next_);
      ++next_;
      if (!is_doubled) return true;
    }
  }

  static void append(StringColumn* column, const char* begin, const char* end) {
    if (column != nullptr) column->bytes.insert(column->bytes.end(), begin, end);
  }

  const char* next_;
  const char* end_;
  DelimitedSyntax syntax_;
  std::array<bool, 256> ends_field_ = {};
  std::vector<StringColumn> columns_;
  std::vector<StringColumn*> column_of_field_;  // null for fields that are not asked for
};

}  // namespace

std::optional<std::vector<StringColumn>> split_plain_rows(std::string_view lines,
                                                          const DelimitedSyntax& syntax,
                                                          std::span<const std::size_t> columns) {
  Splitter splitter(lines, syntax, columns);
  if (!splitter.read_all()) return std::nullopt;
  return std::move(splitter).columns();
}

}  // namespace exactk
