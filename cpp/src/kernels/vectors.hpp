// Products, squares and squared distances of vectors, in double precision.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

// A template on the lanes, so that each instruction set has its own instance.
template <class Lanes>
struct Product {
  using Doubles = Lanes::Doubles;
  static Doubles vector_term(Doubles one, Doubles other) { return Lanes::times(one, other); }
  static double scalar_term(double one, double other) { return one * other; }
};

template <class Lanes>
struct SquaredDifference {
  using Doubles = Lanes::Doubles;
  static Doubles vector_term(Doubles one, Doubles other) {
    const Doubles difference = Lanes::minus(one, other);
    return Lanes::times(difference, difference);
  }
  static double scalar_term(double one, double other) { return (one - other) * (one - other); }
};

template <class Lanes, class Term, class One, class Other>
double sum_of_terms(const One* one, const Other* other, std::size_t width) {
  constexpr std::size_t kVectors = kPartialSums / Lanes::kWidth;
  typename Lanes::Doubles sums[kVectors];
  for (auto& sum : sums) sum = Lanes::broadcast(0.0);
  std::size_t begin = 0;
  for (; begin + kPartialSums <= width; begin += kPartialSums) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t position = begin + v * Lanes::kWidth;
      const auto term =
          Term::vector_term(Lanes::load(one + position), Lanes::load(other + position));
      sums[v] = Lanes::plus(sums[v], term);
    }
  }
  if (begin < width) {
    double partial[kPartialSums];
    for (std::size_t v = 0; v < kVectors; ++v) Lanes::store(partial + v * Lanes::kWidth, sums[v]);
    for (std::size_t i = begin; i < width; ++i) {
      partial[i - begin] +=
          Term::scalar_term(static_cast<double>(one[i]), static_cast<double>(other[i]));
    }
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = Lanes::load(partial + v * Lanes::kWidth);
  }
  return Lanes::fold(sums);
}

template <class Lanes, class Term, class Number>
void sum_pairs(const double* one, const Number* const* others, std::size_t count, std::size_t width,
               double* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = sum_of_terms<Lanes, Term>(one, others[i], width);
  }
}

template <class Lanes, class Number>
void squares(const Number* const* vectors, std::size_t count, std::size_t width, double* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = sum_of_terms<Lanes, Product<Lanes>>(vectors[i], vectors[i], width);
  }
}

template <class Lanes, class Number>
inline constexpr VectorKernels<Number> kVectorKernels = {
    .dots = &sum_pairs<Lanes, Product<Lanes>, Number>,
    .squares = &squares<Lanes, Number>,
    .squared_distances = &sum_pairs<Lanes, SquaredDifference<Lanes>, Number>};

}  // namespace exactk
