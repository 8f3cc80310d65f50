// Three versions meet here: the one shown, the wanted one, and the present one. Fields are compared
// one by one; texts are merged by the caller's function. For lists the difference between shown and
// wanted (splices.h) gives stretches that were replaced; each stretch is applied to the present
// list at the place where its neighbours are now.
//
// Items have an identity, their map container, so an edited item must be recognised: within a
// replaced stretch the old and new items with the most equal members are paired, without crossings,
// by the usual dynamic programme over the two sequences. That is O(old × new) per stretch; beyond
// kComparisons items are paired in order instead.

#include "memory/revision.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "memory/splices.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

// Beyond this many comparisons items are paired in order.
constexpr std::size_t kComparisons = 250'000;

std::string below(const std::string& section, std::string_view name) {
    return section.empty() ? std::string(name) : cat(section, "/", name);
}

// The number of members that two items share.
std::size_t alike(const Value& a, const Value& b) {
    if (!a.is_map() || !b.is_map()) return 0;
    std::size_t count = 0;
    for (const Map::Entry& each : a.as_map()) {
        const Value* other = b.get(each.key);
        if (other != nullptr && *other == each.value) ++count;
    }
    return count;
}

struct Pair {
    std::size_t before;
    std::size_t after;
};

// Pairs the old and new items of a replaced stretch that share the most members, without crossings.
// Ascending.
std::vector<Pair> pairs_of(const List& before, const List& after, const text::Replaced& stretch) {
    const std::size_t olds = stretch.old_end - stretch.old_begin;
    const std::size_t news = stretch.new_end - stretch.new_begin;
    std::vector<Pair> out;
    if (olds == 0 || news == 0) return out;
    if (olds > kComparisons / news) {
        for (std::size_t i = 0; i < std::min(olds, news); ++i)
            out.push_back({stretch.old_begin + i, stretch.new_begin + i});
        return out;
    }
    // best[i][j] is the highest score for the items from i and from j on.
    const std::size_t width = news + 1;
    std::vector<std::size_t> best((olds + 1) * width, 0);
    std::vector<std::size_t> score(olds * news);
    for (std::size_t i = olds; i-- > 0;) {
        for (std::size_t j = news; j-- > 0;) {
            const std::size_t common =
                alike(before[stretch.old_begin + i], after[stretch.new_begin + j]);
            score[i * news + j] = common;
            best[i * width + j] = std::max({best[(i + 1) * width + j], best[i * width + j + 1],
                                            best[(i + 1) * width + j + 1] + common});
        }
    }
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < olds && j < news) {
        const std::size_t common = score[i * news + j];
        if (common > 0 && best[i * width + j] == best[(i + 1) * width + j + 1] + common) {
            out.push_back({stretch.old_begin + i++, stretch.new_begin + j++});
        } else if (best[i * width + j] == best[(i + 1) * width + j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return out;
}

// Carries one revision out.
class Revising {
public:
    Revising(MemoryEdit& edit, const MemoryReader& shown, const MergeTexts& merge)
        : edit_(edit), shown_(shown), merge_(merge) {}

    // Chooses by the kind of schema; a Composite recurses into the sections that the value has.
    Result<void> block(const BlockSchema& schema, const std::string& section, const Value& wanted) {
        if (schema.as<TextSchema>() != nullptr) return text(section, wanted);
        if (schema.as<MapSchema>() != nullptr) return map(schema, section, wanted);
        if (schema.as<ListSchema>() != nullptr) return items(schema, section, wanted);
        if (schema.as<LogSchema>() != nullptr) return entries(section, wanted);
        if (!wanted.is_map()) return mismatch(section, "an object of sections", wanted);
        for (const Map::Entry& each : wanted.as_map()) {
            const std::string inner = below(section, each.key);
            const Section* found = schema.section(each.key);
            if (found == nullptr)
                return in(Failure(locate(shown_.schema(), inner).error()), {{"section", inner}});
            TRY(block(*found->schema, inner, each.value));
        }
        return {};
    }
    std::vector<std::string> take_both() { return std::move(both_); }

private:
    static Result<void> in(Result<void> made, Map place) {
        if (!made) made.error().details().set("at", std::move(place));
        return made;
    }
    static Result<void> mismatch(const std::string& section, std::string_view expected,
                                 const Value& actual) {
        return in(schema_mismatch(section, expected, kind_name(actual)), {{"section", section}});
    }
    static Map item_at(const std::string& section, std::size_t index) {
        return {{"section", section}, {"index", index}};
    }
    const MemoryReader& now() const { return edit_.reader(); }
    // Returns true if others changed the value meanwhile, to something other than the wanted one.
    template <class T>
    bool is_contested(const T& before, const T& here, const T& wanted) {
        return here != before && here != wanted;
    }

    std::string merged(const std::string& place, const std::string& before, const std::string& here,
                       const std::string& wanted) {
        if (!is_contested(before, here, wanted)) return wanted;
        MergedText made = merge_(before, here, wanted);
        if (made.overlapped) both_.push_back(place);
        return std::move(made.text);
    }

    // Equal texts are left alone; different ones are merged with what others wrote. Text that was
    // only added at the end is appended, which needs the right to append alone; but not where
    // others have changed a text that ends within a line: their words and these would run together.
    Result<void> text(const std::string& section, const Value& wanted) {
        if (!wanted.is_string()) return mismatch(section, "Text", wanted);
        const std::string& after = wanted.as_string();
        const std::string before = TRY(shown_.text(section))->str();
        if (after == before) return {};
        const std::string here = TRY(now().text(section))->str();
        const bool at_line_start = before.empty() || before.back() == '\n';
        if (after.starts_with(before) && (here == before || at_line_start)) {
            const std::string_view added = std::string_view(after).substr(before.size());
            return in(edit_.append_text(section, added), {{"section", section}});
        }
        const std::string place = section.empty() ? "text" : section;
        return in(edit_.set_text(section, merged(place, before, here, after)),
                  {{"section", section}});
    }

    // A field that is missing from the saved version was removed by the person.
    Result<void> map(const BlockSchema& schema, const std::string& section, const Value& wanted) {
        if (!wanted.is_map()) return mismatch(section, "an object of fields", wanted);
        for (const Field& each : schema.as<MapSchema>()->fields) {
            const Value* after = wanted.get(each.name);
            // Read-only members may be missing from the saved version.
            if (after != nullptr || !each.read_only) {
                TRY(in(field(section, each, after), {{"section", section}, {"field", each.name}}));
            }
        }
        for (const Map::Entry& each : wanted.as_map()) {
            if (schema.field(each.key) != nullptr) continue;
            TRY(in(edit_.set_field({section, each.key}, each.value),
                   {{"section", section}, {"field", each.key}}));
        }
        return {};
    }

    // Each type has its own way to combine two changes.
    Result<void> field(const std::string& section, const Field& field, const Value* after) {
        const std::optional<Value> before = shown_.value_of_field(section, field);
        const bool same = after == nullptr ? !before : before && *before == *after;
        if (same) return {};
        const FieldPath path{section, field.name};
        const std::string place = below(section, field.name);
        const std::optional<Value> here = now().value_of_field(section, field);
        if (field.type == FieldType::counter && before && before->is_number() && after != nullptr &&
            after->is_number()) {
            const Value delta = number_of(after->as_number() - before->as_number());
            TRY(edit_.increment_counter(path, delta));
            if (here && *here != *before) both_.push_back(place);
            return {};
        }
        if (after == nullptr) {
            if (is_contested(before, here, {})) both_.push_back(place);
            return edit_.set_field(path, nullptr);
        }
        const bool are_texts = field.type == FieldType::text && before && before->is_string() &&
                               here && here->is_string() && after->is_string();
        if (are_texts) {
            return edit_.set_field(
                path, merged(place, before->as_string(), here->as_string(), after->as_string()));
        }
        const bool are_lists = field.type == FieldType::list && before && before->is_list() &&
                               here && here->is_list() && after->is_list();
        if (are_lists) {
            return edit_.set_field(path,
                                   elements(before->as_list(), here->as_list(), after->as_list()));
        }
        if (is_contested(before, here, std::optional<Value>(*after))) both_.push_back(place);
        return edit_.set_field(path, *after);
    }

    // Applies the change from `before` to `after` to `here`.
    static List elements(const List& before, const List& here, const List& after) {
        // For each element of `before`, the place in `here` of what precedes it; then the elements'
        // own places.
        std::vector<std::size_t> begins(before.size() + 1);
        std::vector<bool> stays(before.size(), true);
        std::size_t at = 0;
        std::size_t i = 0;
        for (const text::Replaced& each : difference(before, here)) {
            for (; i < each.old_begin; ++i) begins[i] = at++;
            for (; i < each.old_end; ++i) {
                begins[i] = at;
                stays[i] = false;
            }
            at = each.new_end;
        }
        for (; i < before.size(); ++i) begins[i] = at++;
        begins[i] = here.size();

        List out = here;
        const std::vector<text::Replaced> changes = difference(before, after);
        for (std::size_t k = changes.size(); k-- > 0;) {
            const text::Replaced& change = changes[k];
            for (std::size_t old = change.old_end; old-- > change.old_begin;) {
                if (stays[old]) out.erase(out.begin() + static_cast<std::ptrdiff_t>(begins[old]));
            }
            // Elements that others inserted there come first.
            out.insert(out.begin() + static_cast<std::ptrdiff_t>(
                                         std::min(begins[change.old_begin], out.size())),
                       after.begin() + static_cast<std::ptrdiff_t>(change.new_begin),
                       after.begin() + static_cast<std::ptrdiff_t>(change.new_end));
        }
        return out;
    }

    // --- items of a List ---
    struct Items {
        const BlockSchema& schema;
        const std::string& section;
        const List& before;
        const List& after;
        crdt::Handle shown;  // The list in the shown document.
        crdt::Handle here;   // The list in the edited document.
    };

    // Compares the shown and the wanted items and applies each replaced stretch.
    Result<void> items(const BlockSchema& schema, const std::string& section, const Value& wanted) {
        if (!wanted.is_list()) return mismatch(section, "a list of items", wanted);
        const Value before = TRY(shown_.value(section));
        const Items list{schema,
                         section,
                         before.as_list(),
                         wanted.as_list(),
                         shown_.doc().open(items_of(section)),
                         now().doc().open(items_of(section))};
        const std::vector<text::Replaced> changes = difference(list.before, list.after);
        for (std::size_t i = changes.size(); i-- > 0;) TRY(stretch(list, changes[i]));
        return {};
    }

    // Works from the back, so that positions in front stay valid.
    Result<void> stretch(const Items& list, const text::Replaced& change) {
        std::size_t old_end = change.old_end;
        std::size_t new_end = change.new_end;
        const std::vector<Pair> pairs = pairs_of(list.before, list.after, change);
        for (std::size_t i = pairs.size(); i-- > 0;) {
            TRY(exchange(list, pairs[i].before + 1, old_end, pairs[i].after + 1, new_end));
            TRY(in(put(list, pairs[i]), item_at(list.section, pairs[i].after)));
            old_end = pairs[i].before;
            new_end = pairs[i].after;
        }
        return exchange(list, change.old_begin, old_end, change.new_begin, new_end);
    }

    // Removes the items [old_begin, old_end) and inserts [new_begin, new_end) in their place.
    Result<void> exchange(const Items& list, std::size_t old_begin, std::size_t old_end,
                          std::size_t new_begin, std::size_t new_end) {
        for (std::size_t old = old_end; old-- > old_begin;) {
            const auto at = find(list, old);
            if (!at) continue;
            if (TRY(now().at(list.section, *at)) != list.before[old])
                both_.push_back(name_of(list, old));
            const auto deleted = edit_.delete_item(list.section, *at);
            if (!deleted) return in(Failure(deleted.error()), {{"section", list.section}});
        }
        const bool at_end = old_end == list.before.size();
        std::int64_t to = at_end ? 0 : after_item(list, old_begin);
        for (std::size_t each = new_begin; each < new_end; ++each) {
            TRY(in(at_end ? edit_.push_item(list.section, list.after[each])
                          : edit_.insert_item(list.section, to++, list.after[each]),
                   item_at(list.section, each)));
        }
        return {};
    }

    // Changes one item into another.
    Result<void> put(const Items& list, const Pair& pair) {
        const Value& before = list.before[pair.before];
        const Value& wanted = list.after[pair.after];
        const auto at = find(list, pair.before);
        if (!at) {
            both_.push_back(name_of(list, pair.before));
            return edit_.insert_item(list.section, after_item(list, pair.before), wanted);
        }
        Value item = TRY(now().at(list.section, *at));
        if (!item.is_map() || !wanted.is_map() || !before.is_map()) {
            if (is_contested(before, item, wanted)) both_.push_back(name_of(list, pair.before));
            return edit_.set_item(list.section, *at, wanted);
        }
        bool contested = false;
        const auto differs = [&](const std::string& key, const Value* after) {
            const Value* old = before.get(key);
            const Value* here = item.get(key);
            const bool same = old == nullptr || after == nullptr ? old == after : *old == *after;
            const bool kept = old == nullptr || here == nullptr ? old == here : *old == *here;
            const bool agreed =
                here == nullptr || after == nullptr ? here == after : *here == *after;
            contested = contested || (!same && !kept && !agreed);
            return !same;
        };
        for (const Map::Entry& each : wanted.as_map()) {
            if (differs(each.key, &each.value)) item.as_map().set(each.key, each.value);
        }
        for (const Map::Entry& each : before.as_map()) {
            if (!wanted.as_map().contains(each.key) && differs(each.key, nullptr))
                item.as_map().erase(each.key);
        }
        if (contested) both_.push_back(name_of(list, pair.before));
        return edit_.set_item(list.section, *at, std::move(item));
    }

    // The present index of an item that was shown; nothing if it is gone.
    std::optional<std::int64_t> find(const Items& list, std::size_t shown_at) const {
        const auto at =
            now().doc().list(list.here).index_of(shown_.doc().list(list.shown).id(shown_at));
        if (!at) return std::nullopt;
        return static_cast<std::int64_t>(*at);
    }
    // The index behind the nearest item before `shown_at` that still exists.
    std::int64_t after_item(const Items& list, std::size_t shown_at) const {
        while (shown_at-- > 0) {
            if (const auto at = find(list, shown_at)) return *at + 1;
        }
        return 0;
    }
    static std::string name_of(const Items& list, std::size_t shown_at) {
        return cat(below(list.section, "items"), "[", shown_at, "]");
    }

    // Entries of a Log are only appended.
    Result<void> entries(const std::string& section, const Value& wanted) {
        if (!wanted.is_list()) return mismatch(section, "a list of entries", wanted);
        const Value before = TRY(shown_.value(section));
        const List& old = before.as_list();
        const List& after = wanted.as_list();
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (i < after.size() && after[i] == old[i]) continue;
            return in(fail(Errc::denied, "log_entry",
                           cat("Entry ", i + 1, " of ",
                               section.empty() ? "the log" : cat("the log '", section, "'"),
                               " was changed: log entries can be neither edited nor "
                               "removed. Restore it; new entries go after the last"),
                           {{"section", section}, {"index", i}}),
                      item_at(section, i));
        }
        for (std::size_t i = old.size(); i < after.size(); ++i)
            TRY(in(edit_.append_entry(section, after[i]), item_at(section, i)));
        return {};
    }

    MemoryEdit& edit_;
    const MemoryReader& shown_;
    const MergeTexts& merge_;
    std::vector<std::string> both_;
};

}  // namespace

Result<std::vector<std::string>> revise(MemoryEdit& edit, const MemoryReader& shown,
                                        const Value& wanted, const MergeTexts& merge) {
    Revising revising(edit, shown, merge);
    TRY(revising.block(shown.schema(), "", wanted));
    return revising.take_both();
}

}  // namespace quire::memory
