// Faults of the machine rather than of the input. The number at the start of a test's name is its
// row in the project's table of faults.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

#include "base/run.hpp"
#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "request.hpp"
#include "sparse_items.hpp"

namespace {

constexpr int kNoLimit = -1;
std::atomic<int> threads_left = kNoLimit;  // threads that can be started before one fails
std::atomic<int> threads_refused = 0;

}  // namespace

// Replaces the system's function in the whole test program, and fails when a test requests it.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the system's are reserved
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  using Create = decltype(&pthread_create);
  // POSIX requires dlsym to return functions as void*.
  static const auto system_create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left == 0) {
    ++threads_refused;
    return EAGAIN;
  }
  if (threads_left > 0) --threads_left;
  return system_create(thread, attributes, start, argument);
}

namespace exactk {
namespace {

using namespace tests;

// Users whose lists lie before and after the offsets that 32 bits can hold, signed and unsigned. An
// offset truncated to 32 bits is outside the array or in another user's list.
template <class T>
void check_offsets_beyond_32_bits() {
  constexpr Offset kFar = Offset{1} << 33U;
  const SparseItems<T> sparse(static_cast<std::size_t>(kFar) + 3);
  const std::vector<Offset> indptr = {0,    3,       (Offset{1} << 31U) + 3, (Offset{1} << 32U) + 6,
                                      kFar, kFar + 3};
  const std::vector<Offset> lengths = {3, 0, 3, 2, 3};
  T next = 1;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    for (Offset i = 0; i < lengths[row]; ++i) {
      sparse.items()[static_cast<std::size_t>(indptr[row] + i)] = next++;
    }
  }
  const Lists predictions{.items = std::span<const T>(sparse.items()),
                          .indptr = indptr,
                          .lengths = lengths,
                          .present = {}};
  const OwnedLists truth = lists({{1}, {1}, {5}, {8}, {10}});
  const std::vector<PlannedValue> values = {value("reciprocal_rank"), value("num_recommended")};
  std::vector<double> per_user(10);
  for (const int threads : {1, 2}) {
    const Result result = evaluate({.truth = truth.view(),
                                    .predictions = predictions,
                                    .values = values,
                                    .per_user = per_user,
                                    .threads = threads});
    CHECK(per_user == std::vector<double>{1, 0, 0.5, 0.5, 0.5, 3, 0, 3, 2, 3});
    CHECK(result.tally.empty_predictions == 1);
  }
}

TEST_CASE("F2: offsets beyond 2^31 and 2^32 are read with every id type") {
  check_offsets_beyond_32_bits<std::int32_t>();
  check_offsets_beyond_32_bits<std::int64_t>();
  check_offsets_beyond_32_bits<std::uint32_t>();
  check_offsets_beyond_32_bits<std::uint64_t>();
}

// Enough users for several blocks per thread.
Input many_users() {
  std::vector<Row> truth;
  std::vector<Row> predictions;
  Input input{.truth = {}, .predictions = {}};
  input.weights.emplace();
  for (std::int64_t user = 0; user < 9000; ++user) {
    truth.push_back({user % 7, 7 + (user % 5), 20});
    predictions.push_back({user % 11, 11 + (user % 3), 20, 21, 22});
    input.weights->push_back(1 / static_cast<double>(user + 1));
  }
  input.truth = lists(truth);
  input.predictions = lists(predictions);
  input.values = {value("ndcg", 3), value("average_precision"), value("recall", 2)};
  return input;
}

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const Result& result) {
  Bytes bytes;
  for (const Sums& sums : result.sums) {
    for (const ExactInteger& integer : {sums.total, sums.squares, sums.weight}) {
      bytes.insert(bytes.end(), integer.bytes.begin(), integer.bytes.end());
    }
  }
  return bytes;
}

// Concurrent evaluations share nothing, with one request each or all with the same one. Under
// ThreadSanitizer this also proves that they do not touch each other's memory.
TEST_CASE("F22: concurrent evaluations give the same bytes") {
  const Bytes expected = bytes_of(many_users().run());
  Input shared = many_users();
  shared.threads = 2;
  std::vector<Bytes> results(6);
  std::vector<std::thread> callers;
  callers.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    callers.emplace_back([&, i] {
      Input input = many_users();
      input.threads = static_cast<int>(i);
      results[i] = bytes_of(i < 3 ? shared.run() : input.run());
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const Bytes& bytes : results) CHECK(bytes == expected);
}

TEST_CASE("F23: an exception from any block ends the call and nothing else") {
  constexpr Count kBlocks = 40;
  for (const int threads : {1, 2, 3}) {
    for (Count bad = 0; bad < kBlocks; ++bad) {
      CAPTURE(threads);
      CAPTURE(bad);
      std::vector<std::atomic<int>> runs(kBlocks);
      std::string message;
      try {
        parallel_for(Run({.threads = threads}), kBlocks, [&](int, Count block) {
          ++runs.at(static_cast<std::size_t>(block));
          if (block == bad) throw std::runtime_error(std::to_string(block));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == std::to_string(bad));
      CHECK(std::ranges::all_of(runs, [](const std::atomic<int>& run) { return run <= 1; }));
    }
  }
}

TEST_CASE("F23: if every block throws, the first exception is rethrown and each worker stops") {
  constexpr Count kBlocks = 1000;
  for (const int threads : {1, 2, 7}) {
    CAPTURE(threads);
    std::atomic<int> begun = 0;
    const auto body = [&](int, Count) {
      ++begun;
      throw std::runtime_error("each");
    };
    CHECK_THROWS_WITH_AS(parallel_for(Run({.threads = threads}), kBlocks, body), "each",
                         std::runtime_error);
    CHECK(begun <= threads);  // a worker that threw takes no other block
  }
}

TEST_CASE("F23: after an exception the other workers stop after their current block") {
  constexpr Count kBlocks = 2000;
  for (const int threads : {1, 2, 7}) {
    CAPTURE(threads);
    std::atomic<int> begun = 0;
    const auto body = [&](int, Count block) {
      ++begun;
      if (block == 0) throw std::runtime_error("the first");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_AS(parallel_for(Run({.threads = threads}), kBlocks, body), std::runtime_error);
    CHECK(begun < kBlocks / 2);  // a few begin while the exception propagates
  }
}

TEST_CASE("F30: results are the same bytes if threads cannot be started") {
  Input input = many_users();
  const Bytes expected = bytes_of(input.run());
  input.threads = 4;
  for (int allowed = 0; allowed <= 3; ++allowed) {
    CAPTURE(allowed);
    threads_refused = 0;
    threads_left = allowed;
    const Bytes result = bytes_of(input.run());
    threads_left = kNoLimit;
    CHECK(result == expected);
    CHECK((threads_refused > 0) == (allowed < 3));
  }
}

}  // namespace
}  // namespace exactk
