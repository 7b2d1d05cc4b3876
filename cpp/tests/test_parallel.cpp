#include "base/run.hpp"
#include "common.hpp"

namespace exactk {
namespace {

using Clock = std::chrono::steady_clock;
// Far longer than any of these waits takes, so that a bug fails a test instead of hanging it.
constexpr std::chrono::seconds kPatience{20};

constexpr auto kNoPoll = [] {};

// Waits until `done` holds, and returns whether it does.
template <class Done>
bool wait_until(const Done& done) {
  const auto deadline = Clock::now() + kPatience;
  while (!done()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string message_of(const std::exception& error) { return error.what(); }

// Returns the message of what parallel_for throws; empty if it throws nothing.
template <class Body, class Poll>
std::string message_thrown_by(Count blocks, int threads, const Body& body, const Poll& poll) {
  try {
    parallel_for(Run({.threads = threads, .poll = poll}), blocks, body);
  } catch (const std::runtime_error& error) {
    return message_of(error);
  }
  return "";
}

TEST_CASE("every block runs once, whatever the number of threads") {
  for (const int threads : {-1, 0, 1, 2, 3, 7, 16}) {
    for (const Count blocks : {0, 1, 2, 5, 1000}) {
      CAPTURE(threads);
      CAPTURE(blocks);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(blocks));
      std::atomic<bool> workers_in_range = true;
      const auto body = [&](int worker, Count block) {
        if (worker < 0 || (worker > 0 && worker >= threads)) workers_in_range = false;
        ++runs.at(static_cast<std::size_t>(block));
      };
      parallel_for(Run({.threads = 16}), blocks, body, threads);
      CHECK(workers_in_range);
      for (const std::atomic<int>& run : runs) CHECK(run == 1);
    }
  }
}

TEST_CASE("a single thread is the caller's, and takes the blocks in order") {
  const auto caller = std::this_thread::get_id();
  std::vector<Count> seen;
  parallel_for(Run({.threads = 1}), 100, [&](int worker, Count block) {
    CHECK(worker == 0);
    CHECK(std::this_thread::get_id() == caller);
    seen.push_back(block);
  });
  REQUIRE(seen.size() == 100);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<Count>(i));
}

TEST_CASE("workers are distinct threads that run at the same time") {
  constexpr int kThreads = 3;
  std::atomic<int> arrived = 0;
  std::atomic<int> met = 0;
  std::vector<std::atomic<int>> blocks_of(kThreads);
  parallel_for(Run({.threads = kThreads}), kThreads, [&](int worker, Count) {
    ++blocks_of.at(static_cast<std::size_t>(worker));
    ++arrived;
    if (wait_until([&] { return arrived == kThreads; })) ++met;
  });
  CHECK(met == kThreads);
  for (const std::atomic<int>& blocks : blocks_of) CHECK(blocks == 1);
}

TEST_CASE("F23: an exception from another worker is rethrown in the caller") {
  std::atomic<bool> other_ran = false;
  const auto body = [&](int worker, Count) {
    if (worker != 0) {
      other_ran = true;
      throw std::runtime_error("other");
    }
    CHECK(wait_until([&] { return other_ran.load(); }));
  };
  CHECK(message_thrown_by(2, 2, body, kNoPoll) == "other");
}

TEST_CASE("F25: the caller polls between its own blocks, and an exception from poll stops all") {
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    std::atomic<bool> polled = false;
    std::atomic<int> runs = 0;
    constexpr Count kBlocks = 5000;
    const auto body = [&](int, Count) {
      ++runs;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    const auto poll = [&] {
      polled = true;
      throw std::runtime_error("cancelled");
    };
    CHECK(message_thrown_by(kBlocks, threads, body, poll) == "cancelled");
    CHECK(polled);
    CHECK(runs < kBlocks);
  }
}

TEST_CASE("F25: the caller polls while another worker is busy") {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> polls = 0;
  std::atomic<bool> other_runs = false;
  std::atomic<bool> polled_meanwhile = false;
  std::atomic<bool> polled_by_caller = true;
  const auto poll = [&] {
    if (std::this_thread::get_id() != caller) polled_by_caller = false;
    ++polls;
  };
  parallel_for(Run({.threads = 2, .poll = poll}), 2, [&](int worker, Count) {
    if (worker == 0) {  // leaves the second block to the other
      CHECK(wait_until([&] { return other_runs.load(); }));
      return;
    }
    other_runs = true;
    const int before = polls;
    polled_meanwhile = wait_until([&] { return polls >= before + 3; });
  });
  CHECK(polled_meanwhile);
  CHECK(polled_by_caller);
}

TEST_CASE(
    "F25: an exception of poll while another worker is busy is rethrown when that has stopped") {
  std::atomic<bool> other_runs = false;
  std::atomic<bool> other_done = false;
  std::atomic<bool> polled = false;
  const auto body = [&](int worker, Count) {
    if (worker == 0) {
      CHECK(wait_until([&] { return other_runs.load(); }));
      return;
    }
    other_runs = true;
    CHECK(wait_until([&] { return polled.load(); }));
    other_done = true;
  };
  const auto poll = [&] {
    if (!other_runs) return;
    polled = true;
    throw std::runtime_error("cancelled");
  };
  CHECK(message_thrown_by(2, 2, body, poll) == "cancelled");
  CHECK(other_done);
}

TEST_CASE("a block is left at its next checkpoint when another fails or the caller is cancelled") {
  for (const bool cancelled : {false, true}) {
    CAPTURE(cancelled);
    std::atomic<int> running = 0;
    const auto poll = [&] {
      if (cancelled) throw std::runtime_error("cancelled");
    };
    const Run run({.threads = 2, .poll = poll});
    const auto body = [&](int /*worker*/, Count block) {
      ++running;
      CHECK(wait_until([&] { return running == 2; }));
      if (!cancelled && block == 0) throw std::runtime_error("block 0");
      while (true) run.checkpoint();  // endless except for the checkpoint
    };
    CHECK_THROWS_WITH_AS(parallel_for(run, 2, body), cancelled ? "cancelled" : "block 0",
                         std::runtime_error);
    if (!cancelled) CHECK_NOTHROW(run.checkpoint());  // the run goes on
  }
}

TEST_CASE("a checkpoint polls at intervals, not on each call") {
  int polls = 0;
  const Run run({.threads = 1, .poll = [&] { ++polls; }});
  for (int i = 0; i < 10; ++i) run.checkpoint();
  CHECK(polls <= 1);  // more only if ten calls took 20 ms
  CHECK(wait_until([&] {
    run.checkpoint();
    return polls >= 2;
  }));
}

TEST_CASE("a run has from 1 to 1024 threads") {
  for (const int threads : {-1, 0, kMaxThreads + 1}) {
    CAPTURE(threads);
    CHECK_THROWS_AS(Run({.threads = threads}), InputError);
  }
  CHECK(Run({.threads = kMaxThreads}).threads() == kMaxThreads);
}

}  // namespace
}  // namespace exactk
