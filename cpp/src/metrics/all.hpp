// The list of metrics, from which everything else that names metrics is derived.
#pragma once

#include <array>

#include "metrics/auc.hpp"
#include "metrics/average_precision.hpp"
#include "metrics/bpref.hpp"
#include "metrics/calibration.hpp"
#include "metrics/collection.hpp"
#include "metrics/compatibility.hpp"
#include "metrics/confusion.hpp"
#include "metrics/counts.hpp"
#include "metrics/cwl.hpp"
#include "metrics/dcg.hpp"
#include "metrics/err.hpp"
#include "metrics/expected_novelty.hpp"
#include "metrics/fbeta.hpp"
#include "metrics/inferred_average_precision.hpp"
#include "metrics/interpolated_precision.hpp"
#include "metrics/intra_list_diversity.hpp"
#include "metrics/item_groups.hpp"
#include "metrics/kendall_tau.hpp"
#include "metrics/label_ranking.hpp"
#include "metrics/least_item_promoted.hpp"
#include "metrics/list_length.hpp"
#include "metrics/list_overlap.hpp"
#include "metrics/mean_precision.hpp"
#include "metrics/metric.hpp"
#include "metrics/normalized_gain.hpp"
#include "metrics/novelty.hpp"
#include "metrics/partial_auc.hpp"
#include "metrics/popularity_bias.hpp"
#include "metrics/precision.hpp"
#include "metrics/q_measure.hpp"
#include "metrics/r_ndcg.hpp"
#include "metrics/rank_biased_overlap.hpp"
#include "metrics/rbp.hpp"
#include "metrics/recall.hpp"
#include "metrics/reciprocal_rank.hpp"
#include "metrics/serendipity.hpp"
#include "metrics/set_average_precision.hpp"
#include "metrics/tag_variety.hpp"
#include "metrics/unexpectedness.hpp"

namespace exactk {

template <class... Metrics>
struct MetricList {
  static constexpr std::array<MetricInfo, sizeof...(Metrics)> info = {Metrics::info...};
  static constexpr std::array<HitsRead, sizeof...(Metrics)> kHitsRead = {hits_read<Metrics>()...};
  static constexpr std::array<ScoreFunction, sizeof...(Metrics)> score = {
      score_function<Metrics>()...};
  static constexpr std::array<ScoreFunction, sizeof...(Metrics)> expected = {
      expected_score<Metrics>()...};
  static constexpr std::array<ScoreFunction, sizeof...(Metrics)> kScoreOfValues = {
      score_of_values<Metrics>()...};
  static constexpr std::array<ScoreFunction, sizeof...(Metrics)> kExpectedOfValues = {
      expected_score_of_values<Metrics>()...};
  static constexpr std::array<ItemValuesFunction, sizeof...(Metrics)> kItemValues = {
      item_values_function<Metrics>()...};
};

using AllMetrics =
    MetricList<Precision, Recall, Fbeta, F1, HitRate, AveragePrecision, AverageRecall,
               InferredAveragePrecision, QMeasure, MeanPrecision, SetAveragePrecision,
               ReciprocalRank, Dcg, Ndcg, AverageNdcg, RNdcg, NormalizedGain, RPrecision,
               InterpolatedPrecision, ElevenPointPrecision, Rbp, RbpResidual, Sdcg, Insq, Inst, Bpm,
               Nerr8, Nerr9, Nerr10, Nerr11, Compatibility, Err, Auc, GroupedAuc, ListAuc,
               PairwiseAccuracy, PartialAuc, PartialAucOfFirstHits, LabelRankingLoss, CoverageError,
               Accuracy, Mcc, Judged, UnjudgedShare, Bpref, NumHits, NumRelevant, NumRecommended,
               ListFill, UserCoverage, Novelty, Surprisal, ExpectedPopularityComplement,
               ExpectedFreeDiscovery, AverageRecommendationPopularity, PopularityRank,
               AveragePercentageOfLongTail, IntraListDiversity, TagDiversity, TagEntropy,
               Serendipity, Calibration, Unexpectedness, Coverage, NumItems, Gini, ExposureGini,
               Entropy, Personalization, ItemRecall, Exposure, Rsp, Reo, Overlap, Jaccard,
               RankBiasedOverlap, KendallTau, LeastItemPromoted, PrecisionOfGroup>;
static_assert(AllMetrics::info.back().of_item_group, "the last metric stands for another one");

// Checks that every name and alias belongs to one metric.
consteval bool unique_names() {
  std::array<std::string_view, 256> seen{};
  std::size_t size = 0;
  const auto add = [&](std::string_view name) {
    for (std::size_t i = 0; i < size; ++i) {
      if (seen[i] == name) return false;
    }
    seen[size++] = name;
    return true;
  };
  for (const MetricInfo& info : AllMetrics::info) {
    if (!add(info.name)) return false;
    for (const std::string_view alias : info.aliases) {
      if (!add(alias)) return false;
    }
  }
  return true;
}
static_assert(unique_names(), "two metrics share a name or an alias");

}  // namespace exactk
