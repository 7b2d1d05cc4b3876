// The family C/W/L: a reader goes on from each rank to the next with a chance that the metric has,
// and the value is the expected gain per rank that is read. Gains are from 0 to 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "metrics/dcg.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// No reader goes further, as in cwl_eval; gains below count nothing.
inline constexpr Count kReaderRanks = 1000;

// What a reader has seen at a rank.
struct Reading {
  double rank;
  double gained;        // the gains down to the rank
  double dissatisfied;  // 1 - gain of the item, multiplied over those that share the rank
  double parameter;

  // Returns how much less likely a reader reads on who expects a gain of t and has `met` of it.
  [[nodiscard]] double continuation(double met) const noexcept {
    const double left = rank + 2 * parameter - met;
    return (left - 1) / left * ((left - 1) / left);
  }
};

// The expected gain of a reader. `Reader::chance` is that of going on to the next rank.
template <class Reader>
class ExpectedGain {
 public:
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility): readers inherit it
  explicit ExpectedGain(const Context& context)
      : row_(context.row), parameter_(context.parameter) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const noexcept {
    const auto items = row_.judged_items.first(static_cast<std::size_t>(counts.judged));
    const Count last = Reader::kEndsAtCutoff ? std::min(counts.cutoff, kReaderRanks) : kReaderRanks;
    Ratio sums{0, 0};
    double weight = 1;  // the chance that the rank is read
    Reading reading{.rank = 0, .gained = 0, .dissatisfied = 1, .parameter = parameter_};
    auto item = items.begin();
    for (Count rank = 1; rank <= last && weight > 0; ++rank) {
      reading.rank = static_cast<double>(rank);
      reading.dissatisfied = 1;
      for (; item != items.end() && item->rank == rank; ++item) {
        sums.numerator += weight * item->gain;
        reading.gained += item->gain;
        reading.dissatisfied *= 1 - item->gain;
      }
      sums.denominator += weight;
      weight *= Reader::chance(reading);
    }
    return {std::min(sums.numerator, sums.denominator), sums.denominator};  // but for rounding
  }

 private:
  const HitRow& row_;
  double parameter_;
};

// Returns how many of the tie's first ranks a reader may get to.
[[nodiscard]] inline Count ranks_read(const TiedHits& tied, Count ranks) noexcept {
  return std::clamp(kReaderRanks - tied.tie.first + 1, Count{0}, ranks);
}

class Sdcg {
 public:
  static constexpr std::string_view kAliases[] = {"scaled_dcg"};
  static constexpr MetricInfo info{
      .name = "sdcg",
      .aliases = kAliases,
      .summary =
          "discounted cumulative gain over that of a list of k items of gain 1; gains from "
          "0 to 1",
      .formula =
          "(sum over i <= m of gain(i) / log2(i + 1)) / (sum over i <= m of 1 / log2(i + "
          "1)), m = min(k, 1000)",
      .source = "Azzopardi, Thomas, Moffat 2019 (cwl_eval)",
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .discounted = true,
      .gains_to_one = true};

  explicit Sdcg(const Context& context) : dcg_(context), discounts_(context.discounts) {}

  double accumulate(const JudgedItem& item) noexcept {
    if (item.rank <= kReaderRanks) sum_ = dcg_.accumulate(item);
    return sum_;
  }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const {
    return dcg_.expectation(tied, ranks_read(tied, ranks));
  }
  [[nodiscard]] Ratio ratio_at(double sum, const CutoffCounts& counts,
                               const Rules&) const noexcept {
    const double most = discounts_.sum_to(std::min(counts.cutoff, kReaderRanks));
    return {std::min(sum, most), most};  // no more, except by rounding
  }

 private:
  Dcg dcg_;
  const DiscountTable& discounts_;
  double sum_ = 0;
};

// The highest parameter t, as far as a reader can get.
inline constexpr double kMostExpected = 1000;

class Insq {
 public:
  static constexpr std::string_view kAliases[] = {"inverse_square"};
  static constexpr MetricInfo info{
      .name = "insq",
      .aliases = kAliases,
      .summary =
          "expected gain per rank for a reader who expects to find t relevant items, whatever the "
          "list has; gains from 0 to 1",
      .formula =
          "sum over hits at ranks i <= min(k, 1000) of W(i) gain(i), W(i) proportional to "
          "1 / (i + 2t - 1)^2 with a sum of 1 over 1000 ranks",
      .source = "Moffat, Scholer, Thomas 2012",
      .parameter = {"t", 1, 0.5, kMostExpected},
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  explicit Insq(const Context& context) : parameter_(context.parameter) {
    for (Count rank = 1; rank <= kReaderRanks; ++rank) weights_ += weight(rank);
  }

  double accumulate(const JudgedItem& item) noexcept {
    return sum_ += weight(item.rank) * item.gain;
  }
  [[nodiscard]] double expectation(const TiedHits& tied, Count ranks) const noexcept {
    double weights = 0;
    for (Count i = 0; i < ranks_read(tied, ranks); ++i) weights += weight(tied.tie.first + i);
    return tied.gain / static_cast<double>(tied.tie.size()) * weights;
  }
  [[nodiscard]] Ratio ratio_at(double sum, const CutoffCounts&, const Rules&) const noexcept {
    return {std::min(sum, weights_), weights_};  // no more, except by rounding
  }

 private:
  [[nodiscard]] double weight(Count rank) const noexcept {
    if (rank > kReaderRanks) return 0;
    const double left = static_cast<double>(rank) + 2 * parameter_ - 1;
    return 1 / (left * left);
  }

  double parameter_;
  double weights_ = 0;
  double sum_ = 0;
};

class Inst : public ExpectedGain<Inst> {
 public:
  static constexpr bool kEndsAtCutoff = false;
  static constexpr MetricInfo info{
      .name = "inst",
      .summary =
          "expected gain per rank for a reader who expects to find t relevant items and is the "
          "likelier to stop the more are found; gains from 0 to 1",
      .formula =
          "sum over hits at ranks i <= min(k, 1000) of W(i) gain(i), W(i + 1) / W(i) = "
          "((i + 2t - 1 - U) / (i + 2t - U))^2, U the gains down to i",
      .source = "Bailey, Moffat, Scholer, Thomas 2015",
      .parameter = Insq::info.parameter,
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  using ExpectedGain::ExpectedGain;
  static double chance(const Reading& reading) noexcept {
    return reading.continuation(reading.gained);
  }
};

class Bpm : public ExpectedGain<Bpm> {
 public:
  static constexpr bool kEndsAtCutoff = true;
  static constexpr std::string_view kAliases[] = {"bejeweled_player_model"};
  static constexpr MetricInfo info{
      .name = "bpm",
      .aliases = kAliases,
      .summary =
          "mean gain down to the rank at which the gains add up to t, or to the cutoff; gains from "
          "0 to 1",
      .formula =
          "(sum over i <= m of gain(i)) / m, m the first rank at which it is t, or min(k, 1000)",
      .source = "Zhang et al. 2017 (Bejeweled player model, static)",
      .parameter = {"t", 1, 0, kMostExpected},
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  using ExpectedGain::ExpectedGain;
  // Sums of thirds may round to less than a whole number.
  static double chance(const Reading& reading) noexcept {
    return reading.gained * (1 + 0x1p-40) < reading.parameter ? 1 : 0;
  }
};

class Nerr8 : public ExpectedGain<Nerr8> {
 public:
  static constexpr bool kEndsAtCutoff = true;
  static constexpr MetricInfo info{
      .name = "nerr8",
      .summary =
          "expected gain per rank for a reader who stops at an item with the chance of its gain, "
          "or at the cutoff; gains from 0 to 1",
      .formula =
          "sum over hits at ranks i <= min(k, 1000) of W(i) gain(i), W(i + 1) / W(i) = 1 - gain(i)",
      .source = "Azzopardi, Mackenzie, Moffat 2021, equation 8",
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  using ExpectedGain::ExpectedGain;
  static double chance(const Reading& reading) noexcept { return reading.dissatisfied; }
};

class Nerr9 : public ExpectedGain<Nerr9> {
 public:
  static constexpr bool kEndsAtCutoff = true;
  static constexpr MetricInfo info{
      .name = "nerr9",
      .summary = "nerr8 for a reader who also stops early at low ranks, as the reader of err does",
      .formula =
          "sum over hits at ranks i <= min(k, 1000) of W(i) gain(i), W(i + 1) / W(i) = "
          "i / (i + 1) (1 - gain(i))",
      .source = "Azzopardi, Mackenzie, Moffat 2021, equation 9",
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  using ExpectedGain::ExpectedGain;
  static double chance(const Reading& reading) noexcept {
    return reading.rank / (reading.rank + 1) * reading.dissatisfied;
  }
};

class Nerr10 : public ExpectedGain<Nerr10> {
 public:
  static constexpr bool kEndsAtCutoff = false;
  static constexpr MetricInfo info{
      .name = "nerr10",
      .summary =
          "expected gain per rank for a reader who stops at an item with the chance of its gain, "
          "and else goes on with probability p, as the reader of rbp does; gains from 0 to 1",
      .formula =
          "sum over hits at ranks i <= min(k, 1000) of W(i) gain(i), W(i + 1) / W(i) = "
          "p (1 - gain(i))",
      .source = "Azzopardi, Mackenzie, Moffat 2021, equation 10",
      .parameter = {"p", 0.9, 0, 1 - 0x1p-53},
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  using ExpectedGain::ExpectedGain;
  static double chance(const Reading& reading) noexcept {
    return reading.parameter * reading.dissatisfied;
  }
};

class Nerr11 : public ExpectedGain<Nerr11> {
 public:
  static constexpr bool kEndsAtCutoff = false;
  static constexpr MetricInfo info{
      .name = "nerr11",
      .summary =
          "expected gain per rank for a reader who stops at an item with the chance of its gain, "
          "and else goes on as the reader of insq does; gains from 0 to 1",
      .formula =
          "sum over hits at ranks i <= min(k, 1000) of W(i) gain(i), W(i + 1) / W(i) = "
          "((i + 2t - 1) / (i + 2t))^2 (1 - gain(i))",
      .source = "Azzopardi, Mackenzie, Moffat 2021, equation 11",
      .parameter = Insq::info.parameter,
      .always_divided = true,
      .micro = false,
      .uses_gains = true,
      .gains_to_one = true};

  using ExpectedGain::ExpectedGain;
  static double chance(const Reading& reading) noexcept {
    return reading.continuation(0) * reading.dissatisfied;
  }
};

}  // namespace exactk
