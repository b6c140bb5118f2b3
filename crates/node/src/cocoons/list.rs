//! Lists cocoons.

use super::view;
use crate::context::Context;
use crate::runtime::Caller;
use baton_api::cocoon::CocoonList;

/// The caller's cocoons, by id: those of the settings, and those of the API.
pub fn list(context: &Context, caller: &Caller) -> CocoonList {
    let mut cocoons = context.cocoons.list();
    cocoons.retain(|cocoon| cocoon.owner == caller.owner);
    CocoonList { items: cocoons.iter().map(|cocoon| view(context, cocoon)).collect() }
}
