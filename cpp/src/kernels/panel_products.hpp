// Products of users' vectors and items' vectors, in single precision. Items are packed in panels,
// number by number, so that one number of a user is multiplied with those of many items at once.
#pragma once

#include "kernels/table.hpp"

namespace exactk {

template <class Lanes>
struct PanelProducts {
  using Vector = Lanes::Vector;
  // Items whose products with a few users fit the registers: a part of a panel.
  static constexpr std::size_t kPartItems = Lanes::kPartVectors * Lanes::kWidth;
  static_assert(kPanelItems % kPartItems == 0);

  // Packs four numbers of four rows.
  static void pack_four(const float* rows, std::size_t stride, float* panel) {
    using Four [[gnu::vector_size(16)]] = float;
    Four row[4];
    for (std::size_t i = 0; i < 4; ++i) __builtin_memcpy(&row[i], rows + i * stride, sizeof row[i]);
    const Four low[] = {__builtin_shufflevector(row[0], row[1], 0, 4, 1, 5),
                        __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5)};
    const Four high[] = {__builtin_shufflevector(row[0], row[1], 2, 6, 3, 7),
                         __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7)};
    const Four columns[] = {__builtin_shufflevector(low[0], low[1], 0, 1, 4, 5),
                            __builtin_shufflevector(low[0], low[1], 2, 3, 6, 7),
                            __builtin_shufflevector(high[0], high[1], 0, 1, 4, 5),
                            __builtin_shufflevector(high[0], high[1], 2, 3, 6, 7)};
    for (std::size_t i = 0; i < 4; ++i) {
      __builtin_memcpy(panel + i * kPanelItems, &columns[i], sizeof columns[i]);
    }
  }

  static void pack(const float* rows, std::size_t count, std::size_t stride, std::size_t width,
                   float* panel) {
    std::size_t item = 0;
    for (; item + 4 <= count; item += 4) {
      const float* const four_rows = rows + item * stride;
      std::size_t column = 0;
      for (; column + 4 <= width; column += 4) {
        pack_four(four_rows + column, stride, panel + column * kPanelItems + item);
      }
      for (; column < width; ++column) {
        for (std::size_t i = 0; i < 4; ++i) {
          panel[column * kPanelItems + item + i] = four_rows[i * stride + column];
        }
      }
    }
    for (; item < kPanelItems; ++item) {
      for (std::size_t column = 0; column < width; ++column) {
        panel[column * kPanelItems + item] = item < count ? rows[item * stride + column] : 0.0F;
      }
    }
  }

  // A range of columns of some users and of a panel.
  struct Columns {
    const float* vectors;  // of the users
    std::size_t width;     // from one vector to the next
    const float* panel;
    std::size_t size;
    float* products;
    std::size_t stride;  // from the products of one user to the next
    bool is_first;       // whether products begin with these columns, or these are added to them
  };

  template <std::size_t users>
  static void multiply_part(const Columns& columns, std::size_t part) {
    const float* const panel = columns.panel + part;
    float* const products = columns.products + part;
    Vector sums[users][Lanes::kPartVectors];
    for (std::size_t user = 0; user < users; ++user) {
      for (std::size_t v = 0; v < Lanes::kPartVectors; ++v) {
        sums[user][v] = columns.is_first
                            ? Lanes::broadcast(0.0F)
                            : Lanes::load(products + user * columns.stride + v * Lanes::kWidth);
      }
    }
    for (std::size_t column = 0; column < columns.size; ++column) {
      Vector numbers[users];
      for (std::size_t user = 0; user < users; ++user) {
        numbers[user] = Lanes::broadcast(columns.vectors[user * columns.width + column]);
      }
      for (std::size_t v = 0; v < Lanes::kPartVectors; ++v) {
        const Vector items = Lanes::load(panel + column * kPanelItems + v * Lanes::kWidth);
        for (std::size_t user = 0; user < users; ++user) {
          sums[user][v] = Lanes::multiply_add(numbers[user], items, sums[user][v]);
        }
      }
    }
    for (std::size_t user = 0; user < users; ++user) {
      for (std::size_t v = 0; v < Lanes::kPartVectors; ++v) {
        Lanes::store(products + user * columns.stride + v * Lanes::kWidth, sums[user][v]);
      }
    }
  }

  // Multiplies `users` users at a time, and the rest in smaller steps.
  template <std::size_t users>
  static void multiply_columns(Columns columns, std::size_t count) {
    for (; count >= users; count -= users) {
      for (std::size_t part = 0; part < kPanelItems; part += kPartItems) {
        multiply_part<users>(columns, part);
      }
      columns.vectors += users * columns.width;
      columns.products += users * columns.stride;
    }
    if constexpr (users > 1) {
      if (count > 0) multiply_columns<users / 2>(columns, count);
    }
  }

  // NOLINTBEGIN(readability-non-const-parameter): products are written, through `columns`
  static void multiply(const float* vectors, std::size_t count, std::size_t width,
                       const float* panels, std::size_t panel_count, float* products,
                       std::size_t stride) {
    // NOLINTEND(readability-non-const-parameter)
    constexpr std::size_t kColumns = 256;  // of a panel, which a near cache holds
    Columns columns{.vectors = vectors,
                    .width = width,
                    .panel = panels,
                    .size = 0,
                    .products = products,
                    .stride = stride,
                    .is_first = true};
    for (std::size_t panel = 0; panel < panel_count; ++panel) {
      columns.products = products + panel * kPanelItems;
      for (std::size_t begin = 0; begin < width; begin += columns.size) {
        columns.vectors = vectors + begin;
        columns.size = width - begin < kColumns ? width - begin : kColumns;
        columns.is_first = begin == 0;
        multiply_columns<Lanes::kPartUsers>(columns, count);
        columns.panel += columns.size * kPanelItems;
      }
    }
  }
};

template <class Lanes>
inline constexpr ProductKernels kProductKernels = {.pack = &PanelProducts<Lanes>::pack,
                                                   .multiply = &PanelProducts<Lanes>::multiply};

}  // namespace exactk
