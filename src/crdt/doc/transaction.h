// The options and the answers of commits and imports, and the settings that a document keeps for
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crdt/ids/diff.h"
#include "crdt/merge/style.h"

namespace quire::crdt {

struct CommitOptions {
    std::string message = {};
    std::string origin = {};
    std::int64_t timestamp = 0;
    bool want_diff = false;  // True to fill in Commit::diff.
};

struct ImportOptions {
    std::string origin = {};  // For events.
    bool want_diff = false;   // True to fill in Imported::diff.
    // The changes tell less than the history they were made from, as JSON updates do (bytes are
    // lists in them, and whole numbers may have been floats). An op that is known already is then
    // compared only by what it follows.
    bool says_less = false;
};

struct Commit {
    IdSpan span;  // Empty when the transaction held nothing.
    Diff diff;
    std::string origin;
    bool empty() const { return span.begin == span.end; }
};

struct Imported {
    std::vector<IdSpan> success;  // The ops that this import made part of the document.
    std::vector<IdSpan> pending;  // The ops that it parked until others arrive.
    Diff diff;
};

struct DocSettings {
    // How styles made here expand, by key.
    StyleConfig text_styles = StyleConfig::usual();
    // A commit that follows its peer's last change within this many seconds, with the same message
    // and nothing else known in between, becomes part of that change. 0: within the same second.
    std::int64_t merge_interval = 0;
};

}  // namespace quire::crdt
