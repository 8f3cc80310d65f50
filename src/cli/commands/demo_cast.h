// Who plays in the demo: agents over MCP, and a person whose editor writes files on the disk.
//
// Every edit adds one line, or in the conversation one phrase, with a mark that no other has:
// "ada#17". Whoever makes it remembers that it was acknowledged, so that what is there in the end
// can be held against it.
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

// Where things are written: a file by its path in the workspace, or the conversation's block.
struct Place {
    std::string name;  // As shown.
    std::string block_id;
    std::string path;       // "" of the conversation.
    std::size_t lines = 0;  // That it had at first.
};

// The numbers of one author's marks, by place.
using Marks = std::vector<std::set<std::int64_t>>;

// How often each mark stands in `text`: of all authors, "ada" -> 17 -> 1.
using Found = std::map<std::string, std::map<std::int64_t, int>>;
Found find_marks(std::string_view text);

class Agent {
public:
    Agent(std::string name, McpChild client, const std::vector<Place>& places, std::uint64_t seed);

    // Sends the edits that are due and takes the answers that are there. Errors: the client's.
    Result<void> play(std::int64_t now_ms);
    // Takes the answers that are still to come.
    Result<void> finish();

    const std::string& name() const { return name_; }
    std::string actor() const { return "agent:" + name_; }
    McpChild& client() { return client_; }
    const Marks& acknowledged() const { return acknowledged_; }
    std::size_t edits() const;
    std::size_t saves() const { return saves_; }
    const std::vector<std::string>& refusals() const { return refusals_; }

private:
    struct Sent {
        std::size_t place = 0;
        std::int64_t mark = -1;  // -1 of a save.
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
    std::vector<std::string> refusals_;
};

// Reads a file, adds a line, writes it anew beside and puts that in its place, as editors do. Like
// a careful one it looks once more before it replaces, and starts over when the file has changed
// meanwhile.
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
