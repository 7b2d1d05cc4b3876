// Distances between the items of a catalogue, by their features.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/conventions.hpp"
#include "exactk/items.hpp"
#include "kernels/table.hpp"
#include "match/catalogue_index.hpp"

namespace exactk {

// The distances of all pairs of the items added so far.
struct PairSum {
  std::vector<ItemNumber> items;  // by rank
  double total = 0;               // of their distances, or of their similarities
  std::vector<double> vector;     // the sum of their vectors, or scratch memory
};

class ItemDistances {
 public:
  explicit ItemDistances(const ItemFeatures& features);
  virtual ~ItemDistances() = default;
  ItemDistances(const ItemDistances&) = delete;
  ItemDistances& operator=(const ItemDistances&) = delete;

  // Whether the number is that of an item of the catalogue, and the item has features.
  [[nodiscard]] bool has_features(ItemNumber item) const noexcept {
    return item < is_missing_.size() && is_missing_[item] == 0;
  }
  // Asks the CPU to load the features of an item, which will soon be read.
  virtual void prefetch(ItemNumber /*item*/) const noexcept {}

  // Computes the distances between an item and others. All of them must have features.
  virtual void compute(ItemNumber item, std::span<const ItemNumber> others,
                       std::vector<double>& scratch, std::span<double> distances) const = 0;

  // Adds an item, which must have features, to the sum. Returns the sum of the distances of all
  // pairs.
  virtual double add(PairSum& sum, ItemNumber item, const Run& run) const;

 protected:
  void set_missing(ItemNumber item) noexcept { is_missing_[item] = 1; }

 private:
  std::vector<std::uint8_t> is_missing_;
};

// Throws InputError if the features have no such distance. The features, which must be valid, and
// the kernels must outlive the result.
[[nodiscard]] std::shared_ptr<const ItemDistances> make_item_distances(const ItemFeatures& features,
                                                                       ItemDistance distance,
                                                                       const Kernels& kernels,
                                                                       const Run& run);

}  // namespace exactk
