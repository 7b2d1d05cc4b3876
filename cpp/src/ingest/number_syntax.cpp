#include "exactk/number_syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <system_error>

#ifndef __cpp_lib_to_chars
#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#endif

namespace exactk {
namespace {

// Every integer of at most this many digits is exact in float64.
constexpr std::size_t kExactDigits = std::numeric_limits<double>::digits10;
constexpr std::size_t kMaxIntegerDigits = std::numeric_limits<double>::max_exponent10 + 1;

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }
constexpr bool is_blank(char character) { return character == ' ' || character == '\t'; }

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Strips a plus sign, which from_chars rejects. Returns an empty text if another sign follows.
std::string_view strip_plus(std::string_view text) {
  if (!text.starts_with('+')) return text;
  text.remove_prefix(1);
  return text.starts_with('-') ? std::string_view{} : text;
}

template <class Number>
std::optional<Number> convert(std::string_view text) {
  Number number{};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [last, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || last != end) return std::nullopt;
  return number;
}

#ifdef __cpp_lib_to_chars
std::optional<double> convert_double(std::string_view text) { return convert<double>(text); }
#else
// libc++ has from_chars of doubles since version 20, and of macOS since 14.
std::optional<double> convert_double(std::string_view text) {
  // What strtod reads beside: blanks in front, another sign, hexadecimal digits.
  if (text.empty() || text.front() == '+' ||
      text.find_first_of(" \t\n\v\f\rxX") != std::string_view::npos) {
    return std::nullopt;
  }
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string terminated(text);
  char* last = nullptr;
  const double number = strtod_l(terminated.c_str(), &last, c_locale);
  if (last != terminated.c_str() + terminated.size()) return std::nullopt;
  return number;
}
#endif

// Whether float64 holds the integer of these digits exactly.
bool is_exact_integer(std::string_view digits, double number) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() <= kExactDigits) return true;
  if (digits.size() > kMaxIntegerDigits) return false;
  std::array<char, kMaxIntegerDigits + 1> text{};  // to_chars would need macOS 13.3
  const int size = std::snprintf(text.data(), text.size(), "%.0f", std::abs(number));
  return std::string_view(text.data(), static_cast<std::size_t>(size)) == digits;
}

// Whether float64 holds a decimal: it is not infinite, not 0 with a nonzero digit, and not a
// rounded integer.
bool is_held(std::string_view text, double number) {
  if (std::isinf(number)) return false;
  const std::string_view digits = text.substr(text.front() == '-' ? 1 : 0);
  if (number == 0) {
    const std::string_view mantissa = digits.substr(0, digits.find_first_of("eE"));
    return std::ranges::none_of(mantissa, [](char c) { return c >= '1' && c <= '9'; });
  }
  return digits.size() <= kExactDigits || !std::ranges::all_of(digits, is_digit) ||
         is_exact_integer(digits, number);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = strip_plus(trim_blanks(text));
  const auto number = convert_double(text);
  if (!number) return std::nullopt;
  if (is_digit(text.back()) || text.back() == '.') {
    if (!is_held(text, *number)) return std::nullopt;
  } else if (text.back() == ')') {
    return std::nullopt;  // rejects nan(...), which from_chars accepts
  }
  return number;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return convert<std::int64_t>(strip_plus(text));
}

std::optional<std::vector<double>> parse_numbers(const PackedStrings<std::int32_t>& texts) {
  std::vector<double> numbers;
  numbers.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto number = parse_number(texts[i]);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace exactk
