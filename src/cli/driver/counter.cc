// counter.*
#include <array>

#include "cli/driver/session.h"

namespace quire::cli {
namespace {

Result<Value> counter_add(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::counter));
    const double delta = TRY(request.number("delta"));
    return Value(TRY(target.doc.counter(target.handle).add(delta)));
}

constexpr std::array kCounterOps = {EngineOp{"counter.add", counter_add}};

}  // namespace

std::span<const EngineOp> engine_counter_ops() {
    return kCounterOps;
}

}  // namespace quire::cli
