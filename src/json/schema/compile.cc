// Three phases. First, every schema that can be reached gets a node, and its keywords turn into
// rules (fill); a reference creates the node of its target and continues. Second, $dynamicRef needs
// the dynamic anchors of all documents that were reached, and following those may reach more, so
// linking repeats until nothing is new. Third, the nodes that apply to the same value form a graph
// that must be free of cycles; walking it in order also computes the types that each node can
// accept, which lets the checker reject a wrong type at once. O(n log n) in the keywords reached.

#include "json/schema/compile.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/concat.h"
#include "json/schema/keywords.h"
#include "text/nearest.h"

namespace quire::json::detail {
namespace {

// Every dynamic name is looked up in every schema that has a URI.
constexpr std::size_t kDynamicNames = 64;

Failure too_large(std::string_view what, std::size_t limit) {
    return fail(Errc::out_of_range, "schema_too_large",
                cat("the schema has more than ", limit, " ", what, "; make it smaller"),
                {{"limit", limit}});
}

// The types of values that a node accepts, once its references and branches are known. A superset
// of what the node accepts: `not`, patterns and dynamic references are left out, so a value of none
// of these types is refused for certain, and one of them may still be.
TypeSet wanted_of(const Node& node) {
    if (node.nothing) return 0;
    TypeSet types = node.types;
    if (node.ref != nullptr) types &= node.ref->wanted;
    for (const Node* part : node.all) types &= part->wanted;
    for (const auto* branches : {&node.any, &node.one}) {
        if (branches->empty()) continue;
        TypeSet some = 0;
        for (const Node* branch : *branches) some |= branch->wanted;
        types &= some;
    }
    if (node.condition != nullptr) {
        const auto side = [](const Node* schema) {
            return schema == nullptr ? kAnyType : schema->wanted;
        };
        types &= static_cast<TypeSet>(side(node.consequence) | side(node.alternative));
    }
    return types;
}

}  // namespace

// Loads the document, compiles its root, then everything that can be reached from it.
Result<Graph> Compiler::compile(const Value& root) {
    static const Trail kRoot{.step = "#"};
    SchemaPart* part = TRY(documents_.load(root, "", kRoot));
    graph_.root = TRY(node_at(root, *part, kRoot));
    TRY(link_dynamic_anchors());
    TRY(settle());
    graph_.scoped = !dynamic_names_.empty();
    return std::move(graph_);
}

// Returns the node of a schema that was seen before, so each place is compiled once. The node is
// empty until fill() comes to it in the queue. Its address is final, so rules may refer to it at
// once, also in a circle.
Result<const Node*> Compiler::node_at(const Value& schema, SchemaPart& around, const Trail& trail) {
    if (const auto known = at_.find(&schema); known != at_.end()) {
        return graph_.nodes[known->second].get();
    }
    if (!schema.is_map() && !schema.is_bool()) {
        return invalid_schema(trail, "a schema", "is an object, true or false");
    }
    if (drafts_.size() == Schema::kSchemas) return too_large("schemas", Schema::kSchemas);

    const auto number = static_cast<std::uint32_t>(drafts_.size());
    SchemaPart* part = documents_.part_of(schema, &around);
    if (part->compiled == nullptr) {
        part->compiled = graph_.resources.emplace_back(std::make_unique<Resource>()).get();
        compiled_parts_.push_back(part);
    }
    Node& node = *graph_.nodes.emplace_back(std::make_unique<Node>());
    node.number = number;
    node.resource = part->compiled;
    node.nothing = schema.is_bool() && !schema.as_bool();
    at_.emplace(&schema, number);
    drafts_.push_back({&node, &schema, part, &trail, {}});
    return &node;
}

// A $dynamicRef to a dynamic anchor also needs the anchor's number, for the walk.
Result<Compiler::Referred> Compiler::refer(std::string_view reference, SchemaPart& from,
                                           const Trail& trail, std::string_view keyword) {
    const Documents::Target target = TRY(documents_.find(reference, from, trail, keyword));
    const Node* node = TRY(node_at(*target.schema, *target.part, *target.trail));
    if (keyword != "$dynamicRef" || target.dynamic_anchor.empty()) {
        return Referred{node, std::nullopt};
    }

    const auto known = std::ranges::find(dynamic_names_, target.dynamic_anchor);
    const auto number = static_cast<std::uint32_t>(known - dynamic_names_.begin());
    if (known == dynamic_names_.end()) {
        if (dynamic_names_.size() == kDynamicNames) {
            return too_large("names of dynamic anchors", kDynamicNames);
        }
        dynamic_names_.push_back(target.dynamic_anchor);
    }
    return Referred{node, number};
}

void Compiler::applies_here(const Node& outer, const Node& inner) {
    drafts_[outer.number].here.push_back(inner.number);
}

// The number of patterns is limited, since each is compiled on its own.
Result<PatternTest> Compiler::pattern(std::string_view text, const Trail& trail,
                                      std::string_view keyword) {
    const auto refused = [&](std::string_view why) {
        const std::string path = trail.text();
        return fail(Errc::unsupported, "unsupported_pattern",
                    cat("the schema at '", path, "': ", keyword, ": ", why),
                    {{"path", path}, {"keyword", keyword}, {"pattern", text}});
    };
    if (!options_.patterns) return refused("this schema was compiled without regular expressions");
    if (++patterns_ > Schema::kPatterns) return too_large("patterns", Schema::kPatterns);
    auto test = options_.patterns(text);
    if (!test && test.error().code() == Errc::unsupported) return refused(test.error().message());
    if (!test) return invalid_schema(trail, keyword, cat("holds ", test.error().message()));
    return std::move(*test);
}

Result<void> Compiler::fill_waiting() {
    while (filled_ < drafts_.size()) TRY(fill(drafts_[filled_++]));
    return {};
}

// A misspelt keyword in a schema of ours is an error with a suggestion.
Result<void> Compiler::check_known(const Draft& draft, std::string_view keyword) const {
    if (!options_.strict || keyword.starts_with("x-")) return {};
    text::Nearest nearest(keyword);
    for (const Keyword& known : keywords()) nearest.offer(known.name);
    return invalid_schema(
        *draft.trail, keyword,
        cat("is not a keyword of JSON Schema",
            nearest.best().empty() ? "" : cat("; did you mean ", nearest.best(), "?")));
}

// Runs the functions of all keywords that the schema has, in the table's order.
Result<void> Compiler::fill(Draft& draft) {
    if (draft.schema->is_bool()) return {};
    present_.clear();
    for (const Map::Entry& entry : draft.schema->as_map()) {
        const Keyword* keyword = keyword_named(entry.key, draft.part->vocabularies);
        if (keyword == nullptr) {
            TRY(check_known(draft, entry.key));
        } else if (keyword->compile != nullptr) {
            present_.push_back({keyword, &entry.value});
        }
    }
    std::ranges::sort(present_,
                      [](const Present& a, const Present& b) { return a.keyword < b.keyword; });
    for (const Present& present : present_) {
        TRY(present.keyword->compile(Site{*this, *draft.node, *draft.schema, *present.operand,
                                          *draft.part, *draft.trail, present.keyword->name}));
    }
    auto& members = draft.node->members;
    members.by_name.resize(members.properties.size());
    std::iota(members.by_name.begin(), members.by_name.end(), 0U);
    std::ranges::sort(members.by_name, [&](std::uint32_t a, std::uint32_t b) {
        return members.properties[a].name < members.properties[b].name;
    });
    return {};
}

// The walk can only be in parts of which something is compiled. Compiling their anchors may reach
// further parts and names; each pair is visited once.
Result<void> Compiler::link_dynamic_anchors() {
    std::size_t parts = 0;  // Parts that are linked for the first `names`.
    std::uint32_t names = 0;
    while (true) {
        TRY(fill_waiting());
        if (names < dynamic_names_.size()) {
            for (std::size_t i = 0; i < parts; ++i) TRY(link(*compiled_parts_[i], names));
            ++names;
        } else if (parts < compiled_parts_.size()) {
            SchemaPart& part = *compiled_parts_[parts++];
            for (std::uint32_t name = 0; name < names; ++name) TRY(link(part, name));
        } else {
            return {};
        }
    }
}

Result<void> Compiler::link(SchemaPart& part, std::uint32_t name) {
    const auto anchor = part.anchors.find(dynamic_names_[name]);
    if (anchor == part.anchors.end() || !anchor->second.dynamic) return {};
    const Node* node = TRY(node_at(*anchor->second.schema, part, *part.trail));
    part.compiled->anchors.push_back({name, node});
    return {};
}

// A depth-first search over the nodes that apply to the same value, without recursion. A circle
// among them would be walked without ever going into the value. It is found here, once, so the walk
// needs no test for it. Circles that go through members or items are fine: a value is finite.
Result<void> Compiler::settle() {
    enum class Seen : std::uint8_t { no, open, done };
    std::vector<Seen> seen(drafts_.size(), Seen::no);
    struct Step {
        std::uint32_t node;
        std::size_t next;
    };
    std::vector<Step> path;
    for (std::uint32_t first = 0; first < drafts_.size(); ++first) {
        if (seen[first] == Seen::no) path.push_back({first, 0});
        while (!path.empty()) {
            Step& step = path.back();
            Draft& draft = drafts_[step.node];
            seen[step.node] = Seen::open;
            if (step.next == draft.here.size()) {
                draft.node->wanted = wanted_of(*draft.node);
                seen[step.node] = Seen::done;
                path.pop_back();
                continue;
            }
            const std::uint32_t inner = draft.here[step.next++];
            if (seen[inner] == Seen::open) {
                return invalid_schema(*draft.trail, "the schema",
                                      "leads back to itself without going into the value: it "
                                      "could be followed for ever");
            }
            if (seen[inner] == Seen::no) path.push_back({inner, 0});
        }
    }
    return {};
}

const Value* Site::beside(std::string_view name) const {
    return keyword_named(name, part.vocabularies) == nullptr ? nullptr : schema.get(name);
}

namespace {

Result<const Node*> made(const Site& site, const Value& schema, Site::For what,
                         const Trail* trail) {
    const Node* node = TRY(site.compiler.node_at(schema, site.part, *trail));
    if (what == Site::For::here) site.compiler.applies_here(site.node, *node);
    return node;
}

}  // namespace

Result<const Node*> Site::child(const Value& inner, For what) const {
    return made(*this, inner, what, compiler.trail(&trail, keyword));
}

Result<const Node*> Site::child(const Value& inner, For what, std::string_view step) const {
    return made(*this, inner, what, compiler.trail(compiler.trail(&trail, keyword), step));
}

Result<const Node*> Site::child(const Value& inner, For what, std::size_t index) const {
    return made(*this, inner, what, compiler.trail(compiler.trail(&trail, keyword), index));
}

Result<std::vector<const Node*>> Site::children(For what) const {
    if (!operand.is_list() || operand.as_list().empty()) {
        return wrong("must be an array of one or more schemas");
    }
    std::vector<const Node*> nodes;
    for (const Value& inner : operand.as_list()) {
        nodes.push_back(TRY(child(inner, what, nodes.size())));
    }
    return nodes;
}

bool Site::strict() const {
    return compiler.strict();
}

Result<PatternTest> Site::pattern(std::string_view text) const {
    return compiler.pattern(text, trail, keyword);
}

}  // namespace quire::json::detail
