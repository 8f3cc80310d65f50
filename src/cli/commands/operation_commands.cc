// quire file, quire file-history and quire memory: what the tools `file`, `file_history` and
// `context` do, for people.
//
// The tables are static, because the commands refer to them until the program ends.
#include "cli/commands/command_list.h"
#include "cli/commands/operation_command.h"
#include "tools/tools.h"

namespace quire::cli {

Command file_command() {
    static const tools::Operations table =
        with_sentences("file", tools::file_table(tools::Profile::model));
    return operation_command({.name = "file",
                              .tool = "file",
                              .about = "List, read, edit and save files of the workspace, as the "
                                       "tool file does for agents; an argument - is read from "
                                       "standard input",
                              .example = "quire file list '*.md'"},
                             table);
}

Command file_history_command() {
    static const tools::Operations table =
        with_sentences("file_history", tools::file_history_table());
    return operation_command({.name = "file-history",
                              .tool = "file_history",
                              .about = "View a file's versions, compare them and go back to one, "
                                       "as the tool file_history does for agents",
                              .example = "quire file-history view src/main.cc"},
                             table);
}

Command memory_command() {
    static const tools::Operations table =
        with_sentences("context", tools::context_table(tools::Profile::model));
    return operation_command({.name = "memory",
                              .tool = "context",
                              .about = "List, view, write and share memory blocks, as the tool "
                                       "context does for agents; an argument - is read "
                                       "from standard input",
                              .example = "quire memory list"},
                             table);
}

}  // namespace quire::cli
