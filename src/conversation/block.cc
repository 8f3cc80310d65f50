#include "conversation/block.h"

#include <charconv>

#include "base/concat.h"

namespace quire::conversation {

namespace {

// A number as str() prints it: digits, no sign, no leading zero. One block has one id, so that ids
// can be compared as text: "b07" is none.
bool take_number(std::string_view& text, std::int64_t& number) {
    if (text.empty() || text[0] < '0' || text[0] > '9') return false;
    if (text[0] == '0' && text.size() > 1 && text[1] >= '0' && text[1] <= '9') return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_underscore(std::string_view& text) {
    if (!text.starts_with('_')) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

Result<void> check_transition(Status from, Status to) {
    if (to != Status::pending || from == Status::pending) return {};
    return fail(Errc::conflict, "invalid_transition",
                cat("a block that is ", name_of(from),
                    " cannot become pending again; set it to running, done or error"),
                {{"from", name_of(from)}, {"to", name_of(to)}});
}

Result<BlockId> BlockId::parse(std::string_view text) {
    BlockId id;
    std::string_view rest = text;
    const bool starts_well = rest.starts_with('b');
    if (starts_well) rest.remove_prefix(1);
    if (starts_well && take_number(rest, id.document)) {
        if (rest.empty()) return id;
        if (take_underscore(rest) && take_number(rest, id.peer_number) && take_underscore(rest) &&
            take_number(rest, id.counter) && rest.empty()) {
            return id;
        }
    }
    return fail(
        Errc::not_found, "invalid_reference",
        // The text may be anything that a model wrote, so only its beginning goes into the message.
        cat("\"", text.substr(0, 80), "\" is not a block id; block_list shows the ids there are"),
        {{"block_id", text.substr(0, 80)}});
}

std::string BlockId::str() const {
    if (is_document()) return cat("b", document);
    return cat("b", document, "_", peer_number, "_", counter);
}

}  // namespace quire::conversation
