// Sums over the users that two systems have in common: what statistics of their difference are
// computed from.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "exactk/isa.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Numbers of users are NaN or at most this in magnitude, so that sums over users stay finite.
inline constexpr double kMaxPairedNumber = 0x1p640;

// A value to compare, as rows of the systems' tables.
struct PairedValue {
  // One row, or two: a numerator and its denominator, or two means.
  std::vector<Offset> rows;
  Offset shown = -1;          // the row that wins and losses are counted by; -1: they are not
  bool is_geometric = false;  // users add the logarithm of the number, as geometric means have it
  // The numbers of the rows are in [0, 1]. With equal weights and without clusters or logarithms,
  // they are then rounded to multiples of 2^-80, which makes sums short and fast.
  bool is_unit = false;
  // The rows are a numerator and its denominator, of which 0/0 in both systems says nothing.
  bool is_ratio = false;
};

// Two systems, as indices into the tables.
struct SystemPair {
  Offset system;
  Offset baseline;
};

struct PairedRequest {
  std::span<const std::span<const double>> tables;  // per system: rows x users, NaN for no number
  Count rows = 0;                                   // of each table
  Count users = 0;
  std::span<const PairedValue> values;
  std::span<const SystemPair> pairs;
  std::optional<std::span<const double>> weights = {};  // one per user; nullopt: every weight is 1
  // The group of each user, in [0, group_count); empty: group 0.
  std::span<const Offset> groups = {};
  Count group_count = 1;
  // The cluster of each user, in [0, cluster_count); nullopt: each user is one.
  std::optional<std::span<const Offset>> clusters = {};
  Count cluster_count = 1;
  int threads = 1;
  Isa isa = Isa::scalar;
  std::function<void()> poll = [] {};      // called often by the calling thread; throws to cancel
  std::atomic<Count>* finished = nullptr;  // if not null, incremented as threads finish users
};

// The users of a group, for a pair of systems and a value, without those of weight 0. A user is in
// both if neither system lacks a row of the value, and one of the rows of a ratio is not 0.
struct PairedCounts {
  Count users = 0;  // in both
  Count only_system = 0;
  Count only_baseline = 0;
  Count wins = 0;  // of the users in both: the system's shown number is greater
  Count losses = 0;
  Count units = 0;  // with a user in both
};

// The columns of a unit, which is a user or a cluster of users, are the system's rows, the
// baseline's rows and 1; with weights, each is times the user's weight, and rounded. A cluster's
// are the sums of those of its users in both, each rounded once.
struct PairedSums : PairedCounts {
  std::vector<ExactInteger> sums;      // of each column
  std::vector<ExactInteger> products;  // of columns i <= j: (0, 0), (0, 1), ..., (1, 1), ...
};

// Returns the sums of groups x pairs x values. Throws InputError if the request is malformed. What
// no pair and no value needs of the tables is not read.
[[nodiscard]] std::vector<PairedSums> paired_sums(const PairedRequest& request);

}  // namespace exactk
