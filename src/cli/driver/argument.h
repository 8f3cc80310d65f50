// Argument: how one argument of an operation of `quire engine` is read from a request, by the type of
// the parameter that takes it. Specialise it for a parameter that reads in another way.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/concat.h"
#include "cli/driver/request.h"
#include "json/parameters.h"

namespace quire::cli {

class EngineDocuments;

// The names of the arguments of an operation, in the order of its function's parameters.
using EngineArguments = std::array<std::string_view, 5>;

// A request whose arguments are being read.
struct EngineCall {
    EngineDocuments& documents;
    Map& members;
    const EngineArguments& names;
    std::size_t read = 0;  // How many of the names.
};

// Reads one argument. Null counts as absent. Errors: invalid_argument, which names it.
template <class T>
struct Argument {
    static constexpr bool kIsNamed = true;
    static Result<T> read(EngineCall& call) { return member(call, call.names[call.read++]); }
    static Result<T> member(EngineCall& call, std::string_view name) {
        json::Read<T> value = json::take_member<T>(call.members, name, json::Null::is_absent);
        if (value) return std::move(*value);
        const std::string& wanted = value.error().wanted;
        return invalid("invalid_argument", cat("`", value.error().path, "` must be ",
                                               wanted.empty() ? "given (any JSON value)" : wanted));
    }
};

// A value as it came: {"$bytes": …} is an ordinary object. A plain Value has bytes for that.
struct RawJson {
    Value value;
};
template <>
struct Argument<RawJson> {
    static constexpr bool kIsNamed = true;
    static Result<RawJson> read(EngineCall& call);
};
// None where the member is absent; null is a value.
template <>
struct Argument<std::optional<RawJson>> {
    static constexpr bool kIsNamed = true;
    static Result<std::optional<RawJson>> read(EngineCall& call);
};
template <>
struct Argument<Value> {
    static constexpr bool kIsNamed = true;
    static Result<Value> read(EngineCall& call);
};
// Errors also: those of json::from_base64().
template <>
struct Argument<Bytes> {
    static constexpr bool kIsNamed = true;
    static Result<Bytes> read(EngineCall& call);
};
template <>
struct Argument<std::vector<Bytes>> {
    static constexpr bool kIsNamed = true;
    static Result<std::vector<Bytes>> read(EngineCall& call);
};

}  // namespace quire::cli
