#include "tests/traces/traces.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <zlib.h>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"
#include "json/json.h"

namespace quire::traces {

namespace {

std::string folder() {
    const char* given = std::getenv("QUIRE_TRACES");
    return given != nullptr ? given : QUIRE_DEFAULT_TRACES;
}

std::optional<Value> read_gz(const std::string& path) {
    if (!std::filesystem::exists(path)) return std::nullopt;
    gzFile file = gzopen(path.c_str(), "rb");
    CHECK(file != nullptr);
    std::string text;
    char chunk[1 << 16];
    for (int n = gzread(file, chunk, sizeof chunk); n != 0; n = gzread(file, chunk, sizeof chunk)) {
        CHECK(n > 0);
        text.append(chunk, static_cast<std::size_t>(n));
    }
    gzclose(file);
    Result<Value> value = json::parse(text, {.depth = 128, .bytes = 256U << 20});
    CHECK(value.has_value());
    return std::move(*value);
}

std::size_t number(const Value& value) {
    return static_cast<std::size_t>(value.as_int());
}

Patch patch_of(const Value& value) {
    const List& parts = value.as_list();
    return {number(parts[0]), number(parts[1]), parts[2].as_string()};
}

Sequential sequential_of(const Value& value) {
    Sequential trace{value.get("endContent")->as_string(), {}};
    CHECK(value.get("startContent")->as_string().empty());
    for (const Value& transaction : value.get("txns")->as_list()) {
        for (const Value& patch : transaction.get("patches")->as_list())
            trace.patches.push_back(patch_of(patch));
    }
    return trace;
}

}  // namespace

std::optional<Sequential> sequential(const std::string& name) {
    const auto value = read_gz(folder() + "/sequential/" + name + ".json.gz");
    if (!value) return std::nullopt;
    return sequential_of(*value);
}

Sequential shipped(const std::string& root) {
    std::ifstream file(root + "/tests/data/traces/generated.json");
    CHECK(file.good());
    std::stringstream text;
    text << file.rdbuf();
    const Result<Value> value = json::parse(text.str());
    CHECK(value.has_value());
    return sequential_of(*value);
}

std::optional<Concurrent> concurrent(const std::string& name) {
    const auto value = read_gz(folder() + "/concurrent/" + name + ".json.gz");
    if (!value) return std::nullopt;
    Concurrent trace{value->get("endContent")->as_string(), number(*value->get("numAgents")), {}};
    for (const Value& recorded : value->get("txns")->as_list()) {
        Transaction transaction;
        transaction.agent = number(*recorded.get("agent"));
        for (const Value& parent : recorded.get("parents")->as_list())
            transaction.parents.push_back(number(parent));
        for (const Value& patch : recorded.get("patches")->as_list())
            transaction.patches.push_back(patch_of(patch));
        trace.transactions.push_back(std::move(transaction));
    }
    return trace;
}

std::optional<std::vector<Graph>> conformance() {
    const auto value = read_gz(folder() + "/conformance/eg-walker-conformance.json.gz");
    if (!value) return std::nullopt;
    const crdt::ContainerId text = crdt::ContainerId::root("text", crdt::ContainerKind::text);
    std::vector<Graph> graphs;
    for (const Value& recorded : value->as_list()) {
        Graph graph{recorded.get("endContent")->as_string(), {}};
        std::vector<crdt::OpId> atoms;  // The atoms by operation number.
        for (const Value& transaction : recorded.get("txns")->as_list()) {
            const std::size_t rank =
                static_cast<std::size_t>(transaction.get("agent")->as_string()[0] - 'a') + 1;
            crdt::Change change;
            change.id = {rank * 1'000'000 + number(*transaction.get("seqStart")) + 1, 0};
            for (const Value& parent : transaction.get("parents")->as_list()) {
                change.deps.push_back(atoms.at(number(parent)));
            }
            crdt::Counter counter = 0;
            for (const Value& op : transaction.get("ops")->as_list()) {
                const Patch patch = patch_of(op);
                // The recording does not say whose characters a delete took; the position decides.
                if (patch.erase > 0) {
                    change.ops.push_back(
                        {text, counter,
                         crdt::SequenceDelete{static_cast<std::int32_t>(patch.at),
                                              static_cast<std::int32_t>(patch.erase), change.id}});
                    counter += static_cast<crdt::Counter>(patch.erase);
                }
                if (!patch.insert.empty()) {
                    change.ops.push_back(
                        {text, counter,
                         crdt::TextInsert{static_cast<std::uint32_t>(patch.at), patch.insert}});
                    counter += static_cast<crdt::Counter>(utf8::count_code_points(patch.insert));
                }
            }
            for (crdt::Counter i = 0; i < counter; ++i) atoms.push_back({change.id.peer, i});
            graph.changes.push_back(std::move(change));
        }
        graphs.push_back(std::move(graph));
    }
    return graphs;
}

std::vector<crdt::Change> as_positions(const Concurrent& trace, const crdt::ContainerId& text) {
    std::vector<crdt::Counter> next(trace.agents);
    std::vector<crdt::Frontiers> after;  // The frontiers after each transaction.
    std::vector<crdt::Change> changes;
    for (const Transaction& transaction : trace.transactions) {
        const crdt::PeerId peer = transaction.agent + 1;
        crdt::Change change;
        change.id = {peer, next[transaction.agent]};
        for (const std::size_t parent : transaction.parents) {
            for (const crdt::OpId& id : after[parent]) {
                const bool known =
                    std::find(change.deps.begin(), change.deps.end(), id) != change.deps.end();
                if (!known) change.deps.push_back(id);
            }
        }
        crdt::Counter& counter = next[transaction.agent];
        for (const Patch& patch : transaction.patches) {
            if (patch.erase > 0) {
                change.ops.push_back({text, counter,
                                      crdt::SequenceDelete{static_cast<std::int32_t>(patch.at),
                                                           static_cast<std::int32_t>(patch.erase),
                                                           {peer, 0}}});
                counter += static_cast<crdt::Counter>(patch.erase);
            }
            if (!patch.insert.empty()) {
                change.ops.push_back(
                    {text, counter,
                     crdt::TextInsert{static_cast<std::uint32_t>(patch.at), patch.insert}});
                counter += static_cast<crdt::Counter>(utf8::count_code_points(patch.insert));
            }
        }
        if (change.ops.empty()) {
            after.push_back(change.deps);
            continue;
        }
        after.push_back({{peer, counter - 1}});
        changes.push_back(std::move(change));
    }
    return changes;
}

std::vector<crdt::Change> as_changes(const Concurrent& trace, const crdt::ContainerId& text) {
    struct Agent {
        crdt::Doc doc;
        std::vector<bool> knows;
    };
    std::vector<Agent> agents;
    for (std::size_t i = 0; i < trace.agents; ++i) {
        agents.push_back({crdt::Doc(i + 1), std::vector<bool>(trace.transactions.size())});
    }
    std::vector<std::vector<crdt::Change>> made(trace.transactions.size());
    std::vector<crdt::Change> all;
    for (std::size_t i = 0; i < trace.transactions.size(); ++i) {
        const Transaction& transaction = trace.transactions[i];
        Agent& agent = agents[transaction.agent];
        std::vector<std::size_t> missing;
        std::vector<std::size_t> stack = transaction.parents;
        while (!stack.empty()) {
            const std::size_t at = stack.back();
            stack.pop_back();
            if (agent.knows[at]) continue;
            agent.knows[at] = true;
            missing.push_back(at);
            stack.insert(stack.end(), trace.transactions[at].parents.begin(),
                         trace.transactions[at].parents.end());
        }
        std::sort(missing.begin(), missing.end());
        std::vector<crdt::Change> changes;
        for (const std::size_t at : missing)
            changes.insert(changes.end(), made[at].begin(), made[at].end());
        CHECK(agent.doc.import(std::move(changes), {.want_diff = false}).has_value());
        const crdt::Handle handle = agent.doc.open(text);
        for (const Patch& patch : transaction.patches) {
            CHECK(agent.doc.text(handle).erase({patch.at}, {patch.erase}).has_value());
            CHECK(agent.doc.text(handle).insert({patch.at}, patch.insert).has_value());
        }
        const crdt::Commit commit = agent.doc.commit({.want_diff = false});
        agent.knows[i] = true;
        if (!commit.empty()) made[i] = agent.doc.changes_in(std::vector{commit.span}).changes();
        all.insert(all.end(), made[i].begin(), made[i].end());
    }
    return all;
}

}  // namespace quire::traces
