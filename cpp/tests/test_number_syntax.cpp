#include "common.hpp"
#include "exactk/number_syntax.hpp"

namespace exactk {

using tests::kInfinity;

TEST_CASE("F55: valid numbers") {
  CHECK(parse_number("1") == 1);
  CHECK(parse_number("+1.5") == 1.5);
  CHECK(parse_number("-.5") == -0.5);
  CHECK(parse_number("5.") == 5);
  CHECK(parse_number(" 1e+3\t") == 1000);
  CHECK(parse_number("00012.50E-1") == 1.25);
  CHECK(parse_number("inf") == kInfinity);
  CHECK(parse_number("-Infinity") == -kInfinity);
  CHECK(parse_number("+INF") == kInfinity);
  CHECK(std::isnan(parse_number("NaN").value()));
  CHECK(std::signbit(parse_number("-0").value()));
}

TEST_CASE("F55: texts that are not numbers") {
  for (const std::string_view text :
       {"",      " ",       "+",   "-",    ".",   "e5",    "1e",       "1e+",     "+-1", "-+1",
        "++1",   "+ 1",     "1_0", "0x10", "0b1", "1,5",   "1.5.1",    "1 2",     "1d5", "nan(1)",
        "nan()", "infinit", "one", "1\n",  "\v1", "+-inf", "\xD9\xA1", "\xC2\xA0"}) {
    CAPTURE(text);
    CHECK(!parse_number(text));
  }
  CHECK(!parse_number(std::string_view("1\0", 2)));
}

TEST_CASE("F55: numbers that float64 cannot hold are rejected") {
  const std::string zeros(400, '0');
  for (const std::string& text :
       {std::string("1e400"), std::string("-1e309"), "1" + zeros, std::string("1e-400"),
        std::string("-2e-324"), "0." + zeros + "1", std::string("9007199254740993"),
        std::string("-9007199254740993"), std::string("+18446744073709551617"),
        std::string("00100000000000000000000001")}) {
    CAPTURE(text);
    CHECK(!parse_number(text));
  }
}

TEST_CASE("F55: numbers that float64 holds are read, however long") {
  const std::string zeros(400, '0');
  CHECK(parse_number("0e400") == 0);
  CHECK(parse_number("-0.0e-400") == 0);
  CHECK(parse_number("0." + zeros) == 0);
  CHECK(parse_number(zeros + "7") == 7);
  CHECK(parse_number("9007199254740992") == 0x1p53);
  CHECK(parse_number("9007199254740994") == 0x1p53 + 2);
  CHECK(parse_number("-18446744073709551616") == -0x1p64);
  CHECK(parse_number("1" + std::string(22, '0')) == 1e22);
  CHECK(parse_number("4.9e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(parse_number("1.7976931348623157e308") == std::numeric_limits<double>::max());
  CHECK(parse_number("0.12345678901234567890123456789") == 0.12345678901234567890123456789);
  CHECK(parse_number("9007199254740993.0") == 0x1p53);  // a decimal is rounded, as any is
}

TEST_CASE("F55: integers have the same syntax") {
  CHECK(parse_integer("+1") == 1);
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text :
       {"", "+", "+-1", "1.0", "1e3", "1_0", " 1", "0x1", "9223372036854775808"}) {
    CHECK(!parse_integer(text));
  }
}

TEST_CASE("F55: a column of numbers") {
  const std::vector<std::int32_t> offsets = {0, 1, 4, 6};
  const auto numbers = [&](std::string_view bytes) {
    return parse_numbers(PackedStrings<std::int32_t>{.offsets = offsets, .bytes = bytes});
  };
  CHECK(numbers("1+.5-2") == std::vector<double>{1, 0.5, -2});
  CHECK(!numbers("1+.5-x"));
  CHECK_THROWS_AS(static_cast<void>(numbers("1+.5-")), InputError);
}

}  // namespace exactk
