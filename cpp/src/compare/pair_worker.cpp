#include "compare/pair_worker.hpp"

#include <algorithm>

namespace exactk {

PairWorker::PairWorker(const PairedJob& job) : job_(job), users_(job.request.tables.size()) {
  if (job.has_clusters()) {
    clusters_.resize(job.request.tables.size());
    common_clusters_.resize(2);
  }
  for (std::size_t pair = 0; pair < job.request.pairs.size(); ++pair) {
    for (const ColumnLayout& layout : job.layouts) moments_.emplace_back(layout);
  }
  for (std::size_t system = 0; system < users_.size(); ++system) {
    for (const ColumnLayout& layout : job.layouts) system_moments_.emplace_back(layout);
  }
}

const std::vector<Moments>& PairWorker::finish() {
  for (std::size_t pair = 0; pair < job_.request.pairs.size(); ++pair) {
    const auto [system, baseline] = job_.request.pairs[pair];
    for (std::size_t value = 0; value < job_.layouts.size(); ++value) {
      moments_of(pair, value)
          .add_systems(moments_of_system(static_cast<std::size_t>(system), value),
                       moments_of_system(static_cast<std::size_t>(baseline), value));
    }
  }
  for (SystemMoments& moments : system_moments_) moments.clear();
  return moments_;
}

void PairWorker::clear() noexcept {
  for (Moments& moments : moments_) moments.clear();
  for (SystemMoments& moments : system_moments_) moments.clear();
}

void PairWorker::add_block(const UserBlock& block) {
  for (std::size_t value = 0; value < job_.layouts.size(); ++value) {
    for_each_chunk(block, [&](const Chunk& chunk) {
      job_.run.checkpoint();
      add_chunk(value, chunk);
    });
  }
  if (!job_.has_clusters()) return;
  find_clusters(block);
  for (std::size_t value = 0; value < job_.layouts.size(); ++value) {
    for (const std::size_t system : job_.systems) {
      clusters_[system].assign(job_, system, system, value, block, cluster_ends_);
    }
    const bool is_same = have_same_users(clusters_, &ClusterColumns::present_users);
    if (is_same) add_systems(clusters_, value);
    for (std::size_t pair = 0; pair < job_.request.pairs.size(); ++pair) {
      add_clusters(pair, value, block, is_same);
    }
  }
}

void PairWorker::add_chunk(std::size_t value, const Chunk& chunk) {
  const double* weights = read_weights(job_, chunk, gathered_weights_);
  const Mask weighty = users_with_weight(weights, chunk.size, job_.kernels);
  for (const std::size_t system : job_.systems) {
    users_[system].read(job_, system, value, chunk, weights, weighty);
  }
  const bool is_same = have_same_users(users_, &UserColumns::users_of_set);
  if (is_same && !job_.has_clusters()) add_systems(users_, value);
  for (std::size_t pair = 0; pair < job_.request.pairs.size(); ++pair) {
    add_users(pair, value, chunk, is_same);
  }
}

// Returns whether all systems have the same users, as most do.
template <class Columns, class Users>
bool PairWorker::have_same_users(const std::vector<Columns>& columns, const Users& users) const {
  return std::ranges::all_of(job_.systems, [&](std::size_t system) {
    return (columns[system].*users)() == (columns[job_.systems.front()].*users)();
  });
}

// Adds what does not depend on a second system, once for all pairs.
template <class Columns>
void PairWorker::add_systems(const std::vector<Columns>& columns, std::size_t value) {
  for (const std::size_t system : job_.systems) {
    moments_of_system(system, value).add(columns[system].set());
  }
}

// Counts the users of a pair; without clusters, also adds their columns.
void PairWorker::add_users(std::size_t pair, std::size_t value, const Chunk& chunk,
                           bool is_same_in_all) {
  const UserColumns& system = users_[static_cast<std::size_t>(job_.request.pairs[pair].system)];
  const UserColumns& baseline = users_[static_cast<std::size_t>(job_.request.pairs[pair].baseline)];
  const Mask present = system.present() & baseline.present();
  const Mask both = present & (system.telling() | baseline.telling());
  const Count users =
      system.telling() == baseline.telling() ? system.telling_count() : count_bits(both);
  const Count present_count =
      system.present() == baseline.present() ? system.present_count() : count_bits(present);
  Moments& moments = moments_of(pair, value);
  PairedCounts& counts = moments.counts();
  counts.users += users;
  counts.only_system += system.present_count() - present_count;
  counts.only_baseline += baseline.present_count() - present_count;
  if (system.shown() != nullptr) {
    Count greater = 0;
    Count less = 0;
    job_.kernels.columns.compare(system.shown(), baseline.shown(), both.data(), chunk.size,
                                 &greater, &less);
    counts.wins += greater;
    counts.losses += less;
  }
  if (job_.has_clusters()) return;
  counts.units += users;
  if (is_same_in_all) {
    moments.add_products(system.set(), baseline.set(), job_.kernels);
    return;
  }
  if (system.users_of_set() == baseline.users_of_set()) {
    moments.add_columns(system.set(), baseline.set(), job_.kernels);
    return;
  }
  system.assign(common_users_[0], job_, value, chunk, both);
  baseline.assign(common_users_[1], job_, value, chunk, both);
  moments.add_columns(common_users_[0], common_users_[1], job_.kernels);
}

void PairWorker::find_clusters(const UserBlock& block) {
  cluster_ends_.clear();
  for (Count end = block.begin + 1; end <= block.end; ++end) {
    if (end == block.end || job_.cluster_at(end) != job_.cluster_at(end - 1)) {
      cluster_ends_.push_back(end);
    }
  }
}

void PairWorker::add_clusters(std::size_t pair, std::size_t value, const UserBlock& block,
                              bool is_same_in_all) {
  const auto system = static_cast<std::size_t>(job_.request.pairs[pair].system);
  const auto baseline = static_cast<std::size_t>(job_.request.pairs[pair].baseline);
  const ClusterColumns* one = &clusters_[system];
  const ClusterColumns* other = &clusters_[baseline];
  if (one->present_users() != other->present_users()) {
    ClusterColumns& common_one = common_clusters_[0];
    ClusterColumns& common_other = common_clusters_[1];
    common_one.assign(job_, system, baseline, value, block, cluster_ends_);
    common_other.assign(job_, baseline, system, value, block, cluster_ends_);
    one = &common_one;
    other = &common_other;
  }
  Moments& moments = moments_of(pair, value);
  moments.counts().units += count_bits(one->present());
  if (is_same_in_all) {
    moments.add_products(one->set(), other->set(), job_.kernels);
  } else {
    moments.add_columns(one->set(), other->set(), job_.kernels);
  }
}

}  // namespace exactk
