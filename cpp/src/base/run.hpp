// The run of one call: the threads that it may use, and the checkpoints of its long loops, which
// let signals be handled and cancel it. What works for a call holds its run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "exactk/lists.hpp"
#include "exactk/types.hpp"

namespace exactk {

class Run {
 public:
  using Clock = std::chrono::steady_clock;

  // Throws InputError if the number of threads is not in [1, kMaxThreads].
  explicit Run(Execution execution, Clock::duration poll_interval = std::chrono::milliseconds(20));
  // The run of a request, which says what an Execution does.
  template <class Request>
  explicit Run(const Request& request)
      : Run(Execution{.threads = request.threads, .poll = request.poll}) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] int threads() const noexcept { return execution_.threads; }
  [[nodiscard]] const Execution& execution() const noexcept { return execution_; }
  // Returns how many threads can share so many blocks: at least one.
  [[nodiscard]] int threads_for(Count blocks) const noexcept {
    return static_cast<int>(std::clamp<Count>(blocks, 1, execution_.threads));
  }

  // Returns at once, or throws to end the loop. On the thread that made the run it polls, at most
  // once per interval. Cheap enough to call every few thousand elements.
  void checkpoint() const;
  // Polls at once. For the thread that made the run.
  void poll() const { execution_.poll(); }

 private:
  friend class WorkerTeam;

  Execution execution_;
  Clock::duration poll_interval_;
  std::thread::id caller_ = std::this_thread::get_id();
  mutable Clock::time_point last_poll_ = Clock::now();  // read and written by the caller alone
  mutable std::atomic<bool> is_stopped_ = false;        // for a thread has failed
};

// Processes one block on one of the threads.
using BlockBody = std::function<void(int worker, Count block)>;

// Runs the body once for every block in [0, blocks) on up to `most_threads` threads of the run,
// including the caller; `worker` is below their number. Threads that cannot be started are done
// without. The caller polls between blocks, at checkpoints, and while it waits for the others. The
// first exception, from a body or from poll, stops the other workers at their next checkpoint and
// is rethrown when all have stopped.
void parallel_for(const Run& run, Count blocks, const BlockBody& body,
                  int most_threads = kMaxThreads);

// Elements between two checkpoints: a few milliseconds of work, even with a cache miss per element.
inline constexpr std::size_t kChunk = std::size_t{1} << 16U;

// Runs body(begin, end) over [0, size), with a checkpoint after each whole chunk.
template <class Body>
void in_chunks(std::size_t size, const Run& run, const Body& body,
               std::size_t chunk_size = kChunk) {
  std::size_t begin = 0;
  for (; size - begin >= chunk_size; begin += chunk_size) {
    body(begin, begin + chunk_size);
    run.checkpoint();
  }
  if (begin < size) body(begin, size);
}

// Grows the vector to `size` with copies of `value`, checking in between because the first touch of
// gigabytes takes seconds.
template <class T>
void grow(std::vector<T>& elements, std::size_t size, const T& value, const Run& run) {
  if (size <= elements.size()) return;
  elements.reserve(size);
  in_chunks(size - elements.size(), run, [&](std::size_t begin, std::size_t end) {
    elements.insert(elements.end(), end - begin, value);
  });
}

// Runs a comparison-based algorithm with a checkpoint every kChunk comparisons.
template <class T, class Before, class Algorithm>
void with_counted_comparisons(std::span<T> elements, const Before& before, const Run& run,
                              const Algorithm& algorithm) {
  if (elements.size() < kChunk) {
    algorithm(before);
    return;
  }
  std::size_t comparisons = 0;
  algorithm([&](const T& one, const T& other) {
    if (++comparisons % kChunk == 0) run.checkpoint();
    return before(one, other);
  });
}

template <class T, class Before>
void sort(std::span<T> elements, const Before& before, const Run& run) {
  with_counted_comparisons(elements, before, run,
                           [&](const auto& counted) { std::ranges::sort(elements, counted); });
}

// Partitions like std::nth_element: moves the first `count` elements of the order (at least one) to
// the front, the last of them at the end of that part.
template <class T, class Before>
void move_first(std::span<T> elements, std::size_t count, const Before& before, const Run& run) {
  const auto last = elements.begin() + static_cast<std::ptrdiff_t>(count - 1);
  with_counted_comparisons(elements, before, run, [&](const auto& counted) {
    std::ranges::nth_element(elements, last, counted);
  });
}

}  // namespace exactk
