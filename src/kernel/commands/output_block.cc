// Output goes through a buffer: add() collects, and turn() appends at most every kFlushMs. Appends
// are sent without waiting for the disk (Ack::accepted), as the program must not be held up by it.
// A crash may lose the last of the output, and has ended the command too.
#include "kernel/commands/output_block.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "conversation/block.h"
#include "edits/plan.h"
#include "kernel/commands/command_runner.h"
#include "kernel/core/kernel.h"

namespace quire::kernel {
namespace {

constexpr std::int64_t kFlushMs = 250;
// The most bytes of one append. The kernel's limit is higher.
constexpr std::size_t kMostPending = std::size_t{256} << 10;
// The most bytes of one code point in UTF-8.
constexpr std::size_t kLongestCodePoint = 4;

// Counts the bytes at the end that may begin a code point.
// A program may write half of a character. Its bytes wait for the rest, so that it is not repaired
// to U+FFFD.
std::size_t unfinished(std::string_view bytes) {
    for (std::size_t back = 1; back < kLongestCodePoint && back <= bytes.size(); ++back) {
        const char byte = bytes[bytes.size() - back];
        if (!utf8::is_boundary(byte)) continue;
        const auto lead = static_cast<unsigned char>(byte);
        const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        return length > back ? back : 0;
    }
    return 0;
}

template <class T>
Reply<T> nobody() {
    return [](Result<T>) {};
}

}  // namespace

OutputBlock::OutputBlock(Kernel& kernel, Clock& clock, std::string id)
    : kernel_(&kernel),
      clock_(&clock),
      id_(std::move(id)),
      // The output is the system's text, so that undoing an agent's work leaves it.
      by_{{policy::ActorKind::system, "shell"}, 0, {}} {}

Result<OutputBlock> OutputBlock::make(Kernel& kernel, Clock& clock, const Caller& by,
                                      const CommandOrder& what) {
    BlockCreate block;
    block.conversation = kConversation;
    block.role = conversation::Role::tool;
    block.kind = conversation::Kind::text;
    block.status = conversation::Status::running;
    block.metadata = {{"command", utf8::repaired(what.command)}, {"cwd", what.cwd}};
    std::promise<Result<BlockVersion>> made;
    kernel.create(by, std::move(block),
                  [&](Result<BlockVersion> done) { made.set_value(std::move(done)); });
    BlockVersion version = TRY(made.get_future().get());
    return OutputBlock(kernel, clock, std::move(version.block_id));
}

void OutputBlock::add(std::string_view bytes) {
    pending_ += bytes;
    if (pending_.size() >= kMostPending) flush(false);
}

void OutputBlock::turn() {
    if (clock_->steady_ms() >= next_ms_) flush(false);
}

// Bytes of a code point that is not complete yet stay pending.
void OutputBlock::flush(bool all) {
    next_ms_ = clock_->steady_ms() + kFlushMs;
    const std::size_t waits = all ? 0 : unfinished(pending_);
    std::string text =
        utf8::repaired(std::string_view(pending_).substr(0, pending_.size() - waits));
    pending_.erase(0, pending_.size() - waits);
    if (text.empty()) return;
    is_behind_ |= written_ + text.size() > kMostHistory;
    if (is_behind_) return;
    written_ += text.size();
    in_block_ += text.size();
    kernel_->append(by_, id_, std::move(text), Ack::accepted, nobody<Appended>());
    // Twice the limit, so that there is at most one trim for each kMostKept bytes of output.
    if (in_block_ > 2 * kMostKept) trim();
}

void OutputBlock::trim() {
    in_block_ = kMostKept;
    kernel_->edit(
        by_, id_, "trim",
        [](const seq::Rope& text, std::uint64_t) -> Result<edits::Planned> {
            const std::size_t size = text.bytes().n;
            if (size <= kMostKept) return edits::Planned{};
            text::Byte cut = text.line_start(text.to_line({size - kMostKept}) + text::Line{1});
            // One long line has no line end to cut at.
            if (cut.n >= size) cut = {size - kMostKept};
            while (!text.is_boundary(cut)) ++cut.n;
            return edits::Planned{{{{0}, cut, ""}}, {}, false};
        },
        nobody<Edited>());
}

void OutputBlock::rewrite(std::string text) {
    kernel_->edit(
        by_, id_, "trim",
        [text = std::move(text)](const seq::Rope& now, std::uint64_t) -> Result<edits::Planned> {
            return edits::Planned{{{{0}, now.bytes(), text}}, {}, false};
        },
        nobody<Edited>());
}

void OutputBlock::end(std::string_view tail, bool went_well) {
    flush(true);
    if (is_behind_)
        rewrite(utf8::repaired(tail.substr(tail.size() - std::min(tail.size(), kMostPending))));
    kernel_->set_status(by_, id_,
                        went_well ? conversation::Status::done : conversation::Status::error,
                        nobody<BlockVersion>());
}

void OutputBlock::resume() {
    kernel_->set_status(by_, id_, conversation::Status::running, nobody<BlockVersion>());
}

}  // namespace quire::kernel
