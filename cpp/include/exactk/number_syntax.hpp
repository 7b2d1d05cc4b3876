// How numbers are written in text: the only syntax, for files and the command line.
//
//   number  = blanks [sign] (decimal | "inf" | "infinity" | "nan") blanks
//   decimal = (digits ["." [digits]] | "." digits) ["e" [sign] digits]
//
// Letters are of either case; blanks are spaces and tabs. What float64 cannot hold is refused and
// not rounded: 1e400 (infinity), 1e-400 (zero), an integer between two float64 numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exactk/strings.hpp"

namespace exactk {

[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// As an integer of the same syntax, without fraction, exponent and blanks.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

// Nothing if one of the texts is no number.
[[nodiscard]] std::optional<std::vector<double>> parse_numbers(
    const PackedStrings<std::int32_t>& texts);

}  // namespace exactk
