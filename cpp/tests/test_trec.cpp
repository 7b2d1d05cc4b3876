#include "common.hpp"
#include "exactk/trec.hpp"

namespace exactk {
namespace {

using TrecRow = std::tuple<std::string, std::string, double>;

// Parses the file in parts of `part` bytes.
TrecColumns parse_parts(std::string_view text, std::optional<TrecFormat> format = std::nullopt,
                        std::size_t part = std::string_view::npos) {
  std::string chunk;  // reading a part after the next call would show
  return parse_trec(format, [&]() -> std::string_view {
    chunk = text.substr(0, part);
    chunk.shrink_to_fit();
    text.remove_prefix(chunk.size());
    return chunk;
  });
}

std::string string_of(const StringColumn& column, std::size_t i) {
  const auto begin = static_cast<std::size_t>(column.offsets[i]);
  const auto end = static_cast<std::size_t>(column.offsets[i + 1]);
  return {column.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
          column.bytes.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<TrecRow> rows_of(const TrecColumns& columns) {
  REQUIRE(columns.queries.offsets.size() == columns.numbers.size() + 1);
  REQUIRE(columns.documents.offsets.size() == columns.numbers.size() + 1);
  std::vector<TrecRow> rows;
  rows.reserve(columns.numbers.size());
  for (std::size_t i = 0; i < columns.numbers.size(); ++i) {
    rows.emplace_back(string_of(columns.queries, i), string_of(columns.documents, i),
                      columns.numbers[i]);
  }
  return rows;
}

LineFault line_fault_of(std::string_view text, std::optional<TrecFormat> format = std::nullopt,
                        std::size_t part = std::string_view::npos) {
  try {
    static_cast<void>(parse_parts(text, format, part));
  } catch (const LineError& error) {
    CHECK(std::string_view(error.what()).starts_with("expected "));
    return error.fault();
  }
  FAIL_CHECK("nothing was thrown");
  return {};
}

void check_fault(std::string_view text, Count line, std::string_view expected,
                 std::string_view found) {
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, std::string_view::npos}) {
    const LineFault fault = line_fault_of(text, std::nullopt, part);
    CHECK(fault.line == line);
    CHECK(fault.expected == expected);
    CHECK(fault.found == found);
  }
}

constexpr std::string_view kRunText =
    "# a comment\n"
    "q1 Q0 d1 1 0.5 tag\n"
    "\r\n"
    "  q1\tQ0  d\xC3\xA9 \t7 -1e-3 t\r\n"
    " \n"
    "q2 Q0 # 1 inf tag";
constexpr std::string_view kFourFields = "4 fields (query iteration document grade)";
constexpr std::string_view kSixFields = "6 fields (query Q0 document rank score tag)";

}  // namespace

TEST_CASE("a run split anywhere") {
  const std::vector<TrecRow> expected = {{"q1", "d1", 0.5},
                                         {"q1", "d\xC3\xA9", -1e-3},
                                         {"q2", "#", std::numeric_limits<double>::infinity()}};
  for (std::size_t part = 1; part <= kRunText.size(); ++part) {
    CHECK(rows_of(parse_parts(kRunText, std::nullopt, part)) == expected);
  }
}

TEST_CASE("qrels may have negative grades") {
  const std::vector<TrecRow> expected = {{"1", "d1", 2}, {"01", "d2", -2}, {"1", "d3", 0x1p53}};
  CHECK(rows_of(parse_parts("1 0 d1 2\n01 0 d2 -2\n1 0 d3 9007199254740992\n")) == expected);
}

TEST_CASE("an empty file is valid") {
  for (const std::string_view text : {"", "\n", "\r\n \n", "# nothing", "\xEF\xBB\xBF"}) {
    CHECK(rows_of(parse_parts(text)).empty());
  }
}

TEST_CASE("a byte order mark is not part of the first name") {
  CHECK(rows_of(parse_parts("\xEF\xBB\xBFq 0 d 1\n")) == std::vector<TrecRow>{{"q", "d", 1}});
  CHECK(rows_of(parse_parts("\xEF\xBB\xBF# comment\nq 0 d 1\n")) ==
        std::vector<TrecRow>{{"q", "d", 1}});
}

TEST_CASE("valid scores") {
  const auto scores =
      parse_parts("q Q0 a 1 nan t\nq Q0 b 1 -inf t\nq Q0 c 1 4.9e-324 t\nq Q0 d 1 0.1 t\n").numbers;
  CHECK(std::isnan(scores[0]));
  CHECK(scores[1] == -std::numeric_limits<double>::infinity());
  CHECK(scores[2] == std::numeric_limits<double>::denorm_min());
  CHECK(scores[3] == 0.1);
}

TEST_CASE("F32: a line with other fields is reported") {
  const std::string either = std::string(kFourFields) + " or " + std::string(kSixFields);
  check_fault("# one\nq Q0 d 1 0.5\n", 2, either, "5");
  check_fault("q 0 d 1\nq Q0 d 1 0.5 t\n", 2, kFourFields, "6");
  check_fault("q Q0 d 1 0.5 t\n\nq Q0 d 1 0.5\n", 3, kSixFields, "5");
  CHECK(line_fault_of("q Q0 d 1 0.5 t\n", TrecFormat::qrels).expected == kFourFields);
  CHECK(line_fault_of("q 0 d 1\n", TrecFormat::run).expected == kSixFields);
  CHECK(line_fault_of("one\ntwo\n").text == "one");
}

TEST_CASE("F32: numbers must be numbers, to their last character") {
  constexpr std::string_view kGrade = "an integer of at most 2^53 as grade, field 4";
  for (const std::string grade : {"1.5", "x", "1x", "9007199254740993", "-9007199254740993",
                                  "99999999999999999999", "+-1", "1_0"}) {
    check_fault("q 0 d " + grade + "\n", 1, kGrade, "'" + grade + "'");
  }
  constexpr std::string_view kScore = "a number that float64 holds as score, field 5";
  for (const std::string score : {"x", "0.5x", "1e400", "1e-400", "0x10", "1,5", "1_0", "+-1",
                                  "nan(1)", "9007199254740993"}) {
    check_fault("q Q0 d 1 " + score + " t\n", 1, kScore, "'" + score + "'");
  }
  check_fault("q 0 d \xC3\xA9\x01\n", 1, kGrade, R"('\xc3\xa9\x01')");
  check_fault("q 0 d " + std::string(40, '9') + "\n", 1, kGrade,
              "'" + std::string(32, '9') + "...'");
}

TEST_CASE("F55: numbers may have a sign, and text may follow the tag") {
  CHECK(rows_of(parse_parts("q 0 d +1\n")) == std::vector<TrecRow>{{"q", "d", 1}});
  CHECK(rows_of(parse_parts("q Q0 d 1 +1.5 the tag 1 2.5 t\nq Q0 e 2 1 t\n")) ==
        std::vector<TrecRow>{{"q", "d", 1.5}, {"q", "e", 1}});
}

TEST_CASE("F47: no row is lost") {
  // Without a line feed, the second row would be text after the tag of the first.
  for (const std::string_view text :
       {"q Q0 d 1 0.5 t r Q0 e 2 0.4 t\n", "q 0 d 1 0.5 tr 0 e 2 0.4 t"}) {
    check_fault(text, 1, "one row per line", "two rows");
  }
  for (const std::string_view text : {"q Q0 d 1 0.5 t\rr Q0 e 2 0.4 t\r", "q 0 d\r1\n"}) {
    check_fault(text, 1, "a line feed at the end of each line",
                "a carriage return within the line");
  }
  check_fault("q 0 d 1\n\xEF\xBB\xBFq 0 e 1\n", 2, "text", "a byte order mark within the file");
  // These may be comments, or rows of the query #1.
  constexpr std::string_view kComment = "a blank after # in a comment, or a query without #";
  check_fault("#1 0 d 1\n", 1, kComment, "a row that begins with #");
  check_fault("q Q0 d 1 0.5 t\n#1 Q0 d 1 0.5 t\n", 2, kComment, "a row that begins with #");
  CHECK(rows_of(parse_parts("# 1 0 d 1\n# 0 d 1\n#1 0 d x\n#1 Q0 d 1 x t\n## q\n#\n")).empty());
  CHECK(rows_of(parse_parts("q 0 d 1\n#1 Q0 d 1 0.5 t\r\r\n")).size() == 1);
}

TEST_CASE("F81: second fields and times are gathered over all rows") {
  const TrecFacts qrels = parse_parts("q 0 d 1\nq 0 e 1\n").facts;
  CHECK(!qrels.is_run);
  CHECK(qrels.rows == 2);
  CHECK(qrels.iterations == std::vector<std::string>{"0"});
  CHECK(qrels.other_iteration.line == 0);
  CHECK(qrels.times == 0);
  for (const std::size_t part : {std::size_t{1}, std::string_view::npos}) {
    const TrecFacts ratings =
        parse_parts(
            "# u.test\n1 6 5 887431973\n1 6 4 99999999\n2 7 3.5 100000000\n1 6 10 99999999999999\n",
            std::nullopt, part)
            .facts;
    CHECK(ratings.iterations == std::vector<std::string>{"6", "7"});
    CHECK(ratings.other_iteration.line == 4);
    CHECK(ratings.other_iteration.text == "2 7 3.5 100000000");
    CHECK(ratings.times == 3);
    CHECK(ratings.documents_are_numbers);
  }
  CHECK(parse_parts("q 0 1 1\nq 1 11 1\n").facts.documents_are_numbers);
  CHECK(!parse_parts("q 0 1 1\nq 1 1.1.1 1\n").facts.documents_are_numbers);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "q " + std::to_string(i) + " d 1\n";
  CHECK(parse_parts(many).facts.iterations.size() == kMaxTrecIterations + 1);
}

TEST_CASE("F81: fields of a run that are none of TREC's") {
  const auto facts_of = [](std::string_view text) { return parse_parts(text).facts; };
  CHECK(facts_of("q Q0 d 1 0.5 t\nq Q0 d x 0.5 t\n").rank_text.line == 2);
  CHECK(facts_of("q Q0 d 1.0 0.5 t\nq Q0 d 9.5 1 t\n").fraction_rank.line == 2);
  CHECK(facts_of("q Q0 d 1 0.5 the tag\nq Q0 new 2 1 0.5 t\n").shifted.line == 2);
  CHECK(facts_of("q Q0 d 1 0.5 1\nq Q0 d 1 0.5 2\n").tags_vary);
  CHECK(facts_of("q Q0 d 1 0.5 1\nq Q0 d 1 0.5 2\n").tags_are_numbers);
  CHECK(!facts_of("q Q0 d 1 0.5 1\nq Q0 d 1 0.5 t\n").tags_are_numbers);
  CHECK(facts_of("u 0 i 887431973 5 t\nu 0 i 5 887431973 t\n").times == 1);
  CHECK(facts_of("u 0 i 887431973 5 t\nu 0 i 5 887431973 t\n").score_times == 1);
}

TEST_CASE("F82: ranks are compared with scores per query") {
  const auto facts_of = [](std::string_view text) { return parse_parts(text).facts; };
  // Equal ranks, ties and NaN contradict nothing, in any order of rows.
  for (const std::string_view text :
       {"q Q0 a 1 9 t\nq Q0 b 1 99 t\n", "q Q0 a 1 9 t\nr Q0 a 1 8 t\nq Q0 b 2 9 t\nr Q0 b 2 7 t\n",
        "q Q0 c 30 1 t\nq Q0 a 10 3 t\nq Q0 b 20 2 t\n", "q Q0 a 1 nan t\nq Q0 b 2 9 t\n",
        "q Q0 a x 1 t\nq Q0 b 2 9 t\n"}) {
    CAPTURE(text);
    CHECK(facts_of(text).contradicted == 0);
  }
  const TrecFacts facts = facts_of(
      "p Q0 a 1 2 t\np Q0 b 2 1 t\nq Q0 a 1 5 t\nr Q0 a 1 1 t\nq Q0 b 3 1 t\nr Q0 b 2 2 t\nq Q0 c "
      "2 .5 t\n");
  CHECK(facts.queries == 3);
  CHECK(facts.contradicted == 2);
  CHECK(facts.first_contradicted == 2);
  CHECK(facts.counted_ranks == 3);
  CHECK(facts.counted_scores == 2);
  CHECK(facts.copied_ranks == 2);
}

TEST_CASE("F32: bytes that are not text are rejected") {
  check_fault(std::string("q 0 d\0 1\n", 9), 1, "text", "a zero byte");
  for (const std::string_view bytes :
       {"\xFF", "\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x80\x80\x80", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3\xC3"}) {
    CAPTURE(bytes);
    check_fault("q 0 d" + std::string(bytes) + " 1\n", 1, "UTF-8", "invalid bytes");
  }
  for (const std::string_view bytes :
       {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(rows_of(parse_parts("q 0 " + std::string(bytes) + " 1\n")) ==
          std::vector<TrecRow>{{"q", std::string(bytes), 1}});
  }
}

TEST_CASE("F32: lines and keys have limits") {
  const std::string blanks(kMaxTrecLine - 7, ' ');
  for (const std::size_t part : {std::size_t{1000}, std::string_view::npos}) {
    CHECK(rows_of(parse_parts("q 0 d 1" + blanks + "\n", std::nullopt, part)).size() == 1);
    const LineFault fault =
        line_fault_of("\nq 0 d 1 " + blanks + "\nq 0 d 2\n", std::nullopt, part);
    CHECK(fault.line == 2);
    CHECK(fault.expected == "at most 1048576 bytes per line");
    CHECK(fault.text.size() == 320);
    CHECK(line_fault_of(std::string(3 << 20U, 'x'), std::nullopt, part).line == 1);
  }
  const std::string name(kMaxTrecKey, 'd');
  CHECK(rows_of(parse_parts(std::string(name).append(" 0 ").append(name).append(" 1\n"))).size() ==
        1);
  CHECK(line_fault_of(name + "d 0 d 1\n").expected == "a name of at most 4096 bytes as field 1");
  CHECK(line_fault_of("q 0 d" + name + " 1\n").expected ==
        "a name of at most 4096 bytes as field 3");
}

}  // namespace exactk
