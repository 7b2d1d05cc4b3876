// The cost of finding repeated ids, which Python cannot measure: the pass over the lists as it
// is, and the same without marking the ids, on one thread. Prints the medians in seconds.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "match/seen_filter.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::span<const std::int32_t>;

std::vector<std::int32_t> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(file.tellg()) / sizeof(std::int32_t));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(ids.data()),
            static_cast<std::streamsize>(ids.size() * sizeof(std::int32_t)));
  return ids;
}

std::uint64_t bits_of(Ids ids) {
  std::uint64_t bits = 0;
  for (const std::int32_t id : ids) bits |= static_cast<std::uint64_t>(id);
  return bits;
}

// Marks the ids of the lists, as an evaluation does; returns how many collided.
std::size_t mark_ids(exactk::SeenFilter& filter, Ids ids, std::size_t length) {
  std::size_t collision_count = 0;
  for (std::size_t begin = 0; begin < ids.size(); begin += length) {
    filter.reset(length, false);
    collision_count += filter.mark(ids.subspan(begin, length), exactk::Mark::listed).size();
  }
  return collision_count;
}

// Only reads the mark of each id.
std::size_t read_marks(std::span<const std::uint8_t> marks, Ids ids, std::size_t length,
                       std::vector<exactk::Collision>& collisions) {
  std::size_t collision_count = 0;
  for (std::size_t begin = 0; begin < ids.size(); begin += length) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint8_t previous = marks[static_cast<std::size_t>(ids[begin + i])];
      collisions[count] = {i, previous};
      count += previous >= 4 ? 1 : 0;
    }
    collision_count += count;
  }
  return collision_count;
}

}  // namespace

int main(int count, char* arguments[]) {
  const std::vector<std::string> parameters(arguments, arguments + count);
  if (parameters.size() != 3) {
    std::cerr << "usage: exactk_stages FILE LENGTH (int32 ids, so many a user)\n";
    return 2;
  }
  const std::vector<std::int32_t> ids = read(parameters[1]);
  const auto length = std::size_t{std::stoul(parameters[2])};
  const exactk::Run run(exactk::Execution{});
  exactk::SeenFilter filter(bits_of(ids), run);
  const std::vector<std::uint8_t> marks(bits_of(ids) + 1);
  std::vector<exactk::Collision> collisions(length);
  constexpr std::size_t kRounds = 41;
  std::array<std::vector<double>, 2> seconds;
  for (std::size_t round = 0; round < 2 * kRounds; ++round) {  // in turns
    const auto begin = Clock::now();
    const std::size_t collision_count =
        round % 2 == 0 ? mark_ids(filter, ids, length) : read_marks(marks, ids, length, collisions);
    seconds[round % 2].push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    if (collision_count != 0) {
      std::cerr << "the lists repeat ids\n";
      return 1;
    }
  }
  for (std::vector<double>& times : seconds) {
    std::ranges::nth_element(times, times.begin() + kRounds / 2);
    std::cout << times[kRounds / 2] << '\n';
  }
  return 0;
}
