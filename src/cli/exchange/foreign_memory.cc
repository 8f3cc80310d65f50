// Turns the memories of other programs into blocks, one reader for each format.
//
// The formats are strangers' and loosely written, so a reader takes the members it knows, checks
// only those, and says by line or block what is wrong. Labels are made valid and unique here; the
// import itself checks everything else.
#include "cli/exchange/foreign_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

using kernel::CarriedBlock;

constexpr std::size_t kFileBytes = std::size_t{1} << 30;
constexpr std::size_t kLongestLabel = 180;  // Leaves room for a suffix that makes it unique.

Failure invalid_file(std::string_view where, std::string_view what) {
    return invalid("invalid_file", cat(where, ": ", what));
}

const std::string* text_at(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? &value->as_string() : nullptr;
}

const List* list_at(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_list() ? &value->as_list() : nullptr;
}

// Makes labels valid, and unique among those of one owner within one import. Labels of two owners
// may be equal; the import itself looks for those that the workspace has already.
class Labels {
public:
    // A new label that is `wanted` as far as possible. A number is appended to one that the owner
    // has already.
    std::string make(std::string_view wanted, const policy::Actor& owner) {
        std::string label(wanted);
        for (char& c : label) {
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
        }
        // Characters that nobody sees would make two labels look alike.
        if (text::has_forbidden_in_name(label)) label = text::escape_hidden(label);
        std::size_t size = std::min(label.size(), kLongestLabel);
        while (size < label.size() && (static_cast<unsigned char>(label[size]) & 0xc0U) == 0x80U)
            --size;  // Cut between characters.
        label.resize(size);
        if (label.empty()) label = "unnamed";
        if (!kernel::check_label(label)) label = cat("imported ", label);
        std::string out = label;
        for (int i = 2; !used_.emplace(owner, out).second; ++i) out = cat(label, "_", i);
        return out;
    }

private:
    std::set<std::pair<policy::Actor, std::string>> used_;
};

// --- the memory server of MCP ---

memory::BlockSchema entity_schema() {
    using memory::Field;
    using memory::FieldType;
    return memory::MapSchema{
        {Field{.name = "name", .description = "Its name"},
         Field{.name = "entity_type", .description = "What kind of thing it is"},
         Field{
             .name = "observations", .description = "What is known of it", .type = FieldType::list},
         Field{.name = "relations",
               .description = "Its relations to others: {relation_type, to}",
               .type = FieldType::list}}};
}

// The memory server's file: entities by name, with the relations that begin at them. A line may
// name an entity before its own line comes, so everything is collected before the first block is
// made.
class Graph {
public:
    Result<void> add(const Value& line, std::string_view where) {
        const std::string* type = text_at(line, "type");
        if (type != nullptr && *type == "entity") return add_entity(line, where);
        if (type != nullptr && *type == "relation") return add_relation(line, where);
        return invalid_file(where, "it is neither an entity nor a relation");
    }

    std::vector<CarriedBlock> blocks(const policy::Actor& owner) {
        Labels labels;
        std::vector<CarriedBlock> out;
        for (auto& [name, entity] : entities_) {
            Map value{{"name", name}};
            std::string type;
            for (const std::string& each : entity.types)
                type += cat(type.empty() ? "" : ", ", each);
            if (!type.empty()) value.append("entity_type", type);
            if (!entity.observations.empty())
                value.append("observations", std::move(entity.observations));
            if (!entity.relations.empty()) value.append("relations", std::move(entity.relations));
            CarriedBlock block;
            block.header.block.label = labels.make(name, owner);
            block.header.block.description = type;
            block.header.block.schema = entity_schema();
            block.header.type = kernel::MemoryType::archival;
            block.header.owner = owner;
            block.value = std::move(value);
            out.push_back(std::move(block));
        }
        return out;
    }

private:
    struct Entity {
        std::vector<std::string> types = {};  // Several if the entity occurs more than once.
        List observations = {};
        List relations = {};
    };

    Entity& entity(const std::string& name) {
        const auto [at, is_new] = at_.try_emplace(name, entities_.size());
        if (is_new) entities_.emplace_back(name, Entity{});
        return entities_[at->second].second;
    }

    Result<void> add_entity(const Value& line, std::string_view where) {
        const std::string* name = text_at(line, "name");
        const std::string* type = text_at(line, "entityType");
        const List* observations = list_at(line, "observations");
        if (name == nullptr || type == nullptr || observations == nullptr)
            return invalid_file(where, "an entity has a name, an entityType and observations");
        Entity& known = entity(*name);
        const bool is_known =
            std::find(known.types.begin(), known.types.end(), *type) != known.types.end();
        if (!type->empty() && !is_known) known.types.push_back(*type);
        known.observations.insert(known.observations.end(), observations->begin(),
                                  observations->end());
        return {};
    }

    Result<void> add_relation(const Value& line, std::string_view where) {
        const std::string* from = text_at(line, "from");
        const std::string* to = text_at(line, "to");
        const std::string* type = text_at(line, "relationType");
        if (from == nullptr || to == nullptr || type == nullptr)
            return invalid_file(where, "a relation has from, to and relationType");
        entity(*from).relations.emplace_back(Map{{"relation_type", *type}, {"to", *to}});
        // The target gets a block too, for a relation to an entity without one would lead nowhere.
        entity(*to);
        return {};
    }

    std::vector<std::pair<std::string, Entity>> entities_;  // In the order of the file.
    std::map<std::string, std::size_t> at_;
};

// The first bad line ends the reading: half of a memory is worse than none, and the error names it.
Result<std::vector<CarriedBlock>> read_graph(std::string_view text, const policy::Actor& owner) {
    Graph graph;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        const std::string where = cat("line ", number);
        const Result<Value> value = json::parse(line, {.bytes = kFileBytes});
        if (!value) return invalid_file(where, cat("it is not JSON: ", value.error().message()));
        TRY(graph.add(*value, where));
    }
    return graph.blocks(owner);
}

// --- agent files of Letta ---

// The name as an actor's name may be written; "" if nothing of it is left. At most 64 bytes, as
// actors' names have.
std::string actor_name(std::string_view name) {
    constexpr std::size_t kLongest = 64;
    std::string out;
    for (const char c : name.substr(0, kLongest)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        out += plain ? c : '_';
    }
    return out.find_first_not_of('_') == std::string::npos ? "" : out;
}

// A value that is not text is refused. The label is only taken over here; Labels makes it valid.
Result<CarriedBlock> read_block(const Value& form, std::string_view where) {
    const std::string* label = text_at(form, "label");
    const std::string* value = text_at(form, "value");
    if (label == nullptr || value == nullptr)
        return invalid_file(where, "a block has a label and a value, both of them texts");
    CarriedBlock block;
    block.header.block.label = *label;
    if (const std::string* about = text_at(form, "description"))
        block.header.block.description = *about;
    if (const Value* limit = form.get("limit"); limit != nullptr && limit->is_int()) {
        // A block that exceeds its limit is not cut; the limit is raised.
        const std::size_t length = utf8::count_code_points(*value);
        block.header.block.char_limit =
            std::max(length, static_cast<std::size_t>(std::max<std::int64_t>(limit->as_int(), 0)));
    }
    const Value* read_only = form.get("read_only");
    if (read_only != nullptr && *read_only == Value(true))
        block.header.block.permission = policy::Permission::read_only;
    block.header.type = kernel::MemoryType::core;
    block.value = *value;
    return block;
}

// The actor names of the agents in the file that hold the block.
std::vector<std::string> holders_of(const Value& file, const Value& block) {
    std::vector<std::string> out;
    const std::string* id = text_at(block, "id");
    const List* agents = list_at(file, "agents");
    if (id == nullptr || agents == nullptr) return out;
    for (const Value& agent : *agents) {
        const List* ids = list_at(agent, "block_ids");
        const std::string* name = text_at(agent, "name");
        if (ids == nullptr || name == nullptr) continue;
        if (std::find(ids->begin(), ids->end(), Value(*id)) == ids->end()) continue;
        if (std::string known = actor_name(*name); !known.empty()) out.push_back(std::move(known));
    }
    return out;
}

// The first agent that holds a block becomes its owner; the others get it shared, with the right to
// write. A named owner has all blocks instead.
Result<std::vector<CarriedBlock>> read_agent_file(const Value& file,
                                                  const std::optional<policy::Actor>& owner) {
    // An older agent file is itself the one agent.
    const bool is_one = list_at(file, "core_memory") != nullptr;
    const List& forms = *list_at(file, is_one ? "core_memory" : "blocks");
    Labels labels;
    std::vector<CarriedBlock> out;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const std::string where = cat("block ", i + 1);
        CarriedBlock block = TRY(read_block(forms[i], where));
        std::vector<std::string> holders = holders_of(file, forms[i]);
        if (const std::string* name = text_at(file, "name"); is_one && name != nullptr)
            holders = {actor_name(*name)};
        if (owner) {
            block.header.owner = *owner;
        } else if (!holders.empty() && !holders.front().empty()) {
            block.header.owner = {policy::ActorKind::agent, holders.front()};
            for (std::size_t k = 1; k < holders.size(); ++k) {
                block.header.shares.push_back(
                    {{policy::ActorKind::agent, holders[k]}, policy::Permission::read_write});
            }
        } else {
            return invalid("owner_required",
                           cat(where, " ('", block.header.block.label,
                               "') belongs to no agent of the file; name one with --agent NAME"));
        }
        block.header.block.label = labels.make(block.header.block.label, block.header.owner);
        out.push_back(std::move(block));
    }
    return out;
}

Failure unknown_format() {
    return invalid("unknown_format",
                   "the file is in no known format: it is not an export of quire, not the memory "
                   "server's lines of entities and relations, and not an agent file of Letta");
}

}  // namespace

Result<std::vector<CarriedBlock>> read_foreign_memory(std::string_view text,
                                                      const std::optional<policy::Actor>& owner) {
    // The first line decides, since a file of lines is no JSON as a whole. An agent file on several
    // lines has a first line that does not parse, and is read as one text.
    const std::string_view rest =
        text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const Result<Value> line = json::parse(rest.substr(0, rest.find('\n')), {.bytes = kFileBytes});
    const std::string* type = line ? text_at(*line, "type") : nullptr;
    if (type != nullptr && (*type == "entity" || *type == "relation")) {
        if (owner) return read_graph(text, *owner);
        return invalid("owner_required",
                       "the memory server's file names no agent; name the owner: --agent NAME");
    }
    Result<Value> file = json::parse(text, {.bytes = kFileBytes});
    // Some programs write the file as a JSON string that holds JSON.
    if (file && file->is_string()) file = json::parse(file->as_string(), {.bytes = kFileBytes});
    if (!file) return unknown_format();
    const bool is_agent_file =
        list_at(*file, "core_memory") != nullptr ||
        (list_at(*file, "agents") != nullptr && list_at(*file, "blocks") != nullptr);
    if (!is_agent_file) return unknown_format();
    return read_agent_file(*file, owner);
}

}  // namespace quire::cli
