// Signatures: small filters that tell which texts cannot contain a string.
//
// A signature holds the trigrams of a text (three bytes in a row, ASCII letters in lower case) in a
// Bloom filter whose probes of one trigram lie in one line of the processor's cache (Putze, Sanders
// and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007). It takes one byte for each
// different trigram, which is a fifth of the text for source code. A trigram of the text is always
// found; another one is found in about 4 of 100 cases. Line ends are in no trigram, because matches
// lie within a line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace quire::text {

// Three bytes, the first in the highest place.
using Gram = std::uint32_t;
// A number of whole cache lines; empty for a text without trigrams.
using Signature = std::span<const std::uint64_t>;

// Makes signatures one after the other. Takes 2 MiB, so it is worth keeping. One thread.
class SignatureMaker {
public:
    SignatureMaker();
    // Adds a text; no trigram reaches from one text into the next. O(text), about 200 MB/s.
    void add(std::string_view text);
    // The signature of all texts since the last finish().
    std::vector<std::uint64_t> finish();

private:
    std::vector<std::uint64_t> is_known_;  // A bit for each trigram there is.
    std::vector<Gram> grams_;
};

// The different trigrams of a string, as a signature would have them.
std::vector<Gram> grams_of(std::string_view text);
// Returns false if a text with this signature lacks one of the trigrams. O(grams).
bool may_have(Signature signature, std::span<const Gram> grams);

}  // namespace quire::text
