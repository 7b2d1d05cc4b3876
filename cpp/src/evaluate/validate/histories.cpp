#include "evaluate/validate/histories.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checks.hpp"
#include "exactk/error.hpp"

namespace exactk {
namespace {

[[noreturn]] void refuse(std::string argument, std::string expected, Count found, Count user) {
  throw InputError({.argument = std::move(argument),
                    .expected = std::move(expected),
                    .found = std::to_string(found),
                    .row = user});
}

// Only of the rows that users have: the others may be those of many other calls.
void check_row(const Histories& histories, Count user, Count catalogue, const Run& run) {
  const Offset row = histories.rows[static_cast<std::size_t>(user)];
  const Count row_count = std::max<Count>(std::ssize(histories.indptr) - 1, 0);
  if (row < -1 || row >= row_count) {
    refuse("histories.rows", "rows of train from -1 to " + std::to_string(row_count - 1), row,
           user);
  }
  if (row < 0) return;
  const Offset begin = histories.indptr[static_cast<std::size_t>(row)];
  const Offset end = histories.indptr[static_cast<std::size_t>(row) + 1];
  const Count size = std::ssize(histories.items);
  if (begin < 0 || begin > end || end > size) {
    const Offset bad = begin < 0 || begin > size ? begin : end;
    refuse("histories.indptr", "ascending offsets up to " + std::to_string(size), bad, user);
  }
  const auto items = histories.of_user(user);
  in_chunks(items.size(), run, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const bool ascends = i == 0 || items[i - 1] < items[i];
      if (!ascends || std::cmp_greater_equal(items[i], catalogue)) {
        refuse("histories.items",
               "ascending positions in the catalogue of " + std::to_string(catalogue) + " items",
               items[i], user);
      }
    }
  });
}

}  // namespace

void validate_histories(const Request& request, const Plan& plan, const Run& run) {
  const auto check_reader = [&](const MetricInfo& info, bool needs_history) {
    if (!needs_history || request.histories) return;
    throw InputError({.argument = "items",
                      .expected = std::string(info.name) + " to have what each user has in train",
                      .found = "none",
                      .hint = "items=exactk.Items(train=...) has it"});
  };
  for (const Pass& pass : plan.passes) check_reader(*pass.info, pass.needs.history);
  for (const ListCount& list_count : plan.list_counts) {
    if (list_count.info != nullptr) check_reader(*list_count.info, list_count.info->reads_history);
  }
  if (!request.histories) return;
  const Histories& histories = *request.histories;
  check_size(histories.rows.size(), request.truth.row_count(), "histories.rows", "one per user");
  const Count catalogue = request.items ? std::ssize(request.items->ids) : 0;
  in_chunks(histories.rows.size(), run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      check_row(histories, static_cast<Count>(i), catalogue, run);
    }
  });
}

}  // namespace exactk
