// One value as a part of one line. Nothing is quoted or escaped here: the line goes through
// hanging(), and the whole body through the escaping of tags in render.cc.

#include "memory/render_value.h"

#include <algorithm>
#include <charconv>

#include "base/concat.h"
#include "memory/timestamp.h"

namespace quire::memory {
namespace {

// Values nested deeper than this are elided; documents may come from anywhere.
constexpr int kDeepest = 16;

std::string shown_at(const Value& value, int depth);

std::string joined(const List& values, int depth) {
    std::string out;
    for (const Value& each : values)
        cat_to(out, cat(out.empty() ? "" : ", ", shown_at(each, depth)));
    return out;
}

std::string joined(const Map& members, int depth) {
    std::string out;
    for (const Map::Entry& each : members)
        cat_to(out, cat(out.empty() ? "" : ", ", each.key, ": ", shown_at(each.value, depth)));
    return out;
}

std::string shown_at(const Value& value, int depth) {
    if (value.is_null()) return "null";
    if (value.is_bool()) return value.as_bool() ? "true" : "false";
    if (value.is_int()) return std::to_string(value.as_int());
    if (value.is_float()) {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value.as_float()).ptr;
        return {digits, end};
    }
    if (value.is_string()) return value.as_string();
    if (value.is_bytes()) return cat("(", value.as_bytes().size(), " bytes)");
    if (depth == 0) return "…";
    if (value.is_list()) return cat("[", joined(value.as_list(), depth - 1), "]");
    return cat("{", joined(value.as_map(), depth - 1), "}");
}

// The member that names an item; null if no string does. Names that people use for the main member
// come first, in this order; otherwise the first string.
const Map::Entry* title_of(const Map& item) {
    for (const char* key : {"title", "name", "content", "text"}) {
        for (const Map::Entry& each : item) {
            if (each.key == key && each.value.is_string()) return &each;
        }
    }
    const auto at =
        std::ranges::find_if(item, [](const Map::Entry& each) { return each.value.is_string(); });
    return at == item.end() ? nullptr : &*at;
}

std::string minute_of(const Value& timestamp) {
    const auto ms = timestamp.is_string() ? parse_timestamp(timestamp.as_string()) : std::nullopt;
    return ms ? format_minute(*ms) : shown(timestamp);
}

}  // namespace

std::string shown(const Value& value) {
    return shown_at(value, kDeepest);
}

// Lines after the first are indented, so that none of them can look like an item, a field or a
// header of its own.
std::string hanging(std::string_view text) {
    std::string out;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        cat_to(out, cat(text.substr(0, end + 1), "  "));
        text.remove_prefix(end + 1);
    }
    cat_to(out, text);
    return out;
}

// The title comes first and the remaining members follow in brackets.
std::string item_line(const Value& item) {
    if (!item.is_map()) return shown(item);
    const Map& members = item.as_map();
    const Map::Entry* title = title_of(members);
    const Value* done = members.find("done");
    const bool has_box = done != nullptr && done->is_bool();

    std::string out = has_box ? (done->as_bool() ? "[x]" : "[ ]") : "";
    if (title != nullptr) cat_to(out, cat(out.empty() ? "" : " ", title->value.as_string()));
    Map rest;
    for (const Map::Entry& each : members) {
        const bool is_used = &each == title || (has_box && each.key == "done");
        if (!is_used && !each.value.is_null()) rest.append(each.key, each.value);
    }
    if (!rest.empty()) cat_to(out, cat(out.empty() ? "(" : " (", joined(rest, kDeepest), ")"));
    return out;
}

// The header comes first, then the fields that the schema lists. An open entry is expected to have
// a "message", which is what an appended text becomes. Other members follow in brackets.
std::string entry_line(const LogSchema& log, const Value& entry, bool with_writer) {
    if (!entry.is_map()) return shown(entry);
    Map rest = entry.as_map();
    std::string out;
    const auto add = [&](std::string_view part) { cat_to(out, cat(out.empty() ? "" : " ", part)); };
    if (const Value* when = log.entry.timestamp ? rest.find("timestamp") : nullptr) {
        add(cat("[", minute_of(*when), "]"));
        rest.erase("timestamp");
    }
    if (const Value* who = log.entry.agent_id ? rest.find("agent_id") : nullptr) {
        if (with_writer) add(cat("(", shown(*who), ")"));
        rest.erase("agent_id");
    }
    std::vector<std::string> order;
    for (const Field& each : log.entry.fields) order.push_back(each.name);
    if (order.empty()) order.emplace_back("message");
    for (const std::string& name : order) {
        const Value* value = rest.find(name);
        if (value == nullptr) continue;
        add(shown(*value));
        rest.erase(name);
    }
    if (!rest.empty()) add(cat("(", joined(rest, kDeepest), ")"));
    return out;
}

}  // namespace quire::memory
