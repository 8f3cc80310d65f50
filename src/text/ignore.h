// Ignore files as git reads them (gitignore(5), and dir.c and wildmatch.c where the page is silent).
//
// An IgnoreFile holds the patterns of one file. It judges paths relative to the folder that the file
// lies in; of several patterns that match, the last decides. An IgnoreChain puts the files of a
// folder above those of the folders around it and answers the whole question. It expects a walk from
// the root downwards, which never enters a folder that is ignored: nothing below such a folder can be
// included again, so the chain has no answer for it.
//
// Paths and patterns are bytes, compared as they are: git's core.ignorecase is not followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire::text {

// The answer of patterns about one path. `included` is a match of a pattern that begins with '!'.
enum class IgnoreVerdict : std::uint8_t { unmatched, ignored, included };

// The patterns of one ignore file. A value; judging is thread-safe.
class IgnoreFile {
public:
    // Reads the patterns. Never fails: like git, it keeps a malformed pattern as one that matches
    // nothing. O(size).
    static IgnoreFile parse(std::string_view content);

    // Judges a path relative to the folder of this file; `is_folder` tells whether a folder is
    // there. O(1) for most patterns; one with a star costs O(pattern + path²) at most.
    IgnoreVerdict judge(std::string_view path, bool is_folder) const;
    bool empty() const { return patterns_.empty(); }

private:
    struct Pattern {
        std::string text;         // Without '!' and a trailing '/'.
        std::size_t literal = 0;  // The length of the part before the first special character.
        bool includes = false;    // Began with '!'.
        bool folders_only = false;
        bool by_name = false;  // Has no '/' but at its end: compared with the last component.
        bool by_tail = false;  // `*` before a literal: compared with the end of the name.

        bool matches(std::string_view path) const;
    };

    std::vector<Pattern> patterns_;
};

// The ignore files that hold in one folder: its own before those of the folders around it. Immutable;
// a chain shares the links of its parents and is copied cheaply.
class IgnoreChain {
public:
    // The chain of a folder: `files`, later ones first, then the chain of `parent`. `folder` is
    // relative to the root, "" for the root itself.
    static IgnoreChain below(const IgnoreChain& parent, std::string folder,
                             std::vector<IgnoreFile> files);

    // Returns true if an entry of this folder is ignored, given its path from the root.
    bool ignores(std::string_view path, bool is_folder) const;

private:
    struct Link {
        std::shared_ptr<const Link> parent;
        std::string folder;
        std::vector<IgnoreFile> files;
    };
    std::shared_ptr<const Link> last_;
};

}  // namespace quire::text
