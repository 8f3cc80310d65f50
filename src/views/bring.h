// Bringing what one tree changed in a file into another tree, where that may have changed too. Pure.
//
// Two trees of one workspace have a common base for each file: the bytes that both agreed on last. What
// changed in `from` since then is merged into `into` as reconcile does it (text/merge3.h): by line, and
// where both changed a line by token. What cannot be merged is a tie: `into` keeps its own there, and the
// base stays what it was at that place, so that the tie is met again until the two sides agree. All
// else of `from` is in the base from then on. So bringing something twice is the same as once, in
// either direction, and also after a crash that lost the new base.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/conflict.h"
#include "text/merge3.h"

namespace quire::views {

// One file at three places; none where it is missing.
struct Sides {
    std::optional<std::string_view> base;
    std::optional<std::string_view> from;
    std::optional<std::string_view> into;
};

struct Manner {
    // The two sides are never merged: the file is no text, or the settings say so.
    bool whole = false;
    // The side whose text comes first where both inserted at one place: theirs is `from`.
    text::Side first = text::Side::ours;
};

// A place that both trees changed in different ways. `into` shows its own.
struct Tie {
    files::ConflictKind kind = files::ConflictKind::lines;
    std::string base;
    std::string from;
    std::string into;
    std::size_t line = 0;  // The line of `into`'s part in the brought text, from 0.
    friend bool operator==(const Tie&, const Tie&) = default;
};

struct Brought {
    std::optional<std::string> text;  // The text that `into` is to have; none: the file is gone.
    std::optional<std::string> base;  // The text that the trees have in common then.
    std::vector<Tie> ties;
};

// Decides and merges one file. The views in `sides` must live until it returns; the result has
// copies. It never fails: what it cannot merge it ties, and then `text` is what `into` was.
// O(text), and the cost of the diffs.
Brought bring(const Sides& sides, const Manner& manner);

}  // namespace quire::views
