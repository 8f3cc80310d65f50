// Profile `model` publishes only the members that a model needs to read a block, and leaves out
// what the lines themselves show. The encoded answer still has the others; what is in no schema
// costs a model nothing at the start.
#include "tools/shown_block.h"

#include "base/concat.h"
#include "edits/numbering.h"

namespace quire::tools {

Fields<ShownBlock> ShownBlock::fields() {
    return shown_fields(Profile::full);
}

Fields<ShownBlock> shown_fields(Profile profile) {
    const bool brief = profile != Profile::full;
    return Fields<ShownBlock>()
        .required("content", &ShownBlock::content)
        .kept()
        .required("metadata", &ShownBlock::metadata)
        .unlisted(brief)
        .required("role", &ShownBlock::role)
        .unlisted(brief)
        .required("kind", &ShownBlock::kind)
        .unlisted(brief)
        .required("status", &ShownBlock::status)
        .unlisted(brief)
        .required("version", &ShownBlock::version)
        .kept()
        .required("line_count", &ShownBlock::line_count)
        .required("bytes", &ShownBlock::bytes)
        .unlisted(brief)
        .required("eol", &ShownBlock::eol)
        .unlisted(brief)
        .required("final_newline", &ShownBlock::final_newline)
        .unlisted(brief)
        .required("truncated", &ShownBlock::truncated)
        .required("notes", &ShownBlock::notes)
        .unlisted(brief)
        .optional("reason", &ShownBlock::reason)
        .unlisted(brief);
}

namespace {

// The columns that are shown of how many, in the caller's numbers, and where to read on.
std::string columns_note(const kernel::BlockText& block, edits::Numbering numbering) {
    const auto [begin, end] = *block.columns;
    const std::size_t first = numbering == edits::Numbering::one_inclusive ? 1 : 0;
    std::string note = cat("characters ", begin + first, " to ", end, " of ", block.line_columns,
                           first == 0 ? ", the end not included" : "");
    if (end < block.line_columns) cat_to(note, cat("; read on with columns from ", end + first));
    return note;
}

}  // namespace

Answered<ShownBlock> render_block(const kernel::BlockText& block, Profile profile,
                                  bool line_numbers) {
    const edits::Numbering numbering = numbering_of(profile);
    const text::Line first{block.first_line};
    const kernel::BlockInfo& info = block.info;
    ShownBlock out{.content = {},
                   .metadata = block.metadata,
                   .role = info.role,
                   .kind = info.kind,
                   .status = info.status,
                   .version = info.version,
                   .line_count = info.line_count,
                   .bytes = info.bytes,
                   .eol = block.eol,
                   .final_newline = block.final_newline,
                   .truncated = block.truncated,
                   .notes = block.notes,
                   .reason = info.reason};
    const std::size_t next = block.first_line + block.lines.size();
    if (block.columns) {
        out.notes.push_back(columns_note(block, numbering));
    } else if (block.truncated && next < info.line_count && !block.lines.empty()) {
        out.notes.push_back(cat("the next line is ", edits::shown(numbering, text::Line{next})));
    }
    // The lines of a whole block show how lines end, and whether the last one does.
    if (profile == Profile::model && block.first_line == 0 && next == info.line_count &&
        !block.truncated) {
        out.eol.clear();
        out.final_newline = false;
    }
    if (line_numbers) {
        out.content = edits::numbered(block.lines, first, numbering);
    } else {
        for (const std::string& line : block.lines) out.content += line;
    }
    // The text form ends every line, also one that is cut or is the last without a newline; the
    // content does not, since a program copies from it.
    std::string text = cat(header_line(block), edits::numbered(block.lines, first, numbering, true),
                           note_lines(out.notes));
    return {std::move(out), std::move(text)};
}

}  // namespace quire::tools
