#include "evaluate/validate/item_features.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "base/checks.hpp"
#include "evaluate/validate/search.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

constexpr const char* kArgument = "items.features";

[[noreturn]] void refuse(std::string expected, std::string found) {
  throw InputError(
      {.argument = kArgument, .expected = std::move(expected), .found = std::move(found)});
}

// Requires rows that are described by `locate(offset)`.
template <class Number, class Locate>
void check_numbers(std::span<const Number> numbers, const Run& run, const Locate& locate) {
  const auto is_bad = [](Number number) {
    return !(std::abs(static_cast<double>(number)) <= kMaxFeature);
  };
  bool has_bad = false;
  in_chunks(numbers.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) has_bad |= is_bad(numbers[i]);  // vectorizable
  });
  if (!has_bad) return;
  const Search bad(numbers, is_bad, run);
  if (bad.count == 0) refuse("an array that does not change", "another thread writing to it");
  const RowPosition position = locate(bad.first);
  throw InputError({.argument = kArgument,
                    .expected = "finite numbers from -2^64 to 2^64",
                    .found = format_number(numbers[static_cast<std::size_t>(bad.first)]),
                    .count = bad.count,
                    .row = position.row,
                    .position = position.position});
}

void check_vectors(const ItemFeatures& features, const Items& items, const Run& run) {
  const auto size = static_cast<Count>(items.ids.size());
  if (features.width < 1) refuse("at least one feature", "none");
  std::visit(
      [&](const auto& vectors) {
        check_size(vectors.size() / static_cast<std::size_t>(features.width), size, kArgument,
                   "one vector per item");
        check_size(vectors.size(), size * features.width, kArgument, "one number per column");
        check_numbers(vectors, run, [&](Offset offset) {
          return RowPosition{offset / features.width, offset % features.width};
        });
      },
      features.vectors);
  if (features.item_columns.empty()) return;
  check_size(features.item_columns.size(), size, kArgument, "one column per item");
  const Search bad(
      features.item_columns, [&](Offset column) { return column < -1 || column >= features.width; },
      run);
  if (bad.count > 0) {
    refuse("columns below " + std::to_string(features.width),
           std::to_string(features.item_columns[static_cast<std::size_t>(bad.first)]));
  }
}

void check_sparse_rows(const ItemFeatures& features, const Items& items, const Run& run) {
  const std::span<const Offset> indptr = features.indptr;
  check_size(indptr.size(), static_cast<Count>(items.ids.size()) + 1, kArgument,
             "one offset per item, and one more");
  if (indptr.front() != 0 || !std::cmp_equal(indptr.back(), features.columns.size()) ||
      !std::ranges::is_sorted(indptr)) {
    refuse("ascending offsets from 0 to the number of columns", "others");
  }
  if (features.are_sets != features.weights.empty() && !features.columns.empty()) {
    refuse("weights of vectors and none of tags", features.are_sets ? "weights" : "none");
  }
  if (!features.are_sets) {
    check_size(features.weights.size(), static_cast<Count>(features.columns.size()), kArgument,
               "one weight per column");
  }
  for (std::size_t item = 0; item + 1 < indptr.size(); ++item) {
    Offset previous = -1;
    for (Offset i = indptr[item]; i < indptr[item + 1]; ++i) {
      const std::int64_t column = features.columns[static_cast<std::size_t>(i)];
      if (column <= previous || column >= features.width) {
        throw InputError({.argument = kArgument,
                          .expected = "ascending columns below " + std::to_string(features.width),
                          .found = std::to_string(column),
                          .row = static_cast<Count>(item),
                          .position = i - indptr[item]});
      }
      previous = column;
    }
    if (item % kChunk == kChunk - 1) run.checkpoint();
  }
  check_numbers(features.weights, run,
                [&](Offset offset) { return locate_offset(offset, indptr); });
}

}  // namespace

void check_features(const ItemFeatures& features, const Items& items, const Run& run) {
  if (features.width < 0 || features.width >= kNoCutoff) {
    refuse("a number of columns", std::to_string(features.width));
  }
  check_size(features.is_missing.size(), static_cast<Count>(items.ids.size()), kArgument,
             "one flag per item");
  features.are_sparse() ? check_sparse_rows(features, items, run)
                        : check_vectors(features, items, run);
}

}  // namespace exactk
