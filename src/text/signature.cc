// Both sides of a comparison are brought to lower case by the same function, one code point at a
// time. It changes ASCII letters and the two other code points that RE2 counts as a case of an ASCII
// letter, because its filter spells so what a regular expression needs (text/search.cc). No other
// code point is spelled in ASCII there; this was tried with all of them (RE2 of 2022-06-01).
#include "text/signature.h"

#include <algorithm>

namespace quire::text {
namespace {

constexpr std::uint32_t kGramMask = 0xFF'FF'FF;
constexpr std::size_t kWordBits = 64;
constexpr std::size_t kLineBits = 512;
constexpr std::size_t kLineWords = kLineBits / kWordBits;
constexpr std::size_t kBitsPerGram = 8;
constexpr int kProbes = 3;

constexpr std::string_view kKelvinSign = "\xE2\x84\xAA";
constexpr std::string_view kLongS = "\xC5\xBF";

constexpr unsigned char lower(unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c | 0x20) : c;
}

// Calls take(gram) for each trigram of the text, in order.
template <class Take>
void for_each_gram(std::string_view text, Take take) {
    Gram gram = 0;
    int missing = 3;
    const auto push = [&](unsigned char byte) {
        gram = (gram << 8 | byte) & kGramMask;
        if (missing > 1) {
            --missing;
        } else {
            take(gram);
        }
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte == '\n') {
            missing = 3;
        } else if (byte < 0x80) {
            push(lower(byte));
        } else if (byte == 0xE2 && text.substr(at).starts_with(kKelvinSign)) {
            push('k');
            at += kKelvinSign.size() - 1;
        } else if (byte == 0xC5 && text.substr(at).starts_with(kLongS)) {
            push('s');
            at += kLongS.size() - 1;
        } else {
            push(byte);
        }
    }
}

// The cache line of a trigram in a filter of so many, and its bits there.
struct Probes {
    // One hash gives both: its upper half picks the line, and the mixed lower bits the three bits
    // within. Gram 0 would hash to 0, hence the one that is added.
    Probes(Gram gram, std::size_t lines) {
        const std::uint64_t hash = (gram + 1) * 0x9E37'79B9'7F4A'7C15U;
        const std::uint64_t mixed = (hash ^ hash >> 32) * 0xD6E8'FEB8'6659'FD93U;
        first_word = ((mixed >> 32) * lines >> 32) * kLineWords;
        bits = static_cast<std::uint32_t>(mixed ^ mixed >> 33);
    }
    // Calls use(word, mask) for each bit until it returns false; then returns false.
    template <class Use>
    bool all(Use use) const {
        for (int probe = 0; probe < kProbes; ++probe) {
            const std::size_t bit = bits >> (9 * probe) & (kLineBits - 1);
            if (!use(first_word + bit / kWordBits, std::uint64_t{1} << bit % kWordBits))
                return false;
        }
        return true;
    }
    std::size_t first_word = 0;
    std::uint32_t bits = 0;
};

}  // namespace

SignatureMaker::SignatureMaker() : is_known_((kGramMask + 1) / kWordBits) {}

void SignatureMaker::add(std::string_view text) {
    for_each_gram(text, [this](Gram gram) {
        std::uint64_t& word = is_known_[gram / kWordBits];
        const std::uint64_t bit = std::uint64_t{1} << gram % kWordBits;
        if ((word & bit) != 0) return;
        word |= bit;
        grams_.push_back(gram);
    });
}

// The size is known only now, with the number of different trigrams. The bits of is_known_ are
// cleared one by one, which is less than its 2 MiB.
std::vector<std::uint64_t> SignatureMaker::finish() {
    const std::size_t lines = (grams_.size() * kBitsPerGram + kLineBits - 1) / kLineBits;
    std::vector<std::uint64_t> words(lines * kLineWords);
    for (const Gram gram : grams_) {
        is_known_[gram / kWordBits] = 0;
        Probes(gram, lines).all([&](std::size_t word, std::uint64_t mask) {
            words[word] |= mask;
            return true;
        });
    }
    grams_.clear();
    return words;
}

std::vector<Gram> grams_of(std::string_view text) {
    std::vector<Gram> grams;
    for_each_gram(text, [&](Gram gram) { grams.push_back(gram); });
    std::ranges::sort(grams);
    grams.erase(std::unique(grams.begin(), grams.end()), grams.end());
    return grams;
}

bool may_have(Signature signature, std::span<const Gram> grams) {
    const std::size_t lines = signature.size() / kLineWords;
    if (lines == 0) return grams.empty();
    return std::ranges::all_of(grams, [&](Gram gram) {
        return Probes(gram, lines).all([&](std::size_t word, std::uint64_t mask) {
            return (signature[word] & mask) != 0;
        });
    });
}

}  // namespace quire::text
