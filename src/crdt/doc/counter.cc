#include "crdt/doc/counter.h"

#include <cmath>

#include "crdt/doc/body.h"

namespace quire::crdt {

double CounterView::value() const {
    return container().as<CounterBody>().total(site(), body().at());
}

Result<double> CounterView::add(double delta) {
    Container* c = body().editable(handle(), ContainerKind::counter);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::counter);
    if (!std::isfinite(delta)) {
        return invalid("not_finite", "a counter adds finite numbers only; nothing was changed");
    }
    CounterBody::add(site(), delta);
    return value();
}

}  // namespace quire::crdt
