// On the disk a record is the direction and two states of the tree (views/tree_state.h), each sealed by
// its own hash: the heads and ties that its files get, and the heads that they have once they are
// written. A head without a hash stands for a file that is gone. No flush is needed, since only a kill
// has to be survived: a record that a crash of the machine tore is none, and the files are merged anew.
#include "kernel/views/sync_record.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/fd.h"
#include "base/file_text.h"
#include "base/write_all.h"

namespace quire::kernel {
namespace {

using views::Form;
using views::Head;

bool is_gone(const Head& head) {
    return head.base == fs::Hash{};
}
std::optional<Head> unless_gone(const Head& head) {
    return is_gone(head) ? std::nullopt : std::optional(head);
}

Result<views::TreeState> state_in(std::string_view bytes) {
    return views::TreeState::decode({bytes.begin(), bytes.end()});
}

}  // namespace

bool RecordedFile::is_brought(const std::optional<views::Content>& now) const {
    if (!now || !brought) return !now && !brought;
    return now->form == brought->form && now->sight.hash == brought->base &&
           (now->form == Form::link || now->runs == brought->runs);
}

Result<SyncRecord> SyncRecord::of(const TreePlan& plan, const views::TreeState& state,
                                  std::int64_t now_ms) {
    views::TreeState settled;
    settled.ties = state.ties;
    SyncRecord out;
    out.direction = plan.direction();
    for (const PlannedFile& file : plan.files()) {
        TRY(plan.settle(file, now_ms, settled));
        RecordedFile made{file.path, {}, {}};
        const auto head = settled.heads.find(file.path);
        if (head != settled.heads.end()) made.common = head->second;
        if (file.bytes) made.brought = Head{file.form, file.runs, fs::Hash::of(*file.bytes)};
        for (const views::OpenTie& tie : settled.ties)
            if (tie.path == file.path) out.ties.push_back(tie);
        out.files.push_back(std::move(made));
    }
    return out;
}

std::optional<SyncRecord> SyncRecord::read(const std::string& file) {
    const std::string bytes = file_text(file);
    ByteReader in(as_bytes(bytes));
    SyncRecord out;
    out.direction = in.byte("direction") == 0 ? Direction::land : Direction::refresh;
    const std::uint32_t size = in.u32_le("size");
    const auto common = state_in(as_text(in.take(size, "heads")));
    const auto brought = state_in(as_text(in.rest()));
    if (!in.ok() || !common || !brought) return std::nullopt;
    for (const auto& [path, head] : common->heads) {
        const auto made = brought->heads.find(path);
        if (made == brought->heads.end()) return std::nullopt;
        out.files.push_back({path, unless_gone(head), unless_gone(made->second)});
    }
    out.ties = common->ties;
    return out;
}

Result<void> SyncRecord::write(const std::string& file) const {
    views::TreeState common, brought;
    // A state has to have an actor.
    common.actor = brought.actor = {policy::ActorKind::system, "views"};
    for (const RecordedFile& each : files) {
        common.heads[each.path] = each.common.value_or(Head{});
        brought.heads[each.path] = each.brought.value_or(Head{});
    }
    common.ties = ties;
    ByteWriter out;
    out.byte(direction == Direction::land ? 0 : 1);
    const Bytes first = common.encode();
    out.u32_le(static_cast<std::uint32_t>(first.size()));
    out.append(as_text(first));
    out.append(as_text(brought.encode()));
    const Bytes bytes = std::move(out).take();
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd || !write_all(fd.get(), as_text(bytes))) {
        return fail(Errc::unavailable, "io_error",
                    cat("nothing was brought: cannot write ", file, ": ", std::strerror(errno)),
                    {{"path", file}});
    }
    return {};
}

void SyncRecord::settle(const RecordedFile& file, views::TreeState& state) const {
    std::erase_if(state.ties, [&](const views::OpenTie& each) { return each.path == file.path; });
    for (const views::OpenTie& tie : ties)
        if (tie.path == file.path) state.ties.push_back(tie);
    if (file.common) {
        state.heads[file.path] = *file.common;
    } else {
        state.heads.erase(file.path);
    }
}

}  // namespace quire::kernel
