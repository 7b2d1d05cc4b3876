// Screens a block of users without computing all scores: single-precision matrix products with an
// error bound decide on nearly every item, and only the rest are scored exactly.
#pragma once

#include <optional>
#include <span>

#include "base/run.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/products.hpp"
#include "rank/embeddings/shortlists.hpp"
#include "rank/embeddings/truth_ranks.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

// What to find for each user.
struct ScreeningRequest {
  Count depth = 0;               // length of the list of best items
  bool highest_first = false;    // whether ties go to the highest position
  const Lists* truth = nullptr;  // items to rank, or null

  [[nodiscard]] bool is_empty() const noexcept { return depth == 0 && truth == nullptr; }
};

class Screening {
 public:
  // Whether screening is possible and saves time.
  [[nodiscard]] static bool is_worthwhile(const Embeddings& source,
                                          const ScreeningRequest& request) noexcept;
  // Returns how many users to screen together.
  [[nodiscard]] static Count block_users(const Embeddings& source, const ScreeningRequest& request,
                                         int threads) noexcept;

  Screening(const Embeddings& source, const Norms& norms, const ScreeningRequest& request,
            const Kernels& kernels, const Run& run);
  Screening(const Screening&) = delete;  // members refer to each other
  Screening& operator=(const Screening&) = delete;

  void screen(std::span<const Count> users, const std::optional<Lists>& exclude);
  // Returns the result of one of the users last screened, valid until the next screening.
  [[nodiscard]] std::optional<ScreeningResult> result_of(Count user) const;

 private:
  void start_user(std::size_t index);
  void add_products(std::size_t index);
  void for_each_group(const auto& visitor) const;

  const Run& run_;
  const Embeddings& source_;
  ScreeningRequest request_;
  Products products_;
  std::optional<Shortlists> shortlists_;
  std::optional<TruthRanks> truth_ranks_;
};

}  // namespace exactk
