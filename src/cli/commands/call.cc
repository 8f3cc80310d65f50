#include <cstdio>
#include <string>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "json/json.h"
#include "server/launch.h"

namespace quire::cli {
namespace {

std::string read_standard_input() {
    std::string text;
    char part[65536];
    while (const std::size_t length = std::fread(part, 1, sizeof part, stdin))
        text.append(part, length);
    return text;
}

Result<Value> called(const Globals& globals, const CallOptions& options) {
    const std::string text = options.arguments == "-" ? read_standard_input() : options.arguments;
    Value arguments = TRY(json::parse(text, {.exact_integers = true}));
    CommandClient client = TRY(CommandClient::attach(globals));
    return client.call(options.tool, std::move(arguments));
}

}  // namespace

int call(const Globals& globals, const CallOptions& options) {
    const auto result = called(globals, options);
    if (!result) {
        const std::string line =
            json::write(Map{{"error", server::error_value(result.error())}}) + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
        return kRefused;
    }
    const std::string text = is_terminal() ? json::write_pretty(*result) : json::write(*result);
    return print(text + "\n") ? kDone : kRefused;
}

}  // namespace quire::cli
