// New memory blocks: from a schema or a template, empty or with a text.
//
// All that can refuse the content is tried on an empty document first, on the caller's thread: the
// write on the strand then cannot fail, and no label is claimed for a block that will not be. The
// block, its header, its first entry of history and, unless it is long, its text for searches are
// stored in one transaction.
#include "base/check.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/memory_record.h"
#include "kernel/memory/memory_settings.h"
#include "memory/memory_edit.h"
#include "memory/schema_form.h"
#include "memory/templates.h"

namespace quire::kernel {
namespace {

// `own`: the workspace's templates. Errors: not_found "unknown_template" {templates}. The built-in
// templates come first, so a workspace cannot give one of their names another meaning.
Result<memory::Template> template_named(const std::string& name,
                                        const std::vector<memory::Template>& own) {
    List names;
    std::string listed;
    for (const std::vector<memory::Template>& some : {memory::templates(), own}) {
        for (const memory::Template& each : some) {
            if (each.name == name) return each;
            cat_to(listed, cat(listed.empty() ? "" : ", ", each.name));
            names.emplace_back(each.name);
        }
    }
    return fail(Errc::not_found, "unknown_template",
                cat("there is no template '", name, "'; there are ", listed),
                {{"templates", std::move(names)}});
}

Result<MemoryHeader> header_of(const MemoryCreate& what, const policy::Actor& by,
                               const std::vector<memory::Template>& own) {
    TRY(check_label(what.label));
    if (what.schema.has_value() == what.from_template.has_value()) {
        return invalid("invalid_argument",
                       "create takes either a schema or the name of a template");
    }
    MemoryHeader header;
    header.block.label = what.label;
    header.block.permission = what.permission;
    header.block.char_limit = what.char_limit;
    header.type = what.type;
    header.pinned = what.pinned;
    header.owner = by;
    if (what.schema) {
        header.block.schema = TRY(memory::parse_schema(*what.schema));
        TRY(memory::check_section_names(header.block.schema));
        header.block.description = what.description.value_or("");
        return header;
    }
    memory::Template made_from = TRY(template_named(*what.from_template, own));
    header.block.schema = std::move(made_from.schema);
    header.block.description = what.description.value_or(std::move(made_from.description));
    return header;
}

// Writes the first content of a new block, for which no permission is needed. In the
// pending transaction. Errors: those of MemoryEdit.
Result<void> put_content(crdt::Doc& doc, const MemoryHeader& header, std::string_view content,
                         std::int64_t now_ms) {
    if (content.empty()) return {};
    return memory::MemoryEdit(doc, header.block, kernel_writer(), now_ms).set_text("", content);
}

}  // namespace

void MemoryCalls::create(Caller by, MemoryCreate what, Reply<MemoryVersion> reply) {
    const auto own = body_->settings->with([](const auto& held) { return held.templates; });
    Result<MemoryHeader> header = header_of(what, by.actor, own);
    if (!header) return reply(Failure(std::move(header).error()));
    const std::size_t limit = body_->kernel->limits().operation_bytes;
    if (encode(*header).size() > limit)
        return reply(too_large("schema and description", limit, "Make it smaller"));
    if (const Result<void> fits = body_->kernel->check_new(what.content); !fits)
        return reply(Failure(fits.error()));
    crdt::Doc draft(0);
    const std::int64_t now_ms = body_->kernel->parts().clock.wall_ms();
    if (const Result<void> fits = put_content(draft, *header, what.content, now_ms); !fits)
        return reply(Failure(fits.error()));
    DocumentName name{name_of_memory(by.actor, header->block.label)};
    body_->kernel->run<MemoryVersion>(
        std::move(by), std::move(name), Access::look, std::move(reply),
        [body = body_, header = std::move(*header), content = std::move(what.content)](
            LiveDocument& document, const Caller& caller) -> Result<MemoryVersion> {
            if (!document.record().header.empty()) return label_exists(document.name());
            const std::int64_t made_ms = body->kernel->parts().clock.wall_ms();
            document.begin(caller.actor);
            Unit unit = memory_entry(caller.actor, "create");
            if (!content.empty()) {
                CHECK(put_content(document.doc(), header, content, made_ms).has_value());
                unit.spans = {document.commit(caller.actor, "create")};
            }
            document.record_quietly(document.whole(), std::move(unit));
            put_header(document, header);
            follow_record(document, body->kernel->catalog());
            keep_text(*body->texts, document, made_ms);
            return version_of_memory(document);
        });
}

}  // namespace quire::kernel
