// FeedReader: a subscriber that keeps copies of blocks by what it is told alone. Tests compare its
// copies with the blocks themselves: an event that is missing, doubled or out of order shows as
// another text or version.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/core/feed_calls.h"
#include "text/diff.h"

namespace quire::kernel {

class FeedReader {
public:
    struct Copy {
        std::uint64_t version = 0;
        std::string text = {};
        std::string status = {};
        bool is_deleted = false;
    };

    // Events of a version that it has already are left out; one that does not follow it is a gap.
    void take(const BlockEvent& event) {
        Copy& copy = copies[event.block_id];
        if (event.version <= copy.version) return;
        if (event.type == BlockEventType::created) {
            copy.text = event.content.value();
            copy.status = event.block.value().status;
            copy.is_deleted = false;
        } else {
            EXPECT_EQ(copy.version, event.version_before) << event.block_id;
        }
        if (event.text) copy.text += *event.text;
        if (event.edits) copy.text = edited(copy.text, *event.edits);
        if (event.status) copy.status = *event.status;
        if (event.type == BlockEventType::deleted) copy.is_deleted = true;
        copy.version = event.version;
    }
    void take(const BlockHub::Pulled& pulled) {
        for (const auto& event : pulled.events) take(*event);
    }
    void take(const BlockSync& sync) {
        for (const BlockEvent& event : sync.patches) take(event);
        for (const BlockEvent& event : sync.new_blocks) take(event);
    }
    std::vector<BlockAtVersion> versions() const {
        std::vector<BlockAtVersion> out;
        for (const auto& [id, copy] : copies) out.emplace_back(id, copy.version);
        return out;
    }

    std::map<std::string, Copy> copies;

private:
    static std::string edited(std::string_view text, const std::vector<edits::LineChange>& edits) {
        const std::vector<std::string_view> lines = text::split_lines(text);
        std::string out;
        std::size_t line = 0;
        for (const edits::LineChange& edit : edits) {
            while (line < edit.start) out += lines.at(line++);
            out += edit.content;
            line = edit.end;
        }
        while (line < lines.size()) out += lines[line++];
        return out;
    }
};

}  // namespace quire::kernel
