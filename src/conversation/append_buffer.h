// AppendBuffer: gathers a writer's small appends to one block into fewer changes.
//
// Pure: the caller passes the time in, asks whether the buffer is due, and flushes it. A buffer
// holds the text of one writer. Before another writer's turn the caller takes the buffered text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/actor.h"

namespace quire::conversation {

// A buffer is due after a newline, at this many code points, or after this much silence.
struct AppendLimits {
    std::size_t code_points = 50;
    std::int64_t silence_ms = 100;
};

class AppendBuffer {
public:
    using Limits = AppendLimits;
    // The text taken, and its writer.
    struct Taken {
        policy::Actor writer;
        std::string text;
        friend bool operator==(const Taken&, const Taken&) = default;
    };

    explicit AppendBuffer(Limits limits = {}) : limits_(limits) {}

    bool empty() const { return text_.empty(); }
    std::size_t bytes() const { return text_.size(); }
    // Returns true if `writer` must wait until another writer's text has been taken.
    bool blocks(const policy::Actor& writer) const { return !empty() && writer != writer_; }

    // Appends to the buffered text, and puts the deadline off. An empty text changes nothing.
    // Requires well-formed UTF-8 and !blocks(writer), which is CHECKed. O(|text|).
    void add(std::string_view text, std::int64_t now_ms, const policy::Actor& writer);
    // Returns true if a limit is reached: a newline anywhere in the text, its length, or the
    // silence since the last add(). An empty buffer is never due.
    bool due(std::int64_t now_ms) const;
    // The time at which silence makes the buffer due; none while it is empty.
    std::optional<std::int64_t> deadline_ms() const;
    // Takes the buffered text and leaves the buffer empty; none if it was empty. The caller writes
    // it as one change of the writer, also where the writer is not the one whose call made it
    // necessary.
    std::optional<Taken> take();

private:
    Limits limits_;
    policy::Actor writer_;
    std::string text_;
    std::size_t code_points_ = 0;
    bool newline_ = false;
    std::int64_t last_ms_ = 0;
};

}  // namespace quire::conversation
