// A checkpoint that does nothing.
#pragma once

#include "base/checkpoint.hpp"

namespace exactk {

inline const Checkpoint no_checkpoint = [] {};

}  // namespace exactk
