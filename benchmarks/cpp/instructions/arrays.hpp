// Arrays of the workloads: the same on every machine, as no distribution of the standard library
// draws them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_set>
#include <vector>

#include "exactk/lists.hpp"
#include "exactk/scores.hpp"

namespace exactk::benchmarks {

using Random = std::mt19937_64;

// Returns a number in [0, 1).
inline double draw_fraction(Random& random) {
  return static_cast<double>(random() >> 11U) * 0x1p-53;
}

inline std::vector<double> draw_fractions(std::size_t size, Random& random) {
  std::vector<double> fractions(size);
  for (double& fraction : fractions) fraction = draw_fraction(random);
  return fractions;
}

inline std::vector<float> draw_floats(std::size_t size, Random& random) {
  std::vector<float> floats(size);
  for (float& number : floats) number = static_cast<float>(draw_fraction(random) - 0.5);
  return floats;
}

// Scores of so many distinct values, so that some are tied.
inline std::vector<float> draw_tied_scores(std::size_t size, std::uint64_t distinct,
                                           Random& random) {
  std::vector<float> scores(size);
  for (float& score : scores) score = static_cast<float>(random() % distinct);
  return scores;
}

// Draws distinct items below `items`.
inline std::vector<std::uint64_t> draw_items(std::size_t size, std::uint64_t items,
                                             Random& random) {
  std::vector<std::uint64_t> drawn;
  std::unordered_set<std::uint64_t> seen;
  while (drawn.size() < size) {
    const std::uint64_t item = random() % items;
    if (seen.insert(item).second) drawn.push_back(item);
  }
  return drawn;
}

// Lists that own their arrays.
template <class Id>
struct OwnedLists {
  std::vector<Id> items;
  std::vector<Offset> indptr = {0};

  [[nodiscard]] Lists view() const {
    return {.items = std::span<const Id>(items), .indptr = indptr, .lengths = {}, .present = {}};
  }
  [[nodiscard]] std::size_t row_count() const { return indptr.size() - 1; }
  void append(const std::vector<std::uint64_t>& row) {
    for (const std::uint64_t item : row) items.push_back(static_cast<Id>(item));
    indptr.push_back(static_cast<Offset>(items.size()));
  }
};

struct Sizes {
  std::size_t users;
  std::size_t length;    // of a list
  std::size_t relevant;  // items of a user's truth
  std::uint64_t items;
};

// Lists, and a truth of which about a fifth is in them. Ids are multiples of `id_step`.
template <class Id>
struct DrawnLists {
  explicit DrawnLists(const Sizes& sizes, std::uint64_t id_step = 1) {
    Random random(sizes.users);
    for (std::size_t user = 0; user < sizes.users; ++user) {
      std::vector<std::uint64_t> list = draw_items(sizes.length, sizes.items, random);
      std::vector<std::uint64_t> relevant = draw_items(sizes.relevant, sizes.items, random);
      // An item of the list takes the place of every fifth relevant one, unless it is relevant too.
      for (std::size_t i = random() % 5; i < relevant.size(); i += 5) {
        const std::uint64_t hit = list[random() % list.size()];
        if (std::ranges::find(relevant, hit) == relevant.end()) relevant[i] = hit;
      }
      for (auto* row : {&list, &relevant}) {
        for (std::uint64_t& item : *row) item *= id_step;
      }
      predictions.append(list);
      truth.append(relevant);
    }
  }

  OwnedLists<std::int64_t> truth;
  OwnedLists<Id> predictions;
};

// A matrix of scores in row-major order.
inline ScoreMatrix matrix_of(std::span<const float> scores, std::size_t users) {
  const auto items = static_cast<Count>(scores.size() / users);
  return {.scores = std::as_bytes(scores).data(),
          .type = ScoreType::float32,
          .rows = static_cast<Count>(users),
          .items = items,
          .row_stride = items * static_cast<std::ptrdiff_t>(sizeof(float)),
          .item_stride = sizeof(float)};
}

template <class Id>
SparseScores sparse_scores_of(const OwnedLists<Id>& items, std::span<const float> scores) {
  return {.items = items.view(),
          .scores = std::as_bytes(scores).data(),
          .type = ScoreType::float32,
          .size = std::ssize(scores),
          .stride = sizeof(float)};
}

}  // namespace exactk::benchmarks
