// The block as tools address it: its words, its status machine, its marks and its id.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/result.h"
#include "base/value.h"

namespace quire::conversation {

// The author of a block's text, in the words of model APIs.
enum class Role { user, model, system, tool };
constexpr auto words_of(Role) {
    return word_table("user", "model", "system", "tool");
}
// The kind of content. A tool_result is the child of the tool_call that it answers.
enum class Kind { text, thinking, tool_call, tool_result, file, error, notification, task };
constexpr auto words_of(Kind) {
    return word_table("text", "thinking", "tool_call", "tool_result", "file", "error",
                      "notification", "task");
}
// The state of the work that a block stands for.
enum class Status { pending, running, done, error };
constexpr auto words_of(Status) {
    return word_table("pending", "running", "done", "error");
}

// Notes that the readers of a conversation make on a block. They change what is shown and sent to a
// model, and nothing of the block's text or status.
struct Marks {
    bool excluded = false;   // A model is not to see it.
    bool collapsed = false;  // Shown by its first line.
    bool ephemeral = false;  // Useful for a moment only, and so not to be seen either.

    bool is_hidden() const { return excluded || ephemeral; }
    friend bool operator==(const Marks&, const Marks&) = default;
};
// Each mark, by the key under which the Map of a block has it.
struct MarkField {
    std::string_view key;
    bool Marks::*flag;
};
inline constexpr std::array<MarkField, 3> kMarkFields = {{{"excluded", &Marks::excluded},
                                                          {"collapsed", &Marks::collapsed},
                                                          {"ephemeral", &Marks::ephemeral}}};

// Checks that a caller may change the status from `from` to `to`: anything is allowed except back
// to pending. A block that is done may run again. Errors: conflict "invalid_transition" {from, to}.
Result<void> check_transition(Status from, Status to);

// The name of a block for tools: "b7" for the block that is a whole document (a file), "b1_2_45"
// for the block made in document 1 by its peer number 2 at counter 45. It contains letters,
// digits and '_' only.
struct BlockId {
    std::int64_t document = 0;
    std::int64_t peer_number = -1;  // -1: the document itself.
    std::int64_t counter = 0;

    // Reads an id in the one form that str() prints: "b07" and "b7_" are none. It does not say if
    // there is such a block. Errors: not_found "invalid_reference" {block_id}.
    static Result<BlockId> parse(std::string_view text);
    std::string str() const;
    bool is_document() const { return peer_number < 0; }
    friend auto operator<=>(const BlockId&, const BlockId&) = default;
};

}  // namespace quire::conversation
