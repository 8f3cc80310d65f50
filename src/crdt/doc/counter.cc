#include "crdt/doc/counter.h"

#include <cmath>

#include "crdt/doc/body.h"

namespace quire::crdt {

double CounterView::value() const {
    return container().as<CounterBody>().total(site(), body().at());
}

Result<void> CounterView::check(double number) const {
    if (body().editable(handle(), ContainerKind::counter) == nullptr)
        return body().refuse(handle(), ContainerKind::counter);
    if (!std::isfinite(number))
        return invalid("not_finite", "a counter adds finite numbers only; nothing was changed");
    return {};
}

Result<double> CounterView::add(double delta) {
    TRY(check(delta));
    CounterBody::add(site(), delta);
    return value();
}

Result<double> CounterView::bring_to(double wanted) {
    TRY(check(wanted));
    CounterBody::bring_to(site(), value(), wanted);
    return value();
}

}  // namespace quire::crdt
