// A block as the reading tools show it: block_read, block_view, and file with `read` or `load`.
//
// The text form always numbers the lines. The structured content does so only if the call wants it,
// because a program may copy from there. `line_count` and `bytes` are of the whole block, whatever
// part is shown; `eol` is lf, crlf, mixed or none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/core/block_reads.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

struct ShownBlock {
    std::string content;  // Numbered only if the call asked for that.
    Map metadata;
    std::string role, kind, status;
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    std::size_t bytes = 0;
    std::string eol;
    bool final_newline = false;
    bool truncated = false;
    std::vector<std::string> notes;
    std::string reason;  // Why it has its status; may be empty.
    static Fields<ShownBlock> fields();
};
// The members as one profile publishes them: `model` names no more than a model needs. The encoded
// answer has all of them.
Fields<ShownBlock> shown_fields(Profile profile);
// Lines are numbered as the profile counts. A block that was cut gets a note with the next line to
// read, and a line that was cut one with the columns. In profile `model` a block that is shown
// whole has no `eol` and no `final_newline`: its lines show both.
Answered<ShownBlock> render_block(const kernel::BlockText& block, Profile profile,
                                  bool line_numbers);

}  // namespace quire::tools
