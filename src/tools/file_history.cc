// file_history: the versions of a file, what changed between them, and going back to one. All three
// are calls of the file's source, as the block tools make them for a block of any source; here the
// file is named by its path, and the answer has the file in front.
#include <algorithm>

#include "kernel/core/kinds.h"
#include "tools/argument_words.h"
#include "tools/file_fields.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {
namespace {

using json::Codec;
using kernel::FileVersion;
using kernel::OfBlock;
using kernel::Source;
using FileDiff = About<FileVersion, ShownDiff>;

constexpr std::size_t kMostVersions = 1000;
constexpr std::size_t kVersions = 100;

void view_history(Source& files, OperationCall call, std::string path,
                  std::optional<std::size_t> limit, std::optional<std::string> cursor) {
    files.history(call.by(), kernel::file_address(path),
                  std::clamp(limit.value_or(kVersions), std::size_t{1}, kMostVersions),
                  std::move(cursor).value_or(""),
                  answer_with(std::move(call.reply), [](OfBlock<kernel::HistoryPage> history) {
                      return result_of(
                          About<FileVersion, ShownHistory>{file_of(std::move(history.block)),
                                                           shown_history(history.answer)},
                          history_text(history.answer));
                  }));
}

void diff_file(Source& files, OperationCall call, std::string path, std::optional<std::string> from,
               std::optional<std::string> to) {
    files.diff(call.by(), kernel::file_address(path), std::move(from), std::move(to),
               answer_with(std::move(call.reply), [](OfBlock<kernel::BlockDiff> made) {
                   std::string text = diff_text(made.answer.diff);
                   return result_of(
                       FileDiff{file_of(std::move(made.block)), {std::move(made.answer.diff)}},
                       std::move(text));
               }));
}

void roll_file_back(Source& files, OperationCall call, std::string path, std::string version_id) {
    files.rollback(call.by(), kernel::file_address(path), std::move(version_id),
                   answer_with(std::move(call.reply), [profile = call.session.profile](
                                                          OfBlock<kernel::Edited> edited) {
                       auto [change, text] = render_edited(edited.answer, profile);
                       return result_of(
                           About<FileVersion, EditAnswer>{file_of(std::move(edited.block)), change},
                           text);
                   }));
}

std::vector<OperationRow<Source&>> history_rows() {
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

MadeTool make_file_history(kernel::Source& files, Profile profile) {
    const bool full = profile == Profile::full;
    return make_operation_tool<Source&>(
        {.name = "file_history",
         .title = "A file's history",
         .description = "A file's versions.",
         .annotations = {.destructive = true},
         .answer = full ? one_of({Codec<About<FileVersion, ShownHistory>>::schema(),
                                  Codec<FileDiff>::schema(),
                                  Codec<About<FileVersion, EditAnswer>>::schema()})
                        : one_of({Codec<FileVersion>::schema(), {}})},
        "operation", files, history_rows());
}

}  // namespace quire::tools
