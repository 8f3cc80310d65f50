// TreeState: an adopted directory, with what it and the workspace have in common, file by file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "fs/file_system.h"
#include "policy/actor.h"
#include "views/bring.h"

namespace quire::views {

// The two things that a path may be.
enum class Form : std::uint8_t { file, link };

// A file as it was read.
struct Sight {
    fs::Stamp stamp;
    fs::Hash hash;
};

// The digest of a stamp, by which a file that has not changed need not be read again. 0 stands for no such
// stamp: the bytes have to be looked at.
using StampDigest = std::uint64_t;
StampDigest digest_of(const fs::Stamp& stamp);
// The digest of the sight, if it shows these bytes and its stamp can be trusted.
StampDigest digest_of(const Sight& sight, const fs::Hash& bytes);

// A path that both trees had, or have.
struct Head {
    Form form = Form::file;
    bool runs = false;  // The common permissions let the owner execute it.
    fs::Hash base;      // The hash of the common bytes, which BaseTexts has.
    // The stamps under which the two trees have these bytes.
    StampDigest tree = 0;
    StampDigest shared = 0;
};

// A tie that is open.
struct OpenTie {
    std::string path;
    Tie tie;  // `from` is the adopted tree's side, `into` the workspace's.
    std::int64_t since_ms = 0;
};

// All that is kept of an adopted tree. A head names the bytes from which both trees have come at
// its path; a path without one is new to the side that has it. The kernel's registry owns the state
// and writes it as a whole. To fall back to an older one costs only work, since bringing something
// twice is the same as once.
struct TreeState {
    std::string directory;  // Absolute, without links.
    policy::Actor actor;    // The changes of the tree are the actor's work.
    bool is_made = false;   // The kernel made the directory, and may remove it.
    std::int64_t adopted_ms = 0;
    std::int64_t synced_ms = 0;  // When it was last landed or refreshed.
    std::map<std::string, Head> heads;
    std::vector<OpenTie> ties;

    // About 60 bytes for a path.
    Bytes encode() const;
    // Errors: corrupt "corrupt" for bytes that were cut or changed, or have another format.
    static Result<TreeState> decode(const Bytes& bytes);
};

}  // namespace quire::views
