// What the threads share: the request, and what follows from it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "compare/moments.hpp"
#include "exactk/paired_sums.hpp"
#include "kernels/table.hpp"

namespace exactk {

// Rows of a value, at most.
inline constexpr std::size_t kMaxRows = 2;

// Read by all threads, changed by none.
struct PairedJob {
  const PairedRequest& request;
  const Run& run;
  const Kernels& kernels;
  std::vector<ColumnLayout> layouts;  // by value
  std::vector<std::size_t> systems;   // those of any pair
  std::span<const Offset> clusters;   // by user; empty if users are the units
  std::vector<Count> order;           // users by group, then cluster; empty: as they are

  [[nodiscard]] bool has_clusters() const noexcept { return request.clusters.has_value(); }
  [[nodiscard]] std::size_t user_at(Count position) const noexcept {
    return static_cast<std::size_t>(order.empty() ? position
                                                  : order[static_cast<std::size_t>(position)]);
  }
  [[nodiscard]] Offset group_at(Count position) const noexcept {
    return request.groups.empty() ? 0 : request.groups[user_at(position)];
  }
  [[nodiscard]] Offset cluster_at(Count position) const noexcept {
    return clusters[user_at(position)];
  }
  // Returns a row of a system's table.
  [[nodiscard]] const double* row(std::size_t system, Offset row) const noexcept {
    return request.tables[system].data() + row * request.users;
  }
};

// A run of users of one group, in order; whole clusters, if there are any.
struct UserBlock {
  Offset group;
  Count begin;
  Count end;
};

}  // namespace exactk
