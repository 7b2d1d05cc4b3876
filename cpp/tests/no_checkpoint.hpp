// A checkpoint for loops that need none.
#pragma once

#include "base/checkpoint.hpp"

namespace exactk {

inline const Checkpoint no_checkpoint = [] {};

}  // namespace exactk
