#include "evaluate/validate.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/checkpoint.hpp"
#include "base/parallel.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

Count item_count(const ItemArray& items) {
  return std::visit([](const auto& ids) { return static_cast<Count>(ids.size()); }, items);
}

// Counts what is bad and finds the first, so that the message can say both.
template <class Range, class Bad>
struct Search {
  Count count = 0;
  Offset first = -1;

  Search(const Range& range, const Bad& bad, const Checkpoint& checkpoint) {
    in_chunks(range.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (bad(range[i]) && count++ == 0) first = static_cast<Offset>(i);
      }
    });
  }
};

struct RowPosition {
  Count row;
  Offset position;
};

RowPosition locate_offset(Offset offset, std::span<const Offset> indptr) {
  const auto after = std::ranges::upper_bound(indptr, offset);
  const auto row = static_cast<Count>(after - indptr.begin()) - 1;
  return {row, offset - indptr[static_cast<std::size_t>(row)]};
}

void check_indptr(const Lists& lists, const std::string& argument, const Checkpoint& checkpoint) {
  const auto fail = [&](std::string expected, Offset found, Offset position) {
    throw InputError({.argument = argument,
                      .expected = "indptr " + std::move(expected),
                      .found = std::to_string(found),
                      .position = position});
  };
  const std::span<const Offset> indptr = lists.indptr;
  if (indptr.empty()) fail("with one offset more than there are rows", 0, -1);
  if (indptr.front() != 0) fail("to begin at 0", indptr.front(), 0);
  in_chunks(indptr.size() - 1, checkpoint, [&](std::size_t begin, std::size_t end) {
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

}  // namespace

void check_size(std::size_t size, Count expected, const std::string& argument,
                const std::string& what) {
  if (std::cmp_equal(size, expected)) return;
  throw InputError({.argument = argument,
                    .expected = what + " (" + std::to_string(expected) + ")",
                    .found = std::to_string(size)});
}

namespace {

// Calls check(row) for every row.
template <class Check>
void for_each_row(const Lists& lists, const Checkpoint& checkpoint, const Check& check) {
  const auto rows = static_cast<std::size_t>(lists.row_count());
  in_chunks(rows, checkpoint, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) check(static_cast<Count>(row));
  });
}

void check_lengths(const Lists& lists, const std::string& argument, const Checkpoint& checkpoint) {
  if (lists.lengths.empty()) return;
  check_size(lists.lengths.size(), lists.row_count(), argument, "one length a row");
  for_each_row(lists, checkpoint, [&](Count row) {
    const Count room = lists.begin(row + 1) - lists.begin(row);
    const Count length = lists.length(row);
    if (length >= 0 && length <= room) return;
    throw InputError({.argument = argument,
                      .expected = "a length from 0 to " + std::to_string(room),
                      .found = std::to_string(length),
                      .row = row});
  });
}

void check_present(const Lists& lists, const std::string& argument, const Checkpoint& checkpoint) {
  if (lists.present.empty()) return;
  check_size(lists.present.size(), lists.row_count(), argument, "present with one entry a row");
  for_each_row(lists, checkpoint, [&](Count row) {
    if (lists.has(row) || lists.length(row) == 0) return;
    throw InputError({.argument = argument,
                      .expected = "no items where present is False",
                      .found = std::to_string(lists.length(row)) + " items",
                      .row = row});
  });
}

template <class T>
std::uint64_t bits_of(std::span<const T> ids) {
  T bits = 0;
  for (const T id : ids) bits |= id;
  return static_cast<std::uint64_t>(bits);
}

// An id is legal if bit 63, the sign bit of a negative one, is not set: one "or" over all decides.
constexpr bool is_out_of_range(std::uint64_t bits) { return bits >> 63U != 0; }

// Says how many ids are out of range, and which is the first.
template <class T>
[[noreturn]] void refuse_ids(const Lists& lists, std::span<const T> ids,
                             const std::string& argument, const Checkpoint& checkpoint) {
  Fault fault{.argument = argument,
              .expected = "item ids in [0, 2^63)",
              .found = "another thread writing to them",
              .count = 0,
              .hint = ""};
  for_each_row(lists, checkpoint, [&](Count row) {
    const auto list = row_slice(ids, lists, row);
    const auto bad = [](T id) { return is_out_of_range(static_cast<std::uint64_t>(id)); };
    const Search search(list, bad, checkpoint);
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

// The bitwise "or" of all ids. Where rows have lengths, items that belong to no row do not count.
template <class T>
std::uint64_t check_ids(const Lists& lists, std::span<const T> ids, const std::string& argument,
                        const Execution& execution) {
  std::atomic<std::uint64_t> bits = 0;
  const auto size = static_cast<Count>(ids.size());
  const auto chunk = static_cast<Count>(kChunk);
  if (lists.lengths.empty()) {
    const auto check_block = [&](int /*worker*/, Count block, const Checkpoint& /*checkpoint*/) {
      const Count begin = block * chunk;
      bits |= bits_of(ids.subspan(static_cast<std::size_t>(begin),
                                  static_cast<std::size_t>(std::min(chunk, size - begin))));
    };
    const Count blocks = (size + chunk - 1) / chunk;
    // A million ids take a thread as long as it takes to start another.
    const auto threads = static_cast<int>(std::clamp<Count>(blocks / 16, 1, execution.threads));
    parallel_for(blocks, threads, check_block, execution.poll);
  } else {
    const Checkpoint checkpoint = timed_checkpoint(execution.poll);
    for_each_row(lists, checkpoint, [&](Count row) {
      const auto list = row_slice(ids, lists, row);
      in_chunks(list.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
        bits |= bits_of(list.subspan(begin, end - begin));
      });
    });
  }
  if (is_out_of_range(bits)) refuse_ids(lists, ids, argument, timed_checkpoint(execution.poll));
  return bits;
}

}  // namespace

// Truth and exclude are copied once by the adapters, which leave them in one form.
void check_int64(const Lists& lists, const std::string& argument) {
  if (std::holds_alternative<std::span<const std::int64_t>>(lists.items)) return;
  throw InputError({.argument = argument, .expected = "int64 items", .found = "another type"});
}

void check_rows(Count rows, Count users, const std::string& argument) {
  if (rows == users) return;
  throw InputError({.argument = argument,
                    .expected = "as many rows as the truth has, " + std::to_string(users),
                    .found = std::to_string(rows) + " rows"});
}

namespace {

void check_weights(std::span<const double> weights, Count users, const Checkpoint& checkpoint) {
  check_size(weights.size(), users, "weights", "one weight a user");
  const auto bad = [](double weight) {
    return weight != 0 && !(weight >= 1 / kMaxGain && weight <= kMaxGain);
  };
  const Search search(weights, bad, checkpoint);
  if (search.count == 0) return;
  throw InputError({.argument = "weights",
                    .expected = "0, or numbers from 2^-256 to 2^256",
                    .found = format_number(weights[static_cast<std::size_t>(search.first)]),
                    .count = search.count,
                    .row = search.first});
}

void check_groups(const Request& request, Count users, const Checkpoint& checkpoint) {
  if (request.group_count < 1 || request.group_count > std::max(users, Count{1})) {
    throw InputError({.argument = "groups",
                      .expected = "from 1 group to as many as there are users",
                      .found = std::to_string(request.group_count)});
  }
  if (request.groups.empty()) return;
  check_size(request.groups.size(), users, "groups", "one group a user");
  const auto bad = [&](Offset group) { return group < 0 || group >= request.group_count; };
  const Search search(request.groups, bad, checkpoint);
  if (search.count == 0) return;
  throw InputError({.argument = "groups",
                    .expected = "group numbers below " + std::to_string(request.group_count),
                    .found = std::to_string(request.groups[static_cast<std::size_t>(search.first)]),
                    .count = search.count,
                    .row = search.first});
}

// What a grade must be for its gain to exist; empty where every finite grade has one.
std::string required_grades(const Run& run) {
  if (run.info->takes_max_grade)
    return "grades from 0 to max_grade=" + format_number(run.parameter);
  switch (run.rules.gain) {
    case Gain::linear:
      return "grades from 0 to 2^256 beside gain='linear'";
    case Gain::exp2:
      return "grades from 0 to 256 beside gain='exp2'";
    case Gain::exp2_shifted:
      return "grades up to min_grade + 255 beside gain='exp2_shifted'";
    case Gain::table:
      return "whole grades that gain_table has a gain for";
    case Gain::binary:
      break;
  }
  return "";
}

bool has_gain(double grade, const Run& run) {
  const Rules& rules = run.rules;
  if (grade < 0 && rules.negative_grades != NegativeGrades::raise) return true;
  if (run.info->takes_max_grade) return grade >= 0 && grade <= run.parameter;
  switch (rules.gain) {
    case Gain::linear:
      return grade >= 0 && grade <= kMaxGain;
    case Gain::exp2:
      return grade >= 0 && grade <= 256;
    case Gain::exp2_shifted:
      return grade - rules.min_grade <= 255;
    case Gain::table:
      return grade >= 0 && grade < static_cast<double>(rules.gain_table.size()) &&
             grade == std::floor(grade);
    case Gain::binary:
      break;
  }
  return true;
}

void check_gains(const Request& request, const Run& run, const Checkpoint& checkpoint) {
  if (!run.info->uses_gains) return;
  static constexpr double kUngraded[] = {1};
  const std::span<const double> grades =
      request.grades.empty() ? std::span<const double>(kUngraded) : request.grades;
  const auto bad = [&](double grade) { return !has_gain(grade, run); };
  const Search search(grades, bad, checkpoint);
  if (search.count == 0) return;
  const double grade = grades[static_cast<std::size_t>(search.first)];
  Fault fault{.argument = "truth",
              .expected = required_grades(run) + " for " + std::string(run.info->name),
              .found = "grade " + format_number(grade),
              .count = search.count};
  if (grade < 0 && has_gain(0, run)) {
    fault.change = Change{"negative_grades", "zero_gain"};
    fault.hint = "gives it gain 0, 'unjudged' ignores it";
  }
  if (!request.grades.empty()) {
    const RowPosition location = locate_offset(search.first, request.truth.indptr);
    fault.row = location.row;
    fault.position = location.position;
  }
  throw InputError(std::move(fault));
}

// Without grades every item has grade 1: a higher min_grade would silently call none relevant.
void check_min_grade(const Request& request, const Rules& rules) {
  if (!request.grades.empty() || rules.min_grade <= 1) return;
  if (item_count(request.truth.items) == 0) return;
  throw InputError({.argument = "truth",
                    .expected = "grades beside min_grade=" + format_number(rules.min_grade),
                    .found = "no grades, so that every item has grade 1"});
}

// Checks that ranks ascend: a list is read in its order.
void check_ranks(const Lists& lists, const std::string& argument, const Checkpoint& checkpoint) {
  if (lists.ranks.empty()) return;
  check_size(lists.ranks.size(), item_count(lists.items), argument, "one rank an item");
  for_each_row(lists, checkpoint, [&](Count row) {
    const auto ranks = row_slice(lists.ranks, lists, row);
    in_chunks(ranks.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
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

// Refuses gaps beside metrics that count items or pairs of items by rank.
void check_rank_gaps(const Request& request, const Run& run) {
  const auto* lists = std::get_if<Lists>(&request.predictions);
  if (lists == nullptr || lists->ranks.empty()) return;
  if (!run.info->pairwise && !run.info->takes_item_count) return;
  throw InputError({.argument = "metrics",
                    .expected = std::string(run.info->name) + ": ranks without gaps",
                    .found = "rank_gaps='keep'",
                    .hint = std::string(run.info->name) + "(rank_gaps=close) closes them"});
}

}  // namespace

std::uint64_t validate_lists(const Lists& lists, const std::string& argument,
                             const Execution& execution) {
  check_threads(execution.threads);
  const Checkpoint checkpoint = timed_checkpoint(execution.poll);
  check_indptr(lists, argument, checkpoint);
  check_lengths(lists, argument, checkpoint);
  check_present(lists, argument, checkpoint);
  check_ranks(lists, argument, checkpoint);
  return std::visit([&](const auto& ids) { return check_ids(lists, ids, argument, execution); },
                    lists.items);
}

void validate_grades(std::span<const double> grades, const Lists& truth,
                     const Execution& execution) {
  check_threads(execution.threads);
  if (grades.empty()) return;
  check_size(grades.size(), item_count(truth.items), "truth", "one grade an item");
  const auto bad = [](double grade) { return !std::isfinite(grade); };
  const Search search(grades, bad, timed_checkpoint(execution.poll));
  if (search.count == 0) return;
  const RowPosition location = locate_offset(search.first, truth.indptr);
  throw InputError({.argument = "truth",
                    .expected = "finite grades",
                    .found = format_number(grades[static_cast<std::size_t>(search.first)]),
                    .count = search.count,
                    .row = location.row,
                    .position = location.position});
}

namespace {

void check_min_score(std::optional<double> min_score, const std::string& argument) {
  if (!min_score || !std::isnan(*min_score)) return;
  throw InputError({.argument = argument, .expected = "min_score to be a number", .found = "NaN"});
}

// The columns that a matrix is restricted to: each an item's, in ascending order.
void check_candidates(const Lists& lists, Count users, Count items, const Execution& execution) {
  const std::string argument = "candidates";
  validate_lists(lists, argument, execution);
  check_int64(lists, argument);
  if (lists.row_count() != 1) check_rows(lists.row_count(), users, argument);
  const Checkpoint checkpoint = timed_checkpoint(execution.poll);
  for_each_row(lists, checkpoint, [&](Count row) {
    const auto columns = int64_row_items(lists, row);
    const auto fail = [&](std::string expected, std::size_t position) {
      throw InputError({.argument = argument,
                        .expected = std::move(expected),
                        .found = std::to_string(columns[position]),
                        .row = row,
                        .position = static_cast<Offset>(position)});
    };
    in_chunks(columns.size(), checkpoint, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (i > 0 && columns[i] <= columns[i - 1]) fail("ascending items", i);
        if (columns[i] >= items) {
          fail("items below " + std::to_string(items) + ", the number of columns", i);
        }
      }
    });
  });
}

// So many users and items that their pairs can be counted.
void check_pairs(Count users, Count items, const std::string& argument) {
  if (users < 0 || items < 0 || items > kMaxScoredItems) {
    throw InputError(
        {.argument = argument,
         .expected = "users and at most " + std::to_string(kMaxScoredItems) + " items",
         .found = std::to_string(users) + " users and " + std::to_string(items) + " items"});
  }
  if (users > 0 && items > std::numeric_limits<Count>::max() / users) {
    throw InputError({.argument = argument,
                      .expected = "fewer than 2^63 scores",
                      .found = std::to_string(users) + " x " + std::to_string(items)});
  }
}

// In bytes, if vectors may be of it.
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

// Numbers that can be read where they lie.
void check_vectors(const Vectors& vectors) {
  const std::optional<std::size_t> size = size_of_number(vectors.type);
  const bool is_float = size.has_value();
  const bool is_aligned = is_float &&
                          vectors.row_stride % static_cast<std::ptrdiff_t>(*size) == 0 &&
                          reinterpret_cast<std::uintptr_t>(vectors.numbers) % *size == 0;
  if (is_float && is_aligned) return;
  throw InputError({.argument = vectors.argument,
                    .expected = "aligned numbers of float16, float32 or float64",
                    .found = is_float ? "others that are not aligned" : "others"});
}

}  // namespace

void validate_scores(const ScoreMatrix& scores, const std::string& argument,
                     const Execution& execution) {
  check_pairs(scores.users, scores.items, argument);
  check_min_score(scores.min_score, argument);
  if (scores.candidates) {
    check_candidates(*scores.candidates, scores.users, scores.items, execution);
  }
}

void validate_embeddings(const Embeddings& embeddings, const Execution& execution) {
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
  check_vectors(embeddings.items);
  if (embeddings.item_bias) {
    const std::string& bias = embeddings.item_bias->argument;
    check_vectors(*embeddings.item_bias);
    check_size(static_cast<std::size_t>(embeddings.item_bias->rows), items, bias, "one an item");
    if (embeddings.similarity != Similarity::dot) {
      throw InputError({.argument = bias,
                        .expected = "none, unless similarity is 'dot'",
                        .found = "a number an item"});
    }
  }
  check_min_score(embeddings.min_score, argument);
  if (embeddings.candidates) check_candidates(*embeddings.candidates, users, items, execution);
}

std::uint64_t validate_scores(const SparseScores& scores, const std::string& argument,
                              const Execution& execution) {
  const std::uint64_t id_bits = validate_lists(scores.items, argument, execution);
  check_size(static_cast<std::size_t>(scores.size), item_count(scores.items.items), argument,
             "one score an item");
  for_each_row(scores.items, timed_checkpoint(execution.poll), [&](Count row) {
    if (scores.items.length(row) <= kMaxScoredItems) return;
    throw InputError({.argument = argument,
                      .expected = "at most " + std::to_string(kMaxScoredItems) + " items a user",
                      .found = std::to_string(scores.items.length(row)),
                      .row = row});
  });
  check_min_score(scores.min_score, argument);
  return id_bits;
}

std::uint64_t bits_below(Count items) noexcept {
  return std::bit_ceil(static_cast<std::uint64_t>(items)) - 1;
}

std::uint64_t validate(const Request& request, const Plan& plan) {
  check_threads(request.threads);
  const Execution execution{.threads = request.threads, .poll = request.poll};
  const Checkpoint checkpoint = timed_checkpoint(request.poll);
  std::uint64_t id_bits = validate_lists(request.truth, "truth", execution);
  check_int64(request.truth, "truth");
  validate_grades(request.grades, request.truth, execution);
  const Count users = request.truth.row_count();
  if (const auto* lists = std::get_if<Lists>(&request.predictions)) {
    id_bits |= validate_lists(*lists, "predictions", execution);
    check_rows(lists->row_count(), users, "predictions");
  } else if (const auto* sparse_scores = std::get_if<SparseScores>(&request.predictions)) {
    id_bits |= validate_scores(*sparse_scores, "predictions", execution);
    check_rows(sparse_scores->items.row_count(), users, "predictions");
  } else if (const auto* matrix = std::get_if<ScoreMatrix>(&request.predictions)) {
    validate_scores(*matrix, "predictions", execution);
    check_rows(matrix->users, users, "predictions");
    id_bits |= bits_below(matrix->items);
  } else {
    const auto& embeddings = std::get<Embeddings>(request.predictions);
    validate_embeddings(embeddings, execution);
    check_rows(embeddings.users.rows, users, "predictions");
    id_bits |= bits_below(embeddings.items.rows);
  }
  if (request.exclude) {
    id_bits |= validate_lists(*request.exclude, "exclude", execution);
    check_int64(*request.exclude, "exclude");
    check_rows(request.exclude->row_count(), users, "exclude");
  }
  if (request.weights) check_weights(*request.weights, users, checkpoint);
  check_groups(request, users, checkpoint);
  for (const Run& run : plan.runs) check_rank_gaps(request, run);
  check_min_grade(request, request.tally_rules);
  for (const Run& run : plan.runs) {
    check_gains(request, run, checkpoint);
    check_min_grade(request, run.rules);
  }
  if (!request.per_user.empty()) {
    check_size(request.per_user.size(), users * static_cast<Count>(request.values.size()),
               "per_user", "one number a value and user");
  }
  return id_bits;
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
