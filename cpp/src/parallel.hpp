// Worker threads for the length of one call.
#pragma once

#include <functional>

#include "metrik/types.hpp"

namespace metrik {

// Runs body(worker, block) for every block in [0, blocks), each once, on up to `threads` threads of
// which the caller is one; worker is below `threads`. The caller runs `poll` at least every 50 ms
// unless a block of its own takes longer. The first exception, of a body or of poll, stops the rest
// within a block each and is rethrown when all have stopped. What threads
// cannot be started are done without.
void parallel_for(Count blocks, int threads, const std::function<void(int, Count)>& body,
                  const std::function<void()>& poll);

}  // namespace metrik
