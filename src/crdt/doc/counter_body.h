// CounterBody: the sum of all that was added to a counter.
//
// Floats are added in the order in which they became known here, so peers agree on sums that come
// out exactly (of integers, of dyadic fractions) and may differ in the last digits of others.
#pragma once

#include <vector>

#include "base/value.h"
#include "crdt/doc/site.h"
#include "crdt/history/container_log.h"
#include "crdt/history/past.h"

namespace quire::crdt {

struct CounterBody : Childless, Underived {
    double sum = 0;
    Lv followed = 0;  // The sum holds the ops below it.

    // The sum at a version; a null `at` means after every op. O(new ops), at a version O(ops).
    double total(Site site, const Past* at);
    Value value(Site site, int depth, const Past* at);

    CounterDelta delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    CounterDelta delta_between(Site site, const Past& a, const Past& b);
    CounterDelta delta_from_nothing(Site site, const Past* at);

    static void add(Site site, double delta);
    // Brings the sum from `now` to exactly `wanted`: by one addition, or by two where one would
    // round (minus what is there, plus what is wanted).
    static void bring_to(Site site, double now, double wanted);

    struct Addition {
        Lv lv;
        double delta;
    };
    // The additions in the span, in the order in which they became known here. O(ops in the span).
    static std::vector<Addition> additions(const ContainerLog& log, LvSpan span);

    void check(Site) {}
};

}  // namespace quire::crdt
