// The work of one thread: reads users chunk by chunk, and adds them to the sums of every pair.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

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

  void add_block(const UserBlock& block);

  // Returns the sums of pairs x values over the blocks since the last `clear`.
  [[nodiscard]] const std::vector<Moments>& finish();
  void clear() noexcept;

 private:
  void add_chunk(std::size_t value, const Chunk& chunk);
  template <class Columns, class Users>
  [[nodiscard]] bool have_same_users(const std::vector<Columns>& columns, const Users& users) const;
  template <class Columns>
  void add_systems(const std::vector<Columns>& columns, std::size_t value);
  void add_users(std::size_t pair, std::size_t value, const Chunk& chunk, bool is_same_in_all);
  void find_clusters(const UserBlock& block);
  void add_clusters(std::size_t pair, std::size_t value, const UserBlock& block,
                    bool is_same_in_all);
  [[nodiscard]] Moments& moments_of(std::size_t pair, std::size_t value) noexcept {
    return moments_[pair * job_.request.values.size() + value];
  }
  [[nodiscard]] SystemMoments& moments_of_system(std::size_t system, std::size_t value) noexcept {
    return system_moments_[system * job_.request.values.size() + value];
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
  // Systems x values, of chunks or blocks whose users are the same in all systems: a pair's sums
  // lack those until they are finished.
  std::vector<SystemMoments> system_moments_;
};

}  // namespace exactk
