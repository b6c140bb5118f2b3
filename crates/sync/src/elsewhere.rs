//! The nodes elsewhere, as sessions ask them.

use super::context::{Own, Sync};
use super::delete::bury;
use super::lease;
use super::origin::provenance;
use super::shown::shown;
use super::working::{expect_there, is_shared, settle};
use baton_api::sync::{HandedView, SharedView};
use baton_runtime::Caller;
use baton_runtime::table::Hold;
use baton_runtime::{Answer, Consent, Peers, Runtime};
use baton_session::wire::Provenance;
use baton_session::{Owner, Session, SessionId};
use std::sync::Arc;

/// The nodes that this one knows.
pub struct Nodes(pub Arc<Own>);

impl Nodes {
    fn with(&self, runtime: &Runtime) -> Sync {
        Sync { runtime: runtime.clone(), own: Arc::clone(&self.0) }
    }
}

impl Peers for Nodes {
    fn take<'a>(
        &'a self,
        runtime: &'a Runtime,
        by: &'a Caller,
        hold: &'a Hold,
        consent: Consent,
    ) -> Answer<'a, Option<HandedView>> {
        Box::pin(async move { Ok(lease::take(&self.with(runtime), by, hold, consent).await?) })
    }

    fn settle<'a>(
        &'a self,
        runtime: &'a Runtime,
        hold: &'a Hold,
        session: &'a Session,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(settle(&self.with(runtime), hold, session).await?) })
    }

    fn expect_there<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, ()> {
        Box::pin(async move { Ok(expect_there(&self.with(runtime), session).await?) })
    }

    fn release<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        session: SessionId,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(lease::release(&self.with(runtime), owner, session).await?) })
    }

    fn hear<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        session: SessionId,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(lease::hear(&self.with(runtime), owner, session).await?) })
    }

    fn look_at_holder<'a>(
        &'a self,
        runtime: &'a Runtime,
        by: &'a Caller,
        session: SessionId,
    ) -> Answer<'a, bool> {
        Box::pin(async move { Ok(lease::look_at_holder(&self.with(runtime), by, session).await?) })
    }

    fn is_shared<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, bool> {
        Box::pin(async move { Ok(is_shared(&self.with(runtime), session).await?) })
    }

    fn bury<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        hold: &'a Hold,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(bury(&self.with(runtime), owner, hold).await?) })
    }

    fn shown<'a>(
        &'a self,
        runtime: &'a Runtime,
        session: &'a Session,
    ) -> Answer<'a, Option<SharedView>> {
        Box::pin(async move { Ok(shown(&self.with(runtime), session).await?) })
    }

    fn provenance<'a>(
        &'a self,
        runtime: &'a Runtime,
        session: &'a Session,
    ) -> Answer<'a, Provenance> {
        Box::pin(async move {
            let (owner, made) = (&session.owner, session.created_at);
            let sync = self.with(runtime);
            Ok(provenance(&sync, owner, session.node, made, owner.to_string()).await?)
        })
    }
}
