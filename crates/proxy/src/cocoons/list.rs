//! Lists cocoons.

use super::front::Front;
use super::view;
use baton_api::cocoon::CocoonList;
use baton_runtime::Caller;

/// The caller's cocoons, by id: those of the settings, and those of the API.
pub fn list(front: &Front, caller: &Caller) -> CocoonList {
    let mut cocoons = front.cocoons.list();
    cocoons.retain(|cocoon| cocoon.owner == caller.owner);
    CocoonList { items: cocoons.iter().map(|cocoon| view(front, cocoon)).collect() }
}
