// Lists the memory that the agent sees, chooses the part that belongs into its context, and renders
// it. The blocks are documents on strands of their own, so they are rendered at the same time; the
// order of the pieces is that of the list. A block that was deleted since it was listed is left
// out, and any other error fails the call: an agent must not take half of its memory for the whole.

#include "server/agent_context.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "kernel/memory/memory_calls.h"
#include "sched/guarded.h"

namespace quire::server {
namespace {

using kernel::MemoryRow;
using kernel::MemoryType;

// The blocks are rendered side by side, each into its place; the last one ends the call.
struct Gathering {
    struct State {
        std::vector<std::optional<ContextPiece>> pieces;  // None for a block deleted meanwhile.
        std::size_t awaited = 0;
        std::optional<Error> failed = {};
    };
    sched::Guarded<State> state;
    std::vector<std::string> rules;
    Reply<std::vector<ContextPiece>> reply;

    void end(State all) {
        if (all.failed) return reply(Failure(std::move(*all.failed)));
        std::vector<ContextPiece> out;
        for (std::optional<ContextPiece>& each : all.pieces) {
            if (each) out.push_back(std::move(*each));
        }
        if (!rules.empty()) {
            std::string text = "# Rules for tools\n";
            for (const std::string& rule : rules) cat_to(text, cat("- ", rule, "\n"));
            out.push_back({"rules for tools", std::move(text)});
        }
        reply(std::move(out));
    }

    // The last view to arrive takes the state out of the lock and replies outside of it.
    void take(std::size_t at, std::string label, Result<kernel::MemoryView> seen) {
        std::optional<State> whole = state.with([&](State& now) -> std::optional<State> {
            if (seen) {
                now.pieces[at] = ContextPiece{std::move(label), cat(seen->rendered, "\n")};
            } else if (seen.error().code() != Errc::not_found) {
                now.failed = std::move(seen).error();
            }
            if (--now.awaited > 0) return std::nullopt;
            return std::move(now);
        });
        if (whole) end(std::move(*whole));
    }
};

// Core memory comes first: it is what an agent is told even when little room is left.
std::vector<MemoryRow> rows_in_context(std::vector<MemoryRow> rows) {
    std::vector<MemoryRow> out;
    for (MemoryRow& row : rows) {
        if (row.type == MemoryType::core) out.push_back(std::move(row));
    }
    for (MemoryRow& row : rows) {
        if (row.type == MemoryType::working && row.pinned) out.push_back(std::move(row));
    }
    return out;
}

}  // namespace

void agent_context(kernel::MemoryCalls& memory, const kernel::Caller& by,
                   std::vector<std::string> rules, bool describes,
                   Reply<std::vector<ContextPiece>> reply) {
    auto gathering = std::make_shared<Gathering>();
    gathering->rules = std::move(rules);
    gathering->reply = std::move(reply);
    memory.list(by, {}, [&memory, by, describes, gathering](Result<kernel::MemoryList> listed) {
        if (!listed) return gathering->reply(Failure(std::move(listed).error()));
        const std::vector<MemoryRow> rows = rows_in_context(std::move(listed->blocks));
        if (rows.empty()) return gathering->end({});
        gathering->state.with([&](Gathering::State& now) {
            now.pieces.resize(rows.size());
            now.awaited = rows.size();
        });
        for (std::size_t i = 0; i < rows.size(); ++i) {
            memory.view(by, rows[i].block.block_id, {.describes = describes},
                        [gathering, i,
                         label = rows[i].block.label](Result<kernel::MemoryView> seen) mutable {
                            gathering->take(i, std::move(label), std::move(seen));
                        });
        }
    });
}

std::string joined(const std::vector<ContextPiece>& pieces) {
    std::string out;
    for (const ContextPiece& piece : pieces) cat_to(out, cat(out.empty() ? "" : "\n", piece.text));
    return out;
}

}  // namespace quire::server
