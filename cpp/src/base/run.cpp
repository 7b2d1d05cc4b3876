#include "base/run.hpp"

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

}  // namespace

// The threads that share out blocks.
class WorkerTeam {
 public:
  WorkerTeam(const Run& run, Count blocks, const BlockBody& body)
      : run_(run), blocks_(blocks), body_(body) {}

  void work(int threads) {
    start_others(threads - 1);
    run_blocks(0);
    wait_for_others();
    for (std::thread& thread : others_) thread.join();
    run_.is_stopped_ = false;
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void start_others(int count) {
    try {
      others_.reserve(static_cast<std::size_t>(std::max(count, 0)));
      for (int worker = 1; worker <= count; ++worker) {
        others_.emplace_back([this, worker] { run_other(worker); });
      }
    } catch (const std::exception&) {
      return;  // no more threads available: continue with those that started
    }
  }

  void run_other(int worker) noexcept {
    if (can_throw()) run_blocks(worker);  // else the others do all blocks
    const std::scoped_lock lock(mutex_);
    ++finished_others_;
    finished_changed_.notify_one();
  }

  // Takes blocks until none are left, with a checkpoint before each.
  void run_blocks(int worker) noexcept {
    try {
      while (true) {
        run_.checkpoint();
        const Count block = next_block_++;
        if (block >= blocks_) break;
        body_(worker, block);
      }
    } catch (const Stopped&) {
      return;
    } catch (...) {
      record_error();
    }
  }

  void wait_for_others() noexcept {
    std::unique_lock lock(mutex_);
    while (!finished_changed_.wait_for(lock, run_.poll_interval_,
                                       [&] { return finished_others_ == others_.size(); })) {
      lock.unlock();
      try {
        if (!run_.is_stopped_) run_.poll();
      } catch (...) {
        record_error();
      }
      lock.lock();
    }
  }

  void record_error() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
    run_.is_stopped_ = true;
  }

  const Run& run_;
  const Count blocks_;
  const BlockBody& body_;
  std::vector<std::thread> others_;
  std::atomic<Count> next_block_ = 0;
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  std::size_t finished_others_ = 0;
  std::exception_ptr error_;
};

void check_threads(int threads) {
  if (threads >= 1 && threads <= kMaxThreads) return;
  throw InputError({.argument = "num_threads",
                    .expected = "a number of threads from 1 to " + std::to_string(kMaxThreads),
                    .found = std::to_string(threads)});
}

Run::Run(Execution execution, Clock::duration poll_interval)
    : execution_(std::move(execution)), poll_interval_(poll_interval) {
  check_threads(threads());
}

void Run::checkpoint() const {
  if (is_stopped_) throw Stopped{};
  if (std::this_thread::get_id() != caller_) return;
  const auto now = Clock::now();
  if (now - last_poll_ < poll_interval_) return;
  last_poll_ = now;
  poll();
}

void parallel_for(const Run& run, Count blocks, const BlockBody& body, int most_threads) {
  WorkerTeam(run, blocks, body).work(std::min(run.threads_for(blocks), most_threads));
}

}  // namespace exactk
