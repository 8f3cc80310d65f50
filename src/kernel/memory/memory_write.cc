// Writes to memory blocks, each through the gate, one version and one step of undo.
//
// The order in carry_out() decides which refusal a caller gets. A write to a fed block is tried on
// a draft, and its source judges the outcome. Then the write is made, or refused by rights, types
// or limits. A person is asked for approval only of a write that would succeed. Memory's own limits
// are checked by MemoryEdit, those of the kernel here, before the text that would break them is
// built.
#include "base/check.h"
#include "json/json.h"
#include "kernel/memory/memory_body.h"
#include "memory/memory_edit.h"
#include "memory/remember.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// The size of a value as the store and a reply would hold it.
std::size_t bytes_of(const Value& value) {
    return value.is_string() ? value.as_string().size() : json::write(value).size();
}

// Carries one write out: through the gate, and within the limits of the kernel.
class Writing {
public:
    Writing(memory::MemoryEdit& edit, const memory::Writer& by, const Limits& limits)
        : edit_(edit), by_(by), limits_(limits) {}

    Result<Value> operator()(SetField& what) {
        TRY(fits(what.value));
        TRY(edit_.set_field(what.path, std::move(what.value)));
        return Value();
    }
    Result<Value> operator()(AppendContent& what) {
        TRY(fits(what.content));
        const auto text = edit_.reader().text(what.section);
        if (text && what.content.is_string())
            TRY(fits_block((*text)->bytes().n + what.content.as_string().size()));
        TRY(edit_.append(what.section, std::move(what.content)));
        return Value();
    }
    Result<Value> operator()(const ReplaceText& what) {
        TRY(memory::admit(by_, {Operation::overwrite, what.section, memory::Shape::text},
                          edit_.reader().schema()));
        TRY(fits(what.replace));
        TRY(fits_block(size_when_replaced(what)));
        return Value(TRY(edit_.replace_text(what.section, what.find, what.replace)));
    }
    Result<Value> operator()(const SetText& what) {
        TRY(fits(what.text));
        TRY(fits_block(what.text.size()));
        TRY(edit_.set_text(what.section, what.text));
        return Value();
    }
    Result<Value> operator()(AppendToList& what) {
        TRY(fits(what.item));
        TRY(edit_.append_to_list(what.path, std::move(what.item)));
        return Value();
    }
    Result<Value> operator()(InsertItem& what) {
        TRY(fits(what.item));
        TRY(edit_.insert_into_list(what.path, what.index, std::move(what.item)));
        return Value();
    }
    Result<Value> operator()(SetItem& what) {
        TRY(fits(what.value));
        if (what.member) {
            TRY(edit_.set_member_in_list(what.path, what.index, *what.member,
                                         std::move(what.value)));
        } else {
            TRY(edit_.set_in_list(what.path, what.index, std::move(what.value)));
        }
        return Value();
    }
    Result<Value> operator()(const RemoveFromList& what) {
        return edit_.remove_from_list(what.path, what.index);
    }
    Result<Value> operator()(const IncrementCounter& what) {
        return edit_.increment_counter(what.path, what.delta);
    }
    // The parts before one that is refused are written: on a draft.
    Result<Value> operator()(Remember& what) {
        for (Remember::Part& each : what.parts) TRY(std::visit(*this, each));
        return Value();
    }

private:
    Result<void> fits(const Value& value) const {
        if (bytes_of(value) <= limits_.operation_bytes) return {};
        return too_large("what is written", limits_.operation_bytes);
    }
    Result<void> fits_block(std::size_t bytes) const {
        if (bytes <= limits_.block_bytes) return {};
        return too_large("the block", limits_.block_bytes, kGoOnElsewhere);
    }
    // A short text can be replaced by a long one very often. The size is counted before any text is
    // made.
    std::size_t size_when_replaced(const ReplaceText& what) const {
        const std::string text = (*edit_.reader().text(what.section))->str();
        std::size_t size = text.size();
        if (what.find.empty()) return size;
        for (std::size_t at = text.find(what.find); at != std::string::npos;
             at = text.find(what.find, at + what.find.size())) {
            size += what.replace.size();
            size -= what.find.size();
        }
        return size;
    }

    memory::MemoryEdit& edit_;
    const memory::Writer& by_;
    const Limits& limits_;
};

// The sections to which the write appends.
std::vector<std::string> appended_to(const MemoryWrite& what) {
    if (const auto* const one = std::get_if<AppendContent>(&what)) return {one->section};
    std::vector<std::string> out;
    if (const auto* const several = std::get_if<Remember>(&what)) {
        for (const Remember::Part& each : several->parts) {
            if (const auto* const part = std::get_if<AppendContent>(&each))
                out.push_back(part->section);
        }
    }
    return out;
}

// Trims a log that an append has made too long, as a version of its own: undoing the append leaves
// it trimmed. The trimming is the system's, so it needs no right of the writer, and history says
// whose it was.
void trim_if_due(LiveDocument& document, const memory::MemoryBlock& block, const MemoryWrite& what,
                 const SourceVerdict& verdict, std::int64_t now_ms) {
    const policy::Actor by{policy::ActorKind::system, "log_trim"};
    for (const std::string& section : appended_to(what)) {
        memory::MemoryEdit edit(document.doc(), block, {by, kernel_writer().rights}, now_ms);
        if (!edit.is_trim_due(section)) continue;
        document.begin(by);
        CHECK(edit.trim_log(section).has_value());
        record_memory_write(document, edit.last(), verdict);
    }
}

Result<MemoryWritten> carry_out(LiveDocument& document, MemoryWrite& what, const Caller& by,
                                const OpenedMemory& opened, const MemoryCalls::Body& body) {
    memory::Writer writer = opened.writer(by.actor);
    const memory::MemoryBlock& block = opened.header.block;
    const std::int64_t now_ms = body.kernel->parts().clock.wall_ms();
    const Limits& limits = body.kernel->limits();
    const auto on_draft = [&](crdt::Doc& draft) -> Result<void> {
        memory::MemoryEdit edit(draft, block, writer, now_ms);
        MemoryWrite same = what;
        TRY(std::visit(Writing(edit, writer, limits), same));
        return {};
    };
    const SourceVerdict verdict = TRY(body.fed.judge(document, opened.header, by.actor, on_draft));
    memory::MemoryEdit edit(document.doc(), block, writer, now_ms);
    document.begin(by.actor);
    const auto* const several = std::get_if<Remember>(&what);
    Result<Value> made;
    if (several != nullptr) {
        // All of it or nothing: what is refused is refused on a copy.
        crdt::Doc draft = document.doc().fork(document.doc().peer());
        if (Result<void> fits = on_draft(draft); !fits) made = Failure(std::move(fits).error());
    }
    MemoryWrite tried = what;
    if (made) made = std::visit(Writing(edit, writer, limits), tried);
    if (!made && Oversight::is_unasked(made.error())) {
        // Nobody is asked to approve what would fail: the write is tried as if it were approved.
        writer.rights.approved = policy::Operations::all();
        crdt::Doc draft = document.doc().fork(document.doc().peer());
        TRY(on_draft(draft));
    }
    if (!made) return Failure(std::move(made).error());
    const bool is_one = several == nullptr || several->parts.size() == 1;
    const policy::Attribution said =
        is_one ? edit.last() : policy::Attribution{by.actor, "remember", ""};
    const bool changed = record_memory_write(document, said, verdict);
    if (changed) trim_if_due(document, block, what, verdict, now_ms);
    return MemoryWritten{body.settle(document, opened, verdict), std::move(*made), !changed};
}

}  // namespace

void MemoryCalls::write(Caller by, std::string label, MemoryWrite what,
                        Reply<MemoryWritten> reply) {
    body_->run<MemoryWritten>(
        std::move(by), label, std::move(reply),
        [body = body_, what = std::move(what)](LiveDocument& document, const OpenedMemory& opened,
                                               const Caller& caller) mutable {
            return carry_out(document, what, caller, opened, *body);
        });
}

// The arguments become parts on the strand, by the schema that the block has by then: it may have
// been converted since the tool was listed.
void MemoryCalls::remember(Caller by, std::string label, Map arguments,
                           Reply<MemoryWritten> reply) {
    body_->run<MemoryWritten>(
        std::move(by), label, std::move(reply),
        [body = body_, arguments = std::move(arguments)](
            LiveDocument& document, const OpenedMemory& opened, const Caller& caller) {
            Remember parts;
            for (memory::RememberedPart& each :
                 memory::remembered_parts(opened.header.block.schema, arguments)) {
                if (each.appends) {
                    parts.parts.emplace_back(
                        AppendContent{std::move(each.path.section), std::move(each.value)});
                } else {
                    parts.parts.emplace_back(SetField{std::move(each.path), std::move(each.value)});
                }
            }
            MemoryWrite what = std::move(parts);
            return carry_out(document, what, caller, opened, *body);
        });
}

}  // namespace quire::kernel
