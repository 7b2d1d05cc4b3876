#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace metrik {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{20};

class Team {
 public:
  Team(Count blocks, const std::function<void(int, Count)>& body) : blocks_(blocks), body_(body) {}

  // Takes blocks until there are none left; `between` runs before each.
  template <class Between>
  void work(int worker, const Between& between) noexcept {
    try {
      while (!stop_) {
        between();
        const Count block = next_++;
        if (block >= blocks_) break;
        body_(worker, block);
      }
    } catch (...) {
      fail();
    }
  }

  void work_beside(int worker) noexcept {
    work(worker, [] {});
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
  const std::function<void(int, Count)>& body_;
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

void parallel_for(Count blocks, int threads, const std::function<void(int, Count)>& body,
                  const std::function<void()>& poll) {
  Team team(blocks, body);
  std::vector<std::thread> others =
      start_others(team, static_cast<int>(std::min<Count>(threads, blocks)) - 1);
  auto last_poll = Clock::now();
  team.work(0, [&] {
    const auto now = Clock::now();
    if (now - last_poll < kPollInterval) return;
    last_poll = now;
    poll();
  });
  team.wait(static_cast<int>(others.size()), poll);
  for (std::thread& other : others) other.join();
  team.rethrow();
}

}  // namespace metrik
