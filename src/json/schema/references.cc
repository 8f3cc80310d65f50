// A scan collects all names of a document: $id, anchors, dynamic anchors and definitions, each with
// the path that leads there. Resolving is then a lookup, or a walk along a JSON pointer that tracks
// the base URI. Unlike documents.h, which compiles schemas that obey the standard, this works on
// any value that looks like a schema, since it repairs documents of other programs that are only
// partly understood.
//
// Repairing compares the document before and after filtering. A definition that only lost its users
// is dropped. A reference whose target was changed by the filter is redirected to a copy of the
// original under $defs, and references inside of that copy follow in turn. O(n log n) per document,
// plus the size of the copies.

#include "json/schema/references.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "json/schema/uri.h"
#include "text/escape.h"

namespace quire::json {
namespace {

// Our validator accepts no schema that nests deeper than this.
constexpr int kDeepest = 256;
constexpr std::size_t kMostKept = 256;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 2> kDefinitions = {"$defs", "definitions"};
constexpr std::array<std::string_view, 5> kSchemasByName = {
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions"};
// Keywords whose operands are values, even if they look like schemas.
constexpr std::array<std::string_view, 5> kValues = {"enum", "const", "default", "examples",
                                                     "discriminator"};
constexpr std::array<std::string_view, 2> kReferences = {"$ref", "$dynamicRef"};

// Calls `visit(part, keyword, path of the part below the keyword)` for each schema directly inside.
// `Any` is Value or const Value.
template <typename Any, typename Visit>
void for_each_part(Any& schema, Visit visit) {
    if (!schema.is_map()) return;
    for (auto& each : schema.as_map()) {
        if (is_one_of(kValues, each.key)) continue;
        const std::string_view keyword = each.key;
        if (each.value.is_list()) {
            std::size_t index = 0;
            for (auto& part : each.value.as_list()) visit(part, keyword, std::to_string(index++));
        } else if (each.value.is_map() && is_one_of(kSchemasByName, keyword)) {
            for (auto& part : each.value.as_map())
                visit(part.value, keyword, std::string_view(part.key));
        } else if (each.value.is_map()) {
            visit(each.value, keyword, std::string_view());
        }
    }
}

const std::string* text_of(const Value& schema, std::string_view keyword) {
    const Value* const found = schema.get(keyword);
    return found != nullptr && found->is_string() ? &found->as_string() : nullptr;
}

template <typename Any>
Any* at_path(Any& root, const std::string& path) {
    const auto steps = json::detail::pointer_steps(path);
    Any* at = steps ? &root : nullptr;
    for (std::size_t i = 0; at != nullptr && i < steps->size(); ++i)
        at = detail::step_below(*at, (*steps)[i]);
    return at;
}

// Escapes the characters of a fragment that a URI cannot contain.
std::string percent_encoded(std::string_view text) {
    return text::percent_encoded(text, "-._~/:@!$&'()*+,;=?");
}

// Names are dropped, since the original keeps them; references are made absolute.
void moved(Value& schema, const std::string& from_outer, const std::string& to, int depth) {
    if (!schema.is_map() || depth > kDeepest) return;
    const std::string from = base_within(schema, from_outer);
    for (const std::string_view keyword : {"$id", "$anchor", "$dynamicAnchor"}) {
        if (text_of(schema, keyword) != nullptr) schema.as_map().erase(keyword);
    }
    for (const std::string_view keyword : kReferences) {
        const std::string* const reference = text_of(schema, keyword);
        if (reference == nullptr || from == to) continue;
        const auto meant = json::detail::resolve_uri(from, *reference);
        schema.as_map().set(keyword, cat(meant.uri, "#", percent_encoded(meant.fragment)));
    }
    for_each_part(schema, [&](Value& part, std::string_view, std::string_view) {
        moved(part, from, to, depth + 1);
    });
}

// The path to a schema, written out only on request.
struct SchemaPath {
    const SchemaPath* outer;
    std::string_view keyword;
    std::string_view step;

    std::string path() const {
        if (outer == nullptr) return "";
        std::string out = cat(outer->path(), "/", detail::escaped_step(keyword));
        // If the operand itself is the schema, the path ends with the keyword.
        if (!step.empty() || is_one_of(kSchemasByName, keyword))
            cat_to(out, cat("/", detail::escaped_step(step)));
        return out;
    }
};

// Calls `visit(schema, base within it)` for every schema in `schema`.
template <typename Any, typename Visit>
void for_all(Any& schema, const std::string& outer, int depth, const Visit& visit) {
    if (!schema.is_map() || depth > kDeepest) return;
    const std::string base = base_within(schema, outer);
    visit(schema, base);
    for_each_part(schema, [&](Any& part, std::string_view, std::string_view) {
        for_all(part, base, depth + 1, visit);
    });
}

}  // namespace

std::string base_within(const Value& schema, const std::string& outer) {
    const std::string* const id = text_of(schema, "$id");
    return id == nullptr ? outer : json::detail::resolve_uri(outer, *id).uri;
}

bool has_references(const Value& schema) {
    bool found = false;
    for (const std::string_view keyword : kReferences)
        found = found || text_of(schema, keyword) != nullptr;
    for_each_part(schema, [&](const Value& part, std::string_view, std::string_view) {
        found = found || has_references(part);
    });
    return found;
}

SchemaReferences::SchemaReferences(const Value& root) : root_(root) {
    resources_.insert_or_assign(base_within(root, ""), Target{&root, "", ""});
    look_through();
}

// One recursive walk with the base URI and the path as parameters.
void SchemaReferences::look_through() {
    const auto look = [&](const auto& self, const Value& schema, const std::string& outer,
                          const SchemaPath& here_path, int depth) -> void {
        if (!schema.is_map() || depth > kDeepest) return;
        const std::string base = base_within(schema, outer);
        if (text_of(schema, "$id") != nullptr)
            resources_.try_emplace(base, Target{&schema, outer, here_path.path()});
        for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
            const std::string* const name = text_of(schema, keyword);
            if (name == nullptr) continue;
            const Target here{&schema, outer, here_path.path()};
            anchors_.try_emplace(cat(base, "#", *name), here);
            if (keyword == "$dynamicAnchor") dynamic_.emplace(*name, here);
        }
        for_each_part(schema,
                      [&](const Value& part, std::string_view keyword, std::string_view step) {
                          const SchemaPath at{&here_path, keyword, step};
                          if (is_one_of(kDefinitions, keyword)) {
                              const std::string path = at.path();
                              defined_.try_emplace(path, Target{&part, base, path});
                          }
                          self(self, part, base, at, depth + 1);
                      });
    };
    look(look, root_, "", SchemaPath{nullptr, {}, {}}, 0);
}

// First the resource, then the fragment: empty, an anchor, or a pointer.
std::optional<SchemaReferences::Target> SchemaReferences::find(const std::string& base,
                                                               std::string_view reference,
                                                               bool dynamic) const {
    const auto meant = json::detail::resolve_uri(base, reference);
    const auto resource = resources_.find(meant.uri);
    if (resource == resources_.end()) return std::nullopt;
    if (meant.fragment.empty()) return resource->second;
    if (meant.fragment.front() != '/') {
        const auto found = anchors_.find(cat(meant.uri, "#", meant.fragment));
        if (found == anchors_.end()) return std::nullopt;
        const std::string* const name = text_of(*found->second.schema, "$dynamicAnchor");
        if (!dynamic || name == nullptr || *name != meant.fragment) return found->second;
        // The outermost resource decides, and the root belongs to every path.
        if (dynamic_.count(meant.fragment) == 1) return found->second;
        const auto first = anchors_.find(cat(base_within(root_, ""), "#", meant.fragment));
        return first == anchors_.end() ? std::nullopt : std::optional(first->second);
    }
    const auto steps = json::detail::pointer_steps(meant.fragment);
    if (!steps) return std::nullopt;
    Target at = resource->second;
    for (const std::string& step : *steps) {
        at.base = base_within(*at.schema, at.base);
        at.schema = detail::step_below(*at.schema, step);
        if (at.schema == nullptr) return std::nullopt;
        at.path += cat("/", detail::escaped_step(step));
    }
    return at;
}

// Reachability from everything outside of definitions, followed through references.
std::map<std::string, bool> SchemaReferences::definitions() const {
    std::map<std::string, bool> used;
    for (const auto& [path, place] : defined_) used.emplace(path, false);
    std::set<std::string> seen;
    std::vector<Target> waiting = {{&root_, "", ""}};
    const auto reach = [&](const Target& target) {
        if (!seen.insert(target.path).second) return;
        waiting.push_back(target);
        // A definition of which a part is used stays whole.
        for (std::size_t end = target.path.find('/', 1);; end = target.path.find('/', end + 1)) {
            const std::string path = target.path.substr(0, end);
            if (const auto around = defined_.find(path); around != defined_.end()) {
                used[path] = true;
                if (seen.insert(path).second) waiting.push_back(around->second);
            }
            if (end == std::string::npos) break;
        }
    };
    const auto walk = [&](const auto& self, const Value& schema, const std::string& outer,
                          int depth) -> void {
        if (!schema.is_map() || depth > kDeepest) return;
        const std::string base = base_within(schema, outer);
        for (const std::string_view keyword : kReferences) {
            const std::string* const reference = text_of(schema, keyword);
            if (reference == nullptr) continue;
            if (const auto target = find(base, *reference, keyword == "$dynamicRef"))
                reach(*target);
            if (keyword != "$dynamicRef") continue;
            // The target may depend on the path taken.
            const auto [begin, end] =
                dynamic_.equal_range(json::detail::resolve_uri(base, *reference).fragment);
            for (auto each = begin; each != end; ++each) reach(each->second);
        }
        for_each_part(schema, [&](const Value& part, std::string_view keyword, std::string_view) {
            if (!is_one_of(kDefinitions, keyword)) self(self, part, base, depth + 1);
        });
    };
    while (!waiting.empty()) {
        const Target next = waiting.back();
        waiting.pop_back();
        walk(walk, *next.schema, next.base, 0);
    }
    return used;
}

void move_copy(Value& copy, const std::string& from, const std::string& to) {
    moved(copy, from, to, 0);
}

namespace {

void gather_references(const Value& schema, std::vector<std::string_view>& out, int depth) {
    if (!schema.is_map() || depth > kDeepest) return;
    for (const std::string_view keyword : kReferences) {
        if (const std::string* const reference = text_of(schema, keyword))
            out.push_back(*reference);
    }
    for_each_part(schema, [&](const Value& part, std::string_view, std::string_view) {
        gather_references(part, out, depth + 1);
    });
}

// The references as written, in document order.
std::vector<std::string_view> references_in(const Value& schema) {
    std::vector<std::string_view> out;
    gather_references(schema, out, 0);
    return out;
}

// Drops the definitions that have become unused and returns their paths.
std::set<std::string> drop_unused(const Value& before, const SchemaReferences& were, Value& after) {
    std::set<std::string> dropped;
    // Usually no reference has been removed.
    if (references_in(before) == references_in(after)) return dropped;
    {
        const SchemaReferences are(after);
        const auto now = are.definitions();
        for (const auto& [path, used] : were.definitions()) {
            const auto still = now.find(path);
            // Below a list, another definition may have this path now.
            if (used && still != now.end() && !still->second &&
                *at_path(before, path) == *at_path(std::as_const(after), path))
                dropped.insert(path);
        }
    }
    for (const std::string& path : dropped) {
        const std::size_t slash = path.rfind('/');
        const std::string around = path.substr(0, slash);
        const auto name = json::detail::pointer_steps(path.substr(slash));
        Value* const all = at_path(after, around);
        if (all == nullptr || !all->is_map() || !name) continue;
        all->as_map().erase(name->front());
        const std::size_t outer = around.rfind('/');
        Value* const schema = at_path(after, around.substr(0, outer));
        if (all->as_map().empty() && schema != nullptr && schema->is_map())
            schema->as_map().erase(around.substr(outer + 1));
    }
    return dropped;
}

// OpenAPI: a mapping leads from a word to a reference, or to the name of a definition.
void prune_discriminators(Value& after, const SchemaReferences& were,
                          const std::set<std::string>& dropped) {
    const auto is_dropped = [&](const std::string& base, const std::string& named) {
        for (const std::string_view keyword : kDefinitions) {
            if (dropped.contains(cat("/", keyword, "/", detail::escaped_step(named)))) return true;
        }
        const auto target = were.find(base, named, false);
        return target && dropped.contains(target->path);
    };
    for_all(after, "", 0, [&](Value& schema, const std::string& base) {
        Value* const discriminator = schema.as_map().find("discriminator");
        if (discriminator == nullptr || !discriminator->is_map()) return;
        Value* const mapping = discriminator->as_map().find("mapping");
        if (mapping == nullptr || !mapping->is_map()) return;
        Map left;
        for (Map::Entry& each : mapping->as_map()) {
            if (!each.value.is_string() || !is_dropped(base, each.value.as_string()))
                left.append(each.key, std::move(each.value));
        }
        *mapping = std::move(left);
        if (mapping->as_map().empty()) discriminator->as_map().erase("mapping");
    });
}

// Gives references to changed parts the original parts, as definitions.
class Restoration {
public:
    Restoration(const Value& before, const SchemaReferences& were, Value& after)
        : were_(were), after_(after), base_(base_within(before, "")) {
        for_all(before, "", 0, [&](const Value& schema, const std::string& base) {
            for (const std::string_view keyword : kReferences) {
                const auto was = target_of(schema, base, keyword);
                // References to the whole document follow what is left of it.
                if (!was || was->path.empty() || changed_.contains(was->path)) continue;
                const Value* const is = at_path(std::as_const(after), was->path);
                // Definitions may be dropped, but are never changed.
                const bool is_definition =
                    was->path.starts_with("/$defs/") || was->path.starts_with("/definitions/");
                changed_.emplace(was->path,
                                 is == nullptr || (!is_definition && !(*is == *was->schema)));
            }
        });
    }

    bool run() {
        const bool any =
            std::ranges::any_of(changed_, [](const auto& each) { return each.second; });
        if (!any) return true;
        redirect(after_);
        for (std::size_t i = 0; i < kept_.size() && possible_; ++i) {
            Value copy = *kept_[i].target.schema;
            move_copy(copy, kept_[i].target.base, base_);
            redirect(copy, base_);
            Map& root = after_.as_map();
            if (!root.contains("$defs")) root.set("$defs", Map());
            Value* const all = root.find("$defs");
            if (!all->is_map()) return false;
            all->as_map().set(kept_[i].name, std::move(copy));
        }
        return possible_;
    }

private:
    struct Kept {
        SchemaReferences::Target target;
        std::string name;
    };

    std::optional<SchemaReferences::Target> target_of(const Value& schema, const std::string& base,
                                                      std::string_view keyword) const {
        const std::string* const reference = text_of(schema, keyword);
        if (reference == nullptr) return std::nullopt;
        return were_.find(base, *reference, keyword == "$dynamicRef");
    }

    void redirect(Value& all, const std::string& outer = "") {
        for_all(all, outer, 0, [&](Value& schema, const std::string& base) {
            for (const std::string_view keyword : kReferences) {
                const auto was = target_of(schema, base, keyword);
                const auto verdict = was ? changed_.find(was->path) : changed_.end();
                if (verdict == changed_.end() || !verdict->second) continue;
                if (base != base_ && base_.empty()) {
                    possible_ = false;  // Nothing in there can name the root.
                    continue;
                }
                schema.as_map().set(keyword,
                                    cat(base == base_ ? "" : base_, "#/$defs/",
                                        percent_encoded(detail::escaped_step(name_of(*was)))));
            }
        });
    }

    const std::string& name_of(const SchemaReferences::Target& target) {
        for (const Kept& each : kept_) {
            if (each.target.path == target.path) return each.name;
        }
        const auto steps = json::detail::pointer_steps(target.path);
        const std::string stem = steps && !steps->empty() ? steps->back() : "kept";
        const Value* const all = after_.get("$defs");
        const auto is_taken = [&](const std::string& name) {
            return (all != nullptr && all->get(name) != nullptr) ||
                   std::ranges::any_of(kept_, [&](const Kept& each) { return each.name == name; });
        };
        std::string name = stem;
        for (std::size_t i = 2; is_taken(name); ++i) name = cat(stem, "_", i);
        if (kept_.size() == kMostKept) possible_ = false;
        if (!possible_) return base_;
        return kept_.emplace_back(Kept{target, std::move(name)}).name;
    }

    const SchemaReferences& were_;
    Value& after_;
    const std::string base_;
    std::map<std::string, bool> changed_;  // Indexed by path in the original document.
    std::vector<Kept> kept_;
    bool possible_ = true;
};

}  // namespace

bool mend_references(const Value& before, const SchemaReferences& were, Value& after) {
    const std::set<std::string> dropped = drop_unused(before, were, after);
    if (!dropped.empty()) prune_discriminators(after, were, dropped);
    return Restoration(before, were, after).run();
}

}  // namespace quire::json
