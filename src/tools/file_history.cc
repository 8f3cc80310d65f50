// file_history: the versions of a file, what changed between them, and going back to one.
#include <algorithm>

#include "kernel/files/file_calls.h"
#include "tools/argument_words.h"
#include "tools/kernel_fields.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::FileDiff> {
    static Fields<kernel::FileDiff> fields() {
        using kernel::FileDiff;
        return Fields<FileDiff>()
            .members(Codec<kernel::FileVersion>::fields(), &FileDiff::file)
            .required(
                "diff", [](auto& file) -> auto& { return file.diff.diff; })
            .kept();
    }
};

}  // namespace quire::json

namespace quire::tools {
namespace {

using json::Codec;
using kernel::FileCalls;
using kernel::FileVersion;

constexpr std::size_t kMostVersions = 1000;
constexpr std::size_t kVersions = 100;

void view_history(FileCalls& files, OperationCall call, std::string path,
                  std::optional<std::size_t> limit, std::optional<std::string> cursor) {
    files.history(call.by(), std::move(path),
                  std::clamp(limit.value_or(kVersions), std::size_t{1}, kMostVersions),
                  std::move(cursor).value_or(""),
                  answer_with(std::move(call.reply), [](const kernel::FileHistory& history) {
                      return result_of(
                          About<FileVersion, ShownHistory>{history.file,
                                                           shown_history(history.page)},
                          history_text(history.page));
                  }));
}

void diff_file(FileCalls& files, OperationCall call, std::string path,
               std::optional<std::string> from, std::optional<std::string> to) {
    files.diff(call.by(), std::move(path), std::move(from), std::move(to),
               answer_with(std::move(call.reply), [](const kernel::FileDiff& made) {
                   return result_of(made, diff_text(made.diff.diff));
               }));
}

void roll_file_back(FileCalls& files, OperationCall call, std::string path,
                    std::string version_id) {
    files.rollback(
        call.by(), std::move(path), std::move(version_id),
        answer_with(std::move(call.reply),
                    [profile = call.session.profile](const kernel::FileEdited& edited) {
                        auto [change, text] = render_edited(edited.edited, profile);
                        return result_of(About<FileVersion, EditAnswer>{edited.file, change}, text);
                    }));
}

std::vector<OperationRow<FileCalls&>> history_rows() {
    const Argument path{"path", std::string(kPathSays)};
    return {
        {{.name = "view", .reads = true, .says = "versions, newest first"},
         view_history,
         {path, {"limit", "At most."}, {"cursor", "A next_cursor."}}},
        {{.name = "diff", .reads = true, .says = "two versions"},
         diff_file,
         {path, {"from", "version_id; none: the disk."}, {"to", "None: now."}}},
        {{.name = "rollback", .says = "to an older text, as a new edit"},
         roll_file_back,
         {path, {"version_id", "From view."}}},
    };
}

}  // namespace

std::vector<std::string> file_history_operations() {
    return operation_names(history_rows());
}

Operations file_history_table() {
    return operations_of("operation", history_rows());
}

MadeTool make_file_history(kernel::FileCalls& files, Profile profile) {
    const bool full = profile == Profile::full;
    return make_operation_tool<FileCalls&>(
        {.name = "file_history",
         .title = "A file's history",
         .description = "A file's versions.",
         .annotations = {.destructive = true},
         .answer = full ? one_of({Codec<About<FileVersion, ShownHistory>>::schema(),
                                  Codec<kernel::FileDiff>::schema(),
                                  Codec<About<FileVersion, EditAnswer>>::schema()})
                        : one_of({Codec<FileVersion>::schema(), {}})},
        "operation", files, history_rows());
}

}  // namespace quire::tools
