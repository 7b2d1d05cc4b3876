#include "common.hpp"
#include "evaluate/policies.hpp"
#include "numeric/geometric_mean.hpp"
#include "numeric/logarithm.hpp"

namespace exactk {
namespace {

struct Logarithm {
  double x;
  double log;
};

// From Python's decimal at 60 digits, rounded once to a double.
// NOLINTBEGIN(modernize-use-std-numbers): some are near a constant, or are one
constexpr Logarithm kLogarithms[] = {
    {0x1.4f8b588e368f1p-17, -0x1.7069e2aa2aa5bp+3},
    {0x1.0000000000000p-1, -0x1.62e42fefa39efp-1},
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1},
    {0x1.5555555555555p-2, -0x1.193ea7aad030bp+0},
    {0x1.5555555555555p-1, -0x1.9f323ecbf984dp-2},
    {0x1.fffffffffffffp-1, -0x1.0000000000000p-53},
    {0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
    {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
    {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},
    {0x1.6a09e667f3bcdp+0, 0x1.62e42fefa39f0p-2},
    {0x1.6a09e667f3bccp+0, 0x1.62e42fefa39eep-2},
    {0x1.0000000000000p+1, 0x1.62e42fefa39efp-1},
    {0x1.8000000000000p+1, 0x1.193ea7aad030bp+0},
    {0x1.2a05f20000000p+33, 0x1.7069e2aa2aa5bp+4},
    {0x1.0000000000000p+256, 0x1.62e42fefa39efp+7},
    {0x1.0000000000000p-1022, -0x1.6232bdd7abcd2p+9},
    {0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9},
    // Among 120000 numbers, those whose logarithms are closest to the midpoint of two doubles.
    {0x1.2a5186d0e36a6p+9, 0x1.990b33eb9d8e7p+2},
    {0x1.8331ee2e5a118p-1, -0x1.1e1a0167da1dep-2},
    {0x1.0053be4ee8558p+4, 0x1.630e083f589c7p+1},
    {0x1.68c6b58425d15p+8, 0x1.78d9376ae8ab5p+2},
    {0x1.c5f9e08bf39e5p+9, 0x1.b3ea9092e0cd0p+2},
    {0x1.b6866eb6b3589p+7, 0x1.58fa2ebc0c2b7p+2},
    {0x1.833a15833a158p-1, -0x1.1e047158aa42cp-2},
    {0x1.5390948f40febp-1, -0x1.a484090e5bb09p-2},
    {0x1.05d84176105d8p-2, -0x1.5d1cc1a8c1166p+0},
    {0x1.3ee08fb823ee1p-2, -0x1.2aaa9b51d482fp+0},
    {0x1.6f286bca1af28p-1, -0x1.54836f9eda49cp-2},
    {0x1.4a4684d160891p+8, 0x1.7332013585988p+2}};
// NOLINTEND(modernize-use-std-numbers)

TEST_CASE("logarithms are correctly rounded") {
  for (const Logarithm& reference : kLogarithms) {
    CAPTURE(reference.x);
    CHECK(natural_log(reference.x) == reference.log);
  }
}

TEST_CASE("a value counts as at least 0.00001 in a geometric mean") {
  constexpr double kLeastTerm = -0x1.7069e2aa2aa5bp+3;
  for (const double small : {0.0, -0.0, 0x1p-1074, 1e-6, 1e-5}) {
    CAPTURE(small);
    CHECK(geometric_term(small) == kLeastTerm);
  }
  CHECK(geometric_term(1.00001e-5) > kLeastTerm);
  CHECK(geometric_term(1) == 0);
}

TEST_CASE("skipped and undefined values stay so in a geometric mean") {
  CHECK(is_skipped(geometric_term(kSkipped)));
  const double undefined = geometric_term(undefined_value(Undefined::nan));
  CHECK(std::isnan(undefined));
  CHECK_FALSE(is_skipped(undefined));
}

}  // namespace
}  // namespace exactk
