// From rows in any order to the rows of each user.
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

// How many rows each user has, of some rows after others: what several threads need to bring them
// together without waiting for each other.
struct RowCounts {
  std::vector<Offset> indptr;  // where the rows of each user begin, once they stand user by user
  bool sorted = true;          // all rows stand so already
  std::size_t slice = 0;       // so many rows are counted by themselves
  std::vector<std::vector<Offset>> begins;  // where those of each user go, slice by slice
};

// Rows belong to `users` users, by number.
[[nodiscard]] RowCounts count_rows(std::span<const Code> codes, Count users,
                                   const std::string& argument, const Execution& execution);

// A column of elements of 1, 2, 4 or 8 bytes, so many bytes apart, and where it goes.
struct ColumnCopy {
  const std::byte* from;
  std::ptrdiff_t stride;
  std::byte* to;
  std::size_t width;
};

// Brings the rows of each user together; those of a user stay in the order in which they came.
void copy_grouped(RowCounts counts, std::span<const Code> codes,
                  std::span<const ColumnCopy> columns, const std::string& argument,
                  const Execution& execution);

struct Grouping {
  std::vector<Offset> indptr;  // where the rows of each user begin, once they stand user by user
  // Which row stands where then: those of a user in the order in which they came. Empty if all
  // rows stand so already.
  std::vector<Offset> order;
};

// The same by the numbers of the rows.
[[nodiscard]] Grouping group_rows(std::span<const Code> codes, Count users,
                                  const std::string& argument, const Execution& execution);

using Ranks = std::variant<std::span<const std::int64_t>, std::span<const double>>;

// Orders the rows of each user by their ranks, the lowest first. Throws InputError at two of one
// rank, or NaN.
void order_by_rank(Grouping& grouping, const Ranks& ranks, const std::string& argument,
                   const Execution& execution);

}  // namespace exactk
