#include "common.hpp"
#include "numeric/discounts.hpp"
#include "runs.hpp"

namespace exactk {
namespace {

struct Reference {
  Count rank;
  double log2;
  double floored;
};

// From Python's decimal at 60 digits, rounded once to a double:
// log2 = 1 / (ln(rank + 1) / ln 2), floored = 1 / max(1, ln(rank) / ln 2).
constexpr Reference kReferences[] = {
    {1, 0x1.0000000000000p+0, 0x1.0000000000000p+0},
    {2, 0x1.430939835353dp-1, 0x1.0000000000000p+0},
    {3, 0x1.0000000000000p-1, 0x1.430939835353dp-1},
    {4, 0x1.b903469050f73p-2, 0x1.0000000000000p-1},
    {5, 0x1.8c23246dc0a9fp-2, 0x1.b903469050f73p-2},
    {6, 0x1.6cc193acea9b5p-2, 0x1.8c23246dc0a9fp-2},
    {7, 0x1.5555555555555p-2, 0x1.6cc193acea9b5p-2},
    {8, 0x1.430939835353dp-2, 0x1.5555555555555p-2},
    {9, 0x1.34413509f79ffp-2, 0x1.430939835353dp-2},
    {10, 0x1.28009c1dd6454p-2, 0x1.34413509f79ffp-2},
    {20, 0x1.d244c78367a0dp-3, 0x1.d9dcd21439835p-3},
    {31, 0x1.999999999999ap-3, 0x1.9d630dccc7ddfp-3},
    {32, 0x1.95fec808a6094p-3, 0x1.999999999999ap-3},
    {33, 0x1.928ee7b0b4f23p-3, 0x1.95fec808a6094p-3},
    {63, 0x1.5555555555555p-3, 0x1.56a179e4d652dp-3},
    {100, 0x1.3397116cededfp-3, 0x1.34413509f79ffp-3},
    {1000, 0x1.9af2633893af9p-4, 0x1.9b019c0d4a2a9p-4},
    {4095, 0x1.5555555555555p-4, 0x1.5557e604f1eadp-4},
    {4096, 0x1.5552c4d8a0254p-4, 0x1.5555555555555p-4},
    {65535, 0x1.0000000000000p-4, 0x1.000017155504bp-4},
    {99999, 0x1.ed3521a98c332p-5, 0x1.ed353dbcdbeccp-5},
    {1048576, 0x1.999997c0dba27p-5, 0x1.999999999999ap-5},
    {1234567, 0x1.94d4e33ea2ca8p-5, 0x1.94d4e4c6dd217p-5},
    {16777216, 0x1.55555540d0a42p-5, 0x1.5555555555555p-5},
    {99999989, 0x1.344135260ae4fp-5, 0x1.34413528d99f1p-5},
    {1073741824, 0x1.11111110dc8a3p-5, 0x1.1111111111111p-5},
    {2147483646, 0x1.0842108439a0fp-5, 0x1.084210845239ap-5},
    {2147483647, 0x1.0842108421084p-5, 0x1.0842108439a0fp-5},
    {2147483648, 0x1.08421084086f9p-5, 0x1.0842108421084p-5},
    // Among 400000 ranks, those whose log2 discount is closest to the midpoint of two doubles.
    {22878, 0x1.1ad6c973bc3aap-4, 0x1.1ad71a2a7414ep-4},
    {28731, 0x1.14901e3405f89p-4, 0x1.14905ba75cc53p-4},
    {115340, 0x1.e72b1224f337fp-5, 0x1.e72b29e4a20bcp-5},
    {120703, 0x1.e546aa09e6e52p-5, 0x1.e546c08e6a35ep-5},
    {360566, 0x1.bbc5c48236f19p-5, 0x1.bbc5cacffa8bap-5},
    {911758, 0x1.9dc5e6540d2a5p-5, 0x1.9dc5e87ede19cp-5},
    {1147382, 0x1.96f4dd2b10099p-5, 0x1.96f4ded5894f6p-5},
    {1729755, 0x1.8b537612f5ebep-5, 0x1.8b53771de939ep-5},
    {9760689, 0x1.60d241da58042p-5, 0x1.60d242000699ep-5},
    {14385235, 0x1.5884d6f6a8285p-5, 0x1.5884d70f09263p-5},
    {46065276, 0x1.41cb998c9ac84p-5, 0x1.41cb99933f19bp-5},
    {184672996, 0x1.2a520d512bdb2p-5, 0x1.2a520d52985d3p-5},
    {333510706, 0x1.2155df70c8e2ep-5, 0x1.2155df7186bf8p-5},
    {1356027442, 0x1.0e091dfd32524p-5, 0x1.0e091dfd5afeep-5},
};

constexpr Discount kDiscounts[] = {Discount::log2, Discount::log2_floored};

TEST_CASE("discounts are the correctly rounded values") {
  for (const Reference& reference : kReferences) {
    CAPTURE(reference.rank);
    CHECK(discount(Discount::log2, reference.rank) == reference.log2);
    CHECK(discount(Discount::log2_floored, reference.rank) == reference.floored);
  }
}

// The logarithm of a power of two is an integer, whose reciprocal the division rounds correctly.
TEST_CASE("discounts at powers of two are reciprocals of integers") {
  for (int exponent = 1; exponent <= 52; ++exponent) {
    CAPTURE(exponent);
    const Count power = Count{1} << static_cast<unsigned>(exponent);
    CHECK(discount(Discount::log2, power - 1) == 1.0 / exponent);
    CHECK(discount(Discount::log2_floored, power) == 1.0 / exponent);
  }
}

TEST_CASE("discounts never increase with the rank") {
  for (const Discount kind : kDiscounts) {
    double above = std::numeric_limits<double>::infinity();
    for (Count rank = 1; rank <= 10000; ++rank) {
      const double here = discount(kind, rank);
      CHECK(here > 0);
      CHECK((here < above || (here == 1 && rank == 2)));
      above = here;
    }
  }
}

TEST_CASE("a table holds the discounts and their sums in rank order") {
  constexpr Count kDepth = 5000;
  for (const Discount kind : kDiscounts) {
    const DiscountTable table(kind, kDepth, 0, idle_run);
    REQUIRE(table.depth() == kDepth);
    CHECK(table.sum_to(0) == 0);
    double sum = 0;
    for (Count rank = 1; rank <= kDepth; ++rank) {
      CAPTURE(rank);
      CHECK(table.at(rank) == discount(kind, rank));
      sum += discount(kind, rank);
      CHECK(table.sum_to(rank) == sum);
    }
  }
}

TEST_CASE("discounts below the depth of a table are computed on demand") {
  for (const Discount kind : kDiscounts) {
    CHECK(DiscountTable(kind, 3, 100, idle_run).depth() == 100);
    const DiscountTable table(kind, 3, Count{1} << 40U, idle_run);
    CHECK(table.depth() < 100000);
    for (const Count rank : {Count{1}, table.depth(), table.depth() + 1, Count{1} << 31U}) {
      CAPTURE(rank);
      CHECK(table.at(rank) == discount(kind, rank));
    }
  }
}

TEST_CASE("building a table calls the checkpoint") {
  const Run run = polling_run([] { throw std::runtime_error("stop"); });
  CHECK_THROWS_AS(DiscountTable(Discount::log2, 5000, 0, run), std::runtime_error);
}

TEST_CASE("a table may be empty") {
  const DiscountTable table(Discount::log2, 0, 0, idle_run);
  CHECK(table.depth() == 0);
  CHECK(table.at(1) == 1);
  CHECK(table.sum_to(0) == 0);
}

}  // namespace
}  // namespace exactk
