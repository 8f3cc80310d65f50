// Appends: text for the end of a block, gathered per block and writer and committed when due
// (appends.h has the rules). A stream of short appends thus costs a commit per flush and not per
// call.
//
// An append with Ack::durable is answered after its flush. One with Ack::accepted is answered at
// once with its future version, which is allowed only up to a version that the store has
// reserved: after a crash the block continues above the reservation, so no version is given out
// twice. If the store refuses a flush, text that was already accepted is kept and tried again.

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/clock.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "edits/splice_diff.h"
#include "edits/view.h"
#include "kernel/core/appends.h"
#include "kernel/core/core.h"
#include "kernel/core/cursors.h"
#include "kernel/core/versions.h"
#include "seq/rope.h"

namespace quire::kernel {

namespace {

// How long accepted text waits before it is tried again after the store refused it.
constexpr std::int64_t kRetryMs = 1000;
// How many versions are reserved at a time for appends that are accepted before they are stored.
constexpr std::uint64_t kReserved = 1536;
// How long after its last flush a stream of appends has ended.
constexpr std::int64_t kStreamEndsMs = 100;

// Buffers what `pieces` are, all of them by one writer.
void refill(Appends& appends, std::int64_t now_ms) {
    const std::optional<conversation::AppendBuffer::Taken> taken = appends.buffer.take();
    if (!taken) return;
    for (const AppendPiece& piece : appends.pieces)
        appends.buffer.add(piece.text, now_ms, taken->writer);
}

// Notes in `piece` what will be read once it is in, after the document's text and what waits before
// it. The copy of the rope shares all that the few waiting words do not touch. Not while the store
// refuses: what waits may then be much.
void show(const crdt::Doc& doc, const BlockRef& block, Appends& appends, AppendPiece& piece,
          std::size_t columns) {
    if (!appends.refused.empty()) return;
    const std::size_t op_count = doc.history().op_count();
    if (!appends.shown || appends.shown->op_count != op_count) {
        appends.shown = {doc.text(block.content).rope(), op_count};
        seq::Rope& text = appends.shown->text;
        for (const AppendPiece& before : appends.pieces)
            text.insert(text.code_points(), before.text);
    }
    seq::Rope& text = appends.shown->text;
    const std::array<text::Splice, 1> made = {{{text.bytes(), {0}, piece.text}}};
    text.insert(text.code_points(), piece.text);
    piece.line_count = text.lines().n;
    piece.change = edits::change_made(text, made, columns);
}

}  // namespace

void Kernel::append(Caller by, std::string block_id, std::string text, Ack ack,
                    Reply<Appended> reply) {
    if (text.size() > limits().operation_bytes) {
        reply(too_large("the text", limits().operation_bytes));
        return;
    }
    Result<BlockAddress> at = core_->address_of(block_id, by.actor);
    if (!at) return reply(Failure(std::move(at).error()));
    core_->enter<Appended>(
        std::move(by), std::move(at->at), Access::append, std::move(reply),
        [id = at->id, text = std::move(text), ack](Visit<Appended> visit) mutable {
            Core& core = *visit.kernel;
            const Result<BlockRef> block =
                core.find_block(*visit.document, id, visit.by.actor, Access::append, false);
            if (!block) return core.finish<Appended>(std::move(visit), Failure(block.error()));
            core.append(std::move(visit), *block, std::move(text), ack);
        });
}

void Core::append(Visit<Appended> visit, const BlockRef& block, std::string text, Ack ack) {
    LiveDocument& document = *visit.document;
    Appends& appends = block.state->appends_made();
    if (text.empty()) {
        // An empty text makes no version. With Ack::durable it still flushes, so its answer says
        // that what was appended before it is on the disk.
        const bool durable = ack == Ack::durable;
        if (durable) flush(document, block);
        return finish<Appended>(std::move(visit),
                                Appended{block.state->version + appends.calls(), durable, 0, {}});
    }
    if (const auto fits = check_savable(document, text); !fits)
        return finish<Appended>(std::move(visit), Failure(fits.error()));
    if (document.doc().text(block.content).rope().bytes().n + appends.bytes() + text.size() >
        limits().block_bytes) {
        return finish<Appended>(std::move(visit),
                                too_large("the block", limits().block_bytes, kGoOnElsewhere));
    }
    const auto diff = [&] {
        const seq::Rope& before = document.doc().text(block.content).rope();
        const std::string name = diff_name(document, block);
        const text::Splice splice{before.bytes(), {}, text};
        return edits::splice_diff(before, {&splice, 1},
                                  {.from = cat("a/", name), .to = cat("b/", name)});
    };
    if (const auto approved = visit.by.check_approved(diff); !approved)
        return finish<Appended>(std::move(visit), Failure(approved.error()));
    // Only the store can refuse it from here on: there is nothing to ask a person about.
    buffer(document, block, visit.by.actor,
           {.text = std::move(text), .waiting = std::move(visit.reply), .ack = ack});
}

// Hands the piece, whose version is not set yet, to the writer's next flush.
void Core::buffer(LiveDocument& document, const BlockRef& block, const policy::Actor& writer,
                  AppendPiece piece) {
    Appends& appends = block.state->appends_made();
    const bool durable = piece.ack == Ack::durable;
    if (appends.buffer.blocks(writer)) flush(document, block);

    appends.buffer.add(piece.text, parts_.clock.steady_ms(), writer);
    piece.version = block.state->version + appends.calls() + 1;
    const std::uint64_t version = piece.version;
    if (durable) {
        appends.shown.reset();
    } else {
        show(document.doc(), block, appends, piece, limits().read_columns);
    }
    appends.pieces.push_back(std::move(piece));
    if (durable) {
        if (!appends.in_flight) flush(document, block);
        return;
    }
    if (version <= block.state->reserved) {
        AppendPiece& told = appends.pieces.back();
        std::exchange(told.waiting, {})(told.accepted());
    } else if (version > block.state->reserving) {
        reserve(document, block, version + kReserved);
    }
    flush_when_due(document, block);
}

// Tells the store that versions up to `up_to` may be given out. Once for many appends: the flushes
// of a stream that goes on carry what is reserved for its next ones.
void Core::reserve(LiveDocument& document, const BlockRef& block, std::uint64_t up_to) {
    block.state->reserving = up_to;
    document.record_version(block);
    document.submit([self = shared_from_this(), live = document.shared_from_this(),
                     id = document.id_of(block), up_to](const Result<void>& result) {
        if (const Result<BlockRef> again = live->find(id, true))
            self->reserved(*again, up_to, result);
    });
}

// The reservation is stored, or was refused; nothing to do if a later one is on its way by now.
void Core::reserved(const BlockRef& block, std::uint64_t up_to, const Result<void>& result) {
    BlockState& state = *block.state;
    if (up_to == 0 || state.reserving != up_to) return;
    if (result) {
        state.reserved = up_to;
    } else {
        state.reserving = state.reserved = 0;
    }
    if (state.appends == nullptr) return;
    std::vector<AppendPiece>& pieces = state.appends->pieces;
    for (AppendPiece& piece : pieces) {
        if (piece.ack != Ack::accepted || !piece.waiting) continue;
        if (!result) {
            // Nothing was promised to a call that still waits for its version, so its text leaves
            // the buffer with the refusal.
            piece.waiting(Failure(result.error()));
            piece.text.clear();
        } else if (piece.version <= up_to) {
            std::exchange(piece.waiting, {})(piece.accepted());
        }
    }
    if (result) return;
    state.appends->shown.reset();
    std::erase_if(pieces, [](const AppendPiece& piece) { return piece.text.empty(); });
    refill(*state.appends, parts_.clock.steady_ms());
}

// Flushes now if a rule asks for it, else looks again when silence alone would.
void Core::flush_when_due(LiveDocument& document, const BlockRef& block) {
    Appends& appends = block.state->appends_made();
    const std::int64_t now = parts_.clock.steady_ms();
    const std::optional<std::int64_t> deadline = appends.buffer.deadline_ms();
    if (appends.buffer.due(now) || !appends.refused.empty()) {
        const bool silent = deadline && *deadline <= now;
        flush(document, block, !silent);
        appends.flushed_ms = now;
        if (!silent) look_again(document, block, kStreamEndsMs);
        return;
    }
    if (deadline) return look_again(document, block, *deadline - now);
    // The versions reserved beyond a stream that has ended are given back.
    BlockState& state = *block.state;
    if (state.told <= state.version) return;
    const std::int64_t left = appends.flushed_ms + kStreamEndsMs - now;
    if (left > 0) return look_again(document, block, left);
    state.reserving = state.reserved = 0;
    document.record_version(block);
    document.submit([](const Result<void>&) {});
}

// Looks after `delay_ms` whether the block's text is due. One look at a time is planned; it is put
// off while the document cannot be had, for what was accepted must not wait for a caller.
void Core::look_again(LiveDocument& document, const BlockRef& block, std::int64_t delay_ms) {
    if (std::exchange(block.state->appends_made().timer_set, true)) return;
    look_after(document.shared_from_this(), document.id_of(block), delay_ms);
}

void Core::look_after(const std::shared_ptr<LiveDocument>& document, conversation::BlockId id,
                      std::int64_t delay_ms) {
    document->strand().post_after(delay_ms, [self = weak_from_this(), document, id] {
        const auto core = self.lock();
        if (core == nullptr) return;
        if (!document->ready()) return core->look_after(document, id, kRetryMs);
        const Result<BlockRef> block = document->find(id, true);
        if (!block) return;
        block->state->appends_made().timer_set = false;
        core->flush_when_due(*document, *block);
    });
}

void Core::flush(LiveDocument& document, const BlockRef& block, bool more) {
    BlockState& state = *block.state;
    if (state.appends == nullptr) return;
    Appends& appends = *state.appends;
    const std::uint64_t last = state.version + appends.calls();
    // Every version that was given out is in this flush; what comes after is reserved anew.
    state.reserving = more && state.reserving > 0 ? last + kReserved : 0;
    if (state.reserving == 0) state.reserved = 0;
    std::vector<AppendTurn> turns = std::exchange(appends.refused, {});
    if (const std::optional<conversation::AppendBuffer::Taken> taken = appends.buffer.take())
        turns.push_back({taken->writer, std::exchange(appends.pieces, {})});
    appends.shown.reset();
    for (AppendTurn& turn : turns) write(document, block, std::move(turn));
}

// Commits one writer's turn.
void Core::write(LiveDocument& document, const BlockRef& block, AppendTurn turn) {
    BlockState& state = *block.state;
    std::string text;
    for (std::size_t i = 0; i < turn.pieces.size(); ++i) {
        turn.pieces[i].version = state.version + i + 1;
        text += turn.pieces[i].text;
    }

    crdt::Doc& doc = document.doc();
    document.begin(turn.writer);
    const text::Byte end = doc.text(block.content).rope().bytes();
    const auto written =
        doc.text(block.content).insert(doc.text(block.content).rope().code_points(), text);
    CHECK(written.has_value());
    const std::vector<text::Splice> splices = {{end, {0}, std::move(text)}};
    // The answers of accepted appends are ready: they show less than all of the turn.
    Appended appended{0, true, doc.text(block.content).rope().lines().n, {}};
    if (std::ranges::any_of(turn.pieces, [](const auto& each) { return each.ack == Ack::durable; }))
        appended.change =
            edits::change_made(doc.text(block.content).rope(), splices, limits().read_columns);
    if (state.cursors != nullptr)
        state.cursors->follow(doc, block.content, turn.writer.str(), splices);
    set_running(document, block);
    Unit unit;
    unit.actor = turn.writer.str();
    unit.description = "append";
    unit.spans = {document.commit(turn.writer, "append")};
    unit.group = state.appends_made().group_of(unit.actor, state.version + turn.pieces.size());
    document.record(block, std::move(unit), turn.pieces.size());

    state.appends_made().in_flight = true;
    count_commit();
    document.submit([self = shared_from_this(), live = document.shared_from_this(),
                     id = document.id_of(block), turn = std::move(turn),
                     appended = std::move(appended),
                     up_to = state.reserving](Result<void> result) mutable {
        for (AppendPiece& piece : turn.pieces) {
            if (!piece.waiting) continue;
            if (!result) {
                piece.waiting(Failure(result.error()));
            } else if (piece.ack == Ack::accepted) {
                piece.waiting(piece.accepted());
            } else {
                appended.version = piece.version;
                piece.waiting(appended);
            }
        }
        Result<BlockRef> again = live->find(id, true);
        if (!again) return;
        self->reserved(*again, up_to, result);
        Appends& later = again->state->appends_made();
        later.in_flight = false;
        if (result) {
            // Durable appends that came meanwhile share the next flush; accepted text keeps its own
            // time.
            const bool wanted =
                std::any_of(later.pieces.begin(), later.pieces.end(), [](const AppendPiece& piece) {
                    return piece.ack == Ack::durable && piece.waiting;
                });
            if (wanted) self->flush(*live, *again);
            return;
        }
        self->put_back(*live, *again, std::move(turn));
    });
}

// The store refused a turn: what of it was answered as accepted is tried again, before what was
// handed over since.
void Core::put_back(LiveDocument& document, const BlockRef& block, AppendTurn turn) {
    Appends& appends = block.state->appends_made();
    std::erase_if(turn.pieces, [](const AppendPiece& piece) { return bool{piece.waiting}; });
    if (!turn.pieces.empty()) appends.refused.push_back(std::move(turn));
    if (!appends.empty()) look_again(document, block, kRetryMs);
}

namespace {

// The block with this BlockState::key, even if it is deleted.
Result<BlockRef> find_by_key(LiveDocument& document, const std::string& key) {
    conversation::BlockId id{document.key(), -1, 0};
    if (!key.empty()) id = TRY(conversation::BlockId::parse(cat("b", document.key(), "_", key)));
    return document.find(id, true);
}

}  // namespace

void Core::flush_all(LiveDocument& document) {
    for (auto& [key, state] : document.states()) {
        if (!state.has_waiting_appends() && state.told <= state.version) continue;
        const Result<BlockRef> block = find_by_key(document, key);
        if (!block) continue;
        flush(document, *block);
        if (state.told <= state.version) continue;
        // Nothing that was given out is missing any more.
        document.record_version(*block);
        document.submit([](const Result<void>&) {});
    }
}

}  // namespace quire::kernel
