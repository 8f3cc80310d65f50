// Memory blocks: opening, viewing, listing, deleting and sharing them. Writes, history, moves and
// searches have sources of their own. A block that nobody has used is listed from its record alone.
//
// Every call goes through one of the frames of memory_body.h: it finds the document of a label,
// enters its strand, opens the header there and asks for the caller's rights. A right is asked
// again on the strand, since the block may have been moved, shared or deleted since it was found. A
// change of the record (label, type, shares, deletion) is written in the same transaction as the
// entry of history that tells of it.
#include "kernel/memory/memory_calls.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "json/json.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/memory_record.h"
#include "kernel/memory/memory_settings.h"
#include "kernel/memory/memory_tool.h"
#include "kernel/memory/owned_label.h"
#include "memory/remember.h"
#include "memory/render.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// Blocks as they are listed, whether they are in memory or known by their records alone. Rows come
// from records and from strands, in any order, and one at a time. The labels are compared at the
// end: a row's address is the label alone where that names no other block of the list for this
// reader.
class Listing {
public:
    Listing(policy::Actor by, MemoryListQuery what) : by_(std::move(by)), what_(std::move(what)) {}

    const MemoryListQuery& what() const { return what_; }
    void add(const store::DocumentRecord& record, std::uint64_t version) {
        // It may have been moved or deleted since it was found.
        if (!record.name.starts_with(what_.prefix) || record.deleted != what_.deleted) return;
        const Result<OpenedMemory> opened = open_memory(record, by_, record.name, what_.deleted);
        if (opened && (!what_.type || opened->header.type == *what_.type)) {
            list_.blocks.push_back(opened->row({record.name, id_of(record), version}));
        } else if (!opened && opened.error().code() == Errc::corrupt) {
            list_.unreadable.push_back(record.name);
        }
    }
    MemoryList take() {
        std::sort(list_.blocks.begin(), list_.blocks.end(), [](const auto& a, const auto& b) {
            return std::tie(a.block.label, a.owner) < std::tie(b.block.label, b.owner);
        });
        for (auto row = list_.blocks.begin(); row != list_.blocks.end();) {
            const auto end = std::find_if(row, list_.blocks.end(), [&](const MemoryRow& each) {
                return each.block.label != row->block.label;
            });
            const bool is_alone = end - row == 1;
            for (; row != end; ++row) {
                row->address = is_alone || row->owner == by_
                                   ? row->block.label
                                   : OwnedLabel{row->owner, row->block.label}.str();
            }
        }
        std::sort(list_.unreadable.begin(), list_.unreadable.end());
        return std::move(list_);
    }

private:
    static std::string id_of(const store::DocumentRecord& record) {
        return conversation::BlockId{record.key, -1, 0}.str();
    }

    const policy::Actor by_;
    const MemoryListQuery what_;
    MemoryList list_;
};

}  // namespace

Result<void> check_text_in_context(LiveDocument& document, const OpenedMemory& opened) {
    TRY(memory::MemoryReader(document.doc(), opened.header.block.schema).text());
    if (opened.header.type != MemoryType::archival) return {};
    const std::string& label = document.name();
    return fail(
        Errc::not_found, "archived",
        cat("'", label, "' is archival, and so in nobody's context; context load brings it back"),
        {{"label", label}});
}

// The state of the pending transaction counts: within a call this is the version that the call
// makes.
MemoryVersion version_of_memory(LiveDocument& document) {
    const BlockRef block = document.whole();
    return {document.name(), document.id_of(block).str(), block.state->version};
}

Unit memory_entry(const policy::Actor& by, std::string description) {
    Unit unit;
    unit.actor = by.str();
    unit.description = std::move(description);
    unit.kind = UnitKind::take_back;
    return unit;
}

// Nothing is recorded for a write that made no operation, so an edit that says what is there
// already makes no version and no step of undo.
bool record_memory_write(LiveDocument& document, const policy::Attribution& what,
                         const SourceVerdict&) {
    const crdt::IdSpan span = document.commit(what);
    if (span.size() == 0) return false;
    Unit unit;
    unit.actor = what.actor.str();
    unit.description = what.operation;
    if (!what.detail.empty()) unit.description += cat(" ", what.detail);
    unit.spans = {span};
    document.record(document.whole(), std::move(unit));
    return true;
}

MemoryRow OpenedMemory::row(MemoryVersion block) const {
    return {std::move(block),  header.type,
            rights.permission, header.block.description,
            header.pinned,     header.block.schema.as<memory::TextSchema>() != nullptr,
            header.owner,      {}};
}

// A deleted block, one without a header and one that is hidden from the caller are refused in the
// same words. A header that does not parse is told only to those who may see the block.
Result<OpenedMemory> open_memory(const store::DocumentRecord& record, const policy::Actor& by,
                                 const std::string& asked, bool deleted_too) {
    const bool is_hidden = record.deleted && !deleted_too;
    if (is_hidden || record.header.empty() || !may_see_memory(by, record))
        return no_such_memory(asked);
    MemoryHeader header = TRY(decode_memory_header(record.name, record.header));
    const std::optional<policy::Rights> rights = policy::rights_of(by, header.holding());
    return OpenedMemory{std::move(header), *rights};
}

Result<OpenedMemory> open_memory(LiveDocument& document, const Caller& by, const std::string& asked,
                                 Core& kernel, bool deleted_too) {
    OpenedMemory opened = TRY(open_memory(document.record(), by.actor, asked, deleted_too));
    opened.rights.approved.add(kernel.oversight().approved(by, document));
    return opened;
}

Name name_of_memory(const LiveDocument& document, const std::string& label) {
    return {document.kind(), label, document.record().owner};
}

MemoryCalls::MemoryCalls(Kernel& kernel, std::vector<memory::Feed*> feeds)
    : body_(std::make_shared<Body>(kernel.core(), std::move(feeds))) {}

std::shared_ptr<HeldMemorySettings> make_memory_settings() {
    return std::make_shared<HeldMemorySettings>();
}

void MemoryCalls::set(MemorySettings settings) {
    body_->settings->with([&](MemorySettings& held) { held = std::move(settings); });
}

// Runs on the caller's thread, from the record: tools are listed often, and no document is loaded
// for it. Approvals do not count here, for they concern single calls.
std::optional<MemoryTool> MemoryCalls::tool(const policy::Actor& by,
                                            const std::string& label) const {
    Catalog& catalog = body_->kernel->catalog();
    const auto found = MemoryAddress{label, by}.find(catalog);
    if (!found) return std::nullopt;
    const auto record = catalog.record((*found)->key());
    if (!record) return std::nullopt;
    Result<OpenedMemory> opened = open_memory(*record, by, label);
    if (!opened) return std::nullopt;
    memory::MemoryBlock& block = opened->header.block;
    Map arguments = memory::remember_schema(block.schema, opened->rights);
    if (arguments.find("properties")->as_map().empty()) return std::nullopt;
    return MemoryTool{record->name, std::move(block.description), std::move(arguments)};
}

// The feed of a fed block is told of the reader after the view is made: a feed may then bring fresh
// values, which the next view shows.
void MemoryCalls::view(Caller by, std::string label, MemoryLook what, Reply<MemoryView> reply) {
    body_->look<MemoryView>(
        std::move(by), label, std::move(reply),
        [body = body_, what = std::move(what)](LiveDocument& document, const OpenedMemory& opened,
                                               const Caller& caller) -> Result<MemoryView> {
            const memory::MemoryBlock& block = opened.header.block;
            const memory::MemoryReader reader(document.doc(), block.schema);
            memory::RenderOptions options{.permission = opened.rights.permission};
            options.style =
                body->settings->with([](const MemorySettings& held) { return held.style; });
            if (opened.header.owner != caller.actor)
                options.shared_from = opened.header.owner.str();
            options.describes = what.describes;
            MemoryView view{
                opened.row(version_of_memory(document)), memory::to_value(block.schema), "", {}};
            if (what.section) {
                view.rendered = TRY(memory::render_body(reader, *what.section, options));
                view.value = TRY(reader.value(*what.section));
            } else {
                view.rendered = memory::render(reader, block, options);
                view.value = reader.value();
            }
            body->fed.attend(document, opened.header);
            return view;
        });
}

// Live documents are asked on their strands, since they alone know their present versions; one
// query brings those of all others.
void MemoryCalls::list(Caller by, MemoryListQuery what, Reply<MemoryList> reply) {
    Core& kernel = *body_->kernel;
    auto found = std::make_shared<Listing>(by.actor, std::move(what));
    std::vector<store::DocumentKey> live;
    std::vector<store::DocumentRecord> stored;
    if (found->what().deleted) {
        // The store does not keep the versions of deleted blocks at hand, so those blocks are
        // loaded.
        for (const store::DocumentRecord& each : kernel.catalog().deleted(kMemoryKind))
            live.push_back(each.key);
    } else {
        for (Catalog::Known& each : kernel.catalog().known(kMemoryKind, found->what().prefix)) {
            if (each.is_live) {
                live.push_back(each.record.key);
            } else {
                stored.push_back(std::move(each.record));
            }
        }
    }
    if (!stored.empty()) {
        const Result<std::vector<store::BlockRecord>> blocks =
            kernel.parts().store.whole_blocks(kMemoryKind);
        if (!blocks) return reply(Failure(blocks.error()));
        std::map<store::DocumentKey, std::uint64_t> versions;
        for (const store::BlockRecord& block : *blocks) versions[block.document] = block.version;
        for (const store::DocumentRecord& record : stored) found->add(record, versions[record.key]);
    }
    std::make_shared<Walk>(
        body_->kernel, std::move(by), std::move(live),
        Walk::Round{[found](LiveDocument& document) {
                        found->add(document.record(), document.whole().state->version);
                        return true;
                    },
                    [found, reply = std::move(reply)](Result<void> walked) mutable {
                        if (!walked) return reply(Failure(std::move(walked).error()));
                        reply(found->take());
                    },
                    Access::look, Walk::passing_over})
        ->next();
}

template <class Label>
void MemoryCalls::Body::erase(Caller by, const Label& label, Reply<MemoryVersion> reply) {
    run<MemoryVersion>(
        std::move(by), label, std::move(reply),
        [body = shared_from_this()](LiveDocument& document, const OpenedMemory& opened,
                                    const Caller& caller) -> Result<MemoryVersion> {
            TRY(policy::permit(opened.rights, Operation::erase));
            TRY(body->fed.check_owned(opened.header, caller.actor, "delete"));
            document.begin(caller.actor);
            RecordState before = record_state(document);
            document.transaction().set_deleted(true);
            record_change(document, caller.actor, "delete", std::move(before));
            // Until the deletion is durable, the label still leads to the block that is on the
            // disk.
            follow_record(document, body->kernel->catalog());
            return version_of_memory(document);
        });
}

void MemoryCalls::erase(Caller by, std::string label, Reply<MemoryVersion> reply) {
    body_->erase(std::move(by), label, std::move(reply));
}

void MemoryCalls::erase(Caller by, TextLabel label, Reply<MemoryVersion> reply) {
    body_->erase(std::move(by), label, std::move(reply));
}

void MemoryCalls::restore(Caller by, std::string label, std::optional<std::string> to,
                          Reply<MemoryVersion> reply) {
    if (to) {
        if (const Result<void> right = check_label(*to); !right)
            return reply(Failure(right.error()));
    }
    body_->run_on_past<MemoryVersion>(
        std::move(by), label, MemoryAddress::Among::deleted, std::move(reply),
        [body = body_, to = std::move(to)](LiveDocument& document, const OpenedMemory& opened,
                                           const Caller& caller) -> Result<MemoryVersion> {
            const std::string under = to.value_or(document.name());
            if (!document.record().deleted) return label_exists(document.name());
            TRY(policy::permit(opened.rights, Operation::erase));
            TRY(body->fed.check_owned(opened.header, caller.actor, "restore"));
            Catalog& catalog = body->kernel->catalog();
            if (!catalog.claim_name(name_of_memory(document, under), document.key()))
                return label_exists(under);
            document.begin(caller.actor);
            RecordState before = record_state(document);
            document.transaction().set_record({under, false, document.record().header});
            record_change(document, caller.actor, "restore", std::move(before));
            follow_record(document, catalog);
            return version_of_memory(document);
        });
}

// Giving the level that is there, or taking one that is not, changes nothing and makes no version.
// Shares are no step of undo: taking one back is another call.
void MemoryCalls::share(Caller by, std::string label, policy::Actor with,
                        std::optional<policy::Permission> permission, Reply<MemoryVersion> reply) {
    body_->run<MemoryVersion>(
        std::move(by), label, std::move(reply),
        [body = body_, with = std::move(with), permission](
            LiveDocument& document, OpenedMemory& opened,
            const Caller& caller) -> Result<MemoryVersion> {
            MemoryHeader& header = opened.header;
            TRY(policy::permit_sharing(caller.actor, header.owner, document.name()));
            const auto shared = std::ranges::find(header.shares, with, &policy::Share::with);
            const bool is_shared = shared != header.shares.end();
            if (permission ? is_shared && shared->permission == *permission : !is_shared)
                return version_of_memory(document);
            if (is_shared) header.shares.erase(shared);
            if (permission) header.shares.push_back({with, *permission});
            const std::string what = permission
                                         ? cat("share ", with.str(), " ", name_of(*permission))
                                         : cat("unshare ", with.str());
            document.begin(caller.actor);
            document.record_quietly(document.whole(), memory_entry(caller.actor, what));
            put_header(document, header);
            follow_record(document, body->kernel->catalog());
            return version_of_memory(document);
        });
}

}  // namespace quire::kernel
