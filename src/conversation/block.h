// The block: what tools address. Its words, and its status machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/result.h"
#include "base/value.h"

namespace quire::conversation {

enum class Role { user, model, system, tool };
constexpr auto words_of(Role) {
    return word_table("user", "model", "system", "tool");
}
enum class Kind { text, thinking, tool_call, tool_result, file, error, notification, task };
constexpr auto words_of(Kind) {
    return word_table("text", "thinking", "tool_call", "tool_result", "file", "error",
                      "notification", "task");
}
enum class Status { pending, running, done, error };
constexpr auto words_of(Status) {
    return word_table("pending", "running", "done", "error");
}

// Whether a caller may move a block from one status to another: anything but back to pending.
// Errors: conflict "invalid_transition".
Result<void> check_transition(Status from, Status to);

// How a block is named outside: "b7" for the block that is a whole document (a file), "b1_2_45" for
// the block made in document 1 by its peer number 2 at counter 45. Letters, digits and '_' only.
struct BlockId {
    std::int64_t document = 0;
    std::int64_t peer_number = -1;  // -1: the document itself.
    std::int64_t counter = 0;

    // Errors: not_found "invalid_reference".
    static Result<BlockId> parse(std::string_view text);
    std::string str() const;
    bool is_document() const { return peer_number < 0; }
    friend auto operator<=>(const BlockId&, const BlockId&) = default;
};

}  // namespace quire::conversation
