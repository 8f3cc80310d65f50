// The arguments of a request to `quire engine`, and results as JSON.
//
// Peers are decimal strings, an id is "counter@peer", frontiers are arrays of ids, a version vector
// is {peer: end}, bytes are base64; inside values bytes are {"$bytes": base64}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crdt/ids/change.h"
#include "crdt/ids/version.h"

namespace quire::cli {

// Each getter fails with invalid_argument, naming the argument, when it is missing or of another
// shape.
class EngineRequest {
public:
    explicit EngineRequest(const Map& fields) : fields_(fields) {}

    // Null counts as absent.
    bool has(std::string_view name) const;
    Result<std::string> text(std::string_view name) const;
    Result<std::string> text_or(std::string_view name, std::string otherwise) const;
    Result<bool> flag_or(std::string_view name, bool otherwise) const;
    Result<std::int64_t> integer(std::string_view name) const;
    Result<std::size_t> size(std::string_view name) const;
    Result<double> number(std::string_view name) const;  // An integer or a float.
    Result<Value> value(std::string_view name) const;
    // A value inside a request: with bytes for {"$bytes": base64}.
    static Result<Value> plain(const Value& json);
    // The value unchanged: {"$bytes": …} is an ordinary object.
    Result<const Value*> json(std::string_view name) const;
    Result<Bytes> bytes(std::string_view name) const;
    Result<std::vector<Bytes>> bytes_list(std::string_view name) const;
    Result<crdt::PeerId> peer(std::string_view name) const;
    Result<crdt::OpId> op_id(std::string_view name) const;
    Result<crdt::ContainerKind> kind(std::string_view name) const;
    Result<crdt::VersionVector> version_or_empty(std::string_view name) const;
    Result<crdt::Frontiers> frontiers(std::string_view name) const;
    Result<std::vector<crdt::IdSpan>> spans(std::string_view name) const;
    // The container `cid`. Errors also: invalid_argument "wrong_kind" when it is of another kind.
    Result<crdt::ContainerId> container(std::string_view name) const;
    Result<crdt::ContainerId> container(std::string_view name, crdt::ContainerKind kind) const;

private:
    const Map& fields_;
};

Value to_json(const crdt::VersionVector& version);
Value to_json(const crdt::Frontiers& frontiers);
// {peer: [start, end]}, or null when there are none.
Value to_json(const std::vector<crdt::IdSpan>& spans);

}  // namespace quire::cli
