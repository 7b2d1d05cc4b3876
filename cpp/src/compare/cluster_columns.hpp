// The columns of one system and value, for the clusters of a block of users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compare/chunk.hpp"
#include "compare/columns.hpp"
#include "compare/job.hpp"
#include "numeric/rounded_sum.hpp"

namespace exactk {

class ClusterColumns {
 public:
  // Sums the columns of one system over the users whom the other has too, and of whom either says
  // something; the two may be the same.
  // `ends` are the positions where the clusters of the block end.
  void assign(const PairedJob& job, std::size_t one, std::size_t other, std::size_t value,
              const UserBlock& block, std::span<const Count> ends);

  [[nodiscard]] const ColumnSet& set() const noexcept { return set_; }
  [[nodiscard]] const Mask& present() const noexcept { return present_; }  // clusters with a user
  // A bit per user of the block.
  [[nodiscard]] const std::vector<std::uint64_t>& present_users() const noexcept {
    return present_users_;
  }

 private:
  void read(const PairedJob& job, std::size_t one, std::size_t other, std::size_t value,
            const Chunk& chunk);
  bool add_user(const PairedValue& value, std::size_t user);
  void finish_cluster(std::size_t cluster, std::size_t columns);

  std::array<Numbers, 2 * kMaxRows> gathered_{};
  Numbers gathered_weights_{};
  std::array<const double*, 2 * kMaxRows> rows_{};  // of the one system, then of the other
  const double* weights_ = nullptr;
  std::array<RoundedSum, kMaxRows + 1> sums_;
  std::array<Numbers, kMaxRows + 1> totals_{};
  Mask present_{};
  std::vector<std::uint64_t> present_users_;
  ColumnSet set_;
};

}  // namespace exactk
