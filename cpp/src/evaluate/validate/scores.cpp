#include "evaluate/validate/scores.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/run.hpp"
#include "evaluate/validate/lists.hpp"
#include "evaluate/validate/search.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"
#include "exactk/scores.hpp"

namespace exactk {
namespace {

void check_min_score(std::optional<double> min_score, const std::string& argument) {
  if (!min_score || !std::isnan(*min_score)) return;
  throw InputError({.argument = argument, .expected = "min_score to be a number", .found = "NaN"});
}

// Checks the columns that a matrix is restricted to: existing items, ascending.
void check_candidates(const Lists& lists, Count users, Count items, const Run& run) {
  const std::string argument = "candidates";
  validate_lists(lists, argument, run.execution());
  check_int64(lists, argument);
  if (lists.row_count() != 1) check_rows(lists.row_count(), users, argument);
  for_each_row(lists, run, [&](Count row) {
    const auto columns = int64_row_items(lists, row);
    const auto fail = [&](std::string expected, std::size_t position) {
      throw InputError({.argument = argument,
                        .expected = std::move(expected),
                        .found = std::to_string(columns[position]),
                        .row = row,
                        .position = static_cast<Offset>(position)});
    };
    in_chunks(columns.size(), run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (i > 0 && columns[i] <= columns[i - 1]) fail("ascending items", i);
        if (columns[i] >= items) {
          fail("items below " + std::to_string(items) + ", the number of columns", i);
        }
      }
    });
  });
}

// Checks that there are few enough users and items to count their pairs.
void check_pairs(Count users, Count items, const std::string& argument) {
  if (users < 0 || items < 0 || items > kMaxScoredItems) {
    throw InputError(
        {.argument = argument,
         .expected = "0 or more users, and from 0 to " + std::to_string(kMaxScoredItems) + " items",
         .found = std::to_string(users) + " users and " + std::to_string(items) + " items"});
  }
  if (users > 0 && items > std::numeric_limits<Count>::max() / users) {
    throw InputError({.argument = argument,
                      .expected = "fewer than 2^63 scores",
                      .found = std::to_string(users) + " x " + std::to_string(items)});
  }
}

// Checks that each user has an existing row, or none.
void check_user_rows(std::span<const Offset> user_rows, Count rows, const std::string& argument,
                     const Run& run) {
  const auto bad = [&](Offset row) { return row < -1 || row >= rows; };
  refuse_bad(user_rows, bad, argument + ".user_rows", "-1, or rows below " + std::to_string(rows),
             run, &Fault::row);
}

// Returns the size in bytes if vectors may have the type.
std::optional<std::size_t> size_of_number(ScoreType type) noexcept {
  switch (type) {
    case ScoreType::float16:
      return 2;
    case ScoreType::float32:
      return 4;
    case ScoreType::float64:
      return 8;
    default:
      return std::nullopt;
  }
}

// Checks that the numbers can be read in place.
void check_vectors(const Vectors& vectors) {
  const std::optional<std::size_t> size = size_of_number(vectors.type);
  const bool is_float = size.has_value();
  const bool is_aligned = is_float &&
                          vectors.row_stride % static_cast<std::ptrdiff_t>(*size) == 0 &&
                          reinterpret_cast<std::uintptr_t>(vectors.numbers) % *size == 0;
  if (is_float && is_aligned) return;
  throw InputError({.argument = vectors.argument,
                    .expected = "aligned float16, float32 or float64 numbers",
                    .found = is_float ? "unaligned numbers" : "numbers of another type"});
}

}  // namespace

void validate_scores(const ScoreMatrix& scores, const std::string& argument,
                     const Execution& execution) {
  const Run run(execution);
  check_pairs(scores.rows, scores.items, argument);
  check_pairs(scores.user_count(), scores.items, argument);
  check_min_score(scores.min_score, argument);
  if (scores.user_rows) check_user_rows(*scores.user_rows, scores.rows, argument, run);
  if (!scores.tie_ids.empty()) {
    check_size(scores.tie_ids.size(), scores.items, argument + ".tie_ids", "one tie id per item");
  }
  if (scores.candidates) {
    check_candidates(*scores.candidates, scores.user_count(), scores.items, run);
  }
}

void validate_embeddings(const Embeddings& embeddings, const Execution& execution) {
  const Run run(execution);
  const Count users = embeddings.users.rows;
  const Count items = embeddings.items.rows;
  const std::string& argument = embeddings.items.argument;
  check_pairs(users, items, argument);
  if (embeddings.width < 1 || embeddings.width > kMaxWidth) {
    throw InputError({.argument = argument,
                      .expected = "vectors of 1 to " + std::to_string(kMaxWidth) + " numbers",
                      .found = std::to_string(embeddings.width)});
  }
  check_vectors(embeddings.users);
  if (!embeddings.present.empty()) {
    check_size(embeddings.present.size(), users, embeddings.users.argument,
               "present with one entry per user");
  }
  check_vectors(embeddings.items);
  if (embeddings.item_bias) {
    const std::string& bias = embeddings.item_bias->argument;
    check_vectors(*embeddings.item_bias);
    check_size(static_cast<std::size_t>(embeddings.item_bias->rows), items, bias,
               "one bias per item");
    if (embeddings.similarity != Similarity::dot) {
      throw InputError({.argument = bias,
                        .expected = "None unless similarity='dot'",
                        .found = "one bias per item"});
    }
  }
  check_min_score(embeddings.min_score, argument);
  if (embeddings.candidates) check_candidates(*embeddings.candidates, users, items, run);
}

std::uint64_t validate_scores(const SparseScores& scores, const std::string& argument,
                              const Execution& execution) {
  const Run run(execution);
  const std::uint64_t id_bits = validate_lists(scores.items, argument, execution);
  check_size(static_cast<std::size_t>(scores.size), item_count(scores.items.items), argument,
             "one score per item");
  for_each_row(scores.items, run, [&](Count row) {
    if (scores.items.length(row) <= kMaxScoredItems) return;
    throw InputError({.argument = argument,
                      .expected = "at most " + std::to_string(kMaxScoredItems) + " items per user",
                      .found = std::to_string(scores.items.length(row)),
                      .row = row});
  });
  check_min_score(scores.min_score, argument);
  return id_bits;
}

std::uint64_t bits_below(Count items) noexcept {
  return std::bit_ceil(static_cast<std::uint64_t>(items)) - 1;
}

}  // namespace exactk
