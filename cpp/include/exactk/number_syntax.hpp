// The syntax of numbers in text, shared by files and the command line.
//
//   number  = blanks [sign] (decimal | "inf" | "infinity" | "nan") blanks
//   decimal = (digits ["." [digits]] | "." digits) ["e" [sign] digits]
//
// Letters are case-insensitive; blanks are spaces and tabs. A number that float64 cannot hold is
// rejected, not rounded: 1e400 (infinity), 1e-400 (zero), an integer between two float64 numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exactk/strings.hpp"

namespace exactk {

[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// Parses an integer of the same syntax, without fraction, exponent or blanks.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

// Returns nullopt if any of the texts is not a number.
[[nodiscard]] std::optional<std::vector<double>> parse_numbers(
    const PackedStrings<std::int32_t>& texts);

}  // namespace exactk
