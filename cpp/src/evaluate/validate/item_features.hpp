// Checks of the features of items.
#pragma once

#include "base/run.hpp"
#include "exactk/items.hpp"

namespace exactk {

// Throws InputError unless the sizes, columns and numbers of the features are valid. What a
// distance needs beside that is checked where it is made.
void check_features(const ItemFeatures& features, const Items& items, const Run& run);

}  // namespace exactk
