// The door of this room. A check asks for the verdict alone, which builds no text; only after a no
// is the value walked again for the words of the first fault. Both walks have a budget of their
// own: what is left after a costly verdict would not suffice to explain it.
//
// A walk that runs out of depth or steps has no verdict, and the value is refused. Stopped answers
// look like a no inside of the walk, so `stopped` is asked before a no is believed.

#include "json/schema/schema.h"

#include <utility>

#include "base/concat.h"
#include "json/schema/compile.h"
#include "json/schema/node.h"

namespace quire::json {
namespace {

// The error for a walk that ended without a verdict.
Failure stopped(const detail::Check& check) {
    if (check.too_deep()) {
        return fail(Errc::invalid_argument, "too_deep",
                    cat("the value nests deeper than the ", Schema::kDepth,
                        " schemas within schemas that are followed; give one that nests less"),
                    {{"path", ""}, {"limit", Schema::kDepth}});
    }
    return fail(Errc::invalid_argument, "too_costly",
                cat("checking the value against the schema takes more than ", Schema::kSteps,
                    " steps; give a smaller value"),
                {{"limit", Schema::kSteps}});
}

}  // namespace

struct Schema::Body {
    detail::Graph graph;
};

Schema::Schema(std::unique_ptr<const Body> body) : body_(std::move(body)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

Result<Schema> Schema::compile(const Value& schema, const SchemaOptions& options) {
    auto body = std::make_unique<Body>();
    body->graph = TRY(detail::Compiler(options).compile(schema));
    return Schema(std::move(body));
}

Result<void> Schema::check(const Value& instance) const {
    const detail::Graph& graph = body_->graph;
    detail::Check verdict(graph.scoped);
    if (verdict.holds(*graph.root, instance)) return {};
    if (verdict.stopped()) return stopped(verdict);

    detail::Check words(graph.scoped);
    Error error = words.explain(*graph.root, instance, detail::Place());
    // Explaining a fault may take more steps than finding it.
    if (words.stopped()) {
        return Failure(detail::violation(detail::Place(), "schema",
                                         "the value does not fit the schema, in more ways than "
                                         "could be looked at"));
    }
    return Failure(std::move(error));
}

// Most values fit as they are: the changes are tried only after a no.
Result<Value> Schema::accept(Value instance, bool is_unwrapped) const {
    const detail::Graph& graph = body_->graph;
    detail::Check as_it_is(graph.scoped);
    if (as_it_is.holds(*graph.root, instance) && !as_it_is.saw_float_integer()) return instance;

    detail::Check steps(graph.scoped);
    detail::normalise(*graph.root, instance, steps, is_unwrapped);
    TRY(check(instance));
    return instance;
}

}  // namespace quire::json
