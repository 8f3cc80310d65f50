#include "tools/shown_block.h"

#include "base/cat.h"

namespace quire::tools {

ToolResult render_block(const kernel::BlockText& block, Profile profile, bool line_numbers) {
    const blocks::Numbering numbering = numbering_of(profile);
    const text::Line first{block.first_line};
    std::vector<std::string> notes = block.notes;
    const std::size_t next = block.first_line + block.lines.size();
    if (block.truncated && next < block.info.line_count && !block.lines.empty()) {
        notes.push_back(cat("the next line is ", blocks::shown(numbering, text::Line{next})));
    }

    std::string content;
    if (line_numbers) {
        content = blocks::numbered(block.lines, first, numbering);
    } else {
        for (const std::string& line : block.lines) content += line;
    }
    std::string text = header_line(block) + blocks::numbered(block.lines, first, numbering, true);
    for (const std::string& note : notes) text += cat("Note: ", note, ".\n");

    Map out{{"content", std::move(content)},
            {"metadata", block.metadata},
            {"role", block.info.role},
            {"kind", block.info.kind},
            {"status", block.info.status},
            {"version", block.info.version},
            {"line_count", block.info.line_count},
            {"bytes", block.info.bytes},
            {"eol", block.eol},
            {"final_newline", block.final_newline},
            {"truncated", block.truncated},
            {"notes", strings(notes)}};
    if (!block.info.reason.empty()) out.append("reason", block.info.reason);
    return {std::move(out), std::move(text)};
}

Map shown_schema(Profile profile) {
    if (profile != Profile::full) {
        return object_schema({{"content", "string"},
                              {"version", "integer"},
                              {"line_count", "integer"},
                              {"truncated", "boolean"}});
    }
    return object_schema({{"content", "string"},
                          {"metadata", "object"},
                          {"role", "string"},
                          {"kind", "string"},
                          {"status", "string"},
                          {"version", "integer"},
                          {"line_count", "integer"},
                          {"bytes", "integer"},
                          {"eol", "string"},
                          {"final_newline", "boolean"},
                          {"truncated", "boolean"},
                          {"notes", "array"},
                          {"reason", "string?"}});
}

}  // namespace quire::tools
