// Memory may run out at any allocation, on any thread. The operators below replace those of the
// whole test program: they count the bytes requested, and fail when a test requests it.
#include <cstdlib>
#include <new>

#include "common.hpp"
#include "exactk/paired_sums.hpp"
#include "exactk/resampling.hpp"
#include "exactk/topk.hpp"
#include "request.hpp"

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

using namespace tests;

// Calls on one thread and on three, with the n-th allocation failing, for n = 0, 1, ... until there
// is no n-th allocation. Each call must throw bad_alloc, or do without that memory: then `is_right`
// says whether its result, or its fault, is right. At least `least` calls must throw.
template <class Request, class Call, class IsRight>
void fail_at_each_allocation(Request& request, const Call& call, const IsRight& is_right,
                             int least = 1) {
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    request.threads = threads;
    int failures = 0;
    one_failed = true;
    for (int n = 0; one_failed; ++n) {
      decltype(call()) result{};
      bool is_out_of_memory = false;
      one_failed = false;
      allocations_left = n;
      try {
        result = call();
      } catch (const std::bad_alloc&) {
        is_out_of_memory = true;
      }
      allocations_left = kNever;
      failures += is_out_of_memory ? 1 : 0;
      if (!is_out_of_memory) CHECK(is_right(result));
    }
    CHECK(failures >= least);
  }
}

// Two items of each of 3,000 users, which are one item if step is 0.
OwnedLists pairs_of_items(std::int64_t step) {
  std::vector<Row> rows;
  for (std::int64_t user = 0; user < 3000; ++user) rows.push_back({user, user + step});
  return lists(rows);
}

TEST_CASE("F24: a failed allocation ends the evaluation or is done without") {
  const OwnedLists truth = pairs_of_items(1);
  const OwnedLists predictions = pairs_of_items(2);
  std::vector<Offset> groups(3000);
  for (std::size_t user = 0; user < groups.size(); ++user) {
    groups[user] = static_cast<Offset>(user % 2);
  }
  const std::vector<PlannedValue> values = {value("ndcg", 5), value("dcg", 5)};
  Request request{.truth = truth.view(),
                  .predictions = predictions.view(),
                  .groups = groups,
                  .group_count = 2,
                  .values = values};
  const Result expected = evaluate(request);
  fail_at_each_allocation(
      request, [&] { return evaluate(request); },
      [&](const Result& result) {
        return std::ranges::equal(
            result.sums, expected.sums, [](const Sums& one, const Sums& other) {
              return one.users == other.users && one.total.bytes == other.total.bytes;
            });
      },
      10);
}

TEST_CASE("F24: a failed allocation ends the summing of pairs or is done without") {
  const std::vector<double> system(60, 0.5);
  const std::vector<double> baseline(60, 0.25);
  const std::vector<std::span<const double>> tables = {system, baseline};
  std::vector<Offset> clusters(60);
  for (std::size_t user = 0; user < clusters.size(); ++user) {
    clusters[user] = static_cast<Offset>(user % 3);
  }
  const std::vector<PairedValue> values = {{.rows = {0}, .shown = 0}};
  const std::vector<SystemPair> pairs = {{.system = 0, .baseline = 1}};
  PairedRequest request{.tables = tables,
                        .rows = 1,
                        .users = 60,
                        .values = values,
                        .pairs = pairs,
                        .groups = clusters,
                        .group_count = 3,
                        .clusters = clusters,
                        .cluster_count = 3};
  const std::vector<PairedSums> expected = paired_sums(request);
  fail_at_each_allocation(
      request, [&] { return paired_sums(request); },
      [&](const std::vector<PairedSums>& sums) {
        return std::ranges::equal(sums, expected,
                                  [](const PairedSums& one, const PairedSums& other) {
                                    return one.sums[0].bytes == other.sums[0].bytes;
                                  });
      },
      10);
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
    fail_at_each_allocation(
        request, [&] { return sum(request); },
        [&](const ResampledSums& result) { return result.sums == expected.sums; }, 4);
  }
}

TEST_CASE("F24: an allocation fails while a fault is reported") {
  const OwnedLists truth = pairs_of_items(1);
  const OwnedLists repeated = pairs_of_items(0);
  const std::vector<PlannedValue> values = {value("precision", 5)};
  Request request{.truth = truth.view(), .predictions = repeated.view(), .values = values};
  const auto is_refused = [&] {
    try {
      static_cast<void>(evaluate(request));
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  fail_at_each_allocation(request, is_refused, [](bool refused) { return refused; });
}

TEST_CASE("F24: a failed allocation ends one search for the best items, and no other") {
  constexpr Count kFewUsers = 20;
  constexpr Count kFewItems = 90;
  std::vector<float> numbers(3 * kFewItems);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 37 % 101);
  const Vectors vectors{.argument = "items",
                        .numbers = reinterpret_cast<const std::byte*>(numbers.data()),
                        .type = ScoreType::float32,
                        .rows = kFewItems,
                        .row_stride = 3 * sizeof(float)};
  Vectors users = vectors;
  users.rows = kFewUsers;
  std::vector<std::int64_t> positions(2 * kFewUsers);
  std::vector<double> scores(positions.size());
  TopKRequest request{
      .scores =
          Embeddings{
              .users = users, .items = vectors, .width = 3, .similarity = Similarity::cosine},
      .k = 2,
      .positions = positions,
      .best_scores = scores};
  topk(request);
  const std::vector<std::int64_t> expected = positions;
  fail_at_each_allocation(
      request,
      [&] {
        std::ranges::fill(positions, -7);
        topk(request);
        return true;
      },
      [&](bool) { return positions == expected; }, 10);
}

// Measures 300 users with 20 items each, whose largest id is `largest`.
std::size_t bytes_for_ids_up_to(std::int64_t largest) {
  constexpr std::int64_t kItems = 20;
  Row items;
  for (std::int64_t i = 0; i < kItems; ++i) items.push_back(largest - ((largest / kItems) * i));
  const OwnedLists all = lists(std::vector<Row>(300, items));
  Input input{.truth = all,
              .predictions = all,
              .items = {},
              .has_base = false,
              .values = {value("ndcg", 5)}};
  const std::size_t before = bytes_asked_for;
  CHECK(input.run().sums.at(0).users == 300);
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
