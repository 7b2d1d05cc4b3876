#include "exactk/group_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "base/read_once.hpp"
#include "base/run.hpp"
#include "base/runs.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

// Rejects codes without a user, including codes that another thread has written since the count.
[[noreturn]] void refuse_code(Code code, Count users, std::size_t row,
                              const std::string& argument) {
  throw InputError({.argument = argument,
                    .expected = "user codes below " + std::to_string(users),
                    .found = std::to_string(code),
                    .position = static_cast<Offset>(row)});
}

constexpr std::size_t kMinSliceRows = std::size_t{1} << 18U;  // fewer rows are not worth a thread

// One slice per thread, but at least kMinSliceRows rows per slice, and a quarter as many rows as
// there are users.
std::size_t rows_per_slice(std::size_t rows, Count users, int threads) {
  const std::size_t least = std::max(kMinSliceRows, static_cast<std::size_t>(users) / 4);
  const auto slices = std::clamp<std::size_t>(rows / least, 1, static_cast<std::size_t>(threads));
  return (rows + slices - 1) / slices;
}

// Counts the rows of each user. Returns whether the slice is already in ascending order of users.
bool count_slice(std::span<const Code> codes, std::size_t first_row, Count users,
                 std::vector<Offset>& counts, const std::string& argument, const Run& run) {
  grow(counts, static_cast<std::size_t>(users), Offset{0}, run);
  bool sorted = true;
  Code previous = 0;
  in_chunks(codes.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Code code = read_once(codes[row]);
      if (std::cmp_greater_equal(code, users)) refuse_code(code, users, first_row + row, argument);
      sorted = sorted && code >= previous;
      previous = code;
      ++counts[code];
    }
  });
  return sorted;
}

template <class Element>
void scatter(const ColumnCopy& column, std::size_t row, std::span<const Offset> destinations) {
  auto* const to = reinterpret_cast<Element*>(column.to);
  const std::byte* from = column.from + static_cast<std::ptrdiff_t>(row) * column.stride;
  for (const Offset destination : destinations) {
    std::memcpy(to + destination, from, sizeof(Element));  // either may be unaligned
    from += column.stride;
  }
}

void scatter(const ColumnCopy& column, std::size_t row, std::span<const Offset> destinations) {
  if (column.width == 8) {
    scatter<std::uint64_t>(column, row, destinations);
  } else if (column.width == 4) {
    scatter<std::uint32_t>(column, row, destinations);
  } else if (column.width == 2) {
    scatter<std::uint16_t>(column, row, destinations);
  } else {
    scatter<std::uint8_t>(column, row, destinations);
  }
}

}  // namespace

std::vector<Offset> run_starts(std::span<const Code> codes, const Execution& execution) {
  std::vector<Offset> starts;
  if (codes.empty()) return starts;
  starts.push_back(0);
  Code last = read_once(codes.front());
  const Run run(execution);
  in_chunks(codes.size(), run, [&](std::size_t begin, std::size_t end) {
    visit_changes(codes.subspan(begin, end - begin), last, [&](std::size_t position) {
      starts.push_back(static_cast<Offset>(begin + position));
    });
  });
  return starts;
}

RowCounts count_rows(std::span<const Code> codes, Count users, const std::string& argument,
                     const Execution& execution) {
  const Run run(execution);
  const std::size_t rows = codes.size();
  RowCounts counts;
  counts.slice_rows = std::max<std::size_t>(1, rows_per_slice(rows, users, run.threads()));
  const std::size_t slices =
      std::max<std::size_t>(1, (rows + counts.slice_rows - 1) / counts.slice_rows);
  counts.slice_offsets.resize(slices);
  std::vector<std::uint8_t> sorted(slices);
  parallel_for(run, static_cast<Count>(slices), [&](int /*worker*/, Count block) {
    const auto slice = static_cast<std::size_t>(block);
    const std::size_t begin = slice * counts.slice_rows;
    const auto slice_codes = codes.subspan(begin, std::min(counts.slice_rows, rows - begin));
    std::vector<Offset>& offsets = counts.slice_offsets[slice];
    sorted[slice] = count_slice(slice_codes, begin, users, offsets, argument, run) ? 1 : 0;
  });
  for (std::size_t slice = 0; slice < slices; ++slice) {
    const std::size_t begin = slice * counts.slice_rows;
    const bool is_ascending = begin == 0 || begin >= rows || codes[begin] >= codes[begin - 1];
    counts.is_grouped = counts.is_grouped && sorted[slice] != 0 && is_ascending;
  }
  grow(counts.indptr, static_cast<std::size_t>(users) + 1, Offset{0}, run);
  in_chunks(static_cast<std::size_t>(users), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t user = begin; user < end; ++user) {
      Offset next = counts.indptr[user];
      for (auto& offsets : counts.slice_offsets) next += std::exchange(offsets[user], next);
      counts.indptr[user + 1] = next;
    }
  });
  return counts;
}

void copy_grouped(RowCounts counts, std::span<const Code> codes,
                  std::span<const ColumnCopy> columns, const std::string& argument,
                  const Execution& execution) {
  const Run run(execution);
  const std::size_t rows = codes.size();
  const auto users = static_cast<Count>(counts.indptr.size()) - 1;
  const auto copy_slice = [&](int /*worker*/, Count block) {
    std::vector<Offset>& next = counts.slice_offsets[static_cast<std::size_t>(block)];
    const std::size_t first = static_cast<std::size_t>(block) * counts.slice_rows;
    constexpr std::size_t kCopyRows = 1024;  // their destinations stay in the L1 cache
    std::vector<Offset> destinations(kCopyRows);
    in_chunks(
        std::min(counts.slice_rows, rows - first), run,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const Code code = read_once(codes[first + i]);
            // Another thread may have written to the codes since the count.
            if (std::cmp_greater_equal(code, users) || std::cmp_greater_equal(next[code], rows))
              refuse_code(code, users, first + i, argument);
            destinations[i - begin] = next[code]++;
          }
          for (const ColumnCopy& column : columns)
            scatter(column, first + begin, std::span(destinations).first(end - begin));
        },
        kCopyRows);
  };
  parallel_for(run, static_cast<Count>(counts.slice_offsets.size()), copy_slice);
}

Grouping group_rows(std::span<const Code> codes, Count users, const std::string& argument,
                    const Execution& execution) {
  RowCounts counts = count_rows(codes, users, argument, execution);
  Grouping grouping{.indptr = counts.indptr, .order = {}};
  if (counts.is_grouped) return grouping;
  std::vector<Offset> rows;
  const Run run(execution);
  grow(rows, codes.size(), Offset{0}, run);
  std::iota(rows.begin(), rows.end(), Offset{0});
  grow(grouping.order, codes.size(), Offset{0}, run);
  const ColumnCopy column{.from = reinterpret_cast<const std::byte*>(rows.data()),
                          .stride = sizeof(Offset),
                          .to = reinterpret_cast<std::byte*>(grouping.order.data()),
                          .width = sizeof(Offset)};
  copy_grouped(std::move(counts), codes, {&column, 1}, argument, execution);
  return grouping;
}

namespace {

template <class T>
void order_rows(Grouping& grouping, std::span<const T> ranks, const std::string& argument,
                const Run& run) {
  const auto users = grouping.indptr.size() - 1;
  const auto before = [&](Offset one, Offset other) {
    return ranks[static_cast<std::size_t>(one)] < ranks[static_cast<std::size_t>(other)];
  };
  in_chunks(users, run, [&](std::size_t first, std::size_t last) {
    for (std::size_t user = first; user < last; ++user) {
      const auto begin = static_cast<std::size_t>(grouping.indptr[user]);
      const auto size = static_cast<std::size_t>(grouping.indptr[user + 1]) - begin;
      const auto rows = std::span(grouping.order).subspan(begin, size);
      if (!std::ranges::is_sorted(rows, before)) std::ranges::sort(rows, before);
      const auto repeat = std::ranges::adjacent_find(
          rows, [&](Offset one, Offset other) { return !before(one, other); });
      if (repeat == rows.end()) continue;
      throw InputError(
          {.argument = argument,
           .expected = "distinct ranks",
           .found = format_number(static_cast<double>(ranks[static_cast<std::size_t>(*repeat)])) +
                    " twice",
           .row = static_cast<Count>(user),
           .position = repeat - rows.begin()});
    }
  });
}

// Whether the ranks of each user ascend where they are.
template <class T>
bool are_ordered(std::span<const Offset> indptr, std::span<const T> ranks, const Run& run) {
  bool ascend = true;
  in_chunks(indptr.size() - 1, run, [&](std::size_t first, std::size_t last) {
    for (std::size_t user = first; ascend && user < last; ++user) {
      const auto begin = static_cast<std::size_t>(indptr[user]);
      const auto size = static_cast<std::size_t>(indptr[user + 1]) - begin;
      ascend = std::ranges::adjacent_find(ranks.subspan(begin, size), std::greater_equal<>()) ==
               ranks.subspan(begin, size).end();
    }
  });
  return ascend;
}

void check_no_nan(std::span<const double> ranks, const std::string& argument) {
  const auto nan = std::ranges::find_if(ranks, [](double rank) { return std::isnan(rank); });
  if (nan == ranks.end()) return;
  throw InputError({.argument = argument,
                    .expected = "ranks without NaN",
                    .found = "NaN",
                    .position = nan - ranks.begin()});
}

}  // namespace

void order_by_rank(Grouping& grouping, const Ranks& ranks, const std::string& argument,
                   const Execution& execution) {
  const Run run(execution);
  if (const auto* floats = std::get_if<std::span<const double>>(&ranks))
    check_no_nan(*floats, argument);
  if (grouping.order.empty()) {
    const auto ascend = [&](auto values) {
      return are_ordered(std::span<const Offset>(grouping.indptr), values, run);
    };
    if (std::visit(ascend, ranks)) return;
    grouping.order.resize(static_cast<std::size_t>(grouping.indptr.back()));
    std::iota(grouping.order.begin(), grouping.order.end(), Offset{0});
  }
  std::visit([&](auto values) { order_rows(grouping, values, argument, run); }, ranks);
}

}  // namespace exactk
