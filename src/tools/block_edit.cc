#include <variant>

#include "blocks/line_edit.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

template <>
struct Words<blocks::Coords> {
    static constexpr std::size_t count = 2;
    static std::string_view word(blocks::Coords coords) {
        return coords == blocks::Coords::sequential ? "sequential" : "original";
    }
};

namespace {

struct Insert {
    std::size_t line = 0;
    std::string content;
    std::optional<std::string> expected_before;
};
struct Delete {
    std::size_t start_line = 0;
    std::size_t end_line = 0;
    std::optional<std::string> expected_text;
};
struct Replace {
    std::size_t start_line = 0;
    std::size_t end_line = 0;
    std::string content;
    std::optional<std::string> expected_text;
};

const Fields<Insert>& insert_fields() {
    static const Fields<Insert> fields = Fields<Insert>()
                                             .tag("op", "insert")
                                             .required("line", &Insert::line)
                                             .required("content", &Insert::content)
                                             .optional("expected_before", &Insert::expected_before);
    return fields;
}
const Fields<Delete>& delete_fields() {
    static const Fields<Delete> fields = Fields<Delete>()
                                             .tag("op", "delete")
                                             .required("start_line", &Delete::start_line)
                                             .required("end_line", &Delete::end_line)
                                             .optional("expected_text", &Delete::expected_text);
    return fields;
}
const Fields<Replace>& replace_fields() {
    static const Fields<Replace> fields = Fields<Replace>()
                                              .tag("op", "replace")
                                              .required("start_line", &Replace::start_line)
                                              .required("end_line", &Replace::end_line)
                                              .required("content", &Replace::content)
                                              .optional("expected_text", &Replace::expected_text);
    return fields;
}

text::LineRange range(std::size_t begin, std::size_t end) {
    return {{begin}, {end}};
}

}  // namespace

template <>
struct Codec<blocks::LineOp> {
    static Map schema() {
        return {{"oneOf", List{insert_fields().schema(), delete_fields().schema(),
                               replace_fields().schema()}}};
    }
    static blocks::LineOp decode(const Value& value) {
        const std::string& op = value.get("op")->as_string();
        if (op == "insert") {
            Insert o = insert_fields().decode(value);
            return blocks::InsertLines{
                {o.line}, std::move(o.content), std::move(o.expected_before)};
        }
        if (op == "delete") {
            Delete o = delete_fields().decode(value);
            return blocks::DeleteLines{range(o.start_line, o.end_line), std::move(o.expected_text)};
        }
        Replace o = replace_fields().decode(value);
        return blocks::ReplaceLines{range(o.start_line, o.end_line), std::move(o.content),
                                    std::move(o.expected_text)};
    }
};

namespace {

struct Args {
    std::string block_id;
    std::vector<blocks::LineOp> operations;
    blocks::Coords coords = blocks::Coords::sequential;
    std::optional<std::size_t> base_version;
};

}  // namespace

MadeTool make_block_edit(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_edit",
         .title = "Edit a block by lines",
         .description =
             "Insert, delete and replace lines, all or none. Lines count from 0 and end_line is "
             "not part of "
             "the range. An insert goes before `line`; line_count appends. expected_text and "
             "expected_before refuse the call unless the lines read so.",
         .annotations = {.destructive = true},
         .output_schema = edited_schema(Profile::full)},
        Fields<Args>()
            .required("block_id", &Args::block_id)
            .required("operations", &Args::operations)
            .optional("coords", &Args::coords,
                      "sequential: an operation sees the lines as those before it left them. "
                      "original: all refer to "
                      "the text before the call and must not overlap.")
            .optional("base_version", &Args::base_version,
                      "Refuse the call unless the block is at this version."),
        [&kernel](const Session& session, Args args, Reply<ToolResult> reply) {
            const Profile shown_as = session.profile;
            blocks::LineEdit edit;
            edit.operations = std::move(args.operations);
            edit.coords = args.coords;
            edit.base_version = args.base_version;
            edit.numbering = numbering_of(shown_as);
            edit.limits = edit_limits(kernel);
            kernel.edit(session.caller, std::move(args.block_id), "edit",
                        blocks::line_edits(std::move(edit)),
                        answer_with<kernel::Edited>(std::move(reply),
                                                    [shown_as](const kernel::Edited& edited) {
                                                        return render_edited(edited, shown_as);
                                                    }));
        });
}

}  // namespace quire::tools
