// counter.*
#include <array>

#include "cli/engine/session.h"

namespace quire::cli {
namespace {

Result<Value> add(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const crdt::ContainerId id = TRY(request.container("cid", crdt::ContainerKind::counter));
    const double delta = TRY(request.number("delta"));
    return Value(TRY(document->doc.counter_add(document->doc.open(id), delta)));
}

constexpr std::array kOps = {EngineOp{"counter.add", add}};

}  // namespace

std::span<const EngineOp> engine_counter_ops() {
    return kOps;
}

}  // namespace quire::cli
