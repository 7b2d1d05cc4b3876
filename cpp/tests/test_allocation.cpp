// Memory may run out at any allocation, on any thread. The operators below replace those of the
// whole test program: they count the bytes requested, and fail when a test requests it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "exactk/error.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/paired_sums.hpp"
#include "exactk/resampling.hpp"
#include "exactk/topk.hpp"

namespace {

constexpr std::int64_t kNever = -1;
std::atomic<std::int64_t> allocations_left = kNever;  // before the one that fails
std::atomic<bool> one_failed = false;
std::atomic<std::size_t> bytes_asked_for = 0;

bool must_fail() noexcept {
  if (allocations_left < 0) return false;
  const std::int64_t left = allocations_left--;
  if (left == 0) one_failed = true;
  return left == 0;
}

void* allocate(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  bytes_asked_for += size;
  return must_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void* allocate(std::size_t size) {
  void* const memory = allocate(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
  return allocate(size, tag);
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return allocate(size, tag);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  bytes_asked_for += size;
  const auto step = static_cast<std::size_t>(alignment);
  void* const memory =
      must_fail() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace exactk {
namespace {

enum class Outcome : std::uint8_t { done, refused, out_of_memory };

// Calls with the n-th allocation failing, for n = 0, 1, ... until there is no n-th allocation.
template <class Call, class Check>
int fail_at_each_allocation(const Call& call, const Check& check) {
  for (int n = 0;; ++n) {
    decltype(call()) result{};
    Outcome outcome = Outcome::done;
    one_failed = false;
    allocations_left = n;
    try {
      result = call();
    } catch (const std::bad_alloc&) {
      outcome = Outcome::out_of_memory;
    } catch (const InputError&) {
      outcome = Outcome::refused;
    }
    allocations_left = kNever;
    check(outcome, result);
    if (!one_failed) return n;
  }
}

class Lists3000 {
 public:
  explicit Lists3000(std::int64_t step) {
    for (std::int64_t user = 0; user < 3000; ++user) {
      items_.push_back(user);
      items_.push_back(user + step);
      indptr_.push_back(indptr_.back() + 2);
    }
  }
  [[nodiscard]] Lists view() const {
    return {.items = std::span<const std::int64_t>(items_),
            .indptr = indptr_,
            .lengths = {},
            .present = {}};
  }

 private:
  std::vector<std::int64_t> items_;
  std::vector<Offset> indptr_ = {0};
};

TEST_CASE("F24: a failed allocation ends the evaluation or is done without") {
  const Lists3000 truth(1);
  const Lists3000 predictions(2);
  std::vector<Offset> groups(3000);
  for (std::size_t user = 0; user < groups.size(); ++user) {
    groups[user] = static_cast<Offset>(user % 2);
  }
  const std::vector<PlannedValue> values = {
      {.metric = "ndcg", .cutoff = 5, .parameter = 0, .rules = {}},
      {.metric = "dcg", .cutoff = 5, .parameter = 0, .rules = {}}};
  Request request{.truth = truth.view(),
                  .grades = {},
                  .predictions = predictions.view(),
                  .exclude = {},
                  .weights = {},
                  .groups = groups,
                  .group_count = 2,
                  .values = values,
                  .tally_rules = {},
                  .per_user = {}};
  const Result expected = evaluate(request);
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    request.threads = threads;
    int failures = 0;
    const int allocations = fail_at_each_allocation(
        [&] { return evaluate(request); },
        [&](Outcome outcome, const Result& result) {
          if (outcome == Outcome::out_of_memory) {
            ++failures;
            return;
          }
          REQUIRE(outcome == Outcome::done);  // threads that cannot be started are done without
          REQUIRE(result.sums.size() == expected.sums.size());
          for (std::size_t i = 0; i < expected.sums.size(); ++i) {
            CHECK(result.sums[i].users == expected.sums[i].users);
            CHECK(result.sums[i].total.bytes == expected.sums[i].total.bytes);
          }
        });
    CHECK(failures > 10);
    CHECK(failures <= allocations);
  }
}

TEST_CASE("F24: a failed allocation ends the summing of pairs or is done without") {
  const std::vector<double> system(600, 0.5);
  const std::vector<double> baseline(600, 0.25);
  const std::vector<std::span<const double>> tables = {system, baseline};
  std::vector<Offset> clusters(600);
  for (std::size_t user = 0; user < clusters.size(); ++user) {
    clusters[user] = static_cast<Offset>(user % 3);
  }
  const std::vector<PairedValue> values = {{.rows = {0}, .shown = 0}};
  const std::vector<SystemPair> pairs = {{.system = 0, .baseline = 1}};
  PairedRequest request{.tables = tables,
                        .rows = 1,
                        .users = 600,
                        .values = values,
                        .pairs = pairs,
                        .weights = {},
                        .groups = clusters,
                        .group_count = 3,
                        .clusters = clusters,
                        .cluster_count = 3};
  const std::vector<PairedSums> expected = paired_sums(request);
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    request.threads = threads;
    int failures = 0;
    fail_at_each_allocation([&] { return paired_sums(request); },
                            [&](Outcome outcome, const std::vector<PairedSums>& sums) {
                              if (outcome == Outcome::out_of_memory) {
                                ++failures;
                                return;
                              }
                              REQUIRE(outcome == Outcome::done);
                              REQUIRE(sums.size() == expected.size());
                              for (std::size_t i = 0; i < expected.size(); ++i) {
                                CHECK(sums[i].sums[0].bytes == expected[i].sums[0].bytes);
                              }
                            });
    CHECK(failures > 10);
  }
}

TEST_CASE("F24: a failed allocation ends the summing of resamples or is done without") {
  const std::vector<double> numbers(100, 0.5);
  const std::vector<ScaledColumn> columns(30, {.numbers = numbers, .scale = 1});
  const std::vector<std::uint64_t> keys(100, 7);
  std::vector<Offset> units(100);
  std::iota(units.begin(), units.end(), 0);
  Resampling request{.columns = columns, .keys = keys, .units = units, .count = 1500};
  for (const auto sum : {&sum_sign_flips, &sum_resamples}) {
    request.threads = 1;
    const ResampledSums expected = sum(request);
    for (const int threads : {1, 3}) {
      CAPTURE(threads);
      request.threads = threads;
      int failures = 0;
      fail_at_each_allocation([&] { return sum(request); },
                              [&](Outcome outcome, const ResampledSums& result) {
                                if (outcome == Outcome::out_of_memory) {
                                  ++failures;
                                  return;
                                }
                                REQUIRE(outcome == Outcome::done);
                                CHECK(result.sums == expected.sums);
                              });
      CHECK(failures > 4);
    }
  }
}

TEST_CASE("F24: an allocation fails while a fault is reported") {
  const Lists3000 truth(1);
  const Lists3000 repeated(0);
  const std::vector<PlannedValue> values = {
      {.metric = "precision", .cutoff = 5, .parameter = 0, .rules = {}}};
  Request request{.truth = truth.view(),
                  .grades = {},
                  .predictions = repeated.view(),
                  .exclude = {},
                  .weights = {},
                  .groups = {},
                  .values = values,
                  .tally_rules = {},
                  .per_user = {}};
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    request.threads = threads;
    fail_at_each_allocation(
        [&] { return evaluate(request); },
        [](Outcome outcome, const Result&) { CHECK(outcome != Outcome::done); });
  }
}

TEST_CASE("F24: a failed allocation ends one search for the best items, and no other") {
  constexpr Count kUsers = 20;
  constexpr Count kItems = 90;
  std::vector<float> numbers(3 * kItems);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 37 % 101);
  const Vectors vectors{.argument = "items",
                        .numbers = reinterpret_cast<const std::byte*>(numbers.data()),
                        .type = ScoreType::float32,
                        .rows = kItems,
                        .row_stride = 3 * sizeof(float)};
  Vectors users = vectors;
  users.rows = kUsers;
  std::vector<std::int64_t> positions(2 * kUsers);
  std::vector<double> scores(positions.size());
  TopKRequest request{
      .scores =
          Embeddings{
              .users = users, .items = vectors, .width = 3, .similarity = Similarity::cosine},
      .k = 2,
      .exclude = {},
      .positions = positions,
      .best_scores = scores};
  topk(request);
  const std::vector<std::int64_t> expected = positions;
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    request.threads = threads;
    int failures = 0;
    fail_at_each_allocation(
        [&] {
          std::ranges::fill(positions, -7);
          topk(request);
          return true;
        },
        [&](Outcome outcome, bool) {
          if (outcome == Outcome::out_of_memory) {
            ++failures;
          } else {
            CHECK(positions == expected);
          }
        });
    CHECK(failures > 10);
  }
}

// Measures 300 users with 20 items each, whose largest id is `largest`.
std::size_t bytes_for_ids_up_to(std::int64_t largest) {
  constexpr std::int64_t kItems = 20;
  std::vector<std::int64_t> items;
  std::vector<Offset> indptr = {0};
  for (std::int64_t user = 0; user < 300; ++user) {
    for (std::int64_t i = 0; i < kItems; ++i) items.push_back(largest - ((largest / kItems) * i));
    indptr.push_back(static_cast<Offset>(items.size()));
  }
  const Lists lists{.items = std::span<const std::int64_t>(items),
                    .indptr = indptr,
                    .lengths = {},
                    .present = {}};
  const std::vector<PlannedValue> values = {
      {.metric = "ndcg", .cutoff = 5, .parameter = 0, .rules = {}}};
  const std::size_t before = bytes_asked_for;
  const Result result = evaluate({.truth = lists,
                                  .grades = {},
                                  .predictions = lists,
                                  .exclude = {},
                                  .weights = {},
                                  .groups = {},
                                  .values = values,
                                  .tally_rules = {},
                                  .per_user = {}});
  CHECK(result.sums.at(0).users == 300);
  return bytes_asked_for - before;
}

// A table over the range of ids may be used if the range is short; 16 MiB is no more than that.
TEST_CASE("F19: memory depends on the number of ids, not on their size") {
  for (const int bits : {8, 16, 20, 24, 28, 31, 32, 40, 62}) {
    CAPTURE(bits);
    CHECK(bytes_for_ids_up_to((std::int64_t{1} << bits) - 1) < std::size_t{16} << 20U);
  }
  CHECK(bytes_for_ids_up_to(std::numeric_limits<std::int64_t>::max()) < std::size_t{16} << 20U);
}

}  // namespace
}  // namespace exactk
