// Random schemas, and random values that fit them, for property tests.
#pragma once

#include <random>
#include <string>

#include "memory/block_schema.h"
#include "memory/timestamp.h"

namespace quire::memory {

class SchemaMaker {
public:
    explicit SchemaMaker(std::uint64_t seed) : engine_(seed) {}

    std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    std::string word() {
        static const char* const kWords[] = {"ada",  "blue\nsea", "naïve", "]]>",  "</block:x>",
                                             "日本", "",          "=== a", "- b",  "x: y",
                                             "🤝", "a/b",       "%2F",   "null", "0"};
        return kWords[below(std::size(kWords))];
    }

    Value value_for(FieldType type) {
        switch (type) {
            case FieldType::text:
                return word();
            case FieldType::number:
            case FieldType::counter:
                if (chance(2)) return static_cast<std::int64_t>(below(2000)) - 1000;
                return static_cast<double>(below(4000)) / 4.0 + 0.25;
            case FieldType::boolean:
                return chance(2);
            case FieldType::list: {
                List out;
                while (!chance(3)) out.push_back(chance(2) ? Value(word()) : json(2));
                return out;
            }
            case FieldType::timestamp:
                return format_timestamp(static_cast<std::int64_t>(below(2'000'000'000)) * 1000);
        }
        return {};
    }

    Value json(std::size_t depth) {
        switch (below(depth == 0 ? 4 : 6)) {
            case 0:
                return static_cast<std::int64_t>(below(100));
            case 1:
                return word();
            case 2:
                return chance(2);
            case 3:
                return nullptr;
            case 4: {
                List out;
                while (!chance(3)) out.push_back(json(depth - 1));
                return out;
            }
            default: {
                Map out;
                while (!chance(3)) out.set(cat_name("k"), json(depth - 1));
                return out;
            }
        }
    }

    std::string cat_name(const char* prefix) {
        static const char* const kTails[] = {"", "a", "/b", "%", " c", "é", ":", "<"};
        return std::string(prefix) + kTails[below(std::size(kTails))] + std::to_string(below(1000));
    }

    // With `whole`, every required field has a default, so that defaults are valid.
    std::vector<Field> fields(std::size_t at_least, bool whole) {
        std::vector<Field> out;
        const std::size_t count = at_least + below(5);
        for (std::size_t i = 0; i < count; ++i) {
            Field each{.name = cat_name("f") + "_" + std::to_string(i)};
            each.description = word();
            each.type = kEvery<FieldType>[below(std::size(kEvery<FieldType>))];
            each.required = chance(3);
            each.read_only = chance(4);
            if (chance(3) || (whole && each.required)) each.default_value = value_for(each.type);
            out.push_back(std::move(each));
        }
        return out;
    }

    BlockSchema schema(std::size_t depth = 3, bool whole = false) {
        switch (below(depth <= 1 ? 4 : 5)) {
            case 0:
                if (chance(2)) return TextSchema{};
                return TextSchema{Viewport{1 + below(9), 1 + below(9)}};
            case 1:
                return MapSchema{fields(1, whole)};
            case 2: {
                ListSchema out;
                if (chance(2)) out.item_schema = BlockSchema(MapSchema{fields(1, whole)});
                if (chance(4) && depth > 1) out.item_schema = schema(depth - 1, whole);
                if (chance(3)) out.max_items = 1 + below(50);
                return out;
            }
            case 3: {
                LogSchema out;
                out.display_limit = 1 + below(30);
                out.entry = {chance(2), chance(2), fields(0, whole)};
                if (chance(3)) {
                    out.retain = Retain{1 + below(9), std::nullopt};
                    if (chance(2)) out.retain->max_age_s = 60;
                }
                return out;
            }
            default: {
                CompositeSchema out;
                const std::size_t count = 1 + below(4);
                for (std::size_t i = 0; i < count; ++i) {
                    out.sections.push_back(
                        {"s" + std::to_string(i), schema(depth - 1, whole), word(), chance(4)});
                }
                return out;
            }
        }
    }

    Map object(const std::vector<Field>& fields) {
        Map out;
        for (const Field& each : fields) {
            if (each.required || chance(2)) out.append(each.name, value_for(each.type));
        }
        return out;
    }

    Value value(const BlockSchema& schema) {
        if (schema.as<TextSchema>() != nullptr) return word();
        if (const auto* map = schema.as<MapSchema>()) return object(map->fields);
        List out;
        if (const auto* list = schema.as<ListSchema>()) {
            while (!chance(3) && out.size() < list->max_items.value_or(9))
                out.push_back(list->item_schema ? value(**list->item_schema) : json(2));
            return out;
        }
        if (const auto* log = schema.as<LogSchema>()) {
            while (!chance(3)) {
                Map entry = object(log->entry.fields);
                if (log->entry.timestamp) entry.set("timestamp", value_for(FieldType::timestamp));
                if (log->entry.agent_id) entry.set("agent_id", word());
                out.emplace_back(std::move(entry));
            }
            return out;
        }
        Map sections;
        for (const Section& each : schema.as<CompositeSchema>()->sections) {
            if (chance(2)) sections.append(each.name, value(*each.schema));
        }
        return sections;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace quire::memory
