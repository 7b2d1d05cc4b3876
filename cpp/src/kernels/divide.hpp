// Vectorized division: the CPU divides several numbers as fast as one.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

template <class Lanes>
void divide(const double* numerators, const double* denominators, double by_zero,
            double* quotients) {
  for (std::size_t i = 0; i < kTerms; i += Lanes::kWidth) {
    Lanes::store(quotients + i,
                 Lanes::quotient(Lanes::load(numerators + i), Lanes::load(denominators + i),
                                 Lanes::broadcast(by_zero)));
  }
}

}  // namespace exactk
