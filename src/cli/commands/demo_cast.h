// The actors of the demo: agents over MCP, and a person whose editor writes files on the disk.
//
// Every edit adds one line, or in the conversation one phrase, with a mark of its own: "ada#17".
// Its author remembers which edits were acknowledged, so that the result can be checked.
//
// The demo's main loop calls play() of each in turn, so all of them are on one thread and none of
// them may wait: an agent keeps a few calls under way and takes answers as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/commands/mcp_child.h"

namespace quire::cli::show {

// A place to write to: a file by its path in the workspace, or the conversation's block.
struct Place {
    std::string name;  // The name that is printed.
    std::string block_id;
    std::string path;       // "" for the conversation.
    std::size_t lines = 0;  // At the start of the demo.
};

// The numbers of one author's marks, by place.
using Marks = std::vector<std::set<std::int64_t>>;

// How often each mark of each author occurs in `text`: "ada" -> 17 -> 1.
using Found = std::map<std::string, std::map<std::int64_t, int>>;
Found find_marks(std::string_view text);

// An agent of the demo: a `quire mcp` process that keeps a few edits under way.
class Agent {
public:
    Agent(std::string name, McpChild client, const std::vector<Place>& places, std::uint64_t seed);

    // Sends the edits that are due, and reads the answers that have come. Errors: the client's.
    Result<void> play(std::int64_t now_ms);
    // Waits for the outstanding answers.
    Result<void> finish();

    const std::string& name() const { return name_; }
    std::string actor() const { return "agent:" + name_; }
    McpChild& client() { return client_; }
    // The marks of the edits whose success was reported.
    const Marks& acknowledged() const { return acknowledged_; }
    std::size_t edits() const;
    std::size_t saves() const { return saves_; }
    const std::vector<std::string>& refusals() const { return refusals_; }

private:
    struct Sent {
        std::size_t place = 0;
        std::int64_t mark = -1;  // -1 for a save.
    };
    Result<void> send_next();
    void take(const rpc::Client::Response& answer);

    std::string name_;
    McpChild client_;
    const std::vector<Place>& places_;
    SeededRng rng_;
    std::map<std::int64_t, Sent> under_way_;
    std::int64_t last_mark_ = 0;
    std::int64_t due_ms_ = 0;
    Marks acknowledged_;
    std::size_t saves_ = 0;
    // The messages of edits that were refused; a demo that goes well has none.
    std::vector<std::string> refusals_;
};

// Adds lines to files as editors do: reads the file, writes the new one beside it, and renames that
// over the old one. Like a careful editor it first checks whether the file has changed meanwhile,
// and then starts over.
class Editor {
public:
    Editor(std::string name, std::string workspace, const std::vector<Place>& places,
           std::uint64_t seed);

    Result<void> play(std::int64_t now_ms);

    const std::string& name() const { return name_; }
    const Marks& written() const { return written_; }
    std::size_t edits() const;

private:
    Result<void> add_line(std::size_t place);

    std::string name_;
    std::string workspace_;
    const std::vector<Place>& places_;
    SeededRng rng_;
    std::int64_t last_mark_ = 0;
    std::int64_t due_ms_ = 0;
    Marks written_;
};

}  // namespace quire::cli::show
