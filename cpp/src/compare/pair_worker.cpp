#include "compare/pair_worker.hpp"

namespace exactk {

PairWorker::PairWorker(const PairedJob& job) : job_(job), users_(job.request.tables.size()) {
  if (job.has_clusters()) {
    clusters_.resize(job.request.tables.size());
    common_clusters_.resize(2);
  }
  for (std::size_t pair = 0; pair < job.request.pairs.size(); ++pair) {
    for (const ColumnLayout& layout : job.layouts) moments_.emplace_back(layout);
  }
}

void PairWorker::add_block(const UserBlock& block, const Checkpoint& checkpoint) {
  for (std::size_t value = 0; value < job_.layouts.size(); ++value) {
    for_each_chunk(block, [&](const Chunk& chunk) {
      checkpoint();
      add_chunk(value, chunk);
    });
  }
  if (!job_.has_clusters()) return;
  find_clusters(block);
  for (std::size_t value = 0; value < job_.layouts.size(); ++value) {
    for (const std::size_t system : job_.systems) {
      clusters_[system].assign(job_, system, system, value, block, cluster_ends_, checkpoint);
    }
    for (std::size_t pair = 0; pair < job_.request.pairs.size(); ++pair) {
      add_clusters(pair, value, block, checkpoint);
    }
  }
}

void PairWorker::add_chunk(std::size_t value, const Chunk& chunk) {
  const double* weights = read_weights(job_, chunk, gathered_weights_);
  for (const std::size_t system : job_.systems) {
    users_[system].read(job_, system, value, chunk, weights);
  }
  for (std::size_t pair = 0; pair < job_.request.pairs.size(); ++pair) {
    add_users(pair, value, chunk);
  }
}

// Counts the users of a pair; without clusters, also adds their columns.
void PairWorker::add_users(std::size_t pair, std::size_t value, const Chunk& chunk) {
  const UserColumns& system = users_[static_cast<std::size_t>(job_.request.pairs[pair].system)];
  const UserColumns& baseline = users_[static_cast<std::size_t>(job_.request.pairs[pair].baseline)];
  const bool has_same_users = system.present() == baseline.present();
  const Mask both = system.present() & baseline.present();
  const Count users = has_same_users ? system.present_count() : count_bits(both);
  Moments& moments = moments_of(pair, value);
  PairedCounts& counts = moments.counts();
  counts.users += users;
  counts.only_system += system.present_count() - users;
  counts.only_baseline += baseline.present_count() - users;
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
  if (has_same_users) {
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
                              const Checkpoint& checkpoint) {
  const auto system = static_cast<std::size_t>(job_.request.pairs[pair].system);
  const auto baseline = static_cast<std::size_t>(job_.request.pairs[pair].baseline);
  const ClusterColumns* one = &clusters_[system];
  const ClusterColumns* other = &clusters_[baseline];
  if (one->present_users() != other->present_users()) {
    ClusterColumns& common_one = common_clusters_[0];
    ClusterColumns& common_other = common_clusters_[1];
    common_one.assign(job_, system, baseline, value, block, cluster_ends_, checkpoint);
    common_other.assign(job_, baseline, system, value, block, cluster_ends_, checkpoint);
    one = &common_one;
    other = &common_other;
  }
  Moments& moments = moments_of(pair, value);
  moments.counts().units += count_bits(one->present());
  moments.add_columns(one->set(), other->set(), job_.kernels);
}

}  // namespace exactk
