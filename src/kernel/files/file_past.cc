// The past of files: their versions, differences between them and to the disk, and going back. A
// rollback is an edit, so it passes the same permission and the same save (file_saves.cc).
#include <utility>

#include "base/check.h"
#include "crdt/doc/text.h"
#include "files/form.h"
#include "kernel/core/versions.h"
#include "kernel/files/file_body.h"
#include "kernel/files/file_gate.h"
#include "text/diff.h"

namespace quire::kernel {

void FileCalls::history(Caller by, std::string path, std::size_t limit, std::string cursor,
                        Reply<FileHistory> reply) {
    body_->read<FileHistory>(std::move(by), std::move(path), std::move(reply),
                             [body = body_, limit, cursor = std::move(cursor)](
                                 LiveDocument& document) -> Result<FileHistory> {
                                 const BlockRef block = document.whole();
                                 body->kernel->flush(document, block);
                                 HistoryPage page = TRY(history_of(block, limit, cursor));
                                 return FileHistory{version_of_file(document), std::move(page)};
                             });
}

namespace {

// The text of the file on the disk; "" if it is gone.
Result<std::string> text_on_disk(FileGate& gate, const std::string& path, std::size_t limit) {
    const fs::Place place = TRY(gate.files().resolve(path));
    if (place.kind == fs::Kind::missing) return std::string();
    fs::FileBytes there = TRY(gate.files().read(path, limit));
    return TRY(files::decode(std::move(there.bytes), path, gate.rules()->paths.encoding(path)))
        .text;
}

}  // namespace

void FileCalls::diff(Caller by, std::string path, std::optional<std::string> from,
                     std::optional<std::string> to, Reply<FileDiff> reply) {
    body_->read<FileDiff>(
        std::move(by), std::move(path), std::move(reply),
        [body = body_, from = std::move(from),
         to = std::move(to)](LiveDocument& document) -> Result<FileDiff> {
            const BlockRef block = document.whole();
            body->kernel->flush(document, block);
            const std::string name = diff_name(document, block);
            const auto text_of = [&](const BlockAt& at) { return text_at(document, block, at); };
            FileDiff out{version_of_file(document), {}};
            if (from) {
                out.diff = TRY(diff_of_versions(document, block, name, from, to, text_of));
                return out;
            }
            // Without `from` the older side is the file on the disk: the diff shows what a save
            // would change there.
            const BlockAt after = TRY(block_at(document, block, to));
            const std::string new_text = TRY(text_of(after));
            const std::string old_text =
                TRY(text_on_disk(body->gate, document.name(), body->kernel->limits().block_bytes));
            out.diff = diff_of_texts(name, old_text, new_text,
                                     {block.state->version, "", cat(after.version), ""});
            return out;
        });
}

void FileCalls::rollback(Caller by, std::string path, std::string version_id,
                         Reply<FileEdited> reply) {
    body_->run<FileEdited>(
        std::move(by), std::move(path), policy::Operation::overwrite, std::move(reply),
        [body = body_, version_id = std::move(version_id)](
            LiveDocument& document, DiskUpdate, const Caller& caller) -> Result<FileEdited> {
            const BlockRef block = document.whole();
            body->kernel->flush(document, block);
            TextEdit what = TRY(rollback_edit(document, block, version_id));
            return body->edit(document, caller, what);
        });
}

}  // namespace quire::kernel
