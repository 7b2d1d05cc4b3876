// The kernels of one instruction set, for whose lanes they are compiled.
#pragma once

#include "kernels/bitwise_or.hpp"
#include "kernels/columns.hpp"
#include "kernels/divide.hpp"
#include "kernels/mix_items.hpp"
#include "kernels/panel_products.hpp"
#include "kernels/resamples.hpp"
#include "kernels/select.hpp"
#include "kernels/short_lists.hpp"
#include "kernels/short_scores.hpp"
#include "kernels/table.hpp"
#include "kernels/unit_sums.hpp"
#include "kernels/vectors.hpp"

namespace exactk {

// `Lanes` calculate, the next three compare scores, and `ProductLanes` multiply panels.
template <class Lanes, class Float32Lanes, class Float64Lanes, class Int64Lanes, class ProductLanes>
inline constexpr Kernels kKernels{.sum_unit_terms = &sum_unit_terms<Lanes>,
                                  .divide = &divide<Lanes>,
                                  .or_of_uint32 = &bitwise_or<Lanes, std::uint32_t>,
                                  .or_of_uint64 = &bitwise_or<Lanes, std::uint64_t>,
                                  .mix_items = &mix_items<Lanes>,
                                  .int32_lists = kShortListKernels<Lanes, std::int32_t>,
                                  .int64_lists = kShortListKernels<Lanes, std::int64_t>,
                                  .uint32_lists = kShortListKernels<Lanes, std::uint32_t>,
                                  .uint64_lists = kShortListKernels<Lanes, std::uint64_t>,
                                  .float32_rows = {&rank_short_row<Lanes, float>},
                                  .float64_rows = {&rank_short_row<Lanes, double>},
                                  .columns = kColumnKernels<Lanes, Float64Lanes>,
                                  .resampling = kResamplingKernels<Lanes>,
                                  .products = kProductKernels<ProductLanes>,
                                  .float32 = kScoreKernels<Float32Lanes>,
                                  .float64 = kScoreKernels<Float64Lanes>,
                                  .int64 = kScoreKernels<Int64Lanes>,
                                  .float32_vectors = kVectorKernels<Lanes, float>,
                                  .float64_vectors = kVectorKernels<Lanes, double>};

}  // namespace exactk
