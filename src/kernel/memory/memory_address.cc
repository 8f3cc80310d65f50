#include "kernel/memory/memory_address.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "conversation/block.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {
namespace {

std::optional<conversation::BlockId> id_in(std::string_view text) {
    const Result<conversation::BlockId> id = conversation::BlockId::parse(text);
    if (!id) return std::nullopt;
    return *id;
}

bool is_memory_record(const LiveDocument& document) {
    return document.kind() == kMemoryKind;
}

Failure ambiguous_label(const std::string& label,
                        const std::vector<store::DocumentRecord>& candidates) {
    List names;
    std::string shown;
    for (const store::DocumentRecord& each : candidates) {
        std::string name = cat(each.owner, "/", each.name);
        shown += cat(shown.empty() ? "" : ", ", name);
        names.emplace_back(std::move(name));
    }
    return fail(Errc::conflict, "ambiguous_label",
                cat("several memory blocks have the label '", label, "': ", shown,
                    ". Name one of them so, or by its id"),
                {{"label", label}, {"candidates", std::move(names)}});
}

}  // namespace

std::optional<OwnedLabel> OwnedLabel::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    Result<policy::Actor> owner = policy::Actor::parse(text.substr(0, slash));
    if (!owner) return std::nullopt;
    return OwnedLabel{std::move(*owner), std::string(text.substr(slash + 1))};
}

std::string OwnedLabel::str() const {
    return cat(owner.str(), "/", label);
}

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
    if (const auto id = id_in(text)) {
        auto document = id->is_document() ? catalog.find(id->document) : nullptr;
        if (document == nullptr || !is_memory_record(*document)) return no_such_memory(text);
        return document;
    }
    const auto named = [&](const Name& name) -> Result<std::shared_ptr<LiveDocument>> {
        if (auto document = catalog.find(name)) return document;
        return no_such_memory(text);
    };
    if (const auto owned = OwnedLabel::parse(text))
        return named(name_of_memory(owned->owner, owned->label));
    if (auto own = catalog.find(name_of_memory(by, text))) return own;

    std::vector<store::DocumentRecord> others = catalog.named(kMemoryKind, text);
    if (by.kind != policy::ActorKind::agent && others.size() > 1) {
        // A person sees all of them; what was shared with this one, or is fed, comes first.
        std::vector<store::DocumentRecord> nearer = others;
        std::erase_if(nearer, [&](const store::DocumentRecord& each) {
            const Result<MemoryHeader> header = decode_memory_header(each.name, each.header);
            return !header || (header->owner.kind != policy::ActorKind::source &&
                               std::ranges::find(header->shares, by, &policy::Share::with) ==
                                   header->shares.end());
        });
        if (!nearer.empty()) others = std::move(nearer);
    }
    std::erase_if(others, [&](const auto& each) { return !may_see_memory(by, each); });
    if (others.size() > 1) return ambiguous_label(text, others);
    if (others.empty()) return no_such_memory(text);
    return named(name_of_record(others.front()));
}

bool MemoryAddress::is_meant(const Catalog& catalog, const LiveDocument& document) const {
    if (id_in(text)) return true;
    const auto owned = OwnedLabel::parse(text);
    if (document.name() != (owned ? owned->label : text)) return false;
    return document.record().deleted || catalog.has_name(document.key());
}

}  // namespace quire::kernel
