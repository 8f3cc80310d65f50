// The sum follows the log when it is read: O(new ops). A version's sum and a difference go over the
// container's ops again.
#include "crdt/doc/counter_body.h"

#include <cmath>

#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

// A value of another kind, which only a foreign peer can have written, adds nothing.
double number(const Value& delta) {
    return delta.is_int()     ? static_cast<double>(delta.as_int())
           : delta.is_float() ? delta.as_float()
                              : 0.0;
}

// The value of an addition in its op. Loro writes small whole numbers as integers.
Value addition(double delta) {
    constexpr double kLeastFloat = 1 << 27;
    const bool is_whole = std::trunc(delta) == delta && std::abs(delta) < kLeastFloat;
    return is_whole ? Value(static_cast<std::int64_t>(delta)) : Value(delta);
}

}  // namespace

std::vector<CounterBody::Addition> CounterBody::additions(const ContainerLog& log, LvSpan span) {
    std::vector<Addition> out;
    for (const Run& run : log.runs_in(span)) {
        if (run.kind == RunKind::increment)
            out.push_back({run.lv, number(std::get<Value>(log.value(run, run.lv)))});
    }
    return out;
}

double CounterBody::total(Site site, const Past* at) {
    const ContainerLog& log = *site.container.log;
    if (at != nullptr) {
        double total = 0;
        for (const LvSpan& span : at->spans())
            for (const Addition& each : additions(log, span)) total += each.delta;
        return total;
    }
    for (const Addition& each : additions(log, {followed, site.document.oplog().end()}))
        sum += each.delta;
    followed = log.end();
    return sum;
}

Value CounterBody::value(Site site, int, const Past* at) {
    return total(site, at);
}

CounterDelta CounterBody::delta_of(Site site, LvSpan, const Past& a, const Past& b) {
    return delta_between(site, a, b);
}

// The sum of the additions that only b has, less the sum of those that only a has.
CounterDelta CounterBody::delta_between(Site site, const Past& a, const Past& b) {
    CounterDelta diff;
    for (const auto& [lv, delta] :
         additions(*site.container.log, {0, site.document.oplog().end()})) {
        if (b.contains(lv) && !a.contains(lv)) diff.increment += delta;
        if (a.contains(lv) && !b.contains(lv)) diff.increment -= delta;
    }
    return diff;
}

CounterDelta CounterBody::delta_from_nothing(Site site, const Past* at) {
    return {total(site, at)};
}

void CounterBody::add(Site site, double delta) {
    OpLog& log = site.document.journal().begin();
    site.container.log->increment(log.end(), addition(delta));
    log.append(site.container.index, 1);
}

// Floats round: `now + (wanted - now)` need not be `wanted`. Going through zero is exact. A sum that
// is not finite stays, since nothing finite changes it.
void CounterBody::bring_to(Site site, double now, double wanted) {
    const double delta = wanted - now;
    if (delta == 0 || !std::isfinite(now)) return;
    if (now + delta == wanted) return add(site, delta);
    add(site, -now);
    add(site, wanted);
}

}  // namespace quire::crdt
