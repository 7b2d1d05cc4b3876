// Helpers of the tests: integers as long as the core's exact sums, processed bit by bit, to be
// obviously correct rather than fast.
#pragma once

#include "common.hpp"
#include "exactk/evaluate.hpp"

namespace exactk::tests {

// Two's complement, least significant byte first.
class Integer {
 public:
  explicit Integer(std::size_t size) : bytes_(size) {}
  explicit Integer(const ExactInteger& integer) : bytes_(integer.bytes) {}

  // Returns value x 2^scale, rounded half to even if it is not an integer.
  static Integer scaled(double value, int scale, std::size_t size) {
    Integer integer(size);
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    int bit = exponent - 53 + scale;  // |value| x 2^scale is mantissa x 2^bit
    bool above_half = false;          // bits shifted out below the last bit
    for (; bit < -1 && mantissa != 0; ++bit) {
      above_half = above_half || (mantissa & 1U) != 0;
      mantissa >>= 1U;
    }
    if (bit < 0) {
      const bool half = (mantissa & 1U) != 0;
      mantissa >>= 1U;
      if (half && (above_half || (mantissa & 1U) != 0)) ++mantissa;
      bit = 0;
    }
    for (; mantissa != 0; mantissa >>= 1U, ++bit) {
      if ((mantissa & 1U) != 0) integer.set_bit(static_cast<std::size_t>(bit));
    }
    if (value < 0) integer.negate();
    return integer;
  }

  void add(const Integer& other) {
    unsigned carry = 0;
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const unsigned sum = bytes_[i] + unsigned{other.bytes_.at(i)} + carry;
      bytes_[i] = static_cast<std::uint8_t>(sum & 0xffU);
      carry = sum >> 8U;
    }
  }

  [[nodiscard]] Integer times(const Integer& other) const {
    Integer product(bytes_.size());
    Integer shifted = other;
    for (std::size_t bit = 0; bit < 8 * bytes_.size(); ++bit) {
      if ((unsigned{bytes_[bit / 8]} >> (bit % 8) & 1U) != 0) product.add(shifted);
      shifted.add(Integer(shifted));
    }
    return product;
  }

  void negate() {
    for (std::uint8_t& byte : bytes_) byte = static_cast<std::uint8_t>(~byte);
    Integer one(bytes_.size());
    one.set_bit(0);
    add(one);
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  void set_bit(std::size_t bit) {
    bytes_.at(bit / 8) |= static_cast<std::uint8_t>(1U << (bit % 8));
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace exactk::tests
