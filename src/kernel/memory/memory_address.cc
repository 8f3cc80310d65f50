// A label is looked up in the order of the header: an id, OWNER/LABEL, the caller's own block, and
// only then the blocks of others. The first three are one lookup each. The last goes through every
// block of that label and decodes the headers of those, to leave out what the caller may not see
// before anything is said about it: a block that is hidden must look like one that does not exist,
// also in a message about several candidates.
#include "kernel/memory/memory_address.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "conversation/block.h"
#include "kernel/core/kinds.h"
#include "kernel/core/live_document.h"
#include "kernel/memory/memory_header.h"
#include "kernel/memory/owned_label.h"

namespace quire::kernel {
namespace {

std::optional<conversation::BlockId> id_in(std::string_view text) {
    const Result<conversation::BlockId> id = conversation::BlockId::parse(text);
    if (!id) return std::nullopt;
    return *id;
}

Failure ambiguous_label(const std::string& label, std::vector<std::string> candidates) {
    std::string shown;
    for (const std::string& each : candidates) shown += cat(shown.empty() ? "" : ", ", each);
    return fail(
        Errc::conflict, "ambiguous_label",
        cat("several memory blocks have the label '", label, "': ", shown, ". Name one of them so"),
        {{"label", label}, {"candidates", List(candidates.begin(), candidates.end())}});
}

// The only one of these records that the caller may see and own, or, where it owns none, may see.
Result<store::DocumentRecord> only_one(std::vector<store::DocumentRecord> records,
                                       const policy::Actor& by, const std::string& asked,
                                       bool by_id) {
    std::erase_if(records, [&](const auto& each) { return !may_see_memory(by, each); });
    const auto is_own = [&](const store::DocumentRecord& each) { return each.owner == by.str(); };
    if (std::ranges::any_of(records, is_own))
        std::erase_if(records, [&](const auto& each) { return !is_own(each); });
    if (records.empty()) return no_such_memory(asked);
    if (records.size() == 1) return std::move(records.front());
    std::vector<std::string> candidates;
    for (const store::DocumentRecord& each : records) {
        candidates.push_back(by_id ? conversation::BlockId{each.key, -1, 0}.str()
                                   : cat(each.owner, "/", each.name));
    }
    return ambiguous_label(asked, std::move(candidates));
}

// Returns true if a block is shared with the actor or fed by a source.
bool is_near(const policy::Actor& by, const store::DocumentRecord& record) {
    const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
    if (!header) return false;
    return header->owner.kind == policy::ActorKind::source ||
           std::ranges::find(header->shares, by, &policy::Share::with) != header->shares.end();
}

// Records whose label, as `label_of` gives it, is the one that was asked for.
template <class LabelOf>
std::vector<store::DocumentRecord> of_label(std::vector<store::DocumentRecord> records,
                                            const std::string& asked, LabelOf label_of) {
    const std::optional<OwnedLabel> owned = OwnedLabel::parse(asked);
    std::erase_if(records, [&](const store::DocumentRecord& each) {
        return label_of(each) != (owned ? owned->label : asked) ||
               (owned && each.owner != owned->owner.str());
    });
    return records;
}

std::string former_label(const store::DocumentRecord& record) {
    Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
    return header ? std::move(header->former_label) : std::string();
}

}  // namespace

Name name_of_memory(const policy::Actor& owner, std::string label) {
    return {kMemoryKind, std::move(label), owner.str()};
}

bool may_see_memory(const policy::Actor& by, const store::DocumentRecord& record) {
    const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
    if (header) return policy::rights_of(by, header->holding()).has_value();
    return by.kind != policy::ActorKind::agent || by.str() == record.owner;
}

Failure no_such_memory(const std::string& label) {
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no memory block '", label,
                    "'; context list shows those there are, context create makes one"),
                {{"label", label}});
}

Failure label_exists(const std::string& label) {
    return fail(Errc::conflict, "label_exists",
                cat("there is a memory block '", label,
                    "' already. Choose another label, or, where it is yours, use it or delete it"),
                {{"label", label}});
}

Result<std::shared_ptr<LiveDocument>> MemoryAddress::find(Catalog& catalog) const {
    if (text.starts_with(kMemoryPrefix)) return bare().find(catalog);
    if (const auto id = id_in(text)) {
        auto document = id->is_document() ? catalog.find(id->document) : nullptr;
        if (document == nullptr || document->kind() != kMemoryKind) return no_such_memory(text);
        return document;
    }
    const auto live =
        [&](const store::DocumentRecord& record) -> Result<std::shared_ptr<LiveDocument>> {
        if (auto document = catalog.find(record.key)) return document;
        return no_such_memory(text);
    };
    if (among == Among::deleted) {
        std::vector<store::DocumentRecord> deleted = of_label(
            catalog.deleted(kMemoryKind), text, [](const auto& each) { return each.name; });
        return live(TRY(only_one(std::move(deleted), by, text, true)));
    }
    Result<std::shared_ptr<LiveDocument>> present = find_present(catalog);
    if (present || among == Among::present || present.error().code() != Errc::not_found)
        return present;
    std::vector<store::DocumentRecord> all;
    for (Catalog::Known& each : catalog.known(kMemoryKind, ""))
        all.push_back(std::move(each.record));
    return live(TRY(only_one(of_label(std::move(all), text, former_label), by, text, false)));
}

Result<std::shared_ptr<LiveDocument>> MemoryAddress::find_present(Catalog& catalog) const {
    const auto named = [&](const Name& name) -> Result<std::shared_ptr<LiveDocument>> {
        if (auto document = catalog.find(name)) return document;
        return no_such_memory(text);
    };
    if (const auto owned = OwnedLabel::parse(text))
        return named(name_of_memory(owned->owner, owned->label));
    if (auto own = catalog.find(name_of_memory(by, text))) return own;
    std::vector<store::DocumentRecord> others = catalog.named(kMemoryKind, text);
    const auto near = [&](const store::DocumentRecord& each) { return is_near(by, each); };
    if (std::ranges::any_of(others, near))
        std::erase_if(others, [&](const auto& each) { return !near(each); });
    return named(name_of_record(TRY(only_one(std::move(others), by, text, false))));
}

MemoryAddress MemoryAddress::bare() const {
    return {text.substr(kMemoryPrefix.size()), by, among};
}

bool MemoryAddress::is_meant(const Catalog& catalog, const LiveDocument& document) const {
    if (text.starts_with(kMemoryPrefix)) return bare().is_meant(catalog, document);
    const store::DocumentRecord& record = document.record();
    if (id_in(text) || record.deleted) return true;
    const auto owned = OwnedLabel::parse(text);
    const std::string& label = owned ? owned->label : text;
    if (among == Among::moved && former_label(record) == label) return true;
    return document.name() == label && catalog.has_name(document.key());
}

}  // namespace quire::kernel
