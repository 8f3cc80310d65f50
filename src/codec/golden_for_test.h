// Blobs that Loro wrote, from tests/data/codec (PROVENANCE.md there).
#pragma once

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/value.h"
#include "codec/envelope.h"

namespace quire::codec {

inline constexpr const char* kGoldenNames[] = {
    "empty", "text",    "list",          "map",          "movable_list",
    "tree",  "counter", "several_peers", "many_changes", "unknown_container"};

inline Bytes from_hex(std::string_view text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    Bytes bytes;
    int high = -1;
    for (const char c : text) {
        if (std::isxdigit(static_cast<unsigned char>(c)) == 0) continue;
        if (high < 0) {
            high = digit(c);
        } else {
            bytes.push_back(static_cast<std::uint8_t>(high * 16 + digit(c)));
            high = -1;
        }
    }
    return bytes;
}

inline Bytes golden(const std::string& name) {
    std::ifstream file(cat(QUIRE_SOURCE_DIR, "/tests/data/codec/", name, ".hex"));
    EXPECT_TRUE(file.good()) << name;
    std::ostringstream text;
    text << file.rdbuf();
    return from_hex(text.str());
}

// The blob with a checksum that matches its present content.
inline Bytes resealed(Bytes blob) {
    if (blob.size() < kEnvelopeSize) return blob;
    const std::uint32_t checksum = envelope_checksum(std::span(blob).subspan(20));
    for (std::size_t i = 0; i < 4; ++i)
        blob[16 + i] = static_cast<std::uint8_t>(checksum >> (8 * i));
    return blob;
}

}  // namespace quire::codec
