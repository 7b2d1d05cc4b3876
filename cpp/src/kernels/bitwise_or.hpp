// The bitwise "or" of many words.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// A template, so that each instruction set has its own; compilers find the vectors by themselves.
template <class Lanes, class Word>
Word bitwise_or(const Word* words, std::size_t size) {
  Word bits = 0;
  for (std::size_t i = 0; i < size; ++i) bits |= words[i];
  return bits;
}

}  // namespace exactk
