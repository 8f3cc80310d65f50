// quire file: what the tool `file` does, for people.
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

}  // namespace quire::cli
