#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactk/error.hpp"
#include "exactk/lists.hpp"

namespace exactk {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{20};

// Thrown at a worker's checkpoint after another worker has failed; never leaves this file.
struct Stopped : std::exception {};

// A thread's first exception allocates the thread's exception state, and the C library ends the
// process if that allocation fails. This allocates it while memory is available.
bool can_throw() noexcept {
  constexpr std::size_t kExceptionBytes = std::size_t{1} << 14U;
  void* volatile memory =
      std::malloc(kExceptionBytes);  // volatile, so the compiler keeps the unused allocation
  if (memory == nullptr) return false;
  std::free(memory);
  return std::uncaught_exceptions() == 0;
}

class WorkerTeam {
 public:
  WorkerTeam(Count blocks, const BlockBody& body) : blocks_(blocks), body_(body) {}

  // Takes blocks until none are left, with a checkpoint before each.
  void run_blocks(int worker, const Checkpoint& checkpoint) noexcept {
    try {
      while (true) {
        checkpoint();
        const Count block = next_block_++;
        if (block >= blocks_) break;
        body_(worker, block, checkpoint);
      }
    } catch (const Stopped&) {
      return;
    } catch (...) {
      record_error();
    }
  }

  void throw_if_stopped() const {
    if (is_stopped_) throw Stopped{};
  }

  void run_worker(int worker) noexcept {
    if (can_throw())
      run_blocks(worker, [this] { throw_if_stopped(); });  // else the others do all blocks
    const std::scoped_lock lock(mutex_);
    ++finished_workers_;
    finished_changed_.notify_one();
  }

  void wait_for_workers(int others, const std::function<void()>& poll) noexcept {
    std::unique_lock lock(mutex_);
    while (!finished_changed_.wait_for(lock, kPollInterval,
                                       [&] { return finished_workers_ == others; })) {
      lock.unlock();
      try {
        if (!is_stopped_) poll();
      } catch (...) {
        record_error();
      }
      lock.lock();
    }
  }

  void rethrow_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void record_error() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
    is_stopped_ = true;
  }

  const Count blocks_;
  const BlockBody& body_;
  std::atomic<Count> next_block_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  int finished_workers_ = 0;
  std::exception_ptr error_;
};

std::vector<std::thread> start_workers(WorkerTeam& team, int count) {
  std::vector<std::thread> others;
  try {
    others.reserve(static_cast<std::size_t>(std::max(count, 0)));
    for (int worker = 1; worker <= count; ++worker) {
      others.emplace_back([&team, worker] { team.run_worker(worker); });
    }
  } catch (const std::exception&) {
    return others;  // no more threads available: continue with those that started
  }
  return others;
}

}  // namespace

void check_threads(int threads) {
  if (threads >= 1 && threads <= kMaxThreads) return;
  throw InputError({.argument = "num_threads",
                    .expected = "a number of threads from 1 to " + std::to_string(kMaxThreads),
                    .found = std::to_string(threads)});
}

Checkpoint timed_checkpoint(std::function<void()> poll) {
  return [poll = std::move(poll), last = Clock::now()]() mutable {
    const auto now = Clock::now();
    if (now - last < kPollInterval) return;
    last = now;
    poll();
  };
}

void parallel_for(Count blocks, int threads, const BlockBody& body,
                  const std::function<void()>& poll) {
  WorkerTeam team(blocks, body);
  const Checkpoint checkpoint = [&team, poll_in_time = timed_checkpoint(poll)] {
    team.throw_if_stopped();
    poll_in_time();
  };
  std::vector<std::thread> others =
      start_workers(team, static_cast<int>(std::min<Count>(threads, blocks)) - 1);
  team.run_blocks(0, checkpoint);
  team.wait_for_workers(static_cast<int>(others.size()), poll);
  for (std::thread& thread : others) thread.join();
  team.rethrow_error();
}

}  // namespace exactk
