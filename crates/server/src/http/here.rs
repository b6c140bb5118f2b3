//! Where a caller reached this node: the address as the caller named it, which the guard has
//! checked, so that what is answered works for the caller, too.

use crate::context::Context;
use crate::door::HttpConfig;
use crate::door::Refusal;
use axum::extract::FromRequestParts;
use axum::http::header::HOST;
use axum::http::request::Parts;
use baton_api::{ErrorCode, SessionView};
use baton_session::SessionId;
use url::Url;

/// What stands before the host of a `WebSocket`'s address; none when a proxy decides it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scheme(Option<&'static str>);

impl Scheme {
    /// The scheme of a node's door.
    pub(super) fn of(config: &HttpConfig) -> Self {
        Self(match (config.behind_proxy, config.tls) {
            (true, _) => None,
            (false, true) => Some("wss"),
            (false, false) => Some("ws"),
        })
    }
}

/// The address of this node, as a `WebSocket`'s begins.
#[derive(Debug, Clone)]
pub(super) struct Here(Url);

impl Here {
    /// Where tools reach the browser of a session.
    pub(super) fn cdp(&self, session: SessionId) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("/sessions/{session}/cdp"));
        url
    }
}

impl Here {
    /// Where browsers and whoever looks into them connect.
    pub(super) fn signaling(&self) -> Url {
        let mut url = self.0.clone();
        url.set_path("/api/signaling/ws");
        url
    }

    /// The node's address for requests.
    pub(super) fn http(&self) -> Url {
        let scheme = if self.0.scheme() == "wss" { "https" } else { "http" };
        let mut url = self.0.clone();
        // Both are schemes of the same kind, between which a change is allowed.
        let _ = url.set_scheme(scheme);
        url
    }

    /// Says in a view where its browser is driven, if it runs here.
    pub(super) fn tell(&self, context: &Context, mut view: SessionView) -> SessionView {
        let id = view.session.id;
        view.cdp_url = context.hub.holds(id).then(|| self.cdp(id));
        view
    }
}

impl<S: Sync> FromRequestParts<S> for Here {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or(parts.uri.authority().map(axum::http::uri::Authority::as_str));
        let scheme = match parts.extensions.get() {
            Some(Scheme(Some(scheme))) => scheme,
            _ if parts.headers.get("x-forwarded-proto").is_some_and(|told| told == "http") => "ws",
            _ => "wss",
        };
        let url = host.and_then(|host| Url::parse(&format!("{scheme}://{host}/")).ok());
        let detail = "expected the header Host to name this node";
        url.map(Self).ok_or_else(|| Refusal::new(ErrorCode::InvalidRequest, detail))
    }
}
