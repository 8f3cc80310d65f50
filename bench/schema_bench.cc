// Measures the check of a tool call's arguments, which every call pays once.
#include <string_view>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "json/json.h"
#include "json/schema/schema.h"

namespace quire {
namespace {

// The tool `file` as it lists itself: one object, all members optional but one.
constexpr std::string_view kFile = R"({
    "type": "object", "additionalProperties": false, "required": ["operation"],
    "properties": {
        "operation": {"enum": ["list", "read", "load", "create", "append", "insert", "replace",
                               "edit", "save", "delete", "status"]},
        "path": {"type": "string", "description": "Relative to the workspace."},
        "pattern": {"type": "string"},
        "range": {"type": "object", "additionalProperties": false, "required": ["start", "end"],
                  "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}}},
        "line_numbers": {"type": "boolean"},
        "content": {"type": "string"},
        "line": {"type": "integer", "minimum": 0},
        "find": {"type": "string"},
        "replace": {"type": "string"},
        "operations": {"type": "array", "minItems": 1, "items": {
            "type": "object", "additionalProperties": false, "required": ["op"],
            "properties": {
                "op": {"enum": ["insert", "delete", "replace"]},
                "line": {"type": "integer", "minimum": 0},
                "start_line": {"type": "integer", "minimum": 0},
                "end_line": {"type": "integer", "minimum": 0},
                "content": {"type": "string"},
                "expected_text": {"type": "string"},
                "expected_before": {"type": "string"}}}}}})";

// A form for each kind of operation, as other programs' tools write it.
constexpr std::string_view kForms = R"({
    "type": "object", "additionalProperties": false, "required": ["block_id", "operations"],
    "properties": {
        "block_id": {"type": "string", "minLength": 1},
        "operations": {"type": "array", "minItems": 1, "items": {"oneOf": [
            {"type": "object", "additionalProperties": false, "required": ["op", "line", "content"],
             "properties": {"op": {"const": "insert"}, "line": {"$ref": "#/$defs/line"},
                            "content": {"type": "string"}}},
            {"type": "object", "additionalProperties": false,
             "required": ["op", "start_line", "end_line"],
             "properties": {"op": {"const": "delete"}, "start_line": {"$ref": "#/$defs/line"},
                            "end_line": {"$ref": "#/$defs/line"}}}]}}},
    "$defs": {"line": {"type": "integer", "minimum": 0}}})";

constexpr std::string_view kRead =
    R"({"operation":"read","path":"src/main.cc","range":{"start":0,"end":40},"line_numbers":true})";
constexpr std::string_view kEdit = R"({"operation":"edit","path":"src/main.cc","operations":[
    {"op":"replace","start_line":3,"end_line":5,"content":"a\nb\n","expected_text":"c\nd\n"},
    {"op":"insert","line":9,"content":"e\n"},{"op":"delete","start_line":20,"end_line":22}]})";
constexpr std::string_view kFormed = R"({"block_id":"b","operations":[
    {"op":"insert","line":9,"content":"e\n"},{"op":"delete","start_line":20,"end_line":22},
    {"op":"insert","line":11,"content":"f\n"}]})";

Value parsed(std::string_view text) {
    auto value = json::parse(text);
    CHECK(value);
    return std::move(*value);
}

void schema_check(benchmark::State& state, std::string_view schema, std::string_view arguments) {
    const auto compiled = json::Schema::compile(parsed(schema));
    CHECK(compiled);
    const Value value = parsed(arguments);
    CHECK(compiled->check(value));
    for (auto _ : state) benchmark::DoNotOptimize(compiled->check(value));
}

// With the copy of the arguments that accept() takes.
void schema_accept(benchmark::State& state, std::string_view schema, std::string_view arguments) {
    const auto compiled = json::Schema::compile(parsed(schema));
    CHECK(compiled);
    const Value value = parsed(arguments);
    for (auto _ : state) benchmark::DoNotOptimize(compiled->accept(value));
}

void schema_compile(benchmark::State& state, std::string_view schema) {
    const Value value = parsed(schema);
    for (auto _ : state) benchmark::DoNotOptimize(json::Schema::compile(value));
}

BENCHMARK_CAPTURE(schema_check, file_read, kFile, kRead);
BENCHMARK_CAPTURE(schema_check, file_edit, kFile, kEdit);
BENCHMARK_CAPTURE(schema_check, forms, kForms, kFormed);
BENCHMARK_CAPTURE(schema_accept, file_read, kFile, kRead);
BENCHMARK_CAPTURE(schema_accept, file_edit, kFile, kEdit);
BENCHMARK_CAPTURE(schema_accept, forms, kForms, kFormed);
BENCHMARK_CAPTURE(schema_compile, file, kFile);

}  // namespace
}  // namespace quire
