// Convert: a memory block under another schema, with what it holds carried over.
//
// An additive change (new fields, new sections) only replaces the schema in the block's record: the
// containers of what was there keep their names. Any other conversion reads the whole value,
// computes the new one with a mapping (memory/convert.h), clears the old containers and fills the new
// ones, all in one commit, so that one undo takes it back. It is made on a fork first: limits and
// types can refuse it there, and the document itself is touched only once nothing can fail.
// O(content), twice.
#include "base/check.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/memory_record.h"
#include "memory/clear.h"
#include "memory/convert.h"
#include "memory/memory_edit.h"
#include "memory/schema_form.h"
#include "memory/validate.h"

namespace quire::kernel {
namespace {

using policy::Operation;

std::string below(const std::string& section, const std::string& name) {
    return section.empty() ? name : cat(section, "/", name);
}

// Fields that have the value of an unset one are left unset: the new block then reads the same, and
// a later change of a default counts for it.
Result<void> put_in(memory::MemoryEdit& edit, const memory::BlockSchema& schema,
                    const std::string& section, Value value) {
    if (const auto* composite = schema.as<memory::CompositeSchema>()) {
        for (const memory::Section& each : composite->sections) {
            Value* inner = value.is_map() ? value.as_map().find(each.name) : nullptr;
            if (inner != nullptr)
                TRY(put_in(edit, *each.schema, below(section, each.name), std::move(*inner)));
        }
        return {};
    }
    if (schema.as<memory::TextSchema>() != nullptr)
        return edit.set_text(section, value.as_string());
    if (schema.as<memory::MapSchema>() != nullptr) {
        const Value unset = memory::default_value(schema);
        for (Map::Entry& each : value.as_map()) {
            const Value* fallback = unset.get(each.key);
            if (fallback == nullptr || *fallback != each.value)
                TRY(edit.set_field({section, each.key}, std::move(each.value)));
        }
        return {};
    }
    for (Value& each : value.as_list()) TRY(edit.append(section, std::move(each)));
    return {};
}

// Works in the document's pending transaction; an error leaves part of it done. The caller has
// checked the permission to convert, and that nothing changed that must not.
Result<void> carry_over(crdt::Doc& doc, const memory::MemoryBlock& before,
                        const memory::MemoryBlock& after, Value value, std::int64_t now_ms) {
    memory::clear(doc, before.schema);
    return fill_memory(doc, after, std::move(value), now_ms);
}

// A conversion that drops something destroys what another actor may own: of those that a block was
// shared with it takes an admin, and of everybody the word that it is meant.
Result<void> check_loss(const OpenedMemory& opened, const policy::Actor& by,
                        const MemoryConvert& what, const MemoryConverted& report) {
    if (report.lost.empty()) return {};
    const bool is_sharee = by.kind == policy::ActorKind::agent && by != opened.header.owner;
    if (is_sharee && opened.rights.permission != policy::Permission::admin) {
        return fail(Errc::denied, "permission_denied",
                    cat("Permission denied: a conversion that loses something requires admin "
                        "permission, but block has ",
                        name_of(opened.rights.permission)),
                    {{"operation", "convert"},
                     {"required", name_of(policy::Permission::admin)},
                     {"permission", name_of(opened.rights.permission)}});
    }
    if (what.accept_loss || what.dry_run) return {};
    List lost(report.lost.begin(), report.lost.end());
    std::string names;
    for (const std::string& each : report.lost) names += cat(names.empty() ? "" : ", ", each);
    return invalid("loses_text",
                   cat("the new schema has no place for ", names,
                       ", so what is there would be lost. Name a place for it in the mapping, or "
                       "set accept_loss to true; history keeps it"),
                   {{"lost", std::move(lost)}});
}

struct Plan {
    MemoryConverted report;
    memory::MemoryBlock after;
    Value value;
};

// Everything that can refuse the conversion is done here, without touching the document; `report`
// is also the answer of a dry run.
Result<Plan> plan(LiveDocument& document, const OpenedMemory& opened, const policy::Actor& by,
                  const MemoryConvert& what, std::int64_t now_ms) {
    const memory::MemoryBlock& before = opened.header.block;
    Plan out{{version_of_memory(document)}, before, {}};
    out.after.schema = TRY(memory::parse_schema(what.schema));
    TRY(memory::check_section_names(out.after.schema));
    const Value held = memory::MemoryReader(document.doc(), before.schema).value();
    out.report.additive =
        what.mapping.empty() && memory::is_additive(before.schema, out.after.schema);
    if (out.report.additive) {
        out.value = memory::MemoryReader(document.doc(), out.after.schema).value();
    } else {
        memory::Conversion made =
            TRY(memory::convert(before.schema, held, out.after.schema, what.mapping));
        out.value = std::move(made.value);
        out.report.moved = std::move(made.moved);
        out.report.lost = std::move(made.lost);
        out.report.unset = std::move(made.unset);
    }
    if (!opened.writer(by).writes_read_only()) {
        const auto breach =
            memory::read_only_breach(before.schema, held, out.after.schema, out.value);
        if (breach) return breached(*breach);
    }
    if (!out.report.additive) {
        // Its limits may not take it.
        crdt::Doc draft = document.doc().fork(document.doc().peer());
        TRY(carry_over(draft, before, out.after, out.value, now_ms));
    }
    return out;
}

}  // namespace

Failure breached(const memory::ReadOnlyBreach& breach) {
    if (!breach.is_section) return memory::read_only_field(breach.name);
    return fail(Errc::denied, "read_only_section",
                cat("Section '", breach.name, "' is read-only and cannot be modified by agent"),
                {{"section", breach.name}});
}

memory::Writer kernel_writer() {
    return {{policy::ActorKind::system, "quire"}, {.permission = policy::Permission::admin}};
}

Result<void> fill_memory(crdt::Doc& doc, const memory::MemoryBlock& block, Value value,
                         std::int64_t now_ms) {
    memory::MemoryEdit edit(doc, block, kernel_writer(), now_ms);
    return put_in(edit, block.schema, "", std::move(value));
}

void MemoryCalls::convert(Caller by, std::string label, MemoryConvert what,
                          Reply<MemoryConverted> reply) {
    body_->run<MemoryConverted>(
        std::move(by), label, std::move(reply),
        [body = body_, what = std::move(what)](LiveDocument& document, OpenedMemory& opened,
                                               const Caller& caller) -> Result<MemoryConverted> {
            const std::int64_t now_ms = body->kernel->parts().clock.wall_ms();
            TRY(body->fed.check_owned(opened.header, caller.actor, "convert"));
            // A person is asked only about a conversion that nothing else refuses.
            Result<void> permitted = policy::permit(opened.rights, Operation::overwrite);
            if (!permitted && permitted.error().code() != Errc::escalation_required)
                return Failure(std::move(permitted).error());
            Plan planned = TRY(plan(document, opened, caller.actor, what, now_ms));
            TRY(check_loss(opened, caller.actor, what, planned.report));
            TRY(std::move(permitted));
            const bool same = planned.after.schema == opened.header.block.schema;
            if (what.dry_run || same) return std::move(planned.report);
            const bool additive = planned.report.additive;
            document.begin(caller.actor);
            RecordState before = record_state(document);
            std::vector<crdt::IdSpan> spans;
            if (!additive) {
                // These edits were made on the draft, so that they cannot fail.
                CHECK(carry_over(document.doc(), opened.header.block, planned.after,
                                 std::move(planned.value), now_ms)
                          .has_value());
                const crdt::IdSpan span = document.commit(caller.actor, "convert");
                if (span.size() > 0) spans = {span};
            }
            opened.header.block.schema = std::move(planned.after.schema);
            put_header(document, opened.header);
            record_change(document, caller.actor, additive ? "extend" : "convert",
                          std::move(before), std::move(spans));
            follow_record(document, body->kernel->catalog());
            planned.report.block = version_of_memory(document);
            return std::move(planned.report);
        });
}

}  // namespace quire::kernel
