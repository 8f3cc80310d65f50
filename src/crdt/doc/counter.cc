// Counters: a sum of deltas.
//
// Floats are added in the order in which they became known here, so peers agree on sums that come
// out exactly (of integers, of dyadic fractions) and may differ in the last digits of others.
#include "crdt/doc/counter.h"

#include <cmath>

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

double number(const Value& delta) {
    return delta.is_int()     ? static_cast<double>(delta.as_int())
           : delta.is_float() ? delta.as_float()
                              : 0.0;
}

// Calls add(atom, delta) for those in `span`.
template <class Add>
void for_each_delta(const ContainerLog& log, LvSpan span, Add add) {
    for (const Run& run : log.runs_in(span)) {
        if (run.kind == RunKind::increment)
            add(run.lv, number(std::get<Value>(log.value(run, run.lv))));
    }
}

}  // namespace

double DocBody::counter_value(Container& c, const Past* at) {
    CHECK(c.id.kind == ContainerKind::counter);
    const ContainerLog& log = log_of(c);
    if (at != nullptr) {
        double sum = 0;
        for (const LvSpan& span : at->spans())
            for_each_delta(log, span, [&](Lv, double delta) { sum += delta; });
        return sum;
    }
    for_each_delta(log, {c.flushed, log_.end()}, [&](Lv, double delta) { c.sum += delta; });
    c.flushed = log.end();
    return c.sum;
}

// The sum of what only b has, less that of what only a has.
CounterDelta DocBody::counter_diff(Container& c, const Past& a, const Past& b) {
    CounterDelta diff;
    for_each_delta(log_of(c), {0, log_.end()}, [&](Lv lv, double delta) {
        if (b.contains(lv) && !a.contains(lv)) diff.increment += delta;
        if (a.contains(lv) && !b.contains(lv)) diff.increment -= delta;
    });
    return diff;
}

void DocBody::counter_add(Container& c, Value delta) {
    begin();
    log_of(c).increment(log_.end(), std::move(delta));
    log_.append(c.index, 1);
}

// As Loro writes it: small whole numbers as integers.
Value DocBody::counter_delta(double delta) {
    constexpr double kLeastFloat = 1 << 27;
    const bool is_whole = std::trunc(delta) == delta && std::abs(delta) < kLeastFloat;
    return is_whole ? Value(static_cast<std::int64_t>(delta)) : Value(delta);
}

double CounterView::value() const {
    return body().counter_value(container(), body().at());
}

Result<double> CounterView::add(double delta) {
    Container* c = body().editable(handle(), ContainerKind::counter);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::counter);
    if (!std::isfinite(delta)) {
        return invalid("not_finite", "a counter adds finite numbers only; nothing was changed");
    }
    body().counter_add(*c, DocBody::counter_delta(delta));
    return value();
}

}  // namespace quire::crdt
