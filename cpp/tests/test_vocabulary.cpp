#include <memory>
#include <unordered_map>

#include "common.hpp"
#include "exactk/group_rows.hpp"
#include "exactk/vocabulary.hpp"

namespace exactk {
namespace {

using Codes = std::vector<Code>;

const Execution execution{};

Vocabulary vocabulary_of(const std::vector<std::string>& strings) {
  Vocabulary keys(false);
  for (const std::string& string : strings) keys.encode(string);
  return keys;
}

// Strings in Arrow's layout.
struct PackedColumn {
  explicit PackedColumn(const std::vector<std::string>& strings) {
    for (const std::string& string : strings) {
      bytes += string;
      offsets.push_back(static_cast<std::int32_t>(bytes.size()));
    }
  }
  [[nodiscard]] PackedStrings<std::int32_t> view() const {
    return {.offsets = offsets, .bytes = bytes};
  }

  std::vector<std::int32_t> offsets{0};
  std::string bytes;
};

template <class T>
Codes encode_column(Vocabulary& vocabulary, const std::vector<T>& column) {
  Codes codes(column.size());
  encode(vocabulary, ItemArray(std::span<const T>(column)), codes, "users", execution);
  return codes;
}

template <class Strings>
Codes encode_strings(Vocabulary& vocabulary, const Strings& column) {
  Codes codes(column.size());
  encode(vocabulary, column, codes, execution);
  return codes;
}

// Strings of many lengths, with common beginnings, common ends or neither.
std::vector<std::string> random_strings(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < count; ++i) {
    std::string string(random() % 4, 'a');
    for (std::size_t length = random() % 40; length > 0; --length) {
      string.push_back(static_cast<char>(random() % 3 == 0 ? random() % 256 : 'b'));
    }
    strings.push_back(string + std::string(random() % 20, '\0'));
  }
  return strings;
}

TEST_CASE("any number of keys keep their codes") {
  const std::vector<std::string> strings = random_strings(20'000);
  Vocabulary keys(false);
  std::unordered_map<std::string, Code> expected;
  for (const std::string& string : strings) {
    const auto code = static_cast<Code>(expected.size());
    CHECK(keys.encode(string) == expected.try_emplace(string, code).first->second);
  }
  CHECK(keys.size() == std::ssize(expected));
  for (const auto& [string, code] : expected) {
    CHECK(keys.find(string) == code);
    CHECK(keys.string(code) == string);
  }
}

TEST_CASE(
    "F19: integers alike in their low bits, in their high bits, or in steps, are looked up in "
    "constant time") {
  for (const unsigned shift : {0U, 16U, 32U, 48U}) {
    Vocabulary keys(true);
    for (std::uint64_t i = 0; i < 10'000; ++i) CHECK(keys.encode(i << shift) == i);
    for (std::uint64_t i = 0; i < 10'000; ++i) CHECK(keys.find(i << shift) == i);
  }
}

TEST_CASE("strings that differ in one byte, or in length, are different keys") {
  for (std::size_t length = 0; length < 50; ++length) {
    const std::string string(length, 'x');
    Vocabulary keys = vocabulary_of({string});
    for (std::size_t i = 0; i < length; ++i) {
      std::string other = string;
      other[i] = 'y';
      CHECK(keys.find(other) == kNoCode);
      CHECK(keys.encode(other) == i + 1);
    }
    CHECK(keys.find(string + '\0') == kNoCode);
    CHECK(keys.find(string + 'x') == kNoCode);
  }
}

TEST_CASE("a column of integers of any type, close together or far apart") {
  const std::vector<std::int64_t> far{
      7, -3, std::numeric_limits<std::int64_t>::min(), 7, std::numeric_limits<std::int64_t>::max(),
      -3};
  Vocabulary keys(true);
  CHECK(encode_column(keys, far) == Codes{0, 1, 2, 0, 3, 1});
  CHECK(keys.has_negative());
  CHECK(encode_column(keys, std::vector<std::int32_t>{-3, 8, 8, 7}) == Codes{1, 4, 4, 0});
  CHECK(encode_column(keys, std::vector<std::uint32_t>{7, 4'000'000'000U}) == Codes{0, 5});
  CHECK(encode_column(keys, std::vector<std::uint64_t>{4'000'000'000U, 8}) == Codes{5, 4});
  CHECK(static_cast<std::int64_t>(keys.integer(2)) == std::numeric_limits<std::int64_t>::min());
  Vocabulary every(true);
  CHECK(encode_column(every, std::vector<std::uint64_t>{~std::uint64_t{0}, 0}) == Codes{0, 1});
  CHECK(every.has_wide());
  CHECK(encode_column(every, std::vector<std::int64_t>{}).empty());
}

TEST_CASE("negative integers and those of 2^63 or more are not mixed") {
  const std::vector<std::uint64_t> wide{std::uint64_t{1} << 63U};
  Vocabulary signed_keys(true);
  encode_column(signed_keys, std::vector<std::int64_t>{-1});
  CHECK_THROWS_AS(encode_column(signed_keys, wide), InputError);
  Vocabulary wide_keys(true);
  encode_column(wide_keys, wide);
  CHECK_THROWS_AS(encode_column(wide_keys, std::vector<std::int32_t>{3, -1}), InputError);
  CHECK_THROWS_AS((void)extend(wide_keys, signed_keys, signed_keys.size(), "users", execution),
                  InputError);
  CHECK(wide_keys.size() == 1);
}

TEST_CASE("packed strings, string views and fixed-width strings") {
  const std::vector<std::string> strings{"b", "", "a string that is longer than a view",
                                         "b", "", std::string("\0\0", 2)};
  const Codes expected{0, 1, 2, 0, 1, 3};
  Vocabulary keys(false);
  const PackedColumn packed(strings);
  CHECK(encode_strings(keys, packed.view()) == expected);
  CHECK(encode_strings(keys, packed.view()) == expected);  // all are present already
  const std::vector<std::int64_t> offsets(packed.offsets.begin(), packed.offsets.end());
  Vocabulary again(false);
  const PackedStrings<std::int64_t> large{.offsets = offsets, .bytes = packed.bytes};
  CHECK(encode_strings(again, large) == expected);

  const std::string twelve = "twelve bytes";
  const std::string longer = "thirteen byte";
  std::vector<StringViews::View> views(3);
  views[0] = {.length = 12, .prefix = 0, .buffer = 0, .offset = 0};
  std::ranges::copy(twelve, reinterpret_cast<char*>(views.data()) + sizeof(views[0].length));
  views[1] = {.length = 13, .prefix = 0, .buffer = 1, .offset = 2};
  views[2] = {.length = 0, .prefix = 0, .buffer = 0, .offset = 0};
  const std::string second = "__" + longer;
  Vocabulary viewed(false);
  CHECK(encode_strings(viewed, StringViews{.views = views, .buffers = {{}, second}}) ==
        Codes{0, 1, 2});
  CHECK(viewed.string(0) == twelve);
  CHECK(viewed.string(1) == longer);
  CHECK(viewed.string(2).empty());

  Vocabulary fixed(false);
  CHECK(encode_strings(fixed, FixedStrings{.bytes = "abcdab", .width = 2, .count = 3}) ==
        Codes{0, 1, 0});
  CHECK(encode_strings(fixed, FixedStrings{.bytes = {}, .width = 0, .count = 2}) == Codes{2, 2});
}

TEST_CASE("F32: offsets and views out of bounds are rejected") {
  const std::string bytes = "abc";
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{0, 4}, {2, 1}, {-1, 1}, {0, -1}, {4, 4}}) {
    Vocabulary keys(false);
    CHECK_THROWS_AS(
        encode_strings(keys, PackedStrings<std::int32_t>{.offsets = offsets, .bytes = bytes}),
        InputError);
    CHECK(keys.size() == 0);
  }
  for (const StringViews::View view :
       {StringViews::View{.length = 13, .prefix = 0, .buffer = 0, .offset = 0},
        {.length = 13, .prefix = 0, .buffer = 2, .offset = 0},
        {.length = 13, .prefix = 0, .buffer = -1, .offset = 0},
        {.length = 13, .prefix = 0, .buffer = 1, .offset = 2},
        {.length = 13, .prefix = 0, .buffer = 1, .offset = -1},
        {.length = -1, .prefix = 0, .buffer = 1, .offset = 0}}) {
    const std::vector<StringViews::View> views{view};
    Vocabulary keys(false);
    CHECK_THROWS_AS(
        encode_strings(keys, StringViews{.views = views, .buffers = {bytes, "fourteen bytes"}}),
        InputError);
  }
}

TEST_CASE("keys of another kind are rejected") {
  Vocabulary strings(false);
  Vocabulary integers(true);
  CHECK_THROWS_AS(strings.encode(std::uint64_t{1}), InputError);
  CHECK_THROWS_AS(integers.encode("1"), InputError);
  CHECK_THROWS_AS(encode_column(strings, std::vector<std::int64_t>{1}), InputError);
  CHECK_THROWS_AS((void)extend(strings, integers, 0, "users", execution), InputError);
}

TEST_CASE("a copy and its original grow apart") {
  Vocabulary original = vocabulary_of({"a", "b"});
  Vocabulary copy = original.copy();
  CHECK(copy.encode("b") == 1);
  CHECK(copy.encode("c") == 2);
  CHECK(original.size() == 2);
  CHECK(original.find("c") == kNoCode);
  CHECK(original.encode("d") == 2);
  CHECK(copy.find("d") == kNoCode);
  CHECK(copy.encode("d") == 3);
  CHECK(original.string(2) == "d");
  CHECK(copy.string(2) == "c");
  Vocabulary third = copy.copy();
  CHECK(third.encode("a") == 0);
  CHECK(third.copy().encode("e") == 4);
  CHECK(third.find("e") == kNoCode);
  CHECK(copy.find("e") == kNoCode);
}

TEST_CASE("a size identifies the keys that existed when it was recorded") {
  Vocabulary keys = vocabulary_of({"b", "a"});
  const Count recorded = keys.size();
  keys.encode("c");
  CHECK(positions_in_key_order(keys, recorded, execution) == Codes{1, 0});
  Vocabulary first(false);
  CHECK(extend(first, keys, recorded, "users", execution) == Codes{0, 1});
  CHECK(first.find("c") == kNoCode);
  CHECK(find(first, keys, 3, "users", execution) == Codes{0, 1, kNoCode});
  CHECK(find(keys, first, 2, "users", execution) == Codes{0, 1});
  for (const Count size : {Count{-1}, Count{4}}) {
    CHECK_THROWS_AS((void)find(first, keys, size, "users", execution), InputError);
    CHECK_THROWS_AS((void)positions_in_key_order(keys, size, execution), InputError);
    CHECK_THROWS_AS((void)extend(first, keys, size, "users", execution), InputError);
  }
}

TEST_CASE("the flags of integers are copied too") {
  Vocabulary negative(true);
  encode_column(negative, std::vector<std::int32_t>{-1});
  Vocabulary next = negative.copy();
  CHECK_THROWS_AS(encode_column(next, std::vector<std::uint64_t>{~std::uint64_t{0}}), InputError);
  CHECK(encode_column(next, std::vector<std::int32_t>{-2, -1}) == Codes{1, 0});
  CHECK(positions_in_key_order(next, next.size(), execution) == Codes{1, 0});
}

TEST_CASE("keys of another vocabulary get their codes in this one") {
  Vocabulary keys = vocabulary_of({"a", "b"});
  CHECK(extend(keys, vocabulary_of({"c", "b", "a", "d"}), 4, "users", execution) ==
        Codes{2, 1, 0, 3});
  CHECK(keys.size() == 4);
  CHECK(extend(keys, keys, 4, "users", execution) == Codes{0, 1, 2, 3});
  CHECK(extend(keys, Vocabulary(false), 0, "users", execution).empty());
}

TEST_CASE("strings are ordered by their bytes") {
  const auto check = [](std::vector<std::string> strings) {
    Vocabulary keys(false);
    for (const std::string& string : strings) keys.encode(string);
    const Codes positions = positions_in_key_order(keys, keys.size(), execution);
    std::ranges::sort(strings, std::ranges::less{}, [](const std::string& one) {
      return std::vector<unsigned char>(one.begin(), one.end());
    });
    strings.erase(std::ranges::unique(strings).begin(), strings.end());
    REQUIRE(positions.size() == strings.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      CHECK(keys.string(static_cast<Code>(i)) == strings[positions[i]]);
    }
  };
  check({});
  check({"b"});
  check({"", "a"});
  check({"user 10", "user 9", "user 1", "user 100"});  // all share a prefix
  check(
      {"abcdefghij", "abcdefgh", "abcdefghi", "abcdefg", "abcdefghii"});  // prefixes of one another
  check({std::string("a\0", 2), "a", std::string("a\0\0", 3), std::string("a\0b", 3)});
  check({std::string("12345678\0", 9), "12345678", "12345678a"});
  check({"\xff", "\x7f", "\x80", "a", ""});
  check({"shared \xffz", "shared \x01z", "shared z"});
  check(random_strings(3000));
}

TEST_CASE("integers are ordered with a sign, or with bit 63") {
  Vocabulary negative(true);
  encode_column(negative, std::vector<std::int64_t>{3, -1, std::numeric_limits<std::int64_t>::min(),
                                                    0, std::numeric_limits<std::int64_t>::max()});
  CHECK(positions_in_key_order(negative, negative.size(), execution) == Codes{3, 1, 0, 2, 4});
  Vocabulary wide(true);
  encode_column(wide, std::vector<std::uint64_t>{~std::uint64_t{0}, 3, std::uint64_t{1} << 63U, 0});
  CHECK(positions_in_key_order(wide, wide.size(), execution) == Codes{3, 1, 2, 0});
}

TEST_CASE("the rows where another user begins") {
  std::mt19937_64 random(11);
  for (std::size_t size = 0; size <= 200; ++size) {
    Codes users(size);
    for (std::size_t i = 1; i < size; ++i) {
      users[i] = random() % 12 == 0 ? static_cast<Code>(random() % 3) : users[i - 1];
    }
    std::vector<Offset> expected;
    for (std::size_t i = 0; i < size; ++i) {
      if (i == 0 || users[i] != users[i - 1]) expected.push_back(static_cast<Offset>(i));
    }
    CHECK(run_starts(users, execution) == expected);
  }
}

TEST_CASE("rows that are already grouped by user keep their order") {
  const Codes users{0, 0, 2, 3};
  const Grouping grouping = group_rows(users, 5, "users", execution);
  CHECK(grouping.indptr == std::vector<Offset>{0, 2, 2, 3, 4, 4});
  CHECK(grouping.order.empty());
  CHECK(group_rows({}, 0, "users", execution).indptr == std::vector<Offset>{0});
  CHECK(group_rows({}, 2, "users", execution).indptr == std::vector<Offset>{0, 0, 0});
}

TEST_CASE("rows are grouped by user and keep their order") {
  const Codes users{2, 0, 2, 1, 0, 2};
  const Grouping grouping = group_rows(users, 3, "users", execution);
  CHECK(grouping.indptr == std::vector<Offset>{0, 2, 3, 6});
  CHECK(grouping.order == std::vector<Offset>{1, 4, 3, 0, 2, 5});
}

TEST_CASE("a row without a user is rejected") {
  const Codes users{0, 3, 1};
  CHECK_THROWS_WITH_AS((void)group_rows(users, 3, "users", execution),
                       "users: expected user codes below 3, found 3 at position 1", InputError);
  const Codes none{kNoCode};
  CHECK_THROWS_AS((void)group_rows(none, 3, "users", execution), InputError);
  CHECK_THROWS_AS((void)group_rows(none, 0, "users", execution), InputError);
}

template <class T>
std::vector<Offset> ordered_rows(const Codes& users, const std::vector<T>& ranks) {
  Grouping grouping = group_rows(users, 2, "users", execution);
  order_by_rank(grouping, std::span<const T>(ranks), "predictions", execution);
  return grouping.order;
}

TEST_CASE("rows of a user are ordered by ascending rank") {
  CHECK(ordered_rows<std::int64_t>({0, 0, 0, 1}, {3, 1, 2, 0}) == std::vector<Offset>{1, 2, 0, 3});
  CHECK(ordered_rows<std::int64_t>({1, 0, 1, 0}, {-5, 2, -7, 1}) ==
        std::vector<Offset>{3, 1, 2, 0});
  CHECK(ordered_rows<std::int64_t>({1, 0}, {4, 4}) == std::vector<Offset>{1, 0});  // of two users
  CHECK(ordered_rows<std::int64_t>({}, {}).empty());
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(ordered_rows<double>({0, 0, 0}, {infinity, -infinity, 0.5}) ==
        std::vector<Offset>{1, 2, 0});
}

TEST_CASE("rows in the order of their users and ranks have no other order") {
  CHECK(ordered_rows<std::int64_t>({0, 0, 1, 1}, {1, 5, 1, 2}).empty());
  CHECK(ordered_rows<double>({0, 1}, {4, 4}).empty());
  CHECK(!ordered_rows<std::int64_t>({0, 1, 0}, {1, 1, 2}).empty());
  CHECK(!ordered_rows<std::int64_t>({0, 0, 1, 1}, {1, 5, 2, 1}).empty());
}

TEST_CASE("ranks that define no order are rejected") {
  CHECK_THROWS_WITH_AS((void)ordered_rows<std::int64_t>({0, 1, 1}, {1, 2, 2}),
                       "predictions: expected distinct ranks, found 2 twice at row 1, position 0",
                       InputError);
  CHECK_THROWS_AS((void)ordered_rows<double>({0, 0}, {0.0, -0.0}), InputError);
  CHECK_THROWS_WITH_AS(
      (void)ordered_rows<double>({0, 1}, {0.5, std::numeric_limits<double>::quiet_NaN()}),
      "predictions: expected ranks without NaN, found NaN at position 1", InputError);
}

TEST_CASE("F25: encoding many keys handles signals") {
  struct Stop : std::exception {};
  int calls = 0;
  const auto stop = [&] {
    if (++calls > 1) throw Stop{};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the next poll is due
  };
  const Execution stopped{.threads = 1, .poll = stop};
  std::vector<std::int64_t> column(1 << 22);  // takes several times as long as a poll is due after
  std::ranges::generate(column, [i = std::int64_t{0}]() mutable { return i++ * 1'000'003; });
  Vocabulary keys(true);
  Codes codes(column.size());
  CHECK_THROWS_AS(
      encode(keys, ItemArray(std::span<const std::int64_t>(column)), codes, "users", stopped),
      Stop);
}

}  // namespace
}  // namespace exactk
