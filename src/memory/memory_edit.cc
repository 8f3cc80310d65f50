// Each operation has the same four steps: enter() passes the gate and finds the schema, the value
// is checked, ops are added to the pending transaction, done() records the attribution. Nothing
// fails after the first op, so a refused write leaves the transaction as it was.
//
// The ops are chosen so that concurrent writers disturb each other least: a text is changed by its
// smallest difference, a list by the elements that differ, a counter by an amount. Only a plain
// field is replaced as a whole, and there the last writer wins.

#include "memory/memory_edit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/concat.h"
#include "base/must.h"
#include "base/utf8.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "memory/splices.h"
#include "memory/timestamp.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

using policy::Operation;

Result<void> check_utf8(std::string_view text) {
    if (utf8::is_valid(text)) return {};
    return schema_mismatch("", "Text", "a string that is not UTF-8");
}

// The value of a Counter to which nothing was added.
double base_of(const Field& field) {
    return field.default_value ? field.default_value->as_number() : 0;
}

Failure counts_too_far(const std::string& field) {
    return fail(Errc::out_of_range, "out_of_range",
                cat(field, " cannot count beyond ±2^53 (", kExactWhole,
                    "), where whole numbers are not exact any more; nothing was changed"),
                {{"field", field}, {"limit", kExactWhole}});
}

// Returns true if a + b is beyond ±2^53, though their rounded sum may not be. The rounding's error is
// Knuth's (The Art of Computer Programming, volume 2, section 4.2.2).
bool is_beyond_exact(double a, double b) {
    constexpr auto kLimit = static_cast<double>(kExactWhole);
    const double sum = a + b;
    if (std::fabs(sum) != kLimit) return std::fabs(sum) > kLimit;
    const double b_in_sum = sum - a;
    const double lost = (a - (sum - b_in_sum)) + (b - b_in_sum);
    return lost != 0 && std::signbit(lost) == std::signbit(sum);
}

}  // namespace

Result<const BlockSchema*> MemoryEdit::enter(const Write& write) const {
    return admit(by_, write, block_.schema);
}

void MemoryEdit::done(std::string_view operation, const FieldPath& path) {
    const bool has_both = !path.section.empty() && !path.field.empty();
    done(operation, cat(path.section, has_both ? "/" : "", path.field));
}
void MemoryEdit::done(std::string_view operation, std::string_view detail) {
    last_ = {by_.actor, std::string(operation), std::string(detail)};
    if (after_ != nullptr) after_->wrote(last_);
}

// --- Text ---

Result<void> MemoryEdit::set_text(std::string_view section, std::string_view text) {
    TRY(enter({Operation::overwrite, section, Shape::text}));
    TRY(check_utf8(text));
    TRY(check_length(utf8::count_code_points(text), block_.char_limit));
    rewrite(doc_, doc_.open(content_of(section)), text);
    done("set_text", section);
    return {};
}

Result<void> MemoryEdit::append_text(std::string_view section, std::string_view text) {
    TRY(enter({Operation::append, section, Shape::text}));
    TRY(check_utf8(text));
    const crdt::Handle content = doc_.open(content_of(section));
    const text::CodePoint end = doc_.text(content).rope().code_points();
    TRY(check_length(end.n + utf8::count_code_points(text), block_.char_limit));
    if (!text.empty()) must(doc_.text(content).insert(end, text));
    done("append", section);
    return {};
}

// Matches are found in the text as it was, then replaced as one set of splices.
Result<std::size_t> MemoryEdit::replace_text(std::string_view section, std::string_view find,
                                             std::string_view replace) {
    TRY(enter({Operation::overwrite, section, Shape::text}));
    TRY(check_utf8(replace));
    if (find.empty()) {
        return invalid("empty_find", "'find' is empty; give the text to replace");
    }
    const crdt::Handle content = doc_.open(content_of(section));
    const std::string before = doc_.text(content).rope().str();
    std::vector<text::Splice> splices;
    for (std::size_t at = before.find(find); at != std::string::npos;
         at = before.find(find, at + find.size())) {
        splices.push_back({{at}, {find.size()}, std::string(replace)});
    }
    // Bytes that are not UTF-8 cannot match a text.
    if (splices.empty() || !utf8::is_valid(find)) {
        return fail(Errc::conflict, "no_match",
                    cat("'", utf8::is_valid(find) ? utf8::prefix(find, 80) : "?",
                        "' does not occur in the text; view it and copy the text exactly"));
    }
    const std::size_t found = splices.size();
    TRY(check_length(doc_.text(content).rope().code_points().n +
                         found * utf8::count_code_points(replace) -
                         found * utf8::count_code_points(find),
                     block_.char_limit));
    if (replace != find) apply(doc_, content, splices);
    done("replace", section);
    return found;
}

// Splices that only append count as an append.
Result<void> MemoryEdit::splice_text(std::string_view section, std::string_view operation,
                                     std::span<const text::Splice> splices) {
    const crdt::Handle content = doc_.open(content_of(section));
    const seq::Rope& text = doc_.text(content).rope();
    const bool appends = only_appends(splices, text.bytes());
    TRY(enter({appends ? Operation::append : Operation::overwrite, section, Shape::text}));
    std::size_t length = text.code_points().n;
    for (const text::Splice& splice : splices) {
        TRY(check_utf8(splice.insert));
        const text::Byte end{splice.at.n + splice.erase.n};
        length -= text.to_code_point(end).n - text.to_code_point(splice.at).n;
        length += utf8::count_code_points(splice.insert);
    }
    TRY(check_length(length, block_.char_limit));
    apply(doc_, content, splices);
    done(operation, section);
    return {};
}

// --- fields of a Map ---

Result<const Field*> MemoryEdit::enter_field(Operation operation, const FieldPath& path) const {
    const BlockSchema* map = TRY(enter({operation, path.section, Shape::map, {&path.field, 1}}));
    return TRY(find_written(*map, path.field));
}

// null unsets; everything else is checked against the field's type.
Result<void> MemoryEdit::set_field(const FieldPath& path, Value value) {
    const Field* field = TRY(enter_field(Operation::overwrite, path));
    if (value.is_null()) {
        TRY(unset(path, *field));
    } else {
        TRY(check_field(*field, value));
        if (field->type == FieldType::counter &&
            (is_beyond_exact(value.as_number(), 0) ||
             is_beyond_exact(value.as_number(), -base_of(*field))))
            return counts_too_far(path.field);
        TRY(check_length(text_length(value), block_.char_limit));
        put(path, *field, std::move(value));
    }
    done("set_field", path);
    return {};
}

Result<void> MemoryEdit::set_text_field(const FieldPath& path, std::string_view text) {
    const Field* field = TRY(enter_field(Operation::overwrite, path));
    if (field->type != FieldType::text)
        return schema_mismatch(path.field, "Text", name_of(field->type));
    TRY(check_utf8(text));
    TRY(check_length(utf8::count_code_points(text), block_.char_limit));
    put_long_text(path, *field, text);
    done("set_text_field", path);
    return {};
}

// Removes the value of the field; a Counter returns to its default.
Result<void> MemoryEdit::unset(const FieldPath& path, const Field& field) {
    if (field.required && !field.default_value)
        return schema_mismatch(field.name, name_of(field.type), "null");
    const crdt::Handle root = doc_.open(root_of(path.section));
    if (doc_.map(root).get(field.name)) must(doc_.map(root).erase(field.name));
    const crdt::Handle value = doc_.open(value_of(path.section, field));
    switch (field.type) {
        case FieldType::text:
            rewrite(doc_, value, "");
            break;
        case FieldType::list:
            rewrite(doc_, value, List());
            break;
        case FieldType::counter:
            CHECK(doc_.counter(value).bring_to(0).has_value());
            break;
        case FieldType::number:
        case FieldType::boolean:
        case FieldType::timestamp:
            break;
    }
    return {};
}

// Writes the field's value in the container that its type and length call for.
void MemoryEdit::put(const FieldPath& path, const Field& field, Value value) {
    const crdt::Handle root = doc_.open(root_of(path.section));
    switch (field.type) {
        case FieldType::text:
            if (is_set_apart(doc_, root, field.name) ||
                utf8::count_code_points(value.as_string()) > kLongText) {
                put_long_text(path, field, value.as_string());
            } else {
                must(doc_.map(root).set(field.name, std::move(value)));
            }
            break;
        case FieldType::list:
            put_list(path, field, value.as_list());
            break;
        case FieldType::counter: {
            crdt::CounterView counter = doc_.counter(doc_.open(value_of(path.section, field)));
            CHECK(counter.bring_to(value.as_number() - base_of(field)).has_value());
            break;
        }
        case FieldType::number:
        case FieldType::boolean:
        case FieldType::timestamp:
            must(doc_.map(root).set(field.name, std::move(value)));
            break;
    }
}

// Moves the value into a text container; null in `root` marks that.
void MemoryEdit::put_long_text(const FieldPath& path, const Field& field, std::string_view text) {
    rewrite(doc_, doc_.open(value_of(path.section, field)), text);
    must(doc_.map(doc_.open(root_of(path.section))).set(field.name, nullptr));
}

void MemoryEdit::put_list(const FieldPath& path, const Field& field, const List& value) {
    rewrite(doc_, doc_.open(value_of(path.section, field)), value);
    must(doc_.map(doc_.open(root_of(path.section))).set(field.name, nullptr));
}

// A Counter merges concurrent additions; a Number does not and is set. Past 2^53 doubles lie further
// apart than 1, so a whole number that is added there could be lost.
Result<Value> MemoryEdit::increment_counter(const FieldPath& path, const Value& delta) {
    const Field* field = TRY(enter_field(Operation::overwrite, path));
    const bool counts = field->type == FieldType::counter;
    if (!counts && field->type != FieldType::number)
        return schema_mismatch(path.field, "Counter", name_of(field->type));
    TRY(check_field({.name = "delta", .type = FieldType::number}, delta));

    const Value before = reader_.value_of_field(path.section, *field).value_or(Value(0));
    if (!before.is_number()) return schema_mismatch(path.field, "Number", kind_name(before));
    const double was = before.as_number();
    const double added = delta.as_number();
    // A counter's container has the sum without the default, which has to be exact too.
    const double base = counts ? base_of(*field) : 0;
    const bool is_whole = std::trunc(added) == added;
    if (is_whole && (is_beyond_exact(was, added) || is_beyond_exact(was - base, added)))
        return counts_too_far(path.field);
    const Value after = number_of(was + added);
    // The sum must still be finite.
    TRY(check_field(*field, after));
    if (counts) {
        const crdt::Handle counter = doc_.open(value_of(path.section, *field));
        if (added != 0) TRY(doc_.counter(counter).add(added));
    } else {
        must(doc_.map(doc_.open(root_of(path.section))).set(field->name, after));
    }
    done("increment_counter", path);
    return after;
}

// --- List fields ---

// The place of a List field: its elements, and how many elements of its default are read before
// them.
struct MemoryEdit::ListField {
    const Field* field;
    crdt::Handle root;
    crdt::Handle elements;
    std::size_t base;
    std::size_t len;
};

Result<MemoryEdit::ListField> MemoryEdit::enter_list_field(Operation operation,
                                                           const FieldPath& path) const {
    const Field* field = TRY(enter_field(operation, path));
    if (field->type != FieldType::list)
        return schema_mismatch(path.field, "List", name_of(field->type));
    ListField out{field, doc_.open(root_of(path.section)),
                  doc_.open(value_of(path.section, *field)), 0, 0};
    if (field->default_value && !is_set_apart(doc_, out.root, field->name))
        out.base = field->default_value->as_list().size();
    out.len = out.base + doc_.list(out.elements).size();
    return out;
}

// Turns the default into ordinary elements.
void MemoryEdit::set_apart(const ListField& list) {
    const List& base = list.field->default_value->as_list();
    for (std::size_t i = 0; i < base.size(); ++i) must(doc_.list(list.elements).insert(i, base[i]));
    must(doc_.map(list.root).set(list.field->name, nullptr));
}

// An element of a List field, or an item of a List.
Result<void> MemoryEdit::append_to_list(const FieldPath& path, Value item) {
    if (path.field.empty()) return push_item(path.section, std::move(item));
    const ListField list = TRY(enter_list_field(Operation::append, path));
    TRY(check_json(path.field, item));
    TRY(check_length(text_length(item), block_.char_limit));
    must(doc_.list(list.elements).insert(list.len - list.base, std::move(item)));
    done("append_to_list", path);
    return {};
}

// enter_list_field() for the element at `index`, which must exist.
Result<MemoryEdit::ListField> MemoryEdit::enter_list_element(const FieldPath& path,
                                                             std::int64_t index) const {
    ListField list = TRY(enter_list_field(Operation::overwrite, path));
    if (index < 0 || static_cast<std::size_t>(index) >= list.len)
        return index_out_of_bounds(index, list.len);
    return list;
}

Value MemoryEdit::element_of(const ListField& list, const FieldPath& path,
                             std::int64_t index) const {
    Value all = *reader_.value_of_field(path.section, *list.field);
    return std::move(all.as_list()[static_cast<std::size_t>(index)]);
}

// The place in the container of what readers see at `index`. A default that has to be written to
// becomes ordinary elements first.
std::size_t MemoryEdit::place_of(const ListField& list, std::int64_t index) {
    const auto at = static_cast<std::size_t>(index);
    if (at >= list.base) return at - list.base;
    set_apart(list);
    return at;
}

Result<void> MemoryEdit::insert_into_list(const FieldPath& path, std::int64_t index, Value item) {
    if (path.field.empty()) return insert_item(path.section, index, std::move(item));
    const ListField list = TRY(enter_list_field(Operation::overwrite, path));
    TRY(check_json(path.field, item));
    TRY(check_length(text_length(item), block_.char_limit));
    if (index < 0 || static_cast<std::size_t>(index) > list.len)
        return index_out_of_bounds(index, list.len);
    must(doc_.list(list.elements).insert(place_of(list, index), std::move(item)));
    done("insert_into_list", path);
    return {};
}

Result<void> MemoryEdit::set_in_list(const FieldPath& path, std::int64_t index, Value item) {
    if (path.field.empty()) return set_item(path.section, index, std::move(item));
    const ListField list = TRY(enter_list_element(path, index));
    TRY(check_json(path.field, item));
    TRY(check_length(text_length(item), block_.char_limit));
    if (element_of(list, path, index) != item) {
        const std::size_t at = place_of(list, index);
        must(doc_.list(list.elements).erase(at, 1));
        must(doc_.list(list.elements).insert(at, std::move(item)));
    }
    done("set_in_list", path);
    return {};
}

Result<void> MemoryEdit::set_member_in_list(const FieldPath& path, std::int64_t index,
                                            const std::string& member, Value value) {
    if (path.field.empty()) return set_item_field(path.section, index, member, std::move(value));
    const ListField list = TRY(enter_list_element(path, index));
    Value item = element_of(list, path, index);
    if (!item.is_map()) return schema_mismatch(member, "Map", kind_name(item));
    if (value.is_null()) {
        item.as_map().erase(member);
    } else {
        item.as_map().set(member, std::move(value));
    }
    return set_in_list(path, index, std::move(item));
}

Result<Value> MemoryEdit::remove_from_list(const FieldPath& path, std::int64_t index) {
    if (path.field.empty()) return delete_item(path.section, index);
    const ListField list = TRY(enter_list_element(path, index));
    Value removed = element_of(list, path, index);
    must(doc_.list(list.elements).erase(place_of(list, index), 1));
    done("remove_from_list", path);
    return removed;
}

// --- Log ---

// The stored entry begins with its header; only sources and the system may name another writer.
Result<void> MemoryEdit::append_entry(std::string_view section, Value entry) {
    std::vector<std::string> keys;
    if (entry.is_map()) {
        for (const Map::Entry& each : entry.as_map()) keys.push_back(each.key);
    }
    const BlockSchema* found = TRY(enter({Operation::append, section, Shape::log, keys}));
    const auto& log = *found->as<LogSchema>();
    Map accepted = TRY(accept_entry(log, std::move(entry)));
    TRY(check_length(text_length(accepted), block_.char_limit));

    const std::string who = entry_writer(by_.actor);
    Map out;
    if (log.entry.timestamp) {
        const Value* when = accepted.find("timestamp");
        out.append("timestamp", when != nullptr ? *when : format_timestamp(now_ms_));
        accepted.erase("timestamp");
    }
    if (log.entry.agent_id) {
        const Value* named = accepted.find("agent_id");
        if (named != nullptr && *named != Value(who) && !by_.writes_read_only())
            return read_only_field("agent_id");
        out.append("agent_id", named != nullptr ? *named : Value(who));
        accepted.erase("agent_id");
    }
    for (Map::Entry& each : accepted) out.append(each.key, std::move(each.value));

    const crdt::Handle entries = doc_.open(entries_of(section));
    must(doc_.list(entries).insert(doc_.list(entries).size(), std::move(out)));
    done("append_entry", section);
    return {};
}

// An entry without a time that can be read is never too old.
bool MemoryEdit::is_older(std::string_view section, std::size_t index, std::int64_t age_s) const {
    const Result<Value> entry = reader_.at(section, static_cast<std::int64_t>(index));
    const Value* const when = entry ? entry->get("timestamp") : nullptr;
    const auto ms =
        when != nullptr && when->is_string() ? parse_timestamp(when->as_string()) : std::nullopt;
    return ms && *ms < now_ms_ - age_s * 1000;
}

// A tenth above the bounds is tolerated, so that a log at its bound is not trimmed at each append.
bool MemoryEdit::is_trim_due(std::string_view section) const {
    const Result<Located> found = locate(block_.schema, section);
    const auto* log = found ? found->schema->as<LogSchema>() : nullptr;
    if (log == nullptr || !log->retain) return false;
    const auto& [max_entries, max_age_s] = *log->retain;
    const std::size_t len = must(reader_.size(section));
    return (max_entries && len > *max_entries + *max_entries / 10) ||
           (max_age_s && len > 0 && is_older(section, 0, *max_age_s + *max_age_s / 10));
}

// The bound on their number drops the oldest entries first, and the bound on age the ones after them.
Result<std::size_t> MemoryEdit::trim_log(std::string_view section) {
    const BlockSchema* found = TRY(enter({Operation::overwrite, section, Shape::log}));
    const auto& retain = found->as<LogSchema>()->retain;
    const crdt::Handle entries = doc_.open(entries_of(section));
    const std::size_t len = doc_.list(entries).size();
    std::size_t drop = 0;
    if (retain && retain->max_entries && len > *retain->max_entries)
        drop = len - *retain->max_entries;
    if (retain && retain->max_age_s) {
        while (drop < len && is_older(section, drop, *retain->max_age_s)) ++drop;
    }
    if (drop > 0) must(doc_.list(entries).erase(0, drop));
    done("trim", section);
    return drop;
}

// A Map has nothing that is appended to. It passes the gate all the same, so that an actor without
// rights is told that first.
Result<void> MemoryEdit::append(std::string_view section, Value content) {
    // Only reads the schema; the writes below pass the gate themselves.
    const auto located = locate(block_.schema, section);
    if (located && located->schema->as<ListSchema>() != nullptr)
        return push_item(section, std::move(content));
    if (located && located->schema->as<LogSchema>() != nullptr)
        return append_entry(section, std::move(content));
    if (located && located->schema->as<MapSchema>() != nullptr) {
        TRY(enter({Operation::append, section, Shape::map}));
        return schema_mismatch("", "Text, List or Log", "Map");
    }
    if (!content.is_string()) {
        TRY(enter({Operation::append, section, Shape::text}));
        return schema_mismatch("", "Text", kind_name(content));
    }
    return append_text(section, content.as_string());
}

}  // namespace quire::memory
