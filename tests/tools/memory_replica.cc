// memory_replica: one structured memory on a pipe, for tests that give its other replica to Loro.
//
// A request a line: {"op", …}; the reply is {"ok": …} or {"error": {reason, message}}.
//   open {schema, peer}     begins anew
//   write {actor, method, section, field, index, value}
//   import {actor, update}  base64; passes the gate for incoming changes first
//   export                  everything, base64
//   value / stored / render how it reads, what the containers hold, what a model sees
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "codec/updates.h"
#include "json/json.h"
#include "memory/incoming.h"
#include "memory/memory_edit.h"
#include "memory/render.h"
#include "memory/schema_form.h"

namespace {

using namespace quire;  // NOLINT: a program of its own.

class Replica {
public:
    Result<Value> answer(const Value& request) {
        const std::string op = text(request, "op");
        if (op == "open") return open(request);
        if (doc_ == nullptr) return invalid("not_open", "open comes first");
        if (op == "write") return write(request);
        if (op == "import") return import(request);
        if (op == "export") {
            const Bytes bytes = codec::encode_updates(doc_->changes_since({}));
            return Value(json::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
        }
        if (op == "value") return reader().value();
        if (op == "stored") return doc_->value();
        if (op == "render") return Value(memory::render(reader(), block_, {}));
        return invalid("unknown_op", op);
    }

private:
    static std::string text(const Value& request, std::string_view key) {
        const Value* value = request.get(key);
        return value == nullptr || !value->is_string() ? std::string() : value->as_string();
    }
    static std::int64_t number(const Value& request, std::string_view key) {
        const Value* value = request.get(key);
        return value == nullptr || !value->is_int() ? 0 : value->as_int();
    }
    memory::MemoryReader reader() { return {*doc_, block_.schema}; }

    static Result<memory::Writer> writer(const Value& request) {
        return memory::Writer{TRY(policy::Actor::parse(text(request, "actor"))),
                              {policy::Permission::admin, policy::Deleting::owner}};
    }

    Result<Value> open(const Value& request) {
        block_ = {.label = "shared", .schema = TRY(memory::parse_schema(*request.get("schema")))};
        doc_ = std::make_unique<crdt::Doc>(static_cast<crdt::PeerId>(number(request, "peer")));
        return Value(true);
    }

    Result<Value> write(const Value& request) {
        memory::MemoryEdit edit(*doc_, block_, TRY(writer(request)), 1'737'642'725'000);
        const std::string method = text(request, "method");
        const std::string section = text(request, "section");
        const memory::FieldPath path{section, text(request, "field")};
        const std::int64_t index = number(request, "index");
        const Value value = request.get("value") == nullptr ? Value() : *request.get("value");
        if (method == "set_text") TRY(edit.set_text(section, value.as_string()));
        if (method == "append") TRY(edit.append(section, value));
        if (method == "set_field") TRY(edit.set_field(path, value));
        if (method == "set_text_field") TRY(edit.set_text_field(path, value.as_string()));
        if (method == "increment_counter") TRY(edit.increment_counter(path, value));
        if (method == "append_to_list") TRY(edit.append_to_list(path, value));
        if (method == "insert_into_list") TRY(edit.insert_into_list(path, index, value));
        if (method == "remove_from_list") TRY(edit.remove_from_list(path, index));
        if (method == "set_item_field") TRY(edit.set_item_field(section, index, path.field, value));
        if (edit.last().operation.empty()) return invalid("unknown_method", method);
        doc_->commit({.message = policy::message_of(edit.last())});
        return Value(true);
    }

    Result<Value> import(const Value& request) {
        const Bytes bytes = TRY(json::from_base64(text(request, "update")));
        std::vector<crdt::Change> changes = TRY(codec::decode_updates(bytes)).changes();
        const memory::Writer by = TRY(writer(request));
        TRY(memory::check_incoming(*doc_, block_, by, changes));
        TRY(doc_->import(std::move(changes)));
        return Value(true);
    }

    memory::MemoryBlock block_;
    std::unique_ptr<crdt::Doc> doc_;
};

Value reply_to(Replica& replica, const std::string& line) {
    const Result<Value> request = json::parse(line);
    const Result<Value> answer =
        request ? replica.answer(*request) : Result<Value>(Failure(request.error()));
    if (answer) return Map{{"ok", *answer}};
    return Map{
        {"error", Map{{"reason", answer.error().reason()}, {"message", answer.error().message()}}}};
}

}  // namespace

int main() {
    Replica replica;
    std::string line;
    while (std::getline(std::cin, line)) {
        const std::string reply = json::write(reply_to(replica, line)) + "\n";
        std::fwrite(reply.data(), 1, reply.size(), stdout);
        std::fflush(stdout);
    }
    return 0;
}
