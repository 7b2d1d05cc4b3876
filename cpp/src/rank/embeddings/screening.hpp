// Screens some users at a time, without computing all scores: products of matrices in single
// precision decide on nearly every item, and only the others are scored.
#pragma once

#include <optional>
#include <span>

#include "base/checkpoint.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/products.hpp"
#include "rank/embeddings/shortlists.hpp"
#include "rank/embeddings/truth_ranks.hpp"
#include "rank/screening_result.hpp"

namespace exactk {

// Of each user.
struct ScreeningRequest {
  Count depth = 0;               // so many of the best
  bool highest_first = false;    // of equal scores, the highest position is first
  const Lists* truth = nullptr;  // whose items are to be ranked, if there is one

  [[nodiscard]] bool is_empty() const noexcept { return depth == 0 && truth == nullptr; }
};

class Screening {
 public:
  // Whether there is something to gain.
  [[nodiscard]] static bool is_worthwhile(const Embeddings& source,
                                          const ScreeningRequest& request) noexcept;
  // The users that are best looked at together.
  [[nodiscard]] static Count block_users(const Embeddings& source, const ScreeningRequest& request,
                                         int threads) noexcept;

  Screening(const Embeddings& source, const Norms& norms, const ScreeningRequest& request,
            const Kernels& kernels);
  Screening(const Screening&) = delete;  // its parts know where the others are
  Screening& operator=(const Screening&) = delete;

  void screen(std::span<const Count> users, const std::optional<Lists>& exclude,
              const Checkpoint& checkpoint);
  // Of one of the users last screened. Valid until others are.
  [[nodiscard]] std::optional<ScreeningResult> result_of(Count user) const;

 private:
  void start_user(std::size_t index, const Checkpoint& checkpoint);

  const Embeddings& source_;
  ScreeningRequest request_;
  Products products_;
  std::optional<Shortlists> shortlists_;
  std::optional<TruthRanks> truth_ranks_;
};

}  // namespace exactk
