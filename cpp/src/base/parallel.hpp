// Worker threads that live for one call.
#pragma once

#include <functional>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Returns a checkpoint that calls `poll` at most every 20 ms, often enough to handle signals.
[[nodiscard]] Checkpoint timed_checkpoint(std::function<void()> poll);

// Processes one block on one of the threads. Long blocks call the checkpoint often; it throws to
// stop the work.
using BlockBody = std::function<void(int worker, Count block, const Checkpoint& checkpoint)>;

// Runs the body once for every block in [0, blocks) on up to `threads` threads including the
// caller; `worker` is below `threads`. Threads that cannot be started are done without. The caller
// runs `poll` every 20 ms, between blocks and at checkpoints. The first exception, from a body or
// from poll, stops the other workers at their next checkpoint and is rethrown when all have
// stopped.
void parallel_for(Count blocks, int threads, const BlockBody& body,
                  const std::function<void()>& poll);

}  // namespace exactk
