// A relay passes every line on as it is, so it must not pay for a parse: strings are skipped from
// quote to quote with memchr, which is most of a message, and nested values by counting brackets. A
// value is parsed only where it is kept: ids, the method, a tool's name. Text that is not JSON
// gives something or nothing, and never reads past its end.
#include "rpc/message_scan.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "json/json.h"

namespace quire::rpc {

namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kStatelessVersion = "2026-07-28";

// Walks JSON text without validating it.
class Cursor {
public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool take(char wanted) {
        skip_blanks();
        if (at_ >= text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    // The text of the value here; moves behind it. Empty when there is none. A number, `true` and
    // anything else without quotes or brackets ends where a comma, a bracket or a blank would
    // follow.
    std::string_view value() {
        skip_blanks();
        const std::size_t begin = at_;
        if (at_ >= text_.size()) return {};
        if (text_[at_] == '"') {
            skip_string();
        } else if (text_[at_] == '{' || text_[at_] == '[') {
            skip_nested();
        } else {
            at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        }
        return text_.substr(begin, at_ - begin);
    }

private:
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

    // Skips to the next quote with an even number of backslashes before it.
    void skip_string() {
        const std::size_t first = at_ + 1;
        std::size_t from = first;
        while (true) {
            const std::size_t quote = text_.find('"', from);
            if (quote == std::string_view::npos) {
                at_ = text_.size();
                return;
            }
            std::size_t slashes = 0;
            while (quote - slashes > first && text_[quote - slashes - 1] == '\\') ++slashes;
            from = quote + 1;
            if (slashes % 2 != 0) continue;
            at_ = from;
            return;
        }
    }

    void skip_nested() {
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            const char here = text_[at_];
            if (here == '"') {
                skip_string();
                continue;
            }
            ++at_;
            if (here == '{' || here == '[') {
                ++depth;
            } else if ((here == '}' || here == ']') && --depth == 0) {
                return;
            }
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Calls `member(key, value)` with the texts of each member of the object `text`.
template <class Member>
void each_member(std::string_view text, Member&& member) {
    Cursor cursor(text);
    if (!cursor.take('{')) return;
    do {
        const std::string_view key = cursor.value();
        if (key.size() < 2 || key.front() != '"' || !cursor.take(':')) return;
        const std::string_view value = cursor.value();
        if (value.empty()) return;
        member(key.substr(1, key.size() - 2), value);
    } while (cursor.take(','));
}

// An id in one spelling: JSON has several for the same string.
std::string canonical(std::string_view text) {
    const Result<Value> value = json::parse(text, {.depth = 2, .bytes = 4096});
    return value ? json::write(*value) : std::string();
}

std::string string_of(std::string_view text) {
    const Result<Value> value = json::parse(text, {.depth = 2, .bytes = 4096});
    return value && value->is_string() ? value->as_string() : std::string();
}

// A key that is spelled with escapes, or that occurs twice, may mean something else to a reader of
// the whole message: then the tool and the operation stay empty.
void scan_call(std::string_view params, MessageHead& head) {
    int names = 0, operations = 0, lists = 0;
    bool plain = true;
    each_member(params, [&](std::string_view key, std::string_view value) {
        plain = plain && key.find('\\') == std::string_view::npos;
        if (key == "name" && ++names == 1) head.tool = string_of(value);
        if (key != "arguments" || ++lists != 1) return;
        each_member(value, [&](std::string_view name, std::string_view word) {
            plain = plain && name.find('\\') == std::string_view::npos;
            if ((name == "operation" || name == "command") && ++operations == 1)
                head.operation = string_of(word);
        });
    });
    // A relay repeats a call by what stands here. A wrong guess would run a call twice that changes
    // something; none costs a refusal.
    if (plain && names == 1 && operations <= 1 && lists <= 1) return;
    head.tool.clear();
    head.operation.clear();
}

void scan_params(std::string_view params, MessageHead& head) {
    if (head.method == "tools/call") scan_call(params, head);
    each_member(params, [&](std::string_view key, std::string_view value) {
        if (key == "requestId" && head.method == "notifications/cancelled")
            head.cancels = canonical(value);
        if (key != "_meta") return;
        each_member(value, [&](std::string_view name, std::string_view version) {
            if (name == kVersionKey && string_of(version) == kStatelessVersion)
                head.stateless = true;
        });
    });
}

std::optional<MessageHead> scan_message(std::string_view text) {
    if (text.empty() || text.front() != '{') return std::nullopt;
    MessageHead head;
    std::string_view params;
    int repeated = -1;
    each_member(text, [&](std::string_view key, std::string_view value) {
        // One `params` is expected; a second one, or a key in another spelling that may be one,
        // makes the call unclear.
        if (key == "params" || key.find('\\') != std::string_view::npos) ++repeated;
        if (key == "id") head.id = canonical(value);
        if (key == "method") head.method = string_of(value);
        if (key == "params") params = value;
    });
    scan_params(params, head);
    if (repeated > 0) head.tool.clear();
    return head;
}

}  // namespace

std::vector<MessageHead> scan_messages(std::string_view line) {
    std::vector<MessageHead> heads;
    Cursor cursor(line);
    if (cursor.take('[')) {
        do {
            if (auto head = scan_message(cursor.value())) heads.push_back(std::move(*head));
        } while (cursor.take(','));
    } else if (auto head = scan_message(cursor.value())) {
        heads.push_back(std::move(*head));
    }
    return heads;
}

}  // namespace quire::rpc
