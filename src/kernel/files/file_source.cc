#include "kernel/files/file_source.h"

#include <string_view>
#include <utility>

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
    out.permission_rules.push_back({"**", policy::Permission::read_only});
    return out;
}

SourceState FileSource::state() const {
    const fs::TreeStatus status = parts_.watch.status();
    return {status.state == fs::WatchState::starting, status.state == fs::WatchState::detached,
            watch_words(status)};
}

bool FileSource::matches(const std::string& name) const {
    return name.starts_with(kFilePrefix) && name.size() > kFilePrefix.size();
}

policy::Permission FileSource::permission_for(const policy::Actor& by,
                                              const std::string& name) const {
    const std::string path = matches(name) ? name.substr(kFilePrefix.size()) : name;
    return parts_.gate.decide({path, {}, fs::Kind::file}, policy::Operation::read, by).permission;
}

std::vector<SourceBlock> FileSource::blocks(const Caller& by) const {
    std::vector<SourceBlock> out;
    for (const Catalog::Known& known : parts_.kernel.core()->catalog().known(kFileKind, "")) {
        if (!parts_.gate.may_see(known.record.name, by.actor)) continue;
        out.push_back({conversation::BlockId{known.record.key, -1, 0}.str(), known.record.name});
    }
    return out;
}

void FileSource::start_watch(Reply<std::string> reply) {
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
