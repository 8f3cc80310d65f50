// The session of `quire engine`: documents by name, the table of methods, and one reply for each
// line of input. A method reads its parameters from the request and returns a value or an error;
// an error leaves the session usable. Changes stay in a document's pending transaction until a
// method commits it.
//
// A method is found by its name in one hash table, built from constant rows when the session
// begins. A request costs its parsing, the method and the writing of the reply.
#include "cli/driver/session.h"

#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "cli/driver/undo.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/ids/container_text.h"
#include "crdt/ids/mergeable.h"
#include "json/json.h"

namespace quire::cli {
namespace {

// The longest line that the pipe takes, and room for a value of codec::kMaxValueDepth levels, 512,
// within the lists and objects of a request.
constexpr json::ParseLimits kLimits{.depth = 600, .bytes = std::size_t{256} << 20};

// A reply's code is the error's reason, which programs compare; the message is for people.
Value error_reply(const Error& error) {
    return Map{{"code", error.reason()}, {"message", error.message()}};
}

}  // namespace

void EngineDocument::listen() {
    listening_ =
        crdt::subscribe_root(doc, [this](const crdt::Event& event) { events_.push_back(event); });
}

std::vector<crdt::Event> EngineDocument::heard() {
    return std::exchange(events_, {});
}

Result<std::string> name_in(const Map& request, std::string_view member) {
    const Value* const name = request.find(member);
    if (name == nullptr || !name->is_string())
        return invalid("invalid_argument", cat("`", member, "` must be a string"));
    return name->as_string();
}

EngineDocuments::EngineDocuments(const Clock& clock, Rng& rng) : clock_(clock), rng_(rng) {}
EngineDocuments::~EngineDocuments() = default;

Result<EngineDocument*> EngineDocuments::find(const Map& request) {
    const std::string name = TRY(name_in(request, "doc"));
    const auto at = documents_.find(name);
    if (at == documents_.end()) {
        return fail(Errc::not_found, "no_such_document",
                    cat("there is no document ", name, "; `new` makes one"));
    }
    return &at->second;
}

Result<EngineDocument*> EngineDocuments::find_loaded(const Map& request) {
    EngineDocument* document = TRY(find(request));
    TRY(document->doc.history().load());
    return document;
}

Result<EngineDocument*> EngineDocuments::find_settled(const Map& request) {
    EngineDocument* document = TRY(find(request));
    settle(*document);
    return document;
}

Result<EngineDocument*> EngineDocuments::find_whole(const Map& request) {
    TRY(find_settled(request));
    return find_loaded(request);
}

Result<EngineUndo*> EngineDocuments::find_undo(const Map& request) {
    const std::string name = TRY(name_in(request, "name"));
    const auto at = undos_.find(name);
    if (at == undos_.end()) {
        return fail(Errc::not_found, "no_such_undo",
                    cat("there is no undo history ", name, "; `undo.attach` makes one"));
    }
    return at->second.get();
}

// A root needs no op to exist. Roots that stand for mergeable children are not remembered: they
// belong to a map, and the document's value shows them there.
Result<crdt::Handle> EngineDocuments::open(EngineDocument& document, const crdt::ContainerId& id) {
    if (id.is_root()) {
        if (!crdt::mergeable_parent(id)) document.roots.insert(id);
        return document.doc.open(id);
    }
    const crdt::Handle handle = document.doc.open(id);
    // Only the history can tell whether a container that is not shown was ever made.
    if (document.doc.is_alive(handle)) return handle;
    TRY(document.doc.history().load());
    if (crdt::Inspection(document.doc).parent_of(id)) return handle;
    return fail(Errc::not_found, "no_such_container",
                cat("no operation that is known here has made ", crdt::to_text(id)));
}

Result<EngineDocument*> EngineDocuments::add(const std::string& name, crdt::PeerId peer) {
    const auto [at, is_new] = documents_.try_emplace(name, peer);
    if (!is_new) {
        return fail(Errc::conflict, "document_exists",
                    cat("there is a document ", name, " already; `drop` it first"));
    }
    return &at->second;
}

// Histories refer to the document, so they go first.
void EngineDocuments::drop(const std::string& name) {
    const auto at = documents_.find(name);
    if (at == documents_.end()) return;
    std::erase_if(undos_, [&](const auto& undo) { return &undo.second->document == &at->second; });
    documents_.erase(at);
}

crdt::PeerId EngineDocuments::peer_or_random(const std::optional<Peer>& given) {
    if (given) return given->id;
    const crdt::PeerId peer = rng_.next();
    // One number of 2^64 means "none"; every other peer will do in its place.
    return peer == crdt::kNoPeer ? 1 : peer;
}

void EngineDocuments::settle(EngineDocument& document) {
    if (document.doc.pending().empty()) return;
    commit(document, {.timestamp = timestamp_of(document)});
}

crdt::Commit EngineDocuments::commit(EngineDocument& document, crdt::CommitOptions options) {
    crdt::Commit commit = document.doc.commit(std::move(options));
    tell_undo(document, commit);
    return commit;
}

std::int64_t EngineDocuments::timestamp_of(const EngineDocument& document) const {
    return document.record_timestamps ? clock_.wall_ms() / 1000 : 0;
}

EngineSession::EngineSession(const Clock& clock, Rng& rng) : documents_(clock, rng) {
    // One a line.
    for (const auto table : {
             engine_document_ops(),   //
             engine_text_ops(),       //
             engine_container_ops(),  //
             engine_exchange_ops(),   //
             engine_cursor_ops(),     //
             engine_time_ops(),       //
             engine_json_ops(),       //
             engine_richtext_ops(),   //
             engine_undo_ops(),       //
             engine_presence_ops(),   //
         }) {
        for (const EngineOp& op : table) CHECK(ops_.emplace(op.name, &op).second);
    }
}

// The reply is put together as text: {"id": ..., "ok": ...} or {"id": ..., "error": ...}. The id is
// written as soon as the request was parsed, so that errors have it too. A line that is no JSON
// gets an error without an id.
std::string EngineSession::answer(std::string_view line) {
    std::string reply = "{";
    const auto result = [&]() -> Result<std::string> {
        auto parsed = json::parse(line, kLimits);
        if (!parsed) return Failure(Error(parsed.error()).within("this line is not a request"));
        if (!parsed->is_map())
            return invalid("invalid_request", "a request is an object with `op`");
        Map& fields = parsed->as_map();
        if (const Value* id = fields.find("id")) reply += cat("\"id\":", json::write(*id), ",");
        const Value* op = fields.find("op");
        if (op == nullptr || !op->is_string())
            return invalid("invalid_request", "a request names its `op`");
        const auto known = ops_.find(op->as_string());
        if (known == ops_.end())
            return fail(Errc::unsupported, "unsupported", cat("no op ", op->as_string()));
        return known->second->run(documents_, std::move(fields), known->second->arguments);
    }();
    reply += result ? "\"ok\":" : "\"error\":";
    reply += result ? *result : json::write(error_reply(result.error()));
    reply += '}';
    return reply;
}

std::string EngineSession::refuse_too_long() const {
    const Error error(Errc::out_of_range, "too_large", "this line is longer than a request may be");
    return json::write(Map{{"error", error_reply(error)}});
}

}  // namespace quire::cli
