// Reads memory as fast as it can be read, in parallel threads: loads that wait for nothing but
// memory, one stream a thread, which the processor fetches ahead.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using Word = std::uint64_t;
constexpr std::size_t kLine = 64;  // bytes of a cache line
constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kWide = 16;  // bytes of a load, for which every processor has a register
using Wide [[gnu::vector_size(kWide)]] = Word;

Word read_words(const std::byte* begin, std::size_t bytes) {
  Word all = 0;
  for (std::size_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, begin + at, sizeof(Word));
    all |= word;
  }
  return all;
}

// Returns the bitwise or of all words, for which all must be read.
Word read_wide(const std::byte* begin, std::size_t bytes) {
  std::array<Wide, 8> all{};
  std::size_t at = 0;
  for (; at + kWide * all.size() <= bytes; at += kWide * all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Wide words;
      std::memcpy(&words, begin + at + kWide * i, kWide);
      all[i] |= words;
    }
  }
  Word result = read_words(begin + at, bytes - at);
  for (const Wide words : all) result |= words[0] | words[1];
  return result;
}

}  // namespace

// Returns the bitwise or of all whole words. The threads take blocks as they come, so that none
// waits for one that was held up; blocks begin at cache lines, but for the first.
extern "C" Word exactk_read(const std::byte* begin, std::size_t bytes, std::size_t threads) {
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(begin) % kLine;
  const std::size_t head = std::min(bytes, (kLine - past_line) % kLine);
  std::atomic<std::size_t> next{head};
  std::atomic<Word> all{read_words(begin, head)};
  const auto work = [&] {
    for (std::size_t at = next.fetch_add(kBlock); at < bytes; at = next.fetch_add(kBlock)) {
      all |= read_wide(begin + at, std::min(kBlock, bytes - at));
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  return all;
}
