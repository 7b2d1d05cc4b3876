#include "common.hpp"
#include "exactk/fuse.hpp"
#include "exactk/isa.hpp"
#include "numeric/rounded_sum.hpp"

namespace exactk {
namespace {

using namespace tests;

// Items with scores of some users, for as long as a request refers to them.
struct System {
  std::vector<std::int64_t> items;
  std::vector<double> scores;
  std::vector<Offset> indptr = {0};

  void add(const std::vector<std::pair<std::int64_t, double>>& list) {
    for (const auto& [item, score] : list) {
      items.push_back(item);
      scores.push_back(score);
    }
    indptr.push_back(static_cast<Offset>(items.size()));
  }
  [[nodiscard]] Lists lists() const {
    return {.items = std::span(items), .indptr = indptr, .lengths = {}, .present = {}};
  }
  [[nodiscard]] FusedSystem view(double weight = 1) const {
    return {.lists = SparseScores{.items = lists(),
                                  .scores = reinterpret_cast<const std::byte*>(scores.data()),
                                  .type = ScoreType::float64,
                                  .size = static_cast<Count>(scores.size()),
                                  .stride = sizeof(double)},
            .weight = weight};
  }
};

FusionRequest request_of(const std::vector<FusedSystem>& systems, const FusionRules& rules) {
  FusionRequest request;
  request.systems = systems;
  request.rules = rules;
  return request;
}

// The scores of one user by item.
std::map<std::int64_t, double> fused(const std::vector<FusedSystem>& systems,
                                     const FusionRules& rules) {
  const FusedLists lists = fuse(request_of(systems, rules));
  std::map<std::int64_t, double> scores;
  for (std::size_t i = 0; i < lists.items.size(); ++i) scores[lists.items[i]] = lists.scores[i];
  return scores;
}

System system_of(const std::vector<std::pair<std::int64_t, double>>& list) {
  System system;
  system.add(list);
  return system;
}

TEST_CASE("items are fused as the formulas say") {
  const System a = system_of({{1, 9}, {2, 7}, {3, 4}, {4, 1}});
  const System b = system_of({{5, 0.2}, {3, 0.8}, {1, 0.5}});
  const std::vector<FusedSystem> both = {a.view(), b.view()};
  CHECK(fused(both, {}).at(1) == 1.0 / 61 + 1.0 / 62);
  CHECK(fused(both, {}).at(4) == 1.0 / 64);
  const FusionRules mnz{.method = FusionMethod::mnz, .norm = ScoreNorm::none, .power = 0.5};
  CHECK(fused(both, mnz).at(1) == std::sqrt(2.0) * 9.5);
  const FusionRules borda{.method = FusionMethod::borda};
  CHECK(fused(both, borda) == std::map<std::int64_t, double>{
                                  {1, 5 + 4}, {2, 4 + 1.5}, {3, 3 + 5}, {4, 2 + 1.5}, {5, 1 + 3}});
  CHECK(fused({a.view(), b.view(0)}, borda).size() == 4);
}

TEST_CASE("fused lists do not depend on threads, on instructions or on the order of systems") {
  std::mt19937_64 random(1);  // NOLINT(*-msc51-cpp): the same numbers in every run
  std::vector<System> systems(4);
  for (int user = 0; user < 2000; ++user) {
    for (System& system : systems) {
      std::set<std::int64_t> items;
      while (items.size() < 15) items.insert(static_cast<std::int64_t>(random() % 40) << 40U);
      std::vector<std::pair<std::int64_t, double>> list;
      for (const std::int64_t item : items) {
        list.emplace_back(item, static_cast<double>(random() % 1000) / 7);
      }
      system.add(list);
    }
  }
  for (const FusionMethod method :
       {FusionMethod::rrf, FusionMethod::sum, FusionMethod::median, FusionMethod::borda}) {
    FusionRequest request;
    request.rules.method = method;
    request.k = 10;
    for (const System& system : systems) request.systems.push_back(system.view());
    const FusedLists expected = fuse(request);
    CHECK(expected.indptr.size() == 2001);
    std::ranges::reverse(request.systems);
    for (const Isa isa : available_isas()) {
      request.isa = isa;
      request.threads = 3;
      const FusedLists found = fuse(request);
      CHECK(found.items == expected.items);
      CHECK(found.scores == expected.scores);
      CHECK(found.split_ties == expected.split_ties);
    }
  }
}

TEST_CASE("requests of fusion that have no answer are refused") {
  const System one = system_of({{1, 1}, {2, -0.5}});
  const System repeat = system_of({{1, 1}, {1, 0.5}});
  const System none;
  const FusionRules sum{.method = FusionMethod::sum};
  const auto refuses = [](const FusionRequest& request) {
    CHECK_THROWS_AS(static_cast<void>(fuse(request)), InputError);
  };
  refuses(request_of({}, {}));
  refuses(request_of({one.view(), none.view()}, {}));
  refuses(request_of({repeat.view()}, {}));
  refuses(request_of({one.view()}, sum));
  refuses(request_of({{.lists = one.lists()}}, sum));
  refuses(request_of({one.view(-1)}, {}));
  refuses(request_of({one.view(kNan)}, {}));
  for (const FusionRules& rules :
       {FusionRules{.rank_constant = -1}, FusionRules{.persistence = 1}, FusionRules{.power = 65},
        FusionRules{.power = kNan}, FusionRules{.depth = 0}}) {
    refuses(request_of({one.view()}, rules));
  }
  FusionRequest request = request_of({one.view()}, {});
  request.k = 0;
  refuses(request);
  request.k = 1;
  request.threads = 0;
  refuses(request);
}

TEST_CASE("what is far below half way decides where a sum is rounded to") {
  RoundedSum scratch;
  CHECK(rounded_sum(std::vector{1.0, 0x1p-53}, scratch) == 1);
  CHECK(rounded_sum(std::vector{1.0, 0x1p-53, 0x1p-200}, scratch) == 1 + 0x1p-52);
  CHECK(rounded_sum(std::vector{1.0, 0x1p-53, -0x1p-200}, scratch) == 1);
  CHECK(rounded_sum(std::vector{0x1p-200, 0x1p-53, 1.0}, scratch) == 1 + 0x1p-52);
}

TEST_CASE("sums are rounded once, whatever the order of their terms") {
  std::mt19937_64 random(2);  // NOLINT(*-msc51-cpp): the same numbers in every run
  RoundedSum exact;
  RoundedSum scratch;
  for (int round = 0; round < 20000; ++round) {
    std::vector<double> terms(1 + random() % 9);
    for (double& term : terms) {
      // Few digits, so that sums often end half way between two doubles.
      const int exponents = round % 2 == 0 ? 60 : 300;
      term = std::ldexp(static_cast<double>(random() % 16) - 4,
                        static_cast<int>(random() % 7) * exponents / 6);
    }
    exact.clear();
    for (const double term : terms) exact.add(term);
    CHECK(rounded_sum(terms, scratch) == exact.total());
    std::ranges::shuffle(terms, random);
    CHECK(rounded_sum(terms, scratch) == exact.total());
  }
}

}  // namespace
}  // namespace exactk
