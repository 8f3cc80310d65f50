// Arguments that need more than a codec: raw JSON, where null is a value, and bytes in base64. Raw
// JSON is moved out of the request, so that a large diff or history is not copied.
#include "cli/driver/argument.h"

namespace quire::cli {

Result<RawJson> Argument<RawJson>::read(EngineCall& call) {
    const std::string_view name = call.names[call.read++];
    Value* const value = call.members.find(name);
    if (value == nullptr)
        return invalid("invalid_argument", cat("`", name, "` must be given (any JSON value)"));
    return RawJson{std::move(*value)};
}

Result<std::optional<RawJson>> Argument<std::optional<RawJson>>::read(EngineCall& call) {
    Value* const value = call.members.find(call.names[call.read++]);
    if (value == nullptr) return std::optional<RawJson>();
    return std::optional(RawJson{std::move(*value)});
}

Result<Value> Argument<Value>::read(EngineCall& call) {
    return plain(TRY(Argument<RawJson>::read(call)).value);
}

Result<Bytes> Argument<Bytes>::read(EngineCall& call) {
    return json::from_base64(TRY(Argument<std::string>::read(call)));
}

Result<std::vector<Bytes>> Argument<std::vector<Bytes>>::read(EngineCall& call) {
    std::vector<Bytes> blobs;
    for (const std::string& each : TRY(Argument<std::vector<std::string>>::read(call)))
        blobs.push_back(TRY(json::from_base64(each)));
    return blobs;
}

}  // namespace quire::cli
