// An adapter: each call strips the address down to a path and hands it to FileCalls, and the answer
// is named as a source's. What this source adds is its description and reconcile(), which first
// waits until the watch has seen all that was done to the disk before the call.
#include "kernel/files/file_source.h"

#include <string_view>
#include <utility>

#include "base/mapped_reply.h"
#include "conversation/block.h"
#include "kernel/core/core.h"
#include "kernel/core/kernel.h"
#include "kernel/core/kinds.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

SourceVersion block_of(FileVersion&& file) {
    return {std::move(file.path), std::move(file.block_id), file.version};
}
OfBlock<SourceSaved> saved_of(FileSaved&& made) {
    return {block_of(std::move(made.file)), {made.bytes, made.written, std::move(made.notes)}};
}
OfBlock<HistoryPage> page_of(FileHistory&& made) {
    return {block_of(std::move(made.file)), std::move(made.page)};
}
OfBlock<BlockDiff> diff_of(FileDiff&& made) {
    return {block_of(std::move(made.file)), std::move(made.diff)};
}
OfBlock<Edited> edited_of(FileEdited&& made) {
    return {block_of(std::move(made.file)), std::move(made.edited)};
}

}  // namespace

SourceSpec FileSource::spec() const {
    SourceSpec out{.source_id = "file",
                   .name = "Local files",
                   .description =
                       "The files of the workspace: text blocks that many edit, and that "
                       "are saved to the disk",
                   .base = parts_.directory,
                   .names = "path",
                   .actor = {policy::ActorKind::source, "disk"},
                   .schema = memory::to_value(memory::BlockSchema(memory::TextSchema{})),
                   .permission_rules = {},
                   .required_tools = {{"file", {"read", "append", "insert", "patch", "save"}},
                                      {"file_history", {"view", "diff", "rollback"}}},
                   .is_watching = parts_.watch.status().state != fs::WatchState::off};
    for (const policy::PathRule& rule : parts_.gate.rules()->paths.rules())
        out.permission_rules.push_back({rule.pattern.pattern(), rule.permission});
    // The rule for paths that no other names, as policy::PathRules has it: a source's last rule
    // matches every name.
    out.permission_rules.push_back({"**", policy::Permission::read_only});
    return out;
}

SourceState FileSource::state() const {
    const fs::TreeStatus status = parts_.watch.status();
    return {status.state == fs::WatchState::starting, status.state == fs::WatchState::detached,
            watch_words(status)};
}

bool FileSource::matches(const std::string& address) const {
    return address.starts_with(kFilePrefix) || parts_.kernel.place_of(address).kind == kFileKind;
}

std::string FileSource::path_of(std::string address) const {
    if (address.starts_with(kFilePrefix)) return address.substr(kFilePrefix.size());
    return parts_.kernel.place_of(address).path;
}

policy::Permission FileSource::permission_for(const policy::Actor& by,
                                              const std::string& name) const {
    return parts_.gate.decide({name, {}, fs::Kind::file}, policy::Operation::read, by).permission;
}

std::vector<SourceBlock> FileSource::blocks(const Caller& by) const {
    std::vector<SourceBlock> out;
    for (const Catalog::Known& known : parts_.kernel.core()->catalog().known(kFileKind, "")) {
        if (!parts_.gate.may_see(known.record.name, by.actor)) continue;
        out.push_back({conversation::BlockId{known.record.key, -1, 0}.str(), known.record.name});
    }
    return out;
}

void FileSource::load(const Caller& by, std::string address, Reply<SourceVersion> reply) {
    parts_.files.open(by, path_of(std::move(address)), mapped(std::move(reply), block_of));
}

void FileSource::create(const Caller& by, SourceCreate what, Reply<SourceVersion> reply) {
    parts_.files.create(by,
                        {path_of(std::move(what.address)), std::move(what.content), what.overwrite},
                        mapped(std::move(reply), block_of));
}

void FileSource::save(const Caller& by, std::string address, Reply<OfBlock<SourceSaved>> reply) {
    parts_.files.save(by, path_of(std::move(address)), mapped(std::move(reply), saved_of));
}

void FileSource::erase(const Caller& by, std::string address, Reply<SourceVersion> reply) {
    parts_.files.erase(by, path_of(std::move(address)), mapped(std::move(reply), block_of));
}

void FileSource::history(const Caller& by, std::string address, std::size_t limit,
                         std::string cursor, Reply<OfBlock<HistoryPage>> reply) {
    parts_.files.history(by, path_of(std::move(address)), limit, std::move(cursor),
                         mapped(std::move(reply), page_of));
}

void FileSource::diff(const Caller& by, std::string address, std::optional<std::string> from,
                      std::optional<std::string> to, Reply<OfBlock<BlockDiff>> reply) {
    parts_.files.diff(by, path_of(std::move(address)), std::move(from), std::move(to),
                      mapped(std::move(reply), diff_of));
}

void FileSource::rollback(const Caller& by, std::string address, std::string version_id,
                          Reply<OfBlock<Edited>> reply) {
    parts_.files.rollback(by, path_of(std::move(address)), std::move(version_id),
                          mapped(std::move(reply), edited_of));
}

void FileSource::start_watch(Reply<std::string> reply) {
    // The walk over a large directory may take seconds. Calls need not wait for it, because each
    // looks at its own file.
    parts_.watch.start();
    reply(std::string());
}

void FileSource::stop_watch() {
    parts_.watch.stop();
}

void FileSource::reconcile(const Caller& by, Reply<void> reply) {
    reconcile_disk(parts_.watch, parts_.files, by,
                   [reply = std::move(reply)](Result<std::vector<FileReconciled>> done) mutable {
                       reply(done ? Result<void>() : Failure(std::move(done).error()));
                   });
}

void reconcile_disk(DiskWatch& watch, FileCalls& files, const Caller& by,
                    Reply<std::vector<FileReconciled>> reply) {
    watch.sync([&files, by, reply = std::move(reply)](Result<void> synced) mutable {
        if (!synced) return reply(Failure(std::move(synced).error()));
        files.reconcile(by, {}, std::move(reply));
    });
}

}  // namespace quire::kernel
