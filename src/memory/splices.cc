// Turns the wish "it shall read so" into edits. Texts are compared by minimal_splices(), lists by
// Myers' algorithm over numbers that stand for equal values. Elements that did not change keep
// their identity, which is what lets concurrent edits to them survive. O(n d) for lists that differ
// in d places.

#include "memory/splices.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/must.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "text/diff.h"

namespace quire::memory {
namespace {

// A key that is equal exactly for equal values; the order of an object's members does not matter.
// Each part has its length before it, so two different values cannot run together into one key.
std::string key_of(const Value& value) {
    std::string out(1, static_cast<char>('0' + value.storage().index()));
    const auto add = [&](std::string_view part) {
        out.append(std::to_string(part.size())).append(1, ':').append(part);
    };
    if (value.is_bool()) out += value.as_bool() ? '1' : '0';
    if (value.is_int()) out += std::to_string(value.as_int());
    if (value.is_float()) {
        const double number = value.as_float() + 0.0;  // -0.0 equals 0.0.
        out.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    if (value.is_string()) add(value.as_string());
    if (value.is_bytes())
        add({reinterpret_cast<const char*>(value.as_bytes().data()), value.as_bytes().size()});
    if (value.is_list()) {
        for (const Value& each : value.as_list()) add(key_of(each));
    }
    if (value.is_map()) {
        std::vector<std::string> members;
        for (const Map::Entry& each : value.as_map())
            members.push_back(key_of(each.key) + key_of(each.value));
        std::ranges::sort(members);
        for (const std::string& each : members) add(each);
    }
    return out;
}

// Numbers equal values alike, for the diff.
class Symbolizer {
public:
    std::vector<std::uint32_t> of(const List& values) {
        std::vector<std::uint32_t> out;
        out.reserve(values.size());
        for (const Value& each : values) {
            const auto next = static_cast<std::uint32_t>(known_.size());
            out.push_back(known_.emplace(key_of(each), next).first->second);
        }
        return out;
    }

private:
    std::unordered_map<std::string, std::uint32_t> known_;
};

}  // namespace

bool only_appends(std::span<const text::Splice> splices, text::Byte size) {
    return std::ranges::all_of(splices, [&](const text::Splice& splice) {
        return splice.at == size && splice.erase.n == 0;
    });
}

// Goes from the last splice to the first, so that earlier positions stay valid.
void apply(crdt::Doc& doc, crdt::Handle text, std::span<const text::Splice> splices) {
    for (std::size_t i = splices.size(); i-- > 0;) {
        const text::Splice& splice = splices[i];
        const seq::Rope& rope = doc.text(text).rope();
        const text::CodePoint at = rope.to_code_point(splice.at);
        const text::CodePoint end = rope.to_code_point(splice.at + splice.erase);
        if (end > at) must(doc.text(text).erase(at, end - at));
        if (!splice.insert.empty()) must(doc.text(text).insert(at, splice.insert));
    }
}

void rewrite(crdt::Doc& doc, crdt::Handle text, std::string_view wanted) {
    apply(doc, text, text::minimal_splices(doc.text(text).rope().str(), wanted));
}

std::vector<text::Replaced> difference(const List& before, const List& after) {
    Symbolizer symbols;
    const std::vector<std::uint32_t> old_symbols = symbols.of(before);
    return text::myers_diff(old_symbols, symbols.of(after));
}

// Only the stretches that differ are touched, so that concurrent edits elsewhere survive.
void rewrite(crdt::Doc& doc, crdt::Handle list, const List& wanted) {
    const std::vector<text::Replaced> replaced = difference(doc.value(list).as_list(), wanted);
    // Works from the back, so that positions in front stay valid.
    for (std::size_t i = replaced.size(); i-- > 0;) {
        const text::Replaced& each = replaced[i];
        if (each.old_end > each.old_begin)
            must(doc.list(list).erase(each.old_begin, each.old_end - each.old_begin));
        for (std::size_t at = each.new_begin; at < each.new_end; ++at)
            must(doc.list(list).insert(each.old_begin + at - each.new_begin, wanted[at]));
    }
}

}  // namespace quire::memory
