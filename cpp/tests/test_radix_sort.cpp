#include "base/radix_sort.hpp"
#include "common.hpp"
#include "numeric/key_order.hpp"
#include "runs.hpp"

namespace exactk {
namespace {

template <class Number>
struct Element {
  Number number;
  std::uint32_t position;
  bool operator==(const Element&) const = default;
};

// Draws numbers with bits only in the mask.
template <class Number>
std::vector<Element<Number>> draw_elements(std::size_t size, Number mask, std::mt19937_64& random) {
  std::vector<Element<Number>> elements(size);
  for (std::size_t i = 0; i < size; ++i) {
    elements[i] = {static_cast<Number>(random() & mask), static_cast<std::uint32_t>(i)};
  }
  return elements;
}

template <class Number>
void check_sorted(std::vector<Element<Number>> elements, std::vector<Element<Number>>& buffer) {
  const auto number_of = [](const Element<Number>& element) { return element.number; };
  auto expected = elements;
  std::ranges::sort(expected, {}, [](const Element<Number>& element) {
    return std::pair(element.number, element.position);  // the original order
  });
  radix_sort(elements, buffer, number_of, idle_run);
  CHECK(elements == expected);
}

template <class Number>
void check_masks(const std::vector<Number>& masks) {
  std::mt19937_64 random(5);
  std::vector<Element<Number>> buffer;  // longer than some that follow, and shorter than others
  for (const std::size_t size : {0U, 1U, 2U, 3U, 300U, 64U, 5000U, 255U, 256U, 257U, 70'000U, 9U}) {
    CAPTURE(size);
    for (const Number mask : masks) {
      CAPTURE(mask);
      check_sorted(draw_elements(size, mask, random), buffer);
    }
  }
}

TEST_CASE("elements are sorted by a number, stably") {
  check_masks<std::uint32_t>({0, 1, 0xff, 0x100, 0xff00ff, 0xff000000, 0x80000001, 0xffffffff});
  check_masks<std::uint64_t>({0, 1, std::uint64_t{1} << 63U, 0xff00000000ff, 0x0101010101010101,
                              0xffffffff00000000, ~std::uint64_t{0}});
}

TEST_CASE("a long sort can be cancelled without losing or repeating an element") {
  std::mt19937_64 random(6);
  const auto elements = draw_elements<std::uint32_t>(3 * kChunk, 0xffff, random);
  const auto number_of = [](const Element<std::uint32_t>& element) { return element.number; };
  auto sorted = elements;
  std::vector<Element<std::uint32_t>> buffer;
  int checkpoints = 0;
  radix_sort(sorted, buffer, number_of, polling_run([&] { ++checkpoints; }));
  // To count, to make room, and once per digit that they do not share.
  CHECK(checkpoints == 4 * 3);
  for (int last = 1; last <= checkpoints; ++last) {
    auto stopped = elements;
    int passed = 0;
    const Run stop = polling_run([&] {
      if (++passed == last) throw std::runtime_error("enough");
    });
    buffer.clear();
    CHECK_THROWS_AS(radix_sort(stopped, buffer, number_of, stop), std::runtime_error);
    std::ranges::sort(stopped, {}, &Element<std::uint32_t>::position);
    CHECK(stopped == elements);
  }
}

template <class Key>
void check_codes(const std::vector<Key>& keys) {
  for (const Key one : keys) {
    for (const Key next : keys) {
      const bool before = one > next || (!is_nan(one) && is_nan(next));
      CAPTURE(one);
      CAPTURE(next);
      CHECK((descending_code(one) < descending_code(next)) == before);
      CHECK((descending_code(one) == descending_code(next)) == is_same_key(one, next));
    }
  }
}

template <class Key>
std::vector<Key> odd_keys() {
  using Limits = std::numeric_limits<Key>;
  std::vector<Key> keys = {0, 1, 2, Limits::max()};
  if constexpr (Limits::has_infinity) {
    keys.insert(keys.end(), {Limits::infinity(), Limits::quiet_NaN(), Limits::min(),
                             Limits::denorm_min(), std::nextafter(Key{1}, Key{2})});
  } else {
    keys.push_back(Limits::max() - 1);
  }
  for (std::size_t i = keys.size(); i-- > 0;) keys.push_back(-keys[i]);
  keys.push_back(Limits::lowest());
  return keys;
}

TEST_CASE("codes descend as keys ascend, and NaN has the highest code") {
  check_codes(odd_keys<float>());
  check_codes(odd_keys<double>());
  check_codes(odd_keys<std::int64_t>());
}

}  // namespace
}  // namespace exactk
