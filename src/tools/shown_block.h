// A block as reading it shows it: block_read, block_view and the reading of files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

struct ShownBlock {
    std::string content;  // With numbers, where they were asked for.
    Map metadata;
    std::string role, kind, status;
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    std::size_t bytes = 0;
    std::string eol;
    bool final_newline = false;
    bool truncated = false;
    std::vector<std::string> notes;
    std::string reason;  // Of the status, where there is one.
    static Fields<ShownBlock> fields();
};
// As the answer of one tool: for `model` the schema names no more than is needed to read it.
Fields<ShownBlock> shown_fields(Profile profile);
// `line_numbers` is about the content; the text always has them.
Answered<ShownBlock> render_block(const kernel::BlockText& block, Profile profile,
                                  bool line_numbers);

}  // namespace quire::tools
