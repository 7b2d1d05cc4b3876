#include "evaluate/validate/lists.hpp"

#include <atomic>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/run.hpp"
#include "evaluate/validate/search.hpp"
#include "exactk/error.hpp"
#include "exactk/isa.hpp"
#include "kernels/dispatch.hpp"

namespace exactk {
namespace {

void check_indptr(const Lists& lists, const std::string& argument, const Run& run) {
  const auto fail = [&](std::string expected, Offset found, Offset position) {
    throw InputError({.argument = argument,
                      .expected = "indptr " + std::move(expected),
                      .found = std::to_string(found),
                      .position = position});
  };
  const std::span<const Offset> indptr = lists.indptr;
  if (indptr.empty()) fail("with one more offset than rows", 0, -1);
  if (indptr.front() != 0) fail("to begin at 0", indptr.front(), 0);
  in_chunks(indptr.size() - 1, run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin + 1; i <= end; ++i) {
      if (indptr[i] < indptr[i - 1]) {
        fail("not to decrease (from " + std::to_string(indptr[i - 1]) + ")", indptr[i],
             static_cast<Offset>(i));
      }
    }
  });
  if (indptr.back() != item_count(lists.items)) {
    fail("to end at the number of items, " + std::to_string(item_count(lists.items)), indptr.back(),
         lists.row_count());
  }
}

void check_lengths(const Lists& lists, const std::string& argument, const Run& run) {
  if (lists.lengths.empty()) return;
  check_size(lists.lengths.size(), lists.row_count(), argument, "one length per row");
  for_each_row(lists, run, [&](Count row) {
    const Count room = lists.begin(row + 1) - lists.begin(row);
    const Count length = lists.length(row);
    if (length >= 0 && length <= room) return;
    throw InputError({.argument = argument,
                      .expected = "a length from 0 to " + std::to_string(room),
                      .found = std::to_string(length),
                      .row = row});
  });
}

void check_present(const Lists& lists, const std::string& argument, const Run& run) {
  if (lists.present.empty()) return;
  check_size(lists.present.size(), lists.row_count(), argument, "present with one entry per row");
  for_each_row(lists, run, [&](Count row) {
    if (lists.has(row) || lists.length(row) == 0) return;
    throw InputError({.argument = argument,
                      .expected = "no items where present is False",
                      .found = std::to_string(lists.length(row)) + " items",
                      .row = row});
  });
}

template <class T>
std::uint64_t bits_of(std::span<const T> ids, const Kernels& kernels) {
  const auto* words = reinterpret_cast<const std::make_unsigned_t<T>*>(ids.data());
  if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
    return static_cast<std::uint64_t>(static_cast<T>(kernels.or_of_uint32(words, ids.size())));
  } else {
    return kernels.or_of_uint64(words, ids.size());
  }
}

// An id is valid if bit 63, the sign bit of a negative one, is clear, so the "or" of all ids
// decides.
constexpr bool is_out_of_range(std::uint64_t bits) { return bits >> 63U != 0; }

// Counts the ids that are out of range and reports the first.
template <class T>
[[noreturn]] void refuse_ids(const Lists& lists, std::span<const T> ids,
                             const std::string& argument, const Run& run) {
  Fault fault{.argument = argument,
              .expected = "item ids in [0, 2^63)",
              .found = "another thread writing to them",
              .count = 0,
              .hint = ""};
  for_each_row(lists, run, [&](Count row) {
    const auto list = row_slice(ids, lists, row);
    const auto bad = [](T id) { return is_out_of_range(static_cast<std::uint64_t>(id)); };
    const Search search(list, bad, run);
    if (search.count > 0 && fault.count == 0) {
      fault.found = std::to_string(list[static_cast<std::size_t>(search.first)]);
      fault.row = row;
      fault.position = search.first;
      if (fault.found == "-1")
        fault.hint = "-1 is padding only in a 2-D array, at the end of a row";
    }
    fault.count += search.count;
  });
  throw InputError(std::move(fault));
}

// Returns the bitwise "or" of all ids. If rows have lengths, items outside all rows do not count.
template <class T>
std::uint64_t check_ids(const Lists& lists, std::span<const T> ids, const std::string& argument,
                        const Run& run) {
  std::atomic<std::uint64_t> bits = 0;
  const Kernels& widest = kernels(available_isas().back());  // all give the same bits
  const auto size = static_cast<Count>(ids.size());
  const auto chunk = static_cast<Count>(kChunk);
  if (lists.lengths.empty()) {
    const auto check_block = [&](int /*worker*/, Count block) {
      const Count begin = block * chunk;
      bits |= bits_of(ids.subspan(static_cast<std::size_t>(begin),
                                  static_cast<std::size_t>(std::min(chunk, size - begin))),
                      widest);
    };
    const Count blocks = (size + chunk - 1) / chunk;
    // Checking a million ids takes about as long as starting a thread.
    parallel_for(run, blocks, check_block, run.threads_for(blocks / 16));
  } else {
    for_each_row(lists, run, [&](Count row) {
      const auto list = row_slice(ids, lists, row);
      in_chunks(list.size(), run, [&](std::size_t begin, std::size_t end) {
        bits |= bits_of(list.subspan(begin, end - begin), widest);
      });
    });
  }
  if (is_out_of_range(bits)) refuse_ids(lists, ids, argument, run);
  return bits;
}

// Checks that ranks ascend, because a list is read in its order.
void check_ranks(const Lists& lists, const std::string& argument, const Run& run) {
  if (lists.ranks.empty()) return;
  check_size(lists.ranks.size(), item_count(lists.items), argument, "one rank per item");
  for_each_row(lists, run, [&](Count row) {
    const auto ranks = row_slice(lists.ranks, lists, row);
    in_chunks(ranks.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const bool ascends = i == 0 || ranks[i] > ranks[i - 1];
        if (ranks[i] >= 1 && ranks[i] <= kMaxGivenRank && ascends) continue;
        throw InputError(
            {.argument = argument,
             .expected = "ranks from 1 to " + std::to_string(kMaxGivenRank) + ", ascending",
             .found = std::to_string(ranks[i]),
             .row = row,
             .position = static_cast<Offset>(i),
             .hint = ranks[i] == 0 ? "add 1 to ranks that count from 0" : ""});
      }
    });
  });
}

}  // namespace

void check_int64(const Lists& lists, const std::string& argument) {
  if (std::holds_alternative<std::span<const std::int64_t>>(lists.items)) return;
  throw InputError({.argument = argument, .expected = "int64 items", .found = "another type"});
}

void check_rows(Count rows, Count users, const std::string& argument) {
  if (rows == users) return;
  throw InputError({.argument = argument,
                    .expected = std::to_string(users) + (users == 1 ? " row" : " rows") +
                                ", one per user of the truth",
                    .found = std::to_string(rows)});
}

std::uint64_t validate_lists(const Lists& lists, const std::string& argument,
                             const Execution& execution) {
  const Run run(execution);
  check_indptr(lists, argument, run);
  check_lengths(lists, argument, run);
  check_present(lists, argument, run);
  check_ranks(lists, argument, run);
  return std::visit([&](const auto& ids) { return check_ids(lists, ids, argument, run); },
                    lists.items);
}

std::vector<Offset> padded_lengths(const ItemArray& items, Count rows, Count columns,
                                   const std::string& argument) {
  if (rows < 0 || columns < 0 || (columns > 0 && rows > item_count(items) / columns) ||
      rows * columns != item_count(items)) {
    throw InputError({.argument = argument,
                      .expected = "rows x columns items",
                      .found = std::to_string(item_count(items))});
  }
  std::vector<Offset> lengths;
  const auto trim = [&]<class T>(std::span<const T> ids) {
    if constexpr (std::is_signed_v<T>) {
      const auto padded_from = [&](Count row, Count length) {
        return length > 0 && ids[static_cast<std::size_t>(row * columns + length - 1)] == -1;
      };
      Count first = 0;
      while (first < rows && !padded_from(first, columns)) ++first;
      if (first == rows) return;
      lengths.assign(static_cast<std::size_t>(rows), columns);
      for (Count row = first; row < rows; ++row) {
        Offset& length = lengths[static_cast<std::size_t>(row)];
        while (padded_from(row, length)) --length;
      }
    }
  };
  std::visit(trim, items);
  return lengths;
}

}  // namespace exactk
