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
  Word bits = 0;
  for (std::size_t offset = 0; offset + sizeof(Word) <= bytes; offset += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, begin + offset, sizeof(Word));
    bits |= word;
  }
  return bits;
}

// Returns the bitwise or of all words, for which all must be read.
Word read_wide(const std::byte* begin, std::size_t bytes) {
  std::array<Wide, 8> all{};
  std::size_t offset = 0;
  for (; offset + kWide * all.size() <= bytes; offset += kWide * all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Wide words;
      std::memcpy(&words, begin + offset + kWide * i, kWide);
      all[i] |= words;
    }
  }
  Word result = read_words(begin + offset, bytes - offset);
  for (const Wide words : all) result |= words[0] | words[1];
  return result;
}

}  // namespace

// Returns the bitwise or of all whole words. The threads take blocks as they come, so that none
// waits for one that was held up; blocks begin at cache lines, except for the first.
extern "C" Word exactk_read(const std::byte* begin, std::size_t bytes, std::size_t threads) {
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(begin) % kLine;
  const std::size_t head = std::min(bytes, (kLine - past_line) % kLine);
  std::atomic<std::size_t> next{head};
  std::atomic<Word> bits{read_words(begin, head)};
  const auto read_blocks = [&] {
    for (std::size_t offset = next.fetch_add(kBlock); offset < bytes;
         offset = next.fetch_add(kBlock)) {
      bits |= read_wide(begin + offset, std::min(kBlock, bytes - offset));
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(read_blocks);
    read_blocks();
  }
  return bits;
}
