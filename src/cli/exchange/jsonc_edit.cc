// A small parser keeps where each member of each object begins and ends; the edits are insertions
// and deletions at those places.
//
// jsonc_with() leaves marks from which jsonc_without() can tell its additions from earlier text: an
// object that it makes begins with a line end, and into an empty object that it finds it writes
// directly behind the bracket. Both cost O(text). The value that is written is compact JSON, on one
// line for a list; a member that is an object has its own members on lines of their own. What the
// parser cannot read is refused, and the file is left alone: a guess could destroy a person's
// settings.
#include "cli/exchange/jsonc_edit.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "json/json.h"

namespace quire::cli {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr int kDeepest = 128;

struct JsoncMember;
struct JsoncNode {
    std::size_t begin = 0;
    std::size_t end = 0;
    Value value;
    std::vector<JsoncMember> members;  // Members of an object.
};
struct JsoncMember {
    std::string key;
    std::size_t begin = 0;  // The place of its key.
    JsoncNode node;
    std::size_t comma = kNowhere;  // The comma behind it.
};

class JsoncParser {
public:
    explicit JsoncParser(std::string_view text) : text_(text) {}

    Result<JsoncNode> whole() {
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
        TRY(skip());
        JsoncNode root = TRY(node(0));
        TRY(skip());
        if (at_ != text_.size()) return wrong("there is more after the value");
        return root;
    }

private:
    Failure wrong(std::string_view what) const {
        const auto line =
            1 + std::count(text_.begin(),
                           text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                           '\n');
        return invalid("invalid_json", cat("line ", line, ": it is not JSON: ", what),
                       {{"line", static_cast<std::int64_t>(line)}});
    }
    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    // A line comment ends before its line end, so that the end is passed over as a blank.
    Result<void> skip() {
        for (;;) {
            while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != kNowhere)
                ++at_;
            if (text_.substr(at_, 2) == "//") {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (text_.substr(at_, 2) == "/*") {
                const std::size_t end = text_.find("*/", at_ + 2);
                if (end == kNowhere) return wrong("a comment does not end");
                at_ = end + 2;
            } else {
                return {};
            }
        }
    }

    Result<JsoncNode> node(int depth) {
        if (depth > kDeepest) return wrong("it is nested too deep");
        if (next() == '{') return object(depth);
        if (next() == '[') return list(depth);
        return scalar();
    }

    // The text of the scalar is cut out here and read by the JSON parser, which knows the rules for
    // strings and numbers. Errors name the line on which it begins.
    Result<JsoncNode> scalar() {
        const std::size_t begin = at_;
        if (next() == '"') {
            for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
                if (text_[at_] == '\\') ++at_;
            ++at_;
        } else {
            while (at_ < text_.size() &&
                   std::string_view(" \t\r\n,]}/").find(text_[at_]) == kNowhere)
                ++at_;
        }
        const std::size_t end = std::min(at_, text_.size());
        auto value = json::parse(text_.substr(begin, end - begin));
        at_ = begin;
        if (!value) return wrong("a value is expected");
        at_ = end;
        return JsoncNode{begin, end, std::move(*value), {}};
    }

    // Passes over what stands between two items; true after the last.
    Result<bool> separated(char close, std::size_t* comma) {
        TRY(skip());
        if (next() == ',') {
            if (comma != nullptr) *comma = at_;
            ++at_;
            TRY(skip());
        } else if (next() != close) {
            return wrong(cat("a comma or '", close, "' is expected"));
        }
        if (next() != close) return false;
        ++at_;
        return true;
    }

    Result<JsoncNode> list(int depth) {
        JsoncNode out{at_++, 0, Value(List()), {}};
        TRY(skip());
        bool ended = next() == ']';
        if (ended) ++at_;
        while (!ended) {
            out.value.as_list().push_back(std::move(TRY(node(depth + 1)).value));
            ended = TRY(separated(']', nullptr));
        }
        out.end = at_;
        return out;
    }

    Result<JsoncNode> object(int depth) {
        JsoncNode out{at_++, 0, Value(Map()), {}};
        TRY(skip());
        bool ended = next() == '}';
        if (ended) ++at_;
        while (!ended) {
            JsoncMember member;
            member.begin = at_;
            if (next() != '"') return wrong("a name in double quotes is expected");
            member.key = TRY(scalar()).value.as_string();
            TRY(skip());
            if (next() != ':') return wrong("a colon is expected");
            ++at_;
            TRY(skip());
            member.node = TRY(node(depth + 1));
            ended = TRY(separated('}', &member.comma));
            // A name that occurs twice keeps its last value, as in other readers; `members` has
            // both places.
            out.value.as_map().set(member.key, member.node.value);
            out.members.push_back(std::move(member));
        }
        out.end = at_;
        return out;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// The last member of that name, which is the one that counts; the number of members if there is
// none.
std::size_t find_member(const JsoncNode& object, std::string_view name) {
    for (std::size_t i = object.members.size(); i > 0; --i)
        if (object.members[i - 1].key == name) return i - 1;
    return object.members.size();
}

Result<JsoncNode> parsed_object(std::string_view text) {
    JsoncNode root = TRY(JsoncParser(text).whole());
    if (!root.value.is_map()) return invalid("not_an_object", "it is JSON, but not an object");
    return root;
}

// The container in `root`; nullptr if there is none.
Result<const JsoncNode*> container_in(const JsoncNode& root, std::string_view name) {
    const std::size_t at = find_member(root, name);
    if (at == root.members.size()) return nullptr;
    const JsoncNode& node = root.members[at].node;
    if (!node.value.is_map())
        return invalid("not_an_object", cat("its ", name, " is not an object"));
    return &node;
}

std::size_t blanks_before(std::string_view text, std::size_t at) {
    while (at > 0 && std::string_view(" \t\r\n").find(text[at - 1]) != kNowhere) --at;
    return at;
}

// The blanks at the beginning of the line that `at` is on.
std::string_view indent_of_line(std::string_view text, std::size_t at) {
    const std::size_t newline = text.rfind('\n', at);
    const std::size_t begin = newline == kNowhere || at == 0 ? 0 : newline + 1;
    const std::size_t end = std::min(text.find_first_not_of(" \t", begin), text.size());
    return text.substr(begin, end - begin);
}

// One step of indentation, as the members of the whole have it.
std::string indent_unit(std::string_view text, const JsoncNode& root) {
    if (!root.members.empty()) {
        const std::size_t key = root.members.front().begin;
        const std::size_t before = blanks_before(text, key);
        const std::string_view blanks = text.substr(before, key - before);
        const std::size_t newline = blanks.rfind('\n');
        if (newline != kNowhere && newline + 1 < blanks.size())
            return std::string(blanks.substr(newline + 1));
    }
    return "  ";
}

// One member, without the indentation before it.
std::string member_text(std::string_view name, std::string_view value) {
    return cat(json::write(Value(std::string(name))), ": ", value);
}
// A list on one line, as people write it.
std::string list_text(const List& list) {
    std::string out;
    for (const Value& each : list) cat_to(out, cat(out.empty() ? "" : ", ", json::write(each)));
    return cat("[", out, "]");
}
// An object over several lines, its last one indented by `indent`.
std::string object_text(const Map& value, std::string_view indent, std::string_view unit) {
    std::string out = "{";
    for (const Map::Entry& each : value) {
        cat_to(out, cat(out.size() > 1 ? "," : "", "\n", indent, unit,
                        member_text(each.key, each.value.is_list() ? list_text(each.value.as_list())
                                                                   : json::write(each.value))));
    }
    return cat(out, "\n", indent, "}");
}

// `text` with another member at the end of `object`. `written` makes the member for an indentation.
template <class Written>
std::string inserted(std::string_view text, const JsoncNode& object, Written written) {
    // Written directly behind the bracket, whatever blanks or comments follow: erased() leaves
    // those.
    if (object.members.empty()) {
        return cat(text.substr(0, object.begin + 1), written(indent_of_line(text, object.begin)),
                   text.substr(object.begin + 1));
    }
    const JsoncMember& last = object.members.back();
    const std::size_t before = blanks_before(text, last.begin);
    std::string_view gap = text.substr(before, last.begin - before);
    if (const std::size_t newline = gap.rfind('\n'); newline != kNowhere)
        gap.remove_prefix(newline);
    // Comments behind the last member stay beside it. A file whose last member has a comma keeps
    // that style, and the new one gets a comma as well.
    const std::size_t item_end = last.comma == kNowhere ? last.node.end : last.comma + 1;
    const std::size_t tail = std::max(item_end, blanks_before(text, object.end - 1));
    std::string separator(gap.empty() ? " " : gap);
    const bool after_comment = text.substr(item_end, tail - item_end).find("//") != kNowhere;
    if (after_comment && !separator.starts_with('\n')) separator = "\n";
    const std::string_view indent = separator.starts_with('\n')
                                        ? std::string_view(separator).substr(1)
                                        : indent_of_line(text, last.begin);
    const bool has_comma = last.comma != kNowhere;
    return cat(text.substr(0, last.node.end), has_comma ? "" : ",",
               text.substr(last.node.end, tail - last.node.end), separator, written(indent),
               has_comma ? "," : "", text.substr(tail));
}

// `text` without the member `index` of `object`; undoes inserted(). The comma before the last
// member goes with it, unless it has one of its own behind it.
std::string erased(std::string_view text, const JsoncNode& object, std::size_t index) {
    const JsoncMember& member = object.members[index];
    const bool is_last = index + 1 == object.members.size();
    const std::size_t end = member.comma == kNowhere ? member.node.end : member.comma + 1;
    if (object.members.size() == 1) return cat(text.substr(0, member.begin), text.substr(end));
    if (index == 0) {
        const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", end), text.size());
        return cat(text.substr(0, member.begin), text.substr(next));
    }
    const std::size_t begin = blanks_before(text, member.begin);
    if (!is_last || member.comma != kNowhere) return cat(text.substr(0, begin), text.substr(end));
    const std::size_t comma = object.members[index - 1].comma;
    return cat(text.substr(0, comma), text.substr(comma + 1, begin - comma - 1), text.substr(end));
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Returns true for an object that jsonc_with() made, which begins with a line end, and to which
// nobody added a comment, a comma or a member since.
bool is_made_for_one(std::string_view text, const JsoncNode& object) {
    if (object.members.size() != 1 || text.substr(object.begin + 1, 1) != "\n") return false;
    const JsoncMember& member = object.members.front();
    return is_blank(text.substr(object.begin + 1, member.begin - object.begin - 1)) &&
           is_blank(text.substr(member.node.end, object.end - 1 - member.node.end));
}

}  // namespace

Result<std::optional<Value>> jsonc_value(std::string_view text, const MemberPlace& place) {
    const JsoncNode root = TRY(parsed_object(text));
    const JsoncNode* const container = TRY(container_in(root, place.container));
    if (container == nullptr) return std::optional<Value>();
    const std::size_t at = find_member(*container, place.name);
    if (at == container->members.size()) return std::optional<Value>();
    return std::optional(container->members[at].node.value);
}

Result<std::string> jsonc_with(std::string_view text, const MemberPlace& place,
                               const Value& value) {
    const bool is_new = text.empty();
    if (is_new) text = "{}";
    const JsoncNode root = TRY(parsed_object(text));
    const JsoncNode* const container = TRY(container_in(root, place.container));
    const std::string unit = indent_unit(text, root);
    const auto entry = [&](std::string_view indent) {
        return member_text(place.name, value.is_map() ? object_text(value.as_map(), indent, unit)
                                                      : json::write(value));
    };
    const auto made_container = [&](std::string_view indent) {
        const std::string inner = cat(indent, unit);
        return member_text(place.container, cat("{\n", inner, entry(inner), "\n", indent, "}"));
    };
    if (is_new) return cat("{\n", unit, made_container(unit), "\n}\n");
    if (container == nullptr) return inserted(text, root, made_container);
    const std::size_t at = find_member(*container, place.name);
    if (at == container->members.size()) return inserted(text, *container, entry);
    const JsoncMember& there = container->members[at];
    return cat(text.substr(0, there.begin), entry(indent_of_line(text, there.begin)),
               text.substr(there.node.end));
}

Result<std::string> jsonc_without(std::string_view text, const MemberPlace& place) {
    const JsoncNode root = TRY(parsed_object(text));
    const JsoncNode* const container = TRY(container_in(root, place.container));
    if (container == nullptr) return std::string(text);
    const std::size_t at = find_member(*container, place.name);
    if (at == container->members.size()) return std::string(text);
    if (!is_made_for_one(text, *container)) return erased(text, *container, at);
    if (is_made_for_one(text, root) && root.begin == 0 && is_blank(text.substr(root.end)))
        return std::string();
    return erased(text, root, find_member(root, place.container));
}

namespace {

// The list at the place and its position in the text; none if there is no such member. Error:
// invalid_argument "not_a_list".
Result<std::optional<JsoncNode>> list_at(std::string_view text, const MemberPlace& place) {
    const JsoncNode root = TRY(parsed_object(text));
    const JsoncNode* const container = TRY(container_in(root, place.container));
    const std::size_t at = container == nullptr ? 0 : find_member(*container, place.name);
    if (container == nullptr || at == container->members.size()) return std::optional<JsoncNode>();
    const JsoncNode& node = container->members[at].node;
    if (node.value.is_list()) return std::optional(node);
    return invalid("not_a_list", cat(place.container, ".", place.name, " is not a list"));
}

}  // namespace

Result<std::string> jsonc_with_first(std::string_view text, const MemberPlace& place,
                                     const Value& element) {
    const auto list =
        text.empty() ? Result<std::optional<JsoncNode>>(std::nullopt) : list_at(text, place);
    if (!list) return Failure(list.error());
    if (!*list) return jsonc_with(text, place, Value(List{element}));
    const std::size_t at = (**list).begin + 1;
    return cat(text.substr(0, at), json::write(element),
               (**list).value.as_list().empty() ? "" : ", ", text.substr(at));
}

Result<std::string> jsonc_without_element(std::string_view text, const MemberPlace& place,
                                          const Value& element) {
    const auto list = TRY(list_at(text, place));
    if (!list) return std::string(text);
    List left = list->value.as_list();
    const auto found = std::find(left.begin(), left.end(), element);
    if (found == left.end()) return std::string(text);
    if (left.size() == 1) return jsonc_without(text, place);
    const std::string written = cat(json::write(element), ", ");
    const std::size_t at = list->begin + 1;
    // Only an element at the front in our own spelling can be cut out by its bytes. Otherwise the
    // list is written anew without it.
    if (text.substr(at).starts_with(written))
        return cat(text.substr(0, at), text.substr(at + written.size()));
    left.erase(found);
    return jsonc_with(text, place, Value(std::move(left)));
}

}  // namespace quire::cli
