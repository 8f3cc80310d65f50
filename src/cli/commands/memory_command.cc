// quire memory: what the tool `context` does, for people.
#include "cli/commands/command_list.h"
#include "cli/commands/operation_command.h"
#include "tools/tools.h"

namespace quire::cli {

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
