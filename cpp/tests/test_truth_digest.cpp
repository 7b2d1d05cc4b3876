#include "cancelling.hpp"
#include "common.hpp"
#include "exactk/truth_digest.hpp"
#include "kernels/dispatch.hpp"

namespace exactk {
namespace {

// A truth that owns its arrays.
template <class Id>
struct Input {
  std::vector<Offset> indptr{0};
  std::vector<Id> items;
  std::vector<double> grades;
  std::vector<KeyHash> users;
  std::vector<Offset> lengths;

  void add_row(const std::vector<Id>& row) {
    items.insert(items.end(), row.begin(), row.end());
    indptr.push_back(std::ssize(items));
  }
  [[nodiscard]] DigestRequest request(Isa isa = Isa::scalar) const {
    DigestRequest request{.truth = {.items = std::span<const Id>(items),
                                    .indptr = indptr,
                                    .lengths = lengths,
                                    .present = {}},
                          .grades = grades,
                          .users = std::nullopt,
                          .items = std::nullopt,
                          .isa = isa};
    if (!users.empty()) request.users = users;
    return request;
  }
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> digest(Isa isa = Isa::scalar,
                                                               int threads = 1) const {
    const auto [low, high] = truth_digest(request(isa), {.threads = threads});
    return {high, low};
  }
};

using Wide = Input<std::int64_t>;
using DigestWords = std::pair<std::uint64_t, std::uint64_t>;

// Rows of up to 1,500 items, which span the windows in which items are mixed; many are short.
Wide random_input(std::size_t rows, bool graded, bool keyed) {
  std::mt19937_64 random(7);
  Wide input;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t length = row % 50 == 0 ? random() % 1500 : random() % 5;
    std::vector<std::int64_t> items(length);
    for (std::int64_t& item : items) item = static_cast<std::int64_t>(random() >> (1 + row % 50));
    input.add_row(items);
    if (keyed) input.users.push_back(random());
  }
  if (graded) {
    for (std::size_t i = 0; i < input.items.size(); ++i) {
      input.grades.push_back(static_cast<double>(random() % 4) - 0.5);
    }
  }
  return input;
}

TEST_CASE("known digests") {  // those of test_truth_digest.py
  Wide input;
  input.add_row({1, 4});
  input.add_row({});
  input.add_row({21});
  for (const Isa isa : available_isas()) {
    CHECK(input.digest(isa) == DigestWords{0x2d2cba23ffbc1e87, 0x15d6b59edcb3b050});
  }
  Vocabulary users(true);
  users.encode(3);
  users.encode(~std::uint64_t{0});  // -1
  Wide keyed;
  keyed.add_row({5, 9});
  keyed.add_row({7});
  keyed.users = hash_keys(users, 2, false, {});
  CHECK(keyed.users == std::vector<KeyHash>{3, ~std::uint64_t{0}});
  CHECK(keyed.digest() == DigestWords{0x4ac89515118e8cf3, 0xf5e0fb0eeca537b4});
}

TEST_CASE("keys are hashed by value and kind") {
  Vocabulary texts(false);
  for (const char* text : {"", "a", "12345678", "123456789", "12345678\0"})
    texts.encode(std::string_view(text));
  texts.encode(std::string_view("a\0", 2));
  Vocabulary wide(true);
  wide.declare_range(false, true, "keys");
  wide.encode(~std::uint64_t{0});
  std::vector<KeyHash> hashes = hash_keys(texts, texts.size(), false, {});
  for (Code code = 0; code < texts.size(); ++code)
    CHECK(hash_string(texts.string(code)) == hashes[code]);
  for (const KeyHash hash : hash_keys(texts, texts.size(), true, {})) hashes.push_back(hash);
  hashes.push_back(hash_keys(wide, 1, false, {}).front());
  hashes.push_back(~std::uint64_t{0});
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(hashes[i] != hashes[j]);
  }
  CHECK_THROWS_AS(static_cast<void>(hash_keys(texts, texts.size() + 1, false, {})), InputError);
  std::vector<KeyHash> joined = {1, 2};
  join_hashes(joined, std::vector<KeyHash>{2, 1});
  CHECK(joined[0] != joined[1]);
  CHECK_THROWS_AS(join_hashes(joined, std::vector<KeyHash>{1}), InputError);
}

TEST_CASE("F22: the digest is the same for any number of threads, instruction set and integers") {
  for (const bool graded : {false, true}) {
    for (const bool keyed : {false, true}) {
      const Wide input = random_input(40'000, graded, keyed);
      const DigestWords expected = input.digest();
      for (const Isa isa : available_isas()) {
        for (const int threads : {1, 2, 7}) CHECK(input.digest(isa, threads) == expected);
      }
      Input<std::uint64_t> other{.indptr = input.indptr,
                                 .items = {input.items.begin(), input.items.end()},
                                 .grades = input.grades,
                                 .users = input.users,
                                 .lengths = {}};
      CHECK(other.digest() == expected);
    }
  }
  Input<std::int32_t> narrow;
  narrow.add_row({1, 4});
  narrow.add_row({});
  narrow.add_row({21});
  CHECK(narrow.digest() == DigestWords{0x2d2cba23ffbc1e87, 0x15d6b59edcb3b050});
}

TEST_CASE("F01: a malformed truth has no digest") {
  const Wide sound{.indptr = {0, 3}, .items = {1, 2, 3}, .grades = {}, .users = {}, .lengths = {}};
  const auto check_refused = [&](const std::function<void(Wide&)>& change) {
    Wide input = sound;
    change(input);
    CHECK_THROWS_AS(static_cast<void>(input.digest()), InputError);
  };
  for (const std::vector<Offset>& indptr :
       {std::vector<Offset>{}, {0, 4}, {-1, 2}, {2, 1}, {4, 4, 4}, {3, 4}}) {
    check_refused([&](Wide& input) { input.indptr = indptr; });
  }
  for (const std::vector<Offset>& lengths : {std::vector<Offset>{-1}, {4}, {1, 1}}) {
    check_refused([&](Wide& input) { input.lengths = lengths; });
  }
  check_refused([](Wide& input) { input.grades = {1}; });
  check_refused([](Wide& input) { input.users = {1, 2}; });
}

TEST_CASE("F25: an exception of poll ends a digest") {
  for (const int threads : {1, 2}) {
    tests::check_cancelled([&](std::size_t size) {
      Wide input;
      input.items.assign(size * 1'000'000, 7);
      for (Offset row = 1; row <= std::ssize(input.items) / 100; ++row) {
        input.indptr.push_back(100 * row);
      }
      static_cast<void>(truth_digest(input.request(), {.threads = threads, .poll = tests::cancel}));
    });
  }
}

}  // namespace
}  // namespace exactk
