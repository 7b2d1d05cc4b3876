#include "common.hpp"
#include "exactk/delimited.hpp"

namespace exactk {
namespace {

using Texts = std::vector<std::string>;

constexpr DelimitedSyntax kCsv = {.delimiter = ',', .has_quotes = true, .field_count = 2};
constexpr DelimitedSyntax kTsv = {.delimiter = '\t', .has_quotes = false, .field_count = 2};

std::optional<std::vector<Texts>> split(std::string_view lines, const DelimitedSyntax& syntax,
                                        const std::vector<std::size_t>& columns = {0, 1}) {
  const std::string copy(lines);  // of its own size, so that a byte more is noticed
  const auto read = split_plain_rows(copy, syntax, columns);
  if (!read) return std::nullopt;
  std::vector<Texts> texts;
  for (const StringColumn& column : *read) {
    texts.emplace_back();
    for (std::size_t i = 0; i + 1 < column.offsets.size(); ++i) {
      const auto begin = column.bytes.begin() + column.offsets[i];
      texts.back().emplace_back(begin, column.bytes.begin() + column.offsets[i + 1]);
    }
  }
  return texts;
}

TEST_CASE("F47: plain rows are split into columns") {
  CHECK(split("", kCsv) == std::vector<Texts>{{}, {}});
  CHECK(split("a,1\nb,2\n", kCsv) == std::vector<Texts>{{"a", "b"}, {"1", "2"}});
  CHECK(split("\na,1\r\n\r\n\nb,\n", kCsv) == std::vector<Texts>{{"a", "b"}, {"1", ""}});
  CHECK(split("a,1\nb,2\n", kCsv, {1}) == std::vector<Texts>{{"1", "2"}});
  CHECK(split("a,1\n", kCsv, {1, 0}) == std::vector<Texts>{{"1"}, {"a"}});
  CHECK(split("a,1\n", kCsv, {}) == std::vector<Texts>{});
  CHECK(split("a\r\n\nb\n", {.field_count = 1}, {0}) == std::vector<Texts>{{"a", "b"}});
}

TEST_CASE("F47: quotes around fields are removed, and doubled ones within are one") {
  CHECK(split("\"a\",\"1,\"\r\n", kCsv) == std::vector<Texts>{{"a"}, {"1,"}});
  CHECK(split("\"\",\"\"\"\"\n", kCsv) == std::vector<Texts>{{""}, {"\""}});
  CHECK(split("\"a\"\"b\"\"\",6\" x 9\"\n", kCsv) == std::vector<Texts>{{"a\"b\""}, {"6\" x 9\""}});
  CHECK(split("\"a\t\"\"\n", kTsv) == std::vector<Texts>{{"\"a"}, {"\"\""}});
}

TEST_CASE("F47: other rows are left to the caller") {
  for (const std::string_view lines :
       {"a\n", "a,1,\n", "a,1", "a,1\nb", "\"a,1\n", "\"a\"b,1\n", "\"a\" ,1\n", "\"a\nb\",1\n",
        "\"a\r\",1\n", "a\rb,1\n", "a,1\r", "a,1\r\r\n", "a,\"1\"", "a,\"1", "a,\"", "\r",
        "a,\"1\"\r"}) {
    CAPTURE(lines);
    CHECK(split(lines, kCsv) == std::nullopt);
  }
}

TEST_CASE("columns that are no fields are refused") {
  CHECK_THROWS_AS(split("a,1\n", kCsv, {2}), InputError);
  CHECK_THROWS_AS(split("a,1\n", kCsv, {1, 1}), InputError);
  CHECK_THROWS_AS(split("", {.field_count = 0}, {0}), InputError);
  constexpr std::size_t kHuge = ~std::size_t{0};
  CHECK(split("\n", {.field_count = kHuge}, {kHuge - 1}) == std::vector<Texts>{{}});
  CHECK(split("a,1\n", {.field_count = kHuge}, {1}) == std::nullopt);
}

}  // namespace
}  // namespace exactk
