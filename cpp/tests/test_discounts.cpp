#include <array>

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

const DiscountFields kDiscounts[] = {
    {.discount = Discount::log2},
    {.discount = Discount::log2_floored},
    {.discount = Discount::log, .discount_base = 1.001},
    {.discount = Discount::log_floored, .discount_base = 10},
    {.discount = Discount::inverse},
    {.discount = Discount::power, .discount_power = 0.37},
    {.discount = Discount::power, .discount_power = 16},
    {.discount = Discount::geometric},
    {.discount = Discount::geometric, .discount_persistence = 0.5},
    {.discount = Discount::none},
    {.discount = Discount::table, .discount_table = {1, 0.5, 0.5, 0.125}},
};

// From Python's decimal at 60 digits, rounded once to a double.
TEST_CASE("powers and logarithms to other bases are correctly rounded") {
  const DiscountFields ten = {.discount = Discount::log, .discount_base = 10};
  const DiscountFields floored = {.discount = Discount::log_floored, .discount_base = 10};
  const DiscountFields power = {.discount = Discount::power, .discount_power = 0.37};
  struct Expected {
    Count rank;
    double log;
    double log_floored;
    double power;
  };
  for (const auto& [rank, of_log, of_floored, of_power] : std::to_array<Expected>({
           {1, 0x1.a934f0979a371p+1, 0x1.0000000000000p+0, 0x1.0000000000000p+0},
           {2, 0x1.0c468ef9537c1p+1, 0x1.0000000000000p+0, 0x1.8c2d382bb2f2bp-1},
           {3, 0x1.a934f0979a371p+0, 0x1.0000000000000p+0, 0x1.54fc1fcd4e434p-1},
           {5, 0x1.48fc217492548p+0, 0x1.0000000000000p+0, 0x1.1a42d8b6bf29bp-1},
           {10, 0x1.eba6397d1bd09p-1, 0x1.0000000000000p+0, 0x1.b4d142e995c49p-2},
           {11, 0x1.da6f09e80f2d7p-1, 0x1.eba6397d1bd09p-1, 0x1.a5ae7e1af1b67p-2},
           {97, 0x1.0120c551b811ep-1, 0x1.01b459923d797p-1, 0x1.78e6042fde254p-3},
           {4096, 0x1.1b767f31abec7p-2, 0x1.1b78a065117a1p-2, 0x1.7969b519c3c9cp-5},
           {99991, 0x1.999a542306777p-3, 0x1.999a6b7484cabp-3, 0x1.cee02efa3ffc3p-7},
           {2147483647, 0x1.b6ec53312351ap-4, 0x1.b6ec53314c2c3p-4, 0x1.71a5580193c4ap-12},
       })) {
    CAPTURE(rank);
    CHECK(discount(ten, rank) == of_log);
    CHECK(discount(floored, rank) == of_floored);
    CHECK(discount(power, rank) == of_power);
  }
  CHECK(discount(ten, 99) == 0.5);
  CHECK(discount(floored, 1000) == discount({.discount = Discount::inverse}, 3));
  CHECK(discount({.discount = Discount::power, .discount_power = 0.5}, 49) ==
        discount({.discount = Discount::inverse}, 7));
}

TEST_CASE("discounts are the correctly rounded values") {
  for (const Reference& reference : kReferences) {
    CAPTURE(reference.rank);
    CHECK(discount({.discount = Discount::log2}, reference.rank) == reference.log2);
    CHECK(discount({.discount = Discount::log2_floored}, reference.rank) == reference.floored);
    CHECK(discount({.discount = Discount::log, .discount_base = 2}, reference.rank) ==
          reference.log2);
  }
}

// The logarithm of a power of two is an integer, whose reciprocal the division rounds correctly.
TEST_CASE("discounts at powers of two are reciprocals of integers") {
  for (int exponent = 1; exponent <= 52; ++exponent) {
    CAPTURE(exponent);
    const Count power = Count{1} << static_cast<unsigned>(exponent);
    CHECK(discount({.discount = Discount::log2}, power - 1) == 1.0 / exponent);
    CHECK(discount({.discount = Discount::log2_floored}, power) == 1.0 / exponent);
  }
}

TEST_CASE("discounts never increase with the rank") {
  for (const DiscountFields& fields : kDiscounts) {
    double above = std::numeric_limits<double>::infinity();
    for (Count rank = 1; rank <= 10000; ++rank) {
      const double here = discount(fields, rank);
      CHECK(here <= above);
      above = here;
    }
    const bool ends = fields.discount == Discount::table || fields.discount == Discount::geometric;
    CHECK((above == 0) == ends);
  }
}

TEST_CASE("a table holds the discounts and their sums in rank order") {
  constexpr Count kDepth = 5000;
  for (const DiscountFields& fields : kDiscounts) {
    const DiscountTable table(fields, kDepth, 0, idle_run);
    REQUIRE(table.depth() == kDepth);
    CHECK(table.sum_to(0) == 0);
    double sum = 0;
    for (Count rank = 1; rank <= kDepth; ++rank) {
      CAPTURE(rank);
      CHECK(table.at(rank) == discount(fields, rank));
      sum += discount(fields, rank);
      CHECK(table.sum_to(rank) == sum);
    }
  }
}

TEST_CASE("discounts below the depth of a table are computed on demand") {
  for (const DiscountFields& fields : kDiscounts) {
    CHECK(DiscountTable(fields, 3, 100, idle_run).depth() == 100);
    const DiscountTable table(fields, 3, Count{1} << 40U, idle_run);
    CHECK(table.depth() < 100000);
    for (const Count rank : {Count{1}, table.depth(), table.depth() + 1, Count{1} << 31U}) {
      CAPTURE(rank);
      CHECK(table.at(rank) == discount(fields, rank));
    }
  }
}

TEST_CASE("building a table calls the checkpoint") {
  const Run run = polling_run([] { throw std::runtime_error("stop"); });
  CHECK_THROWS_AS(DiscountTable({}, 5000, 0, run), std::runtime_error);
}

TEST_CASE("a table may be empty") {
  const DiscountTable table({}, 0, 0, idle_run);
  CHECK(table.depth() == 0);
  CHECK(table.at(1) == 1);
  CHECK(table.sum_to(0) == 0);
}

}  // namespace
}  // namespace exactk
