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
#include <thread>
#include <utility>
#include <vector>

namespace exactk {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{20};

// Thrown at the checkpoint of a worker when another has failed; goes no further.
struct Stopped : std::exception {};

// The first exception of a thread needs memory for the thread's own variables, and the C library
// ends the process where there is none. So they are given theirs while there is some.
bool can_throw() noexcept {
  constexpr std::size_t kEnough = std::size_t{1} << 14U;
  void* volatile memory =
      std::malloc(kEnough);  // volatile, or a compiler sees that nobody needs it
  if (memory == nullptr) return false;
  std::free(memory);
  return std::uncaught_exceptions() == 0;
}

class Team {
 public:
  Team(Count blocks, const Body& body) : blocks_(blocks), body_(body) {}

  // Takes blocks until there are none left, with a checkpoint before each.
  void work(int worker, const Checkpoint& checkpoint) noexcept {
    try {
      while (true) {
        checkpoint();
        const Count block = next_++;
        if (block >= blocks_) break;
        body_(worker, block, checkpoint);
      }
    } catch (const Stopped&) {
      return;
    } catch (...) {
      fail();
    }
  }

  void stop_if_told() const {
    if (stop_) throw Stopped{};
  }

  void work_beside(int worker) noexcept {
    if (can_throw()) work(worker, [this] { stop_if_told(); });  // else the others do without it
    const std::scoped_lock lock(mutex_);
    ++finished_;
    changed_.notify_one();
  }

  // Polls until all other workers have finished.
  void wait(int others, const std::function<void()>& poll) noexcept {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kPollInterval, [&] { return finished_ == others; })) {
      lock.unlock();
      try {
        if (!stop_) poll();
      } catch (...) {
        fail();
      }
      lock.lock();
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void fail() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
    stop_ = true;
  }

  const Count blocks_;
  const Body& body_;
  std::atomic<Count> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  int finished_ = 0;
  std::exception_ptr error_;
};

std::vector<std::thread> start_others(Team& team, int wanted) {
  std::vector<std::thread> others;
  try {
    others.reserve(static_cast<std::size_t>(std::max(wanted, 0)));
    for (int worker = 1; worker <= wanted; ++worker) {
      others.emplace_back([&team, worker] { team.work_beside(worker); });
    }
  } catch (const std::exception&) {
    return others;  // no more threads to be had: those that started suffice
  }
  return others;
}

}  // namespace

Checkpoint timed_checkpoint(std::function<void()> poll) {
  return [poll = std::move(poll), last = Clock::now()]() mutable {
    const auto now = Clock::now();
    if (now - last < kPollInterval) return;
    last = now;
    poll();
  };
}

void parallel_for(Count blocks, int threads, const Body& body, const std::function<void()>& poll) {
  Team team(blocks, body);
  const Checkpoint own = [&team, polled = timed_checkpoint(poll)] {
    team.stop_if_told();
    polled();
  };
  std::vector<std::thread> others =
      start_others(team, static_cast<int>(std::min<Count>(threads, blocks)) - 1);
  team.work(0, own);
  team.wait(static_cast<int>(others.size()), poll);
  for (std::thread& other : others) other.join();
  team.rethrow();
}

}  // namespace exactk
