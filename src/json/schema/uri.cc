// RFC 3986 in the parts that references need: splitting a URI into its five components, merging a
// relative path with a base, and removing dot segments. Nothing is normalised beyond that; two URIs
// are equal if their texts are.

#include "json/schema/uri.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/escape.h"

namespace quire::json::detail {
namespace {

struct UriParts {
    std::optional<std::string_view> scheme;
    std::optional<std::string_view> authority;
    std::string_view path;
    std::optional<std::string_view> query;
    std::optional<std::string_view> fragment;
};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The views are parts of `uri`. A component that is absent is told from one that is empty: "a?" has
// a query, and "a" has none. A colon ends a scheme only if a scheme's characters stand before it;
// otherwise it belongs to the path.
UriParts uri_parts(std::string_view uri) {
    UriParts parts;
    const auto cut = [&uri](char at) -> std::optional<std::string_view> {
        const std::size_t found = uri.find(at);
        if (found == std::string_view::npos) return std::nullopt;
        const std::string_view tail = uri.substr(found + 1);
        uri = uri.substr(0, found);
        return tail;
    };
    parts.fragment = cut('#');
    parts.query = cut('?');

    const std::size_t colon = uri.find_first_of(":/");
    if (colon != std::string_view::npos && colon > 0 && uri[colon] == ':' && is_letter(uri[0]) &&
        std::all_of(uri.begin(), uri.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
            return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
        })) {
        parts.scheme = uri.substr(0, colon);
        uri.remove_prefix(colon + 1);
    }
    if (uri.starts_with("//")) {
        uri.remove_prefix(2);
        const std::size_t end = std::min(uri.find('/'), uri.size());
        parts.authority = uri.substr(0, end);
        uri.remove_prefix(end);
    }
    parts.path = uri;
    return parts;
}

// Removes "." and ".." segments (RFC 3986, 5.2.4).
std::string without_dots(std::string_view path) {
    const bool rooted = path.starts_with('/');
    std::vector<std::string_view> kept;
    bool folder = false;  // The path ends in a slash.
    std::size_t at = rooted ? 1 : 0;
    while (at <= path.size()) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view segment = path.substr(at, end - at);
        at = end + 1;
        folder = segment == "." || segment == "..";
        if (segment == "..") {
            if (!kept.empty()) kept.pop_back();
        } else if (segment != ".") {
            kept.push_back(segment);
        }
    }
    std::string text = rooted ? "/" : "";
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (i > 0) text.push_back('/');
        text.append(kept[i]);
    }
    if (folder && !kept.empty()) text.push_back('/');
    return text;
}

// RFC 3986, 5.2.3.
std::string merged_path(const UriParts& base, std::string_view path) {
    if (base.authority && base.path.empty()) return "/" + std::string(path);
    const std::size_t slash = base.path.rfind('/');
    std::string merged(base.path.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
    return merged.append(path);
}

}  // namespace

// RFC 3986, 5.2.2. A reference that is only a fragment, or empty, keeps the base's path and query.
// The fragment is decoded, since JSON pointers and anchors are compared as texts; a '%' that begins
// no escape stays.
Reference resolve_uri(std::string_view base_text, std::string_view reference) {
    const UriParts base = uri_parts(base_text);
    UriParts target = uri_parts(reference);
    const std::string fragment =
        target.fragment ? text::percent_decoded_loosely(*target.fragment) : "";

    std::string path;
    if (target.scheme || target.authority) {
        path = without_dots(target.path);
    } else if (target.path.empty()) {
        path = base.path;
        if (!target.query) target.query = base.query;
        target.authority = base.authority;
    } else {
        path = without_dots(target.path.starts_with('/') ? std::string(target.path)
                                                         : merged_path(base, target.path));
        target.authority = base.authority;
    }
    const auto scheme = target.scheme ? target.scheme : base.scheme;

    Reference resolved;
    resolved.fragment = fragment;
    std::string& uri = resolved.uri;
    if (scheme) uri.append(*scheme).push_back(':');
    if (target.authority) uri.append("//").append(*target.authority);
    uri.append(path);
    if (target.query) uri.append("?").append(*target.query);
    return resolved;
}

// RFC 6901: '~' must be followed by 0 or 1.
std::optional<std::vector<std::string>> pointer_steps(std::string_view pointer) {
    std::vector<std::string> steps;
    if (pointer.empty()) return steps;
    if (pointer[0] != '/') return std::nullopt;
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        const char c = pointer[i];
        if (c == '/') {
            steps.emplace_back();
        } else if (c != '~') {
            steps.back().push_back(c);
        } else if (i + 1 < pointer.size() && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
            steps.back().push_back(pointer[++i] == '0' ? '~' : '/');
        } else {
            return std::nullopt;
        }
    }
    return steps;
}

// Only the canonical index is accepted: digits without leading zeros. So one place has one pointer.
const Value* step_below(const Value& at, std::string_view step) {
    if (at.is_map()) return at.get(step);
    if (!at.is_list() || step.empty() || (step.size() > 1 && step[0] == '0')) return nullptr;
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error != std::errc() || end != step.data() + step.size()) return nullptr;
    return index < at.as_list().size() ? &at.as_list()[index] : nullptr;
}

Value* step_below(Value& at, std::string_view step) {
    return const_cast<Value*>(step_below(std::as_const(at), step));
}

std::string escaped_step(std::string_view step) {
    std::string out;
    for (const char c : step) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out.push_back(c);
        }
    }
    return out;
}

bool is_anchor(std::string_view name) {
    return !name.empty() && (is_letter(name[0]) || name[0] == '_') &&
           std::ranges::all_of(name, [](char c) {
               return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
           });
}

}  // namespace quire::json::detail
