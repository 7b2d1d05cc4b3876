// One pass over the users: columns, products, sums. All inputs have been validated except the
// numbers of the tables.

#include "exactk/paired_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/counting_sort.hpp"
#include "base/run.hpp"
#include "compare/job.hpp"
#include "compare/moments.hpp"
#include "compare/pair_worker.hpp"
#include "compare/validate.hpp"
#include "exactk/capacity.hpp"
#include "kernels/dispatch.hpp"

namespace exactk {
namespace {

// Users per block: enough that sharing out the blocks costs nothing.
constexpr Count kBlockUsers = 16 * Count{kColumnTerms};
constexpr Count kBlockClusters{kColumnTerms};

void check_memory(const PairedRequest& request, const std::vector<ColumnLayout>& layouts) {
  Count result_bytes = 0;
  Count moments_bytes = 0;
  for (const ColumnLayout& layout : layouts) {
    result_bytes += layout.result_bytes();
    moments_bytes += layout.moments_bytes();
  }
  const auto pairs = static_cast<Count>(request.pairs.size());
  // Each thread sums one group, and there is one total per group that is being summed.
  const Count groups_at_once =
      std::min<Count>(request.group_count, request.threads) + request.threads;
  require_memory(pairs, request.group_count * result_bytes,
                 {.argument = "groups", .hint = "fewer groups, pairs or metrics need less"});
  require_memory(pairs, groups_at_once * moments_bytes,
                 {.argument = "pairs", .hint = "fewer pairs, metrics or threads need less"});
}

// Lists users by group, then by cluster; empty if they are in that order.
std::vector<Count> order_of_users(const PairedJob& job) {
  const PairedRequest& request = job.request;
  const std::span<const Offset> clusters = job.clusters;
  const auto code_of = [&](std::size_t user) {
    return std::pair(request.groups.empty() ? 0 : request.groups[user],
                     clusters.empty() ? 0 : clusters[user]);
  };
  bool is_in_order = true;
  in_chunks(static_cast<std::size_t>(request.users), job.run,
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t user = std::max<std::size_t>(begin, 1); user < end; ++user) {
                is_in_order = is_in_order && code_of(user - 1) <= code_of(user);
              }
            });
  if (is_in_order) return {};
  std::vector<Count> order;
  if (!clusters.empty()) {
    order = positions_by_code(clusters, request.cluster_count, {}, job.run);
  }
  if (request.groups.empty()) return order;
  return positions_by_code(request.groups, request.group_count, order, job.run);
}

std::vector<std::size_t> systems_of_pairs(const PairedRequest& request) {
  std::vector<std::uint8_t> is_used(request.tables.size());
  for (const auto [system, baseline] : request.pairs) {
    is_used[static_cast<std::size_t>(system)] = 1;
    is_used[static_cast<std::size_t>(baseline)] = 1;
  }
  std::vector<std::size_t> systems;
  for (std::size_t i = 0; i < is_used.size(); ++i) {
    if (is_used[i] != 0) systems.push_back(i);
  }
  return systems;
}

std::vector<UserBlock> blocks_of(const PairedJob& job) {
  const PairedRequest& request = job.request;
  std::vector<UserBlock> blocks;
  Count clusters = 0;
  for (Count position = 0; position < request.users; ++position) {
    if (position % Count{kChunk} == 0) job.run.checkpoint();
    const Offset group = job.group_at(position);
    const bool begins_group = blocks.empty() || blocks.back().group != group;
    const bool begins_cluster = begins_group || !job.has_clusters() ||
                                job.cluster_at(position) != job.cluster_at(position - 1);
    const bool is_full = begins_cluster && !begins_group &&
                         (position - blocks.back().begin >= kBlockUsers ||
                          (job.has_clusters() && clusters == kBlockClusters));
    if (begins_group || is_full) {
      blocks.push_back({.group = group, .begin = position, .end = position});
      clusters = 0;
    }
    if (begins_cluster) ++clusters;
    ++blocks.back().end;
  }
  return blocks;
}

class PairedSumming {
 public:
  PairedSumming(const PairedRequest& request, const Run& run);
  std::vector<PairedSums> sum();

 private:
  // A group while its users are summed.
  struct Group {
    Count blocks_left = 0;
    std::unique_ptr<std::vector<Moments>> totals = nullptr;  // of other threads
  };
  struct ThreadState {
    explicit ThreadState(const PairedJob& job) : worker(job) {}

    PairWorker worker;
    Offset group = 0;  // of the current blocks, which are sorted by group
    Count blocks = 0;  // of the group, since the last `finish_group`
  };

  void finish_group(ThreadState& state);
  void write_empty_groups();
  void write_results(Offset group, const std::vector<Moments>& moments);

  PairedJob job_;
  std::vector<UserBlock> blocks_;
  std::mutex mutex_;
  std::vector<Group> groups_;
  std::vector<PairedSums> results_;  // groups x pairs x values
};

PairedSumming::PairedSumming(const PairedRequest& request, const Run& run)
    : job_{.request = request,
           .run = run,
           .kernels = kernels(request.isa),
           .layouts = {},
           .systems = {},
           .clusters = request.clusters.value_or(std::span<const Offset>{}),
           .order = {}} {
  validate(request, run);
  for (const PairedValue& value : request.values) job_.layouts.emplace_back(request, value);
  check_memory(request, job_.layouts);
  job_.systems = systems_of_pairs(request);
  job_.order = order_of_users(job_);
  blocks_ = blocks_of(job_);
  groups_.resize(static_cast<std::size_t>(request.group_count));
  for (const UserBlock& block : blocks_) {
    ++groups_[static_cast<std::size_t>(block.group)].blocks_left;
  }
  grow(results_, groups_.size() * request.pairs.size() * request.values.size(), PairedSums{}, run);
}

void PairedSumming::write_results(Offset group, const std::vector<Moments>& moments) {
  const std::size_t first = static_cast<std::size_t>(group) * moments.size();
  for (std::size_t i = 0; i < moments.size(); ++i) results_[first + i] = moments[i].paired_sums();
}

// Adds the thread's sums to those of its group, or writes them if they are all of it.
void PairedSumming::finish_group(ThreadState& state) {
  if (state.blocks == 0) return;
  const std::vector<Moments>& moments = state.worker.finish();
  std::unique_ptr<std::vector<Moments>> totals;
  bool is_complete = false;
  {
    const std::scoped_lock lock(mutex_);
    Group& group = groups_[static_cast<std::size_t>(state.group)];
    group.blocks_left -= state.blocks;
    if (group.totals) {
      for (std::size_t i = 0; i < moments.size(); ++i) (*group.totals)[i].add(moments[i]);
    } else if (group.blocks_left > 0) {
      group.totals = std::make_unique<std::vector<Moments>>(moments);
    }
    is_complete = group.blocks_left == 0;
    if (is_complete) totals = std::move(group.totals);
  }
  if (is_complete) write_results(state.group, totals ? *totals : moments);
  state.worker.clear();
  state.blocks = 0;
}

void PairedSumming::write_empty_groups() {
  if (results_.empty()) return;
  const std::vector<Moments> nobody = PairWorker(job_).finish();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    job_.run.checkpoint();
    if (results_[group * nobody.size()].sums.empty()) {
      write_results(static_cast<Offset>(group), nobody);
    }
  }
}

std::vector<PairedSums> PairedSumming::sum() {
  const PairedRequest& request = job_.request;
  const auto blocks = static_cast<Count>(blocks_.size());
  // Each is created by its own thread, so that no two threads write to one cache line.
  std::vector<std::unique_ptr<ThreadState>> states(
      static_cast<std::size_t>(job_.run.threads_for(blocks)));
  const auto body = [&](int index, Count number) {
    std::unique_ptr<ThreadState>& state = states[static_cast<std::size_t>(index)];
    if (!state) state = std::make_unique<ThreadState>(job_);
    const UserBlock& block = blocks_[static_cast<std::size_t>(number)];
    if (block.group != state->group) finish_group(*state);
    state->group = block.group;
    state->worker.add_block(block);
    ++state->blocks;
    if (request.finished != nullptr) *request.finished += block.end - block.begin;
  };
  try {
    parallel_for(job_.run, blocks, body);
  } catch (const FaultyNumber&) {
    throw_faulty_number(request, job_.run);
  }
  for (const std::unique_ptr<ThreadState>& state : states) {
    if (state) finish_group(*state);
  }
  write_empty_groups();
  return std::move(results_);
}

}  // namespace

std::vector<PairedSums> paired_sums(const PairedRequest& request) {
  const Run run(request);
  return PairedSumming(request, run).sum();
}

}  // namespace exactk
