// Checks of lists that all requests share.
#pragma once

#include <string>

#include "exactk/lists.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Throws InputError unless there are as many rows as users.
void check_rows(Count rows, Count users, const std::string& argument);
// Throws InputError unless the items are int64; adapters copy truth and exclusions once, to int64.
void check_int64(const Lists& lists, const std::string& argument);

}  // namespace exactk
