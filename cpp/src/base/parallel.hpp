// Worker threads for the length of one call.
#pragma once

#include <functional>

#include "base/checkpoint.hpp"
#include "exactk/types.hpp"

namespace exactk {

// A checkpoint that calls `poll`, but not more often than it takes to answer a signal in time.
[[nodiscard]] Checkpoint timed_checkpoint(std::function<void()> poll);

// Does one block of the work on one of the threads. Long blocks pass the checkpoint often; it
// throws when the work is to stop.
using BlockBody = std::function<void(int worker, Count block, const Checkpoint& checkpoint)>;

// Runs the body for every block in [0, blocks), each once, on up to `threads` threads of which the
// caller is one; worker is below `threads`. The caller runs `poll` every 20 ms, between blocks and
// at checkpoints. The first exception, of a body or of poll, stops the rest at their next
// checkpoint and is rethrown when all have stopped. What threads cannot be started are done
// without.
void parallel_for(Count blocks, int threads, const BlockBody& body,
                  const std::function<void()>& poll);

}  // namespace exactk
