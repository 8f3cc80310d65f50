// One table describes the clients; the rest reads and writes the entry `quire` by the file's form.
// A file is changed only when the entry is missing or is one that quire init wrote itself: members
// and commands that a person has added would be lost otherwise.
//
// Errors of the editors get the file's name, because a person may have several such files.
#include "cli/exchange/client_settings.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "base/value.h"
#include "cli/exchange/jsonc_edit.h"
#include "cli/exchange/toml_edit.h"

namespace quire::cli {
namespace {

using Form = McpClient::Form;

constexpr std::string_view kServer = "quire";

constexpr std::array<McpClient, 5> kClients = {{
    {"claude", "Claude Code", ".mcp.json", "mcpServers", Form::json, false,
     "start claude in this project and allow the server when it asks"},
    {"codex", "Codex", ".codex/config.toml", "mcp_servers", Form::toml, false,
     "start codex in this project; it reads the file once you trust the project"},
    {"cursor", "Cursor", ".cursor/mcp.json", "mcpServers", Form::json, true,
     "open the project in Cursor and enable quire under Settings, MCP"},
    {"gemini", "Gemini CLI", ".gemini/settings.json", "mcpServers", Form::json, false,
     "start gemini in this project; /mcp lists the server"},
    {"vscode", "Visual Studio Code", ".vscode/mcp.json", "servers", Form::json_with_type, false,
     "open the project in Visual Studio Code and start the server in .vscode/mcp.json"},
}};

Map entry_value(const McpClient& client, const ServerEntry& entry) {
    Map out;
    if (client.form == Form::json_with_type) out.append("type", "stdio");
    out.append("command", entry.command);
    out.append("args", List(entry.arguments.begin(), entry.arguments.end()));
    return out;
}

// Returns true for an entry that quire init wrote, now or earlier: whoever adds a member to it, or starts
// something else by it, has made it their own.
bool is_ours(const Value& entry) {
    if (!entry.is_map()) return false;
    const bool known = std::ranges::all_of(entry.as_map(), [](const Map::Entry& member) {
        return member.key == "type" || member.key == "command" || member.key == "args";
    });
    const Value* const arguments = entry.get("args");
    return known && arguments != nullptr && arguments->is_list() && !arguments->as_list().empty() &&
           arguments->as_list().front() == Value("mcp");
}

// A TOML table reads as an object, in which members that are neither strings nor lists are null.
Result<std::optional<Value>> entry_in(const McpClient& client, std::string_view text) {
    if (client.form == Form::toml) {
        auto table = TRY(toml_value(text, {client.container, kServer}));
        return table ? std::optional<Value>(std::move(*table)) : std::nullopt;
    }
    return jsonc_value(text, {client.container, kServer});
}

Failure foreign_entry(const McpClient& client) {
    return fail(Errc::conflict, "foreign_entry",
                cat(client.file,
                    " has an entry quire with settings that quire init did not write, "
                    "so it is left as it is; change it by hand"),
                {{"path", client.file}});
}

Failure in_file(const McpClient& client, Error error) {
    error.details().set("path", client.file);
    return Failure(std::move(error).within(client.file));
}

}  // namespace

std::span<const McpClient> mcp_clients() {
    return kClients;
}

const McpClient* find_client(std::string_view name) {
    const auto* const at = std::ranges::find(kClients, name, &McpClient::name);
    return at == kClients.end() ? nullptr : at;
}

Result<std::string> with_server(const McpClient& client, std::string_view text,
                                const ServerEntry& entry) {
    const Map value = entry_value(client, entry);
    if (!text.empty()) {
        auto there = entry_in(client, text);
        if (!there) return in_file(client, std::move(there).error());
        // The text comes back as it is, so that running quire init twice changes no byte.
        if (*there && **there == Value(value)) return std::string(text);
        if (*there && !is_ours(**there)) return foreign_entry(client);
    }
    auto made = client.form == Form::toml ? toml_with(text, {client.container, kServer}, value)
                                          : jsonc_with(text, {client.container, kServer}, value);
    if (!made) return in_file(client, std::move(made).error());
    return made;
}

Result<std::string> without_server(const McpClient& client, std::string_view text) {
    auto there = text.empty() ? Result<std::optional<Value>>(std::nullopt) : entry_in(client, text);
    if (!there) return in_file(client, std::move(there).error());
    if (!*there) {
        return fail(Errc::not_found, "no_entry",
                    cat(client.file, " has no entry quire; there is nothing to take back"),
                    {{"path", client.file}});
    }
    if (!is_ours(**there)) return foreign_entry(client);
    auto left = client.form == Form::toml ? toml_without(text, {client.container, kServer})
                                          : jsonc_without(text, {client.container, kServer});
    if (!left) return in_file(client, std::move(left).error());
    return left;
}

}  // namespace quire::cli
