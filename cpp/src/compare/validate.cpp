#include "compare/validate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"

namespace exactk {
namespace {

// What the values ask of a row of the tables.
enum class RowUse : std::uint8_t { none, number, unit };

NumberRange range_of(RowUse use) {
  return use == RowUse::unit ? NumberRange{0, 1} : NumberRange{-kMaxPairedNumber, kMaxPairedNumber};
}

void check_tables(const PairedRequest& request) {
  if (request.tables.empty()) {
    throw InputError({.argument = "tables", .expected = "at least one table", .found = "none"});
  }
  const bool is_overflow = request.rows < 0 || request.users < 0 ||
                           (request.users > 0 && request.rows > kNoCutoff / request.users);
  if (is_overflow) {
    throw InputError(
        {.argument = "tables",
         .expected = "a number of rows and of users",
         .found = std::to_string(request.rows) + " and " + std::to_string(request.users)});
  }
  for (std::size_t i = 0; i < request.tables.size(); ++i) {
    check_size(request.tables[i].size(), request.rows * request.users, element("tables", i),
               "one number per row and user");
  }
}

void check_value(const PairedRequest& request, std::size_t index) {
  const PairedValue& value = request.values[index];
  const auto fail = [&](std::string expected, std::string found) {
    throw InputError({.argument = element("values", index),
                      .expected = std::move(expected),
                      .found = std::move(found)});
  };
  if (value.is_ratio && value.rows.size() != 2) {
    fail("two rows of a ratio", std::to_string(value.rows.size()));
  }
  const std::size_t most = value.is_geometric ? 1 : 2;
  if (value.rows.empty() || value.rows.size() > most) {
    fail(most == 1 ? "one row" : "one row or two", std::to_string(value.rows.size()));
  }
  const std::string rows = "rows from 0 to " + std::to_string(request.rows - 1);
  for (const Offset row : value.rows) {
    if (row < 0 || row >= request.rows) fail(rows, std::to_string(row));
  }
  if (value.shown < -1 || value.shown >= request.rows) {
    fail(rows + ", or -1 for none shown", std::to_string(value.shown));
  }
}

void check_pairs(const PairedRequest& request) {
  const auto systems = static_cast<Offset>(request.tables.size());
  for (std::size_t i = 0; i < request.pairs.size(); ++i) {
    for (const Offset index : {request.pairs[i].system, request.pairs[i].baseline}) {
      if (index >= 0 && index < systems) continue;
      throw InputError({.argument = element("pairs", i),
                        .expected = "tables from 0 to " + std::to_string(systems - 1),
                        .found = std::to_string(index)});
    }
  }
}

std::vector<RowUse> uses_of_rows(const PairedRequest& request) {
  std::vector<RowUse> uses(static_cast<std::size_t>(request.rows), RowUse::none);
  const auto use_row = [&](Offset row, RowUse use) {
    RowUse& all = uses[static_cast<std::size_t>(row)];
    all = std::max(all, use);
  };
  for (const PairedValue& value : request.values) {
    for (const Offset row : value.rows) use_row(row, value.is_unit ? RowUse::unit : RowUse::number);
    if (value.shown >= 0) use_row(value.shown, RowUse::number);
  }
  return uses;
}

}  // namespace

NumberRange allowed_numbers(const PairedValue& value) noexcept {
  return range_of(value.is_unit ? RowUse::unit : RowUse::number);
}

NumberRange allowed_shown_numbers() noexcept { return range_of(RowUse::number); }

void throw_faulty_number(const PairedRequest& request, const Run& run) {
  const std::vector<RowUse> uses = uses_of_rows(request);
  for (std::size_t table = 0; table < request.tables.size(); ++table) {
    for (Count row = 0; row < request.rows; ++row) {
      const RowUse use = uses[static_cast<std::size_t>(row)];
      if (use == RowUse::none) continue;
      const NumberRange range = range_of(use);
      const auto bad = [&](double number) { return !range.contains_or_is_nan(number); };
      const std::span<const double> numbers = request.tables[table].subspan(
          static_cast<std::size_t>(row * request.users), static_cast<std::size_t>(request.users));
      const Search search(numbers, bad, run);
      if (search.count == 0) continue;
      throw InputError({.argument = element("tables", table),
                        .expected = use == RowUse::unit
                                        ? "numbers from 0 to 1, or NaN"
                                        : "numbers up to 2^640 in magnitude, or NaN",
                        .found = format_number(numbers[static_cast<std::size_t>(search.first)]),
                        .count = search.count,
                        .row = row,
                        .position = search.first});
    }
  }
  throw InputError({.argument = "tables",
                    .expected = "numbers that do not change during the call",
                    .found = "others"});
}

void validate(const PairedRequest& request, const Run& run) {
  check_tables(request);
  for (std::size_t i = 0; i < request.values.size(); ++i) check_value(request, i);
  check_pairs(request);
  if (request.weights) check_weights(*request.weights, request.users, run);
  check_codes(request.groups, request.group_count, request.users, "group", run);
  if (request.clusters) {
    check_size(request.clusters->size(), request.users, "clusters", "one cluster per user");
    check_codes(*request.clusters, request.cluster_count, request.users, "cluster", run);
  }
}

}  // namespace exactk
