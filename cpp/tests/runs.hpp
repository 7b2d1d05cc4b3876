// Runs without a request.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "base/run.hpp"

namespace exactk {

// Its checkpoints do nothing.
inline const Run idle_run{Execution{}};

// Polls at each checkpoint.
inline Run polling_run(std::function<void()> poll) {
  return Run({.threads = 1, .poll = std::move(poll)}, std::chrono::seconds(0));
}

}  // namespace exactk
