#include "policy/operation_filter.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace quire::policy {
namespace {

using Allowed = std::span<const std::string>;

bool holds(Allowed names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// RFC 6901: "~1" is '/', "~0" is '~'.
std::string unescaped(std::string_view part) {
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
        const bool escape = part[i] == '~' && i + 1 < part.size();
        out.push_back(!escape ? part[i] : part[i + 1] == '1' ? '/' : '~');
        i += escape ? 1 : 0;
    }
    return out;
}

// What "#/$defs/a" names in `root`; nullptr for what is outside or not there.
const Value* at_reference(const Value& root, std::string_view reference) {
    if (!reference.starts_with('#')) return nullptr;
    reference.remove_prefix(1);
    const Value* at = &root;
    while (at != nullptr && reference.starts_with('/')) {
        reference.remove_prefix(1);
        const std::string part = unescaped(reference.substr(0, reference.find('/')));
        reference.remove_prefix(std::min(reference.find('/'), reference.size()));
        at = at->get(part);
    }
    return reference.empty() ? at : nullptr;
}

bool refers(const Value& schema) {
    const Value* const reference = schema.get("$ref");
    return reference != nullptr && reference->is_string();
}

constexpr std::array<std::string_view, 2> kDefinitions = {"$defs", "definitions"};

// The definitions that `node` reaches, as "$defs/a".
void reach(const Value& root, const Value& node, std::set<std::string>& seen) {
    if (node.is_list()) {
        for (const Value& each : node.as_list()) reach(root, each, seen);
        return;
    }
    if (!node.is_map()) return;
    for (const Map::Entry& each : node.as_map()) {
        if (std::find(kDefinitions.begin(), kDefinitions.end(), each.key) != kDefinitions.end() &&
            &node == &root)
            continue;
        if (each.key == "$ref" && each.value.is_string()) {
            const std::string& reference = each.value.as_string();
            const Value* const target = at_reference(root, reference);
            if (target != nullptr && seen.insert(reference).second) reach(root, *target, seen);
        }
        reach(root, each.value, seen);
    }
}

class Filter {
public:
    Filter(const Value& root, std::string_view field, Allowed allowed)
        : root_(root), field_(field), allowed_(allowed) {}

    // An object's schema; none where no word of the member is left.
    std::optional<Value> object(const Value& schema);

private:
    // The schema of the member itself.
    std::optional<Value> words(const Value& schema);

    using Part = std::optional<Value> (Filter::*)(const Value&);
    // What a branch of `keyword` leaves; false where nothing is left of any.
    bool branches(Map& schema, std::string_view keyword, Part part);
    bool all_of(Map& schema, Part part);
    // What of a schema stands beside its reference by `part`, and the target in place of the
    // reference where that changes it. What leads back to itself adds nothing.
    std::optional<Value> referring(Map schema, Part part);
    void conditional(Map& schema);

    bool is_allowed(const Value& word) const {
        return word.is_string() && holds(allowed_, word.as_string());
    }
    // Of a default or an example of the member: a word, or an array of them.
    bool speaks_of_others(const Value& value) const;
    void enumeration(Map& schema) const;

    const Value& root_;
    const std::string_view field_;
    const Allowed allowed_;
    // By target: of the words of the member, and of an object's schema. None while it is looked at.
    std::map<const Value*, std::optional<Value>> known_words_, known_objects_;
};

bool Filter::speaks_of_others(const Value& value) const {
    if (value.is_list()) {
        return std::any_of(value.as_list().begin(), value.as_list().end(),
                           [&](const Value& each) { return speaks_of_others(each); });
    }
    return value.is_string() && !is_allowed(value);
}

// An enum, and each list beside it that has a word for each of its own.
void Filter::enumeration(Map& schema) const {
    const List words = schema.find("enum")->as_list();
    for (Map::Entry& each : schema) {
        const bool beside = each.key.starts_with("enum") || each.key.starts_with("x-enum");
        if (!beside || !each.value.is_list() || each.value.as_list().size() != words.size())
            continue;
        List left;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (is_allowed(words[i])) left.push_back(std::move(each.value.as_list()[i]));
        }
        each.value = std::move(left);
    }
}

bool Filter::branches(Map& schema, std::string_view keyword, Part part) {
    const Value* const given = schema.find(keyword);
    if (given == nullptr || !given->is_list()) return true;
    List left;
    for (const Value& each : given->as_list()) {
        if (auto kept = (this->*part)(each)) left.push_back(std::move(*kept));
    }
    if (left.empty()) return given->as_list().empty();
    schema.set(keyword, std::move(left));
    return true;
}

bool Filter::all_of(Map& schema, Part part) {
    const Value* const given = schema.find("allOf");
    if (given == nullptr || !given->is_list()) return true;
    List left;
    for (const Value& each : given->as_list()) {
        auto kept = (this->*part)(each);
        if (!kept) return false;
        // A condition on a word that is gone asks for nothing any more.
        if (!kept->is_map() || !kept->as_map().empty()) left.push_back(std::move(*kept));
    }
    if (left.empty()) {
        schema.erase("allOf");
    } else {
        schema.set("allOf", std::move(left));
    }
    return true;
}

std::optional<Value> Filter::referring(Map schema, Part part) {
    const std::string reference = schema.find("$ref")->as_string();
    const Value* const target = at_reference(root_, reference);
    auto& known = part == &Filter::words ? known_words_ : known_objects_;
    std::optional<Value> filtered;
    if (target != nullptr) {
        const auto [at, is_new] = known.try_emplace(target);
        if (is_new) at->second = (this->*part)(*target);
        filtered = at->second;
        if (!filtered) return std::nullopt;
    }
    schema.erase("$ref");
    std::optional<Value> beside = schema.empty() ? Map() : (this->*part)(Value(std::move(schema)));
    if (!beside) return std::nullopt;
    Map& out = beside->as_map();
    if (!filtered || *filtered == *target || !filtered->is_map()) {
        out.set("$ref", reference);
        return beside;
    }
    for (Map::Entry& each : filtered->as_map()) {
        if (!out.contains(each.key)) out.set(each.key, std::move(each.value));
    }
    return beside;
}

std::optional<Value> Filter::words(const Value& schema) {
    if (!schema.is_map()) return schema;
    if (refers(schema)) return referring(schema.as_map(), &Filter::words);
    Map out = schema.as_map();
    if (const Value* word = out.find("const"); word != nullptr && !is_allowed(*word))
        return std::nullopt;
    if (const Value* all = out.find("enum"); all != nullptr && all->is_list()) {
        enumeration(out);
        if (out.find("enum")->as_list().empty()) return std::nullopt;
    }
    for (const std::string_view keyword : {"oneOf", "anyOf"}) {
        if (!branches(out, keyword, &Filter::words)) return std::nullopt;
    }
    if (!all_of(out, &Filter::words)) return std::nullopt;
    if (const Value* items = out.find("items"); items != nullptr) {
        auto kept = words(*items);
        if (!kept) return std::nullopt;
        out.set("items", std::move(*kept));
    }
    if (const Value* usual = out.find("default"); usual != nullptr && speaks_of_others(*usual))
        out.erase("default");
    if (Value* examples = out.find("examples"); examples != nullptr && examples->is_list()) {
        std::erase_if(examples->as_list(),
                      [&](const Value& each) { return speaks_of_others(each); });
        if (examples->as_list().empty()) out.erase("examples");
    }
    const bool open = std::none_of(out.begin(), out.end(), [](const Map::Entry& each) {
        return each.key == "const" || each.key == "enum" || each.key == "oneOf" ||
               each.key == "anyOf" || each.key == "allOf" || each.key == "items";
    });
    const Value* const type = out.find("type");
    if (open && (type == nullptr || *type == Value("string")))
        out.set("enum", List(allowed_.begin(), allowed_.end()));
    return Value(std::move(out));
}

// if {operation: X} then …: without X there is no then, and the else always holds.
void Filter::conditional(Map& schema) {
    const Value* const condition = schema.find("if");
    if (condition == nullptr || !condition->is_map()) return;
    const Value* const members = condition->get("properties");
    if (members == nullptr || members->get(field_) == nullptr) return;
    const auto kept = object(*condition);
    const auto part = [&](std::string_view keyword) -> std::optional<Value> {
        const Value* const given = schema.find(keyword);
        return given == nullptr ? std::nullopt : object(*given);
    };
    std::optional<Value> then = part("then");
    std::optional<Value> otherwise = part("else");
    for (const std::string_view keyword : {"if", "then", "else"}) schema.erase(keyword);
    if (kept) {
        schema.set("if", *kept);
        if (then) schema.set("then", std::move(*then));
        if (otherwise) schema.set("else", std::move(*otherwise));
    } else if (otherwise) {
        if (schema.empty() && otherwise->is_map()) {
            schema = std::move(otherwise->as_map());
        } else {
            List all;
            if (const Value* given = schema.find("allOf"); given != nullptr && given->is_list())
                all = given->as_list();
            all.push_back(std::move(*otherwise));
            schema.set("allOf", std::move(all));
        }
    }
}

std::optional<Value> Filter::object(const Value& schema) {
    if (!schema.is_map()) return schema;
    if (refers(schema)) return referring(schema.as_map(), &Filter::object);
    Map out = schema.as_map();
    if (const Value* members = out.find("properties"); members != nullptr) {
        if (const Value* member = members->get(field_)) {
            auto kept = words(*member);
            if (!kept) return std::nullopt;
            Value all = *members;
            all.as_map().set(field_, std::move(*kept));
            out.set("properties", std::move(all));
        }
    }
    conditional(out);
    for (const std::string_view keyword : {"oneOf", "anyOf"}) {
        if (!branches(out, keyword, &Filter::object)) return std::nullopt;
    }
    if (!all_of(out, &Filter::object)) return std::nullopt;
    const auto names_another = [&](const Value& each) {
        const Value* const word = each.get(field_);
        return word != nullptr && speaks_of_others(*word);
    };
    if (const Value* usual = out.find("default"); usual != nullptr && names_another(*usual))
        out.erase("default");
    if (Value* examples = out.find("examples"); examples != nullptr && examples->is_list()) {
        std::erase_if(examples->as_list(), names_another);
        if (examples->as_list().empty()) out.erase("examples");
    }
    return Value(std::move(out));
}

// Whether some object in `schema` has the member. `seen`: the targets of references so far.
bool mentions(const Value& root, const Value& schema, std::string_view field,
              std::set<const Value*>& seen) {
    if (!schema.is_map()) return false;
    const Value* const members = schema.get("properties");
    if (members != nullptr && members->get(field) != nullptr) return true;
    for (const std::string_view keyword : {"oneOf", "anyOf", "allOf"}) {
        const Value* const parts = schema.get(keyword);
        if (parts == nullptr || !parts->is_list()) continue;
        for (const Value& each : parts->as_list()) {
            if (mentions(root, each, field, seen)) return true;
        }
    }
    if (!refers(schema)) return false;
    const Value* const target = at_reference(root, schema.get("$ref")->as_string());
    return target != nullptr && seen.insert(target).second && mentions(root, *target, field, seen);
}

// What a member's schemas list of words.
class WordList {
public:
    WordList(const Value& root, std::string_view field) : root_(root), field_(field) {}

    void object(const Value& schema) {
        if (!schema.is_map()) return;
        follow(schema, &WordList::object, seen_objects_);
        const Value* const members = schema.get("properties");
        if (const Value* member = members == nullptr ? nullptr : members->get(field_))
            word(*member);
        branches(schema, &WordList::object);
    }
    std::vector<std::string> take() && { return std::move(words_); }

private:
    using Part = void (WordList::*)(const Value&);

    void word(const Value& schema) {
        if (!schema.is_map()) return;
        follow(schema, &WordList::word, seen_words_);
        if (const Value* only = schema.get("const")) add(*only);
        if (const Value* all = schema.get("enum"); all != nullptr && all->is_list())
            for (const Value& each : all->as_list()) add(each);
        branches(schema, &WordList::word);
        if (const Value* items = schema.get("items")) word(*items);
    }
    void branches(const Value& schema, Part part) {
        for (const std::string_view keyword : {"oneOf", "anyOf", "allOf"}) {
            const Value* const all = schema.get(keyword);
            if (all == nullptr || !all->is_list()) continue;
            for (const Value& each : all->as_list()) (this->*part)(each);
        }
    }
    void follow(const Value& schema, Part part, std::set<const Value*>& seen) {
        if (!refers(schema)) return;
        const Value* const target = at_reference(root_, schema.get("$ref")->as_string());
        if (target != nullptr && seen.insert(target).second) (this->*part)(*target);
    }
    void add(const Value& word) {
        if (word.is_string() && !holds(words_, word.as_string()))
            words_.push_back(word.as_string());
    }

    const Value& root_;
    const std::string_view field_;
    std::vector<std::string> words_;
    std::set<const Value*> seen_objects_, seen_words_;
};

// Without the definitions that were used before and are not now.
void drop_unused(const Value& before, Value& schema) {
    std::set<std::string> used;
    std::set<std::string> still;
    reach(before, before, used);
    reach(schema, schema, still);
    for (const std::string_view keyword : kDefinitions) {
        Value* const all = schema.as_map().find(keyword);
        if (all == nullptr || !all->is_map()) continue;
        for (const std::string& each : used) {
            const std::string prefix = "#/" + std::string(keyword) + "/";
            if (still.contains(each) || !each.starts_with(prefix)) continue;
            // One that is reached only by its parts stays whole.
            const bool part_of_one =
                std::any_of(still.begin(), still.end(),
                            [&](const auto& other) { return other.starts_with(each + "/"); });
            if (!part_of_one) all->as_map().erase(unescaped(each.substr(prefix.size())));
        }
        if (all->as_map().empty()) schema.as_map().erase(keyword);
    }
}

}  // namespace

Value filter_schema_enum(Value schema, std::string_view field, Allowed allowed) {
    std::set<const Value*> seen;
    if (!mentions(schema, schema, field, seen)) return schema;
    std::optional<Value> filtered = Filter(schema, field, allowed).object(schema);
    if (!filtered) {
        return Map{{"type", "object"},
                   {"properties", Map{{std::string(field), Map{{"enum", List{}}}}}},
                   {"required", List{field}}};
    }
    drop_unused(schema, *filtered);
    return std::move(*filtered);
}

std::vector<std::string> words_of_member(const Value& schema, std::string_view field) {
    WordList words(schema, field);
    words.object(schema);
    return std::move(words).take();
}

Value without_members(Value schema, Allowed names) {
    if (!schema.is_map()) return schema;
    Map& all = schema.as_map();
    const auto is_named = [&](const Value& each) {
        return each.is_string() && holds(names, each.as_string());
    };
    for (const std::string_view keyword : {"properties", "dependentRequired", "dependentSchemas"}) {
        Value* const members = all.find(keyword);
        if (members == nullptr || !members->is_map()) continue;
        for (const std::string& name : names) members->as_map().erase(name);
        if (keyword != "dependentRequired") continue;
        for (Map::Entry& each : members->as_map()) {
            if (each.value.is_list()) std::erase_if(each.value.as_list(), is_named);
        }
    }
    if (Value* required = all.find("required"); required != nullptr && required->is_list())
        std::erase_if(required->as_list(), is_named);
    const auto names_one = [&](const Value& each) {
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string& name) { return each.get(name) != nullptr; });
    };
    if (const Value* usual = all.find("default"); usual != nullptr && names_one(*usual))
        all.erase("default");
    if (Value* examples = all.find("examples"); examples != nullptr && examples->is_list())
        std::erase_if(examples->as_list(), names_one);
    return schema;
}

}  // namespace quire::policy
