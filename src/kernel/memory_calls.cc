#include "kernel/memory_calls.h"

#include <algorithm>

#include "document/memory_edit.h"
#include "document/render.h"
#include "json/json.h"
#include "kernel/body.h"
#include "kernel/take_back.h"
#include "kernel/walk.h"
#include "schema/schema_form.h"
#include "schema/templates.h"

namespace quire::kernel {
namespace {

using policy::Operation;

const std::string kKind(kMemoryKind);

Failure no_such_memory(const std::string& label) {
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no memory block '", label,
                    "'; context list shows those there are, context create makes one"),
                {{"label", label}});
}

Failure label_exists(const std::string& label) {
    return fail(Errc::conflict, "label_exists",
                cat("there is a memory block '", label,
                    "' already. Use it, or choose another label; context delete frees this one"),
                {{"label", label}});
}

Failure not_shared(const std::string& label, const policy::Actor& owner,
                   const policy::Actor& with) {
    return fail(Errc::denied, "permission_denied",
                cat("Permission denied: '", label, "' belongs to ", owner.str(),
                    " and is not shared with ", with.str(), "; its owner can share it"),
                {{"label", label}, {"owner", owner.str()}});
}

MemoryVersion version_of_memory(LiveDocument& document) {
    const BlockRef block = document.whole();
    return {document.name(), document.id_of(block).str(), block.state->version};
}

// What is known of a block, and what the caller may do with it.
struct Opened {
    MemoryHeader header;
    policy::Rights rights;

    MemoryRow row(LiveDocument& document) const {
        return {version_of_memory(document), header.type, rights.permission,
                header.block.description, header.pinned};
    }
};

Result<Opened> open(LiveDocument& document, const policy::Actor& by) {
    const std::string& label = document.name();
    if (document.record().deleted || document.record().header.empty()) return no_such_memory(label);
    MemoryHeader header = TRY(decode_memory_header(label, document.record().header));
    const std::optional<policy::Rights> rights = policy::rights_of(by, header.holding());
    if (!rights) return not_shared(label, header.owner, by);
    return Opened{std::move(header), *rights};
}

Result<MemoryHeader> header_of(const MemoryCreate& what, const policy::Actor& by) {
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
        header.block.schema = TRY(schema::parse_schema(*what.schema));
        header.block.description = what.description.value_or("");
        return header;
    }
    std::optional<schema::Template> made_from = schema::find_template(*what.from_template);
    if (!made_from) {
        std::string names;
        for (const schema::Template& each : schema::templates()) names += cat(" ", each.name);
        return fail(Errc::not_found, "unknown_template",
                    cat("there is no template '", *what.from_template, "'; there are", names));
    }
    header.block.schema = std::move(made_from->schema);
    header.block.description = what.description.value_or(std::string(made_from->description));
    return header;
}

// History's entry for what is taken back by a call of its own, or not at all.
Unit entry(const policy::Actor& by, std::string description) {
    Unit unit;
    unit.actor = by.str();
    unit.description = std::move(description);
    unit.kind = UnitKind::take_back;
    return unit;
}

// --- writes ---

std::size_t bytes_of(const Value& value) {
    return value.is_string() ? value.as_string().size() : json::write(value).size();
}

// Carries one write out: through the gate, and within the limits of the kernel.
class Writing {
public:
    Writing(document::MemoryEdit& edit, const document::Writer& by, const Limits& limits)
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
        TRY(document::admit(by_, {Operation::overwrite, what.section, document::Shape::text},
                            edit_.reader().schema()));
        TRY(fits(what.replace));
        TRY(fits_block(size_when_replaced(what)));
        return Value(TRY(edit_.replace_text(what.section, what.find, what.replace)));
    }
    Result<Value> operator()(AppendToList& what) {
        TRY(fits(what.item));
        TRY(edit_.append_to_list(what.path, std::move(what.item)));
        return Value();
    }
    Result<Value> operator()(const RemoveFromList& what) {
        return edit_.remove_from_list(what.path, what.index);
    }
    Result<Value> operator()(const IncrementCounter& what) {
        return edit_.increment_counter(what.path, what.delta);
    }

private:
    Result<void> fits(const Value& value) const {
        if (bytes_of(value) <= limits_.operation_bytes) return {};
        return too_large("what is written", limits_.operation_bytes);
    }
    Result<void> fits_block(std::size_t bytes) const {
        if (bytes <= limits_.block_bytes) return {};
        return too_large("the block", limits_.block_bytes);
    }
    // A short text can be replaced by a long one very often.
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

    document::MemoryEdit& edit_;
    const document::Writer& by_;
    const Limits& limits_;
};

Result<Value> carry_out(LiveDocument& document, MemoryWrite& what, const Caller& by,
                        const Opened& opened, const Kernel::Body& kernel) {
    const document::Writer writer{by.actor, opened.rights};
    document::MemoryEdit edit(document.doc(), opened.header.block, writer,
                              kernel.parts().clock.wall_ms());
    document.begin(by.actor);
    Writing writing(edit, writer, kernel.limits());
    Value made = TRY(std::visit(writing, what));
    const crdt::IdSpan span = document.commit(edit.last());
    if (span.size() == 0) return made;
    Unit unit;
    unit.actor = by.actor.str();
    unit.description = edit.last().operation;
    if (!edit.last().detail.empty()) unit.description += cat(" ", edit.last().detail);
    unit.spans = {span};
    document.record(document.whole(), std::move(unit));
    return made;
}

}  // namespace

struct MemoryCalls::Body : std::enable_shared_from_this<MemoryCalls::Body> {
    explicit Body(std::shared_ptr<Kernel::Body> house) : kernel(std::move(house)) {}

    std::shared_ptr<Kernel::Body> kernel;

    std::shared_ptr<LiveDocument> find(const std::string& label) const {
        if (auto named = kernel->catalog().find(kKind, label)) return named;
        const Result<blocks::BlockId> id = blocks::BlockId::parse(label);
        if (!id || !id->is_document()) return nullptr;
        auto document = kernel->catalog().find(id->document);
        return document != nullptr && document->kind() == kKind ? document : nullptr;
    }

    // Runs work(document, opened, reply) on the block's strand.
    template <class T, class Work>
    void with_memory(Caller by, const std::string& label, Reply<T> reply, Work work) {
        std::shared_ptr<LiveDocument> document = find(label);
        if (document == nullptr) return reply(no_such_memory(label));
        kernel->on_document<T>(
            by, std::move(document), Access::look, std::move(reply),
            [self = shared_from_this(), actor = by.actor, work = std::move(work)](
                LiveDocument& live, Reply<T> answer) mutable {
                Result<Opened> opened = open(live, actor);
                if (!opened)
                    return self->kernel->refuse(live, std::move(opened).error(), std::move(answer));
                work(live, *opened, std::move(answer));
            });
    }

    void create(const Caller& by, std::shared_ptr<const MemoryHeader> header,
                Reply<MemoryVersion> reply);
};

MemoryCalls::MemoryCalls(Kernel& kernel) : body_(std::make_shared<Body>(kernel.body_)) {}

void MemoryCalls::create(Caller by, MemoryCreate what, Reply<MemoryVersion> reply) {
    Result<MemoryHeader> header = header_of(what, by.actor);
    if (!header) return reply(Failure(std::move(header).error()));
    const std::size_t limit = body_->kernel->limits().operation_bytes;
    if (encode(*header).size() > limit) return reply(too_large("schema and description", limit));
    body_->create(by, std::make_shared<const MemoryHeader>(std::move(*header)), std::move(reply));
}

void MemoryCalls::Body::create(const Caller& by, std::shared_ptr<const MemoryHeader> header,
                               Reply<MemoryVersion> reply) {
    const std::string& label = header->block.label;
    kernel->on_document<MemoryVersion>(
        by, kernel->catalog().find_or_make(kKind, label), Access::look, std::move(reply),
        [self = shared_from_this(), by, header](LiveDocument& document,
                                                Reply<MemoryVersion> answer) mutable {
            if (document.record().deleted) {
                // The label is free once the deletion is durable; then there is another document.
                return document.when_durable(
                    [self, by, header, answer = std::move(answer)](Result<void> durable) mutable {
                        if (!durable) return answer(Failure(std::move(durable).error()));
                        self->create(by, std::move(header), std::move(answer));
                    });
            }
            if (!document.record().header.empty()) {
                return self->kernel->refuse(document, label_exists(document.name()).value(),
                                            std::move(answer));
            }
            document.begin(by.actor);
            document.record_quietly(document.whole(), entry(by.actor, "create"));
            document.set_header(encode(*header));
            self->kernel->submit(document, version_of_memory(document), std::move(answer));
        });
}

void MemoryCalls::view(Caller by, std::string label, std::optional<std::string> section,
                       Reply<MemoryView> reply) {
    body_->with_memory<MemoryView>(
        by, label, std::move(reply),
        [body = body_, by, section = std::move(section)](
            LiveDocument& document, const Opened& opened, Reply<MemoryView> answer) {
            const document::MemoryBlock& block = opened.header.block;
            const document::MemoryReader reader(document.doc(), block.schema);
            document::RenderOptions options{.permission = opened.rights.permission};
            if (opened.header.owner != by.actor) options.shared_from = opened.header.owner.str();
            MemoryView view{opened.row(document), schema::to_value(block.schema), "", {}};
            if (section) {
                Result<std::string> rendered = document::render_body(reader, *section, options);
                Result<Value> value = reader.value(*section);
                if (!rendered || !value) {
                    return body->kernel->refuse(
                        document, rendered ? value.error() : rendered.error(), std::move(answer));
                }
                view.rendered = std::move(*rendered);
                view.value = std::move(*value);
            } else {
                view.rendered = document::render(reader, block, options);
                view.value = reader.value();
            }
            body->kernel->answer(document, std::move(view), std::move(answer));
        });
}

void MemoryCalls::list(Caller by, std::optional<MemoryType> type, std::string prefix,
                       Reply<MemoryList> reply) {
    auto found = std::make_shared<MemoryList>();
    std::make_shared<Walk>(
        body_->kernel, by, body_->kernel->catalog().keys(kKind, prefix),
        [found, actor = by.actor, type](LiveDocument& document) {
            const Result<Opened> opened = open(document, actor);
            if (opened && (!type || opened->header.type == *type)) {
                found->blocks.push_back(opened->row(document));
            } else if (!opened && opened.error().code() == Errc::corrupt) {
                found->unreadable.push_back(document.name());
            }
            return true;
        },
        [found, reply = std::move(reply)](Result<void> walked) mutable {
            if (!walked) return reply(Failure(std::move(walked).error()));
            reply(std::move(*found));
        },
        Access::look)
        ->next();
}

void MemoryCalls::write(Caller by, std::string label, MemoryWrite what,
                        Reply<MemoryWritten> reply) {
    body_->with_memory<MemoryWritten>(
        by, label, std::move(reply),
        [body = body_, by, what = std::move(what)](LiveDocument& document, const Opened& opened,
                                                   Reply<MemoryWritten> answer) mutable {
            const std::uint64_t before = document.whole().state->version;
            Result<Value> made = carry_out(document, what, by, opened, *body->kernel);
            if (!made)
                return body->kernel->refuse(document, std::move(made).error(), std::move(answer));
            MemoryWritten written{version_of_memory(document), std::move(*made)};
            if (written.block.version == before)
                return body->kernel->answer(document, std::move(written), std::move(answer));
            body->kernel->submit(document, std::move(written), std::move(answer));
        });
}

void MemoryCalls::erase(Caller by, std::string label, Reply<MemoryVersion> reply) {
    body_->with_memory<MemoryVersion>(
        by, label, std::move(reply),
        [body = body_, by](LiveDocument& document, const Opened& opened,
                           Reply<MemoryVersion> answer) {
            const Result<void> allowed = policy::permit(opened.rights, Operation::erase);
            if (!allowed) return body->kernel->refuse(document, allowed.error(), std::move(answer));
            document.begin(by.actor);
            document.record_quietly(document.whole(), entry(by.actor, "delete"));
            document.mark_deleted();
            // Before the deletion is durable its label leads to what is still there on the disk.
            auto freed = [body, key = document.key(),
                          answer = std::move(answer)](Result<MemoryVersion> deleted) mutable {
                if (deleted) body->kernel->catalog().forget_name(key);
                answer(std::move(deleted));
            };
            body->kernel->submit<MemoryVersion>(document, version_of_memory(document),
                                                std::move(freed));
        });
}

void MemoryCalls::undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply) {
    body_->with_memory<MemoryUndone>(
        by, label, std::move(reply),
        [body = body_, by, redo](LiveDocument& document, const Opened& opened,
                                 Reply<MemoryUndone> answer) {
            const auto refuse = [&](const Error& why) {
                body->kernel->refuse(document, why, std::move(answer));
            };
            const Result<void> allowed = policy::permit(opened.rights, Operation::overwrite);
            if (!allowed) return refuse(allowed.error());
            const BlockRef block = document.whole();
            const Result<std::vector<Unit*>> units =
                next_to_take_back(block.state->history, by.actor.str(), UndoScope::own, redo);
            if (!units) return refuse(units.error());
            document.begin(by.actor);
            const Result<crdt::Doc::Undone> done = document.doc().revert(spans_of(*units));
            if (!done) return refuse(done.error());
            end_take_back(document, block, *units, by.actor, redo);
            MemoryUndone undone{version_of_memory(document), done->restored, done->removed,
                                done->skipped};
            body->kernel->submit(document, std::move(undone), std::move(answer));
        });
}

void MemoryCalls::history(Caller by, std::string label, std::size_t limit, std::string cursor,
                          Reply<MemoryHistory> reply) {
    body_->with_memory<MemoryHistory>(
        by, label, std::move(reply),
        [body = body_, limit, cursor = std::move(cursor)](LiveDocument& document, const Opened&,
                                                          Reply<MemoryHistory> answer) {
            MemoryVersion block = version_of_memory(document);
            body->kernel->history(document, document.whole(), limit, cursor,
                                  [block = std::move(block),
                                   answer = std::move(answer)](Result<HistoryPage> page) mutable {
                                      if (!page) return answer(Failure(std::move(page).error()));
                                      answer(MemoryHistory{std::move(block), std::move(*page)});
                                  });
        });
}

void MemoryCalls::share(Caller by, std::string label, policy::Actor with,
                        std::optional<policy::Permission> permission, Reply<MemoryVersion> reply) {
    body_->with_memory<MemoryVersion>(
        by, label, std::move(reply),
        [body = body_, by, with = std::move(with), permission](
            LiveDocument& document, Opened& opened, Reply<MemoryVersion> answer) {
            MemoryHeader& header = opened.header;
            if (by.actor.kind == policy::ActorKind::agent && by.actor != header.owner) {
                const Failure denied =
                    fail(Errc::denied, "permission_denied",
                         cat("Permission denied: only ", header.owner.str(), " shares '",
                             document.name(), "'"),
                         {{"label", document.name()}, {"owner", header.owner.str()}});
                return body->kernel->refuse(document, denied.value(), std::move(answer));
            }
            const auto shared = std::find_if(header.shares.begin(), header.shares.end(),
                                             [&](const auto& each) { return each.with == with; });
            const bool is_shared = shared != header.shares.end();
            if (permission ? is_shared && shared->permission == *permission : !is_shared) {
                return body->kernel->answer(document, version_of_memory(document),
                                            std::move(answer));
            }
            if (is_shared) header.shares.erase(shared);
            if (permission) header.shares.push_back({with, *permission});
            const std::string what =
                permission ? cat("share ", with.str(), " ", policy::name_of(*permission))
                           : cat("unshare ", with.str());
            document.begin(by.actor);
            document.record_quietly(document.whole(), entry(by.actor, what));
            document.set_header(encode(header));
            body->kernel->submit(document, version_of_memory(document), std::move(answer));
        });
}

}  // namespace quire::kernel
