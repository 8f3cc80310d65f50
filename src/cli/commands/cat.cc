#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "conversation/block.h"
#include "json/json.h"
#include "server/workspace_service.h"

namespace quire::cli {
namespace {

// An id names a block; whatever is not shaped like one is a path. "./b7" is the file b7.
std::string uri_of(const std::string& what) {
    if (conversation::BlockId::parse(what)) return cat("block://", what);
    std::string_view path = what;
    while (path.starts_with("./")) path.remove_prefix(2);
    return server::uri_of_path(path);
}

}  // namespace

int print_block(const Globals& globals, const CatOptions& options) {
    auto client = CommandClient::attach(globals);
    if (!client) return refuse(client.error());
    const std::string uri = uri_of(options.what);
    const auto answer = client->request("read", Map{{"uri", uri}});
    if (!answer) return refuse(answer.error());
    const Value* text = answer->get("text");
    if (text == nullptr || !text->is_string()) return kRefused;
    const bool printed = globals.json
                             ? print(json::write(Map{{"uri", uri}, {"text", *text}}) + "\n")
                             : print(text->as_string());
    return printed ? kDone : kRefused;
}

}  // namespace quire::cli
