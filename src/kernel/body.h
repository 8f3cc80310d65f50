// What is behind Kernel: the documents, and how a call reaches its block.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "kernel/approvals.h"
#include "kernel/catalog.h"
#include "kernel/gate.h"
#include "kernel/kernel.h"
#include "kernel/live_document.h"
#include "sched/guarded.h"

namespace quire::kernel {

class AuditLog;

// Memory is written through its own gate alone, so no call by a block's id reaches it.
// Error: denied "memory_block" {label}.
Failure is_memory(const LiveDocument& document);

// What an approval is for.
policy::Target target_of(LiveDocument& document);
policy::Target target_of_file(const std::string& path);

// Error: unavailable "shutting_down".
Failure shutting_down();

// --- the audit log (audit_calls.cc) ---
// It has an entry for the kernel's start.
std::shared_ptr<AuditLog> open_log(const Parts& parts);
// The batch that a kernel hands over last.
store::Batch end_of_log(const Parts& parts);

class Kernel::Body : public std::enable_shared_from_this<Kernel::Body> {
public:
    Body(const Parts& parts, std::vector<store::DocumentRecord> known,
         std::shared_ptr<Approvals> approvals, std::shared_ptr<AuditLog> audit)
        : parts_(parts),
          catalog_(parts, std::move(known)),
          approvals_(std::move(approvals)),
          audit_(std::move(audit)) {}

    const Parts& parts() const { return parts_; }
    const Limits& limits() const { return parts_.limits; }
    Gate* gate() const { return parts_.gate; }
    Catalog& catalog() { return catalog_; }
    Approvals& approvals() { return *approvals_; }
    AuditLog& audit() { return *audit_; }

    struct Counters {
        std::uint64_t calls = 0;
        std::uint64_t commits = 0;
        std::uint64_t next_session = 1;
        std::size_t sessions = 0;
        bool closing = false;
    };
    sched::Guarded<Counters>& counters() { return counters_; }
    using Token = std::pair<std::string, std::string>;  // Actor, token.
    // Calls with one token take turns, whatever conversation they name: what waits for each that is
    // under way.
    using Tokens = std::map<Token, std::deque<Function<void()>>>;

    bool is_closing() {
        return counters_.with([](const Counters& counters) { return counters.closing; });
    }

    // Runs work(document, reply) on the document's strand, loaded, the gate passed. An error on the
    // way is the reply.
    template <class T, class Work>
    void on_document(Caller by, std::shared_ptr<LiveDocument> document, Access access,
                     Reply<T> reply, Work work) {
        counters_.with([](Counters& counters) { ++counters.calls; });
        if (is_closing()) return reply(shutting_down());
        sched::Strand& strand = document->strand();
        reply = asking(by, document, std::move(reply));
        auto task = [self = shared_from_this(), by = std::move(by), document, access,
                     reply = std::move(reply), work = std::move(work)]() mutable {
            if (by.cancelled.stop_requested()) {
                reply(
                    fail(Errc::unavailable, "cancelled", "the call was cancelled before it began"));
                return;
            }
            Result<void> ready = document->ready();
            if (ready && self->gate() != nullptr && document->kind() == kFileKind) {
                ready =
                    self->gate()->enter(*document, by.actor, access, self->approved(by, *document));
            }
            if (!ready) {
                reply(Failure(std::move(ready).error()));
                return;
            }
            work(*document, std::move(reply));
        };
        strand.post([document = std::move(document), task = std::move(task)]() mutable {
            document->enter(std::move(task));
        });
    }

    // The same for the document of a name, which is made where there is none. One that has lost the
    // name, or has another, by the time its turn comes is passed over for the one that has it then.
    struct DocumentName {
        std::string kind;
        std::string name;
    };
    template <class T, class Work>
    void on_named(Caller by, const DocumentName& of, Access access, Reply<T> reply, Work work) {
        std::shared_ptr<LiveDocument> document = catalog_.find_or_make(of.kind, of.name);
        on_document<T>(
            by, std::move(document), access, std::move(reply),
            [self = shared_from_this(), by, of, access, work = std::move(work)](
                LiveDocument& live, Reply<T> answer) mutable {
                if (!live.record().deleted && live.name() == of.name &&
                    self->catalog_.has_name(live.key()))
                    return work(live, std::move(answer));
                // It gives the name up when what became of it is durable.
                live.when_durable([self, by = std::move(by), of, access, answer = std::move(answer),
                                   work = std::move(work)](Result<void> gone) mutable {
                    if (!gone) return answer(Failure(std::move(gone).error()));
                    self->template on_named<T>(std::move(by), of, access, std::move(answer),
                                               std::move(work));
                });
            });
    }

    // The same for a block: work(document, block, reply).
    struct BlockName {
        BlockName(std::string block_id, bool also_deleted = false)
            : id(std::move(block_id)), deleted_too(also_deleted) {}
        std::string id;
        bool deleted_too;
    };
    template <class T, class Work>
    void on_block(Caller by, const BlockName& of, Access access, Reply<T> reply, Work work) {
        const Result<conversation::BlockId> parsed = conversation::BlockId::parse(of.id);
        if (!parsed) {
            reply(Failure(parsed.error()));
            return;
        }
        std::shared_ptr<LiveDocument> document = catalog_.find(parsed->document);
        if (document == nullptr) {
            reply(fail(Errc::not_found, "invalid_reference",
                       cat("there is no block '", of.id, "'; block_list shows those there are"),
                       {{"block_id", of.id}}));
            return;
        }
        on_document<T>(std::move(by), std::move(document), access, std::move(reply),
                       [id = *parsed, deleted_too = of.deleted_too, work = std::move(work)](
                           LiveDocument& live, Reply<T> answer) mutable {
                           if (live.kind() == kMemoryKind) return answer(is_memory(live));
                           Result<BlockRef> block = live.find(id, deleted_too);
                           if (!block) {
                               answer(Failure(std::move(block).error()));
                               return;
                           }
                           work(live, *block, std::move(answer));
                       });
    }

    // The name of the conversation that a block is in, or was; "" where it is in none.
    std::string conversation_of(std::string_view block_id);

    // --- approvals (approval_calls.cc) ---
    // What the caller may do of what would escalate. On the document's strand.
    policy::Operations approved(const Caller& by, LiveDocument& document);
    policy::Operations approved(const Caller& by, const policy::Target& target);
    // Asks a person for what `refusal`, an escalation, was for, and tells what the caller is to be
    // answered: that an approval waits, that it was denied, or why none could be asked for.
    void ask(const Caller& by, policy::Target target, Error refusal, Function<void(Error)> tell);
    void ask(const Caller& by, Approvals::Wanted what, Error refusal, Function<void(Error)> tell);
    // Whether an error is an escalation that nobody has been asked about.
    static bool is_unasked(const Error& error);
    // `reply`, but that a call which escalates asks for an approval first. It is answered on the
    // document's strand.
    template <class T>
    Reply<T> asking(const Caller& by, std::shared_ptr<LiveDocument> document, Reply<T> reply) {
        if (by.call == nullptr) return reply;
        return [self = shared_from_this(), by, document = std::move(document),
                reply = std::move(reply)](Result<T> result) mutable {
            if (result || !is_unasked(result.error())) return reply(std::move(result));
            self->ask(by, target_of(*document), std::move(result).error(),
                      [reply = std::move(reply)](Error told) mutable {
                          reply(Failure(std::move(told)));
                      });
        };
    }

    // Hands the transaction over, and answers with `value` once it is durable. A document that
    // could not even begin to be stored leaves its name to the next one.
    template <class T>
    void submit(LiveDocument& document, T value, Reply<T> reply) {
        count_commit();
        document.submit([self = shared_from_this(), &document, value = std::move(value),
                         reply = std::move(reply)](Result<void> result) mutable {
            if (result) return reply(std::move(value));
            if (!document.is_stored()) self->catalog_.drop(document.key());
            reply(Failure(std::move(result).error()));
        });
    }

    // Answers a read with `value` once all it saw is durable.
    template <class T>
    void answer(LiveDocument& document, T value, Reply<T> reply) {
        document.when_durable(
            [value = std::move(value), reply = std::move(reply)](Result<void> result) mutable {
                if (!result) return reply(Failure(std::move(result).error()));
                reply(std::move(value));
            });
    }

    // Refuses with what was seen of the document, once that is durable.
    template <class T>
    void refuse(LiveDocument& document, Error error, Reply<T> reply) {
        document.when_durable(
            [error = std::move(error), reply = std::move(reply)](Result<void> durable) mutable {
                reply(durable ? Failure(std::move(error)) : Failure(std::move(durable).error()));
            });
    }

    void count_commit() {
        counters_.with([](Counters& counters) { ++counters.commits; });
    }

    // --- reading (calls_read.cc) ---
    void read(LiveDocument& document, const BlockRef& block, std::optional<text::LineRange> range,
              Reply<BlockText> reply);
    void history(LiveDocument& document, const BlockRef& block, std::size_t limit,
                 const std::string& cursor, Reply<HistoryPage> reply);

    // --- creating and editing (calls_change.cc) ---
    void create(const Caller& by, BlockCreate what, Reply<BlockVersion> reply);
    // Runs `call` once no other call with the token is under way, and end_turn() ends that.
    void take_turn(const Token& token, Function<void()> call);
    void end_turn(const Token& token);
    // What a change of its text does to a block's status, in the document's pending transaction.
    static void set_running(LiveDocument& document, const BlockRef& block);
    void answer_token(const std::string& block_id, Reply<BlockVersion> reply);
    // Whether a block or a file may begin with this text. Errors: too_large().
    Result<void> check_new(std::string_view content) const;
    // Whether it may stand in the document. Error: invalid_argument "binary_file" for a NUL in a
    // file, which could not be saved.
    static Result<void> check_savable(const LiveDocument& document, std::string_view text);
    // Whether it may become what the splices make of it. Errors: the same.
    Result<void> check_size(const seq::Rope& text, std::span<const text::Splice> splices) const;

    // --- appends (calls_append.cc) ---
    // Its piece waits for its answer; the piece's version is not set yet.
    void append(LiveDocument& document, BlockRef block, const policy::Actor& writer,
                Appends::Piece piece);
    // Commits what is buffered for the block, if anything is. On the strand, no transaction begun.
    // `more`: its writer is likely to go on, so that versions stay reserved.
    void flush(LiveDocument& document, const BlockRef& block, bool more = false);
    void flush_all(LiveDocument& document);
    // Ends every actor's run of appends, or one actor's: the next append begins a new undo unit.
    static void end_append_runs(BlockState& state) { state.appends.groups.clear(); }

private:
    void flush_when_due(LiveDocument& document, const BlockRef& block);
    void look_again(LiveDocument& document, const BlockRef& block, std::int64_t delay_ms);
    void look_after(const std::shared_ptr<LiveDocument>& document, conversation::BlockId id,
                    std::int64_t delay_ms);
    void reserve(LiveDocument& document, const BlockRef& block, std::uint64_t up_to);
    void reserved(const BlockRef& block, std::uint64_t up_to, const Result<void>& result);
    void write(LiveDocument& document, const BlockRef& block, Appends::Turn turn);
    void put_back(LiveDocument& document, const BlockRef& block, Appends::Turn turn);

    const Parts parts_;
    Catalog catalog_;
    const std::shared_ptr<Approvals> approvals_;
    const std::shared_ptr<AuditLog> audit_;
    sched::Guarded<Counters> counters_;
    sched::Guarded<Tokens> tokens_;
};

inline constexpr std::string_view kGoOnElsewhere = "Go on in another block";
// Whether a conversation may have the name: 1 to 200 bytes.
bool is_conversation_name(std::string_view name);
// Too large for `limit`, in the words of every call. Error: out_of_range "too_large" {limit}.
Failure too_large(std::string_view what, std::size_t limit,
                  std::string_view advice = "Write it in several calls");

}  // namespace quire::kernel
