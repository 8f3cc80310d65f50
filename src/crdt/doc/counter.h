// CounterView: reads and changes a counter, the sum of all that was added to it.
//
// Floats are added in the order in which they became known here, so peers agree on sums that come
// out exactly (of integers, of dyadic fractions) and may differ in the last digits of others. Only
// finite numbers are added here, but the sum of several may be an infinity, as in Loro, and other
// programs may add any number.
#pragma once

#include "base/result.h"
#include "crdt/doc/doc.h"

namespace quire::crdt {

class CounterView : public ContainerView {
public:
    double value() const;
    // The value afterwards. Errors, beside those in container_view.h: invalid_argument
    // "not_finite".
    Result<double> add(double delta);
    // Adds what brings the sum to exactly this value, in two additions where one would round. A sum
    // that is not finite stays as it is. Returns the value afterwards. Errors: as of add().
    Result<double> bring_to(double wanted);

private:
    friend class Doc;
    Result<void> check(double number) const;
    CounterView(const Doc& doc, Handle handle) : ContainerView(doc, handle) {}
};

inline CounterView Doc::counter(Handle counter) {
    return {*this, counter};
}
inline const CounterView Doc::counter(Handle counter) const {
    return {*this, counter};
}

}  // namespace quire::crdt
