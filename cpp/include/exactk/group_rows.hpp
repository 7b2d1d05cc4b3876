// Groups rows in any order by user.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "exactk/lists.hpp"
#include "exactk/types.hpp"
#include "exactk/vocabulary.hpp"

namespace exactk {

// How many rows each user has, slice by slice: what several threads need to group them by user
// without waiting for each other.
struct RowCounts {
  std::vector<Offset> indptr;  // where the rows of each user begin, once they are grouped by user
  bool is_grouped = true;      // whether all rows are so already
  std::size_t slice_rows = 0;  // rows of a slice, which is counted by itself
  std::vector<std::vector<Offset>> slice_offsets;  // by slice: where those of each user go
};

// The user of each row is its code, below `users`.
[[nodiscard]] RowCounts count_rows(std::span<const Code> codes, Count users,
                                   const std::string& argument, const Execution& execution);

// A column of elements of 1, 2, 4 or 8 bytes, so many bytes apart, and where it goes.
struct ColumnCopy {
  const std::byte* from;
  std::ptrdiff_t stride;
  std::byte* to;
  std::size_t width;
};

// Groups the rows by user; those of a user stay in the order in which they came.
void copy_grouped(RowCounts counts, std::span<const Code> codes,
                  std::span<const ColumnCopy> columns, const std::string& argument,
                  const Execution& execution);

struct Grouping {
  std::vector<Offset> indptr;  // where the rows of each user begin, once they are grouped by user
  // The row at each position then: those of a user in the order in which they came. Empty if all
  // rows are grouped already.
  std::vector<Offset> order;
};

// The same as an order of the rows.
[[nodiscard]] Grouping group_rows(std::span<const Code> codes, Count users,
                                  const std::string& argument, const Execution& execution);

using Ranks = std::variant<std::span<const std::int64_t>, std::span<const double>>;

// Orders the rows of each user by their ranks, the lowest first. Throws InputError at two of one
// rank, or NaN.
void order_by_rank(Grouping& grouping, const Ranks& ranks, const std::string& argument,
                   const Execution& execution);

}  // namespace exactk
