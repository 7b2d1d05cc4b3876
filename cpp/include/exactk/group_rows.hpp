// Groups rows that come in any order by user.
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

// The number of rows per user and slice, which lets several threads group rows without waiting for
// each other.
struct RowCounts {
  std::vector<Offset> indptr;                      // offset of each user's first row after grouping
  bool is_grouped = true;                          // whether all rows are already in this order
  std::size_t slice_rows = 0;                      // rows per slice; slices are counted separately
  std::vector<std::vector<Offset>> slice_offsets;  // per slice: destination of each user's rows
};

// `codes` holds the user of each row, a code below `users`.
[[nodiscard]] RowCounts count_rows(std::span<const Code> codes, Count users,
                                   const std::string& argument, const Execution& execution);

// Returns the positions of the rows whose user is another than that of the row before.
[[nodiscard]] std::vector<Offset> run_starts(std::span<const Code> codes,
                                             const Execution& execution);

// A column to copy: elements of 1, 2, 4 or 8 bytes at a fixed stride, and their destination.
struct ColumnCopy {
  const std::byte* from;
  std::ptrdiff_t stride;
  std::byte* to;
  std::size_t width;
};

// Groups the rows by user and keeps the order of the rows within each user.
void copy_grouped(RowCounts counts, std::span<const Code> codes,
                  std::span<const ColumnCopy> columns, const std::string& argument,
                  const Execution& execution);

struct Grouping {
  std::vector<Offset> indptr;  // offset of each user's first row after grouping
  // The row at each position after grouping; rows of one user keep their order. Empty if all rows
  // are already in order.
  std::vector<Offset> order;
};

// Groups the rows by user, as copy_grouped does, but returns their order and copies nothing.
[[nodiscard]] Grouping group_rows(std::span<const Code> codes, Count users,
                                  const std::string& argument, const Execution& execution);

using Ranks = std::variant<std::span<const std::int64_t>, std::span<const double>>;

// Sorts the rows of each user by rank, lowest first; the order stays empty if they are so. Throws
// InputError if a rank is NaN or repeated within a user.
void order_by_rank(Grouping& grouping, const Ranks& ranks, const std::string& argument,
                   const Execution& execution);

}  // namespace exactk
