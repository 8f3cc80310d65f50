// The kernel knows which files and blocks there are, so a word is found by asking for something
// small about it: a file's status, or one entry of a block's history. A word that could be two
// things is a file first, because people name files far more often.
#include "cli/commands/target.h"

#include <string_view>
#include <utility>

#include "base/concat.h"
#include "cli/commands/workspace_path.h"
#include "conversation/block.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

constexpr std::string_view kFile = "file:";
constexpr std::string_view kMemory = "memory:";

Target target_in(const std::string& word, const Value& answer) {
    return {word, json::text_in(answer, "block_id"), json::text_in(answer, "path"),
            json::text_in(answer, "label")};
}

Result<Target> file_target(const Globals& globals, CommandClient& client, const std::string& word,
                           const std::string& path) {
    return target_in(word, TRY(client.call("file", Map{{"operation", "status"},
                                                       {"path", workspace_path(globals, path)}})));
}

// The tool takes "memory:LABEL" as well as a label, so the word goes there as it is.
Result<Target> memory_target(CommandClient& client, const std::string& word,
                             const std::string& label) {
    return target_in(word,
                     TRY(client.call("context", Map{{"operation", "history"},
                                                    {"label", label},
                                                    {"limit", 1}})));
}

}  // namespace

Result<Target> find_target(const Globals& globals, CommandClient& client,
                           const std::string& word) {
    if (word.starts_with(kFile))
        return file_target(globals, client, word, word.substr(kFile.size()));
    if (word.starts_with(kMemory)) return memory_target(client, word, word);
    if (conversation::BlockId::parse(word)) {
        const Value answer =
            TRY(client.call("block_history", Map{{"block_id", word}, {"limit", 1}}));
        Target out = target_in(word, answer);
        out.block_id = word;
        return out;
    }
    Result<Target> file = file_target(globals, client, word, word);
    // Only these two mean that the word is no file; a refusal by a rule is the answer.
    const bool is_missing = !file && file.error().reason() == "file_not_found";
    const bool is_directory = !file && file.error().reason() == "not_a_file";
    if (!is_missing && !is_directory) return file;
    Result<Target> memory = memory_target(client, word, word);
    if (memory || memory.error().code() != Errc::not_found) return memory;
    if (is_directory) return file;
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no file ", text::escape_hidden(word),
                    ", and no block with that id or label; quire file list and quire memory list "
                    "show those there are"),
                {{"target", word}});
}

void append_names(Map& to, const Target& target) {
    to.append("block_id", target.block_id);
    if (!target.path.empty()) to.append("path", target.path);
    if (!target.label.empty()) to.append("label", target.label);
}

}  // namespace quire::cli
