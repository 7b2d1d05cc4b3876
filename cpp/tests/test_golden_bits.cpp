// The same bits on every platform, by every compiler: hashes of all that the core returns.
// tests/test_golden_states.py does the same with states, which need Python.

#include "common.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/metrics.hpp"
#include "request.hpp"

namespace exactk {
namespace {

using namespace tests;

class Hash {  // Fowler, Noll and Vo's, of words
 public:
  void add(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3U; }
  void add(Count count) { add(static_cast<std::uint64_t>(count)); }
  // The sign of a NaN depends on the CPU.
  void add(double number) { add(std::bit_cast<std::uint64_t>(std::isnan(number) ? kNan : number)); }
  void add(const ExactInteger& integer) {
    add(static_cast<Count>(integer.scale));
    add_each(integer.bytes);
  }
  void add(const Sums& sums) {
    add(sums.users);
    add(sums.undefined);
    add(sums.total);
    add(sums.squares);
    add(sums.weight);
  }
  template <class Elements>
  void add_each(const Elements& elements) {
    add(static_cast<Count>(elements.size()));
    for (const auto& element : elements) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(element)>, std::uint8_t>) {
        add(std::uint64_t{element});
      } else {
        add(element);
      }
    }
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

constexpr std::size_t kUsers = 150;
constexpr std::size_t kItems = 300;

std::vector<Row> drawn_rows(std::mt19937_64& random, std::size_t most) {
  std::vector<Row> rows(kUsers);
  for (Row& row : rows) {
    std::set<std::int64_t> ids;
    for (std::size_t i = random() % (most + 1); i > 0; --i) {
      ids.insert(static_cast<std::int64_t>(random() % kItems));
    }
    row.assign(ids.begin(), ids.end());
    for (std::size_t i = row.size(); i > 1; --i) std::swap(row[i - 1], row[random() % i]);
  }
  return rows;
}

// Numbers of which many are equal, none an integer.
template <class Number>
std::vector<Number> drawn_numbers(std::mt19937_64& random, std::size_t size, std::uint64_t values) {
  std::vector<Number> numbers(size);
  for (Number& number : numbers) {
    number = static_cast<Number>(static_cast<double>(random() % values) / 7);
  }
  return numbers;
}

// All metrics that need nothing beside, under rules that reach each function of numbers.
std::vector<PlannedValue> planned_values(Ties ties) {
  Rules linear;
  linear.ties = ties;
  Rules powers = linear;
  powers.gain = Gain::exp2;
  Rules geometric = linear;
  geometric.average = Average::geometric;
  std::vector<PlannedValue> values;
  for (const MetricInfo& info : metric_table()) {
    if (info.of_collection || info.compares_lists || reads_list(info)) continue;
    if (ties == Ties::expected && !info.pairwise && info.name != "ndcg") continue;
    for (const Rules* const rules : {&linear, &powers, &geometric}) {
      const Count cutoff = info.pairwise ? kNoCutoff : 5;
      values.push_back(value(std::string(info.name), cutoff, *rules, parameter_of(info)));
    }
  }
  return values;
}

// The hash of what the predictions are worth, for any instruction set and number of threads.
std::uint64_t hash_of(const Predictions& predictions, Ties ties) {
  std::mt19937_64 random(3);
  const OwnedLists truth = lists(drawn_rows(random, 12));
  const auto grades = drawn_numbers<double>(random, std::get<Row>(truth.items).size(), 28);
  const auto weights = drawn_numbers<double>(random, kUsers, 100);
  const std::vector<PlannedValue> values = planned_values(ties);
  std::optional<std::uint64_t> hash;
  for (const Isa isa : available_isas()) {
    std::vector<double> per_user(values.size() * kUsers);
    const Result result = evaluate({.truth = truth.view(),
                                    .grades = grades,
                                    .predictions = predictions,
                                    .weights = weights,
                                    .values = values,
                                    .per_user = per_user,
                                    .threads = hash ? 3 : 1,
                                    .isa = isa});
    Hash bytes;
    bytes.add_each(result.sums);
    bytes.add_each(per_user);
    bytes.add_each(result.tally.tie_dependent);
    bytes.add_each(result.tally.tie_spread);
    bytes.add(result.tally.longest_list);
    CAPTURE(name_of(isa));
    CHECK(bytes.value() == hash.value_or(bytes.value()));
    hash = bytes.value();
  }
  return hash.value();
}

TEST_CASE("F31: lists have the same bits on every platform") {
  std::mt19937_64 random(1);
  const OwnedLists predictions = lists(drawn_rows(random, 40));
  CHECK(hash_of(predictions.view(), Ties::lowest_id) == 0x8dff61d3015addd7U);
}

TEST_CASE("F31: scores have the same bits on every platform") {
  std::mt19937_64 random(2);
  const auto scores = drawn_numbers<float>(random, kUsers * kItems, 50);
  const ScoreMatrix matrix{.scores = std::as_bytes(std::span(scores)).data(),
                           .type = ScoreType::float32,
                           .rows = kUsers,
                           .items = kItems,
                           .row_stride = kItems * sizeof(float),
                           .item_stride = sizeof(float)};
  CHECK(hash_of(matrix, Ties::lowest_id) == 0x3bed93db5dbadb29U);
  CHECK(hash_of(matrix, Ties::shared) == 0xa66201f4fc71e77fU);
  CHECK(hash_of(matrix, Ties::expected) == 0xc46c7ebb11eaba2fU);
}

TEST_CASE("F31: embeddings have the same bits on every platform") {
  constexpr std::size_t kWidth = 24;
  std::mt19937_64 random(4);
  const auto users = drawn_numbers<float>(random, kUsers * kWidth, 1000);
  const auto items = drawn_numbers<double>(random, kItems * kWidth, 1000);
  Embeddings embeddings{.users = {.argument = "users",
                                  .numbers = std::as_bytes(std::span(users)).data(),
                                  .type = ScoreType::float32,
                                  .rows = kUsers,
                                  .row_stride = kWidth * sizeof(float)},
                        .items = {.argument = "items",
                                  .numbers = std::as_bytes(std::span(items)).data(),
                                  .type = ScoreType::float64,
                                  .rows = kItems,
                                  .row_stride = kWidth * sizeof(double)},
                        .width = kWidth};
  CHECK(hash_of(embeddings, Ties::lowest_id) == 0x546a1534fd0fe11eU);
  embeddings.similarity = Similarity::cosine;
  CHECK(hash_of(embeddings, Ties::lowest_id) == 0x86473ee75f6f55a4U);
  embeddings.similarity = Similarity::euclidean;
  CHECK(hash_of(embeddings, Ties::lowest_id) == 0x17198c604b546cccU);
}

}  // namespace
}  // namespace exactk
