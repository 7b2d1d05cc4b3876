// The trust boundary. One pass over everything that comes in, before any user is read;
// whatever gets past it, the rest of the core may rely on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "evaluate/plan.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/lists.hpp"

namespace exactk {

// Throws InputError. Every array by itself, that they fit each other, and that the grades have the
// gains that the plan asks for. Returns the bitwise "or" of all ids.
[[nodiscard]] std::uint64_t validate(const Request& request, const Plan& plan);

// The bitwise "or" of the ids of so many items, which are their positions.
[[nodiscard]] std::uint64_t bits_below(Count items) noexcept;

// Checks that other requests need too. check_size throws InputError unless `size` is `expected`;
// `what` says what there must be so many of.
void check_size(std::size_t size, Count expected, const std::string& argument,
                const std::string& what);
void check_rows(Count rows, Count users, const std::string& argument);
void check_int64(const Lists& lists, const std::string& argument);

}  // namespace exactk
