// The settings files of MCP clients, and our server's entry in them.
//
// A row for each client: the file in a project, and where in it servers stand. The files belong to
// people, so an edit changes the entry `quire` alone, and never one with settings that quire init
// does not write. Pure: texts in, texts out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire::cli {

struct McpClient {
    std::string_view name;  // Its word on the command line.
    std::string_view title;
    std::string_view file;       // From the project's directory.
    std::string_view container;  // The member that holds the servers.
    enum class Form { json, json_with_type, toml } form = Form::json;
    // The client does not promise to start servers in the project's directory, so they need its
    // path.
    bool needs_path = false;
    std::string_view then = {};  // The next step for a person.
};

std::span<const McpClient> mcp_clients();
// nullptr if there is no such client.
const McpClient* find_client(std::string_view name);

// How the client starts our server.
struct ServerEntry {
    std::string command;
    std::vector<std::string> arguments;
};

// The file with our entry. "" is a file that is not there. Errors: those of jsonc_edit.h and
// toml_edit.h; conflict "foreign_entry" when there is an entry `quire` that somebody has changed.
Result<std::string> with_server(const McpClient& client, std::string_view text,
                                const ServerEntry& entry);
// The file without our entry; "" if nothing is left of it. Errors: as above; not_found "no_entry".
Result<std::string> without_server(const McpClient& client, std::string_view text);

}  // namespace quire::cli
