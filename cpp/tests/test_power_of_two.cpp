#include "common.hpp"
#include "numeric/power_of_two.hpp"

namespace exactk {
namespace {

struct PowerOfTwo {
  double x;
  double power;
};

// From Python's decimal at 70 digits, rounded once to a double.
// NOLINTBEGIN(modernize-use-std-numbers): some are near a constant, or are one
constexpr PowerOfTwo kPowersOfTwo[] = {
    {0x0.0p+0, 0x1.0000000000000p+0},
    {0x1.0000000000000p+0, 0x1.0000000000000p+1},
    {0x1.0000000000000p+8, 0x1.0000000000000p+256},
    {0x1.ff80000000000p+9, 0x1.0000000000000p+1023},
    {0x1.0000000000000p-1, 0x1.6a09e667f3bcdp+0},
    {0x1.5555555555555p-2, 0x1.428a2f98d728bp+0},
    {0x1.d99999999999ap+1, 0x1.9fdf8bcce533ep+3},
    {0x1.ff00000000000p+7, 0x1.6a09e667f3bcdp+255},
    {0x1.fffffffffffffp+7, 0x1.fffffffffff4fp+255},
    {0x1.fffffffffffffp-1, 0x1.fffffffffffffp+0},
    {0x1.0000000000000p-52, 0x1.0000000000001p+0},
    {0x1.56e1fc2f8f359p-997, 0x1.0000000000000p+0},
    {0x1.0000000000000p-5, 0x1.059b0d3158574p+0},
    {0x1.fffffffffffffp-6, 0x1.059b0d3158574p+0},
    // Which libraries of C round otherwise, one here, one there.
    {0x1.305532617c1bep-4, 0x1.0d8794f8e89d1p+0},
    {0x1.125460aa64c30p-2, 0x1.343ce0afa6729p+0},
    // Among 120000 numbers, those whose powers are closest to the midpoint of two doubles.
    {0x1.a5fd8adab9f56p+0, 0x1.9143052c64a94p+1},
    {0x1.52fec56d5cfabp+1, 0x1.9143052c64a94p+2},
    {0x1.d2fec56d5cfabp+1, 0x1.9143052c64a94p+3},
    {0x1.df27bb2fec56dp+1, 0x1.ac92e78cfcbe2p+3},
    {0x1.5f27bb2fec56dp+1, 0x1.ac92e78cfcbe2p+2},
    {0x1.3caa64c2f837bp+3, 0x1.dc52fdf59c545p+9},
    {0x1.1caa64c2f837bp+3, 0x1.dc52fdf59c545p+8},
    {0x1.518c7e28240b8p+3, 0x1.7663f78326bc4p+10},
    {0x1.118c7e28240b8p+3, 0x1.7663f78326bc4p+8},
    {0x1.3c2c3c9eecbfbp+1, 0x1.629cd38a74ce4p+2}};
// NOLINTEND(modernize-use-std-numbers)

TEST_CASE("powers of two are correctly rounded") {
  for (const PowerOfTwo& one : kPowersOfTwo) {
    CAPTURE(one.x);
    CHECK(power_of_two(one.x) == one.power);
  }
}

}  // namespace
}  // namespace exactk
