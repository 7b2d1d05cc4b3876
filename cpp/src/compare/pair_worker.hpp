// The work of one thread: reads users chunk by chunk, and adds them to the sums of every pair.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/checkpoint.hpp"
#include "compare/chunk.hpp"
#include "compare/cluster_columns.hpp"
#include "compare/columns.hpp"
#include "compare/job.hpp"
#include "compare/moments.hpp"
#include "compare/user_columns.hpp"

namespace exactk {

class PairWorker {
 public:
  explicit PairWorker(const PairedJob& job);

  void add_block(const UserBlock& block, const Checkpoint& checkpoint);

  // Sums of pairs x values over the blocks since the last `clear`.
  [[nodiscard]] const std::vector<Moments>& moments() const noexcept { return moments_; }
  void clear() noexcept {
    for (Moments& moments : moments_) moments.clear();
  }

 private:
  void add_chunk(std::size_t value, const Chunk& chunk);
  void add_users(std::size_t pair, std::size_t value, const Chunk& chunk);
  void find_clusters(const UserBlock& block);
  void add_clusters(std::size_t pair, std::size_t value, const UserBlock& block,
                    const Checkpoint& checkpoint);
  [[nodiscard]] Moments& moments_of(std::size_t pair, std::size_t value) noexcept {
    return moments_[pair * job_.request.values.size() + value];
  }

  const PairedJob& job_;
  Numbers gathered_weights_{};
  // By system: of the users of a chunk, and of the clusters of a block.
  std::vector<UserColumns> users_;
  std::vector<ClusterColumns> clusters_;
  // Of the users whom both systems of a pair have, if their users differ.
  std::array<ColumnSet, 2> common_users_;
  std::vector<ClusterColumns> common_clusters_;
  std::vector<Count> cluster_ends_;  // positions, of the block
  std::vector<Moments> moments_;     // pairs x values
};

}  // namespace exactk
