// Chunks of users, and the numbers of a row for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>

#include "compare/columns.hpp"
#include "compare/job.hpp"
#include "numeric/geometric_mean.hpp"

namespace exactk {

using Numbers = std::array<double, kColumnTerms>;

// Users side by side in their order.
struct Chunk {
  Count begin;
  std::size_t users;
  std::size_t size;  // with absent users added, so that kernels take it
};

[[nodiscard]] constexpr std::size_t padded_size(std::size_t units) noexcept {
  return (units + kColumnStep - 1) / kColumnStep * kColumnStep;
}

template <class Visit>
void for_each_chunk(const UserBlock& block, const Visit& visit) {
  for (Count begin = block.begin; begin < block.end; begin += Count{kColumnTerms}) {
    const auto users = static_cast<std::size_t>(std::min(block.end - begin, Count{kColumnTerms}));
    visit(Chunk{.begin = begin, .users = users, .size = padded_size(users)});
  }
}

// Fetches the users of the next chunk into the cache. Rows are read in turns, a chunk of each,
// which is too short for a CPU to foresee them.
inline void prefetch_next(const double* row, const Chunk& chunk, Count users) noexcept {
  constexpr Count kLine = 64 / sizeof(double);
  const Count begin = chunk.begin + static_cast<Count>(chunk.users);
  const Count end = std::min(begin + Count{kColumnTerms}, users);
  for (Count user = begin; user < end; user += kLine) __builtin_prefetch(row + user);
}

// Returns the users' numbers of a row: where they are, if they are side by side.
[[nodiscard]] inline const double* read_row(const PairedJob& job, const double* row,
                                            const Chunk& chunk, Numbers& gathered) {
  if (job.order.empty()) {
    const double* first = row + chunk.begin;
    prefetch_next(row, chunk, job.request.users);
    if (chunk.users == chunk.size) return first;
    std::copy_n(first, chunk.users, gathered.begin());
  } else {
    const std::span<const Count> users =
        std::span(job.order).subspan(static_cast<std::size_t>(chunk.begin), chunk.users);
    for (std::size_t i = 0; i < chunk.users; ++i) gathered[i] = row[users[i]];
  }
  std::ranges::fill(std::span(gathered).subspan(chunk.users, chunk.size - chunk.users),
                    std::numeric_limits<double>::quiet_NaN());
  return gathered.data();
}

// Returns the users' weights; null if all are 1.
[[nodiscard]] inline const double* read_weights(const PairedJob& job, const Chunk& chunk,
                                                Numbers& gathered) {
  const auto& weights = job.request.weights;
  return weights ? read_row(job, weights->data(), chunk, gathered) : nullptr;
}

// Returns the users for whom the predicate holds: by marks, of which vectors make bits.
template <class Predicate>
[[nodiscard]] Mask mask_of(std::size_t size, const Kernels& kernels, const Predicate& predicate) {
  Numbers marks;  // NOLINT(*-member-init): filled below
  for (std::size_t i = 0; i < size; ++i) {
    marks[i] = predicate(i) ? 0 : std::numeric_limits<double>::quiet_NaN();
  }
  Mask mask{};
  kernels.columns.find_numbers(marks.data(), size, mask.data());
  return mask;
}

[[nodiscard]] inline bool has_weight(const double* weights, std::size_t user) noexcept {
  return weights == nullptr || weights[user] > 0;
}

// Returns the users with a weight above 0.
[[nodiscard]] inline Mask users_with_weight(const double* weights, std::size_t size,
                                            const Kernels& kernels) {
  return mask_of(size, kernels, [&](std::size_t user) { return has_weight(weights, user); });
}

// Returns what a user adds to a column.
[[nodiscard]] inline double term_of(double number, const double* weights, std::size_t user,
                                    bool is_geometric) {
  const double term = is_geometric ? geometric_term(number) : number;
  return weights == nullptr ? term : weights[user] * term;
}

}  // namespace exactk
