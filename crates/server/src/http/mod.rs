//! The HTTP door: the whole API on one page.
//!
//! The one idea: a route and its line in `openapi.json` are declared together, here, so neither can be
//! there without the other. What surrounds every request is in `layers`.

mod answer;
mod asks;
mod cdp;
mod debug;
mod displays;
mod events;
mod exchange;
mod federation;
mod forward;
mod invitations;
mod layers;
mod listeners;
mod live;
mod mcp;
mod nodes;
mod oidc;
mod page;
mod peer_listener;
mod request;
mod sandboxes;
mod session_files;
mod sessions;
mod signaling;
mod sync;
mod system;

pub use forward::{Place, ROUTES};
pub use listeners::{DoorError, Listeners};
pub(crate) use peer_listener::reopen;

use crate::context::Context;
use crate::ingress::HttpConfig;
use crate::mcp::Connections;
use crate::page::PagePlace;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use baton_api::Problem;
use baton_api::chat::ChatChunk;
use baton_api::debug::{BrowserMessage, ClientMessage, RelayMessage};
use baton_api::live::{LiveMessage, ViewerMessage};
use baton_api::sandbox::ExecEvent;
use baton_api::sync::SyncStanding;
use baton_runtime::sessions::FILE_LIMIT;
use request::Scheme;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

/// The largest body of a message between nodes: parts, or lists of parts.
const PARCELS_LIMIT: usize = 160 << 20;
/// The largest body of a node that joins, and has proven nothing yet.
const INVITATION_LIMIT: usize = 8 << 10;
/// The largest body of a node that gives a session: the names of all its files.
const TAKE_LIMIT: usize = 2 << 20;
/// The largest body of a caller that has shown nothing yet: a code, and an id where a browser is paired.
const PAIRING_LIMIT: usize = 512;

/// Every route of a node.
fn routes() -> OpenApiRouter<Context> {
    let long = DefaultBodyLimit::max(FILE_LIMIT);
    let files = DefaultBodyLimit::max(baton_agents::sandboxes::FILE_LIMIT);
    let unpacked = from_fn(baton_net::connections::freight::weigh_unpacked);
    OpenApiRouter::with_openapi(Document::openapi())
        // Without a key.
        .routes(routes!(system::health))
        .routes(routes!(system::ready))
        .routes(routes!(system::openapi).layer(layers::answers()))
        // Sessions.
        .routes(routes!(sessions::list).layer(layers::answers()))
        .routes(routes!(sessions::open))
        .routes(routes!(sessions::attach))
        .routes(routes!(sessions::show, sessions::delete))
        .routes(routes!(sessions::capture))
        .routes(routes!(sessions::resume))
        .routes(routes!(sessions::close))
        .routes(routes!(sessions::pass))
        .routes(routes!(asks::ask))
        .routes(routes!(asks::show, asks::withdraw))
        .routes(routes!(sessions::abandon))
        .routes(routes!(sessions::state))
        .routes(routes!(sessions::preview))
        .routes(routes!(sessions::icon))
        .routes(routes!(sessions::logins))
        .routes(routes!(sessions::history).layer(layers::answers()))
        .routes(routes!(sessions::rollback))
        .routes(routes!(sessions::diff))
        .routes(routes!(cdp::connect, cdp::open))
        .routes(routes!(live::connect, live::open))
        .routes(routes!(session_files::list))
        .routes(routes!(session_files::get, session_files::put, session_files::remove))
        .routes(routes!(sessions::export))
        .routes(routes!(sessions::contexts))
        .routes(routes!(sessions::keep_context))
        .routes(routes!(sessions::import).layer((layers::bodies(), unpacked.clone(), long)))
        // Other nodes.
        .routes(routes!(sync::save))
        .routes(routes!(sync::directory))
        .routes(routes!(sync::download, sync::delete))
        .routes(routes!(sync::upload).layer((layers::bodies(), unpacked.clone(), long)))
        .routes(routes!(sync::seal))
        .routes(routes!(sync::open).layer((layers::bodies(), unpacked.clone(), long)))
        .routes(routes!(sync::list_peers, sync::register_peer))
        .routes(routes!(sync::remove_peer))
        .routes(routes!(sync::confirm_peer))
        .routes(routes!(sync::limit_peer))
        .routes(routes!(sync::ping_peer))
        .routes(routes!(invitations::list, invitations::invite))
        .routes(routes!(invitations::cancel))
        .routes(routes!(invitations::join))
        .routes(routes!(invitations::close_listener))
        .routes(routes!(sync::differences).layer(layers::answers()))
        .routes(routes!(sync::icon))
        .routes(routes!(sync::pull))
        .routes(routes!(sync::push))
        .routes(routes!(sync::conflicts).layer(layers::answers()))
        .routes(routes!(sync::conflict, sync::resolve))
        // Between nodes.
        .routes(routes!(exchange::card))
        .merge(between_nodes())
        // Nodes that are one.
        .merge(of_a_cluster())
        // Who may what, and does.
        .merge(of_keys())
        // The page.
        .routes(routes!(page::ticket))
        .routes(routes!(page::sign_in).layer(DefaultBodyLimit::max(PAIRING_LIMIT)))
        .routes(routes!(page::show, page::sign_out))
        .routes(routes!(oidc::ways))
        .routes(routes!(oidc::depart).layer(DefaultBodyLimit::max(PAIRING_LIMIT)))
        .routes(routes!(oidc::arrive))
        // A person who was asked.
        .routes(routes!(asks::look).layer(DefaultBodyLimit::max(PAIRING_LIMIT)))
        .routes(routes!(asks::redeem).layer(DefaultBodyLimit::max(PAIRING_LIMIT)))
        .routes(routes!(asks::stand))
        .routes(routes!(asks::end))
        .routes(routes!(asks::put_file))
        .routes(routes!(asks::connect, asks::open_live))
        // Agents that take turns.
        .routes(routes!(federation::show, federation::change))
        .routes(routes!(federation::sessions))
        .routes(routes!(federation::events))
        // What changes.
        .routes(routes!(events::changes))
        .routes(routes!(events::sync))
        // What tabs do.
        .routes(routes!(debug::list_tabs))
        .routes(routes!(debug::network).layer(layers::answers()))
        .routes(routes!(debug::console).layer(layers::answers()))
        .routes(routes!(debug::har).layer(layers::answers()))
        .routes(routes!(sessions::debug))
        .routes(routes!(debug::pair))
        .routes(routes!(debug::exchange).layer(DefaultBodyLimit::max(PAIRING_LIMIT)))
        .routes(routes!(debug::connect))
        .routes(routes!(signaling::connect))
        // Services behind the proxy.
        .routes(routes!(debug::list))
        .routes(routes!(debug::put, debug::remove))
        .routes(routes!(debug::enter))
        // Sandboxes.
        .routes(routes!(sandboxes::create).layer((layers::bodies(), unpacked.clone(), long)))
        .routes(routes!(sandboxes::list))
        .routes(routes!(sandboxes::show, sandboxes::delete))
        .routes(routes!(displays::connect, displays::open))
        .routes(routes!(sandboxes::exec))
        .routes(routes!(sandboxes::read))
        .routes(routes!(sandboxes::write).layer(files))
        // Agents that are asked as if they were models.
        .routes(routes!(sandboxes::models))
        .routes(routes!(sandboxes::model))
        .routes(routes!(sandboxes::complete))
        // Models.
        .routes(routes!(mcp::post, mcp::listen, mcp::end))
}

/// Keys, what their owners have, and what was done with them.
fn of_keys() -> OpenApiRouter<Context> {
    OpenApiRouter::new()
        .routes(routes!(system::list, system::create))
        .routes(routes!(system::revoke))
        .routes(routes!(system::usage))
        .routes(routes!(system::list_audit).layer(layers::answers()))
}

/// The nodes that are one.
fn of_a_cluster() -> OpenApiRouter<Context> {
    OpenApiRouter::new()
        .routes(routes!(nodes::list))
        .routes(routes!(nodes::show, nodes::forget))
        .routes(routes!(nodes::drain, nodes::end_drain))
        .routes(routes!(nodes::call_tool))
        .routes(
            routes!(nodes::take_session, nodes::forget_session)
                .layer(DefaultBodyLimit::max(TAKE_LIMIT)),
        )
        .routes(routes!(nodes::make_ready))
        .routes(routes!(nodes::receive_file, nodes::forget_file))
}

/// What nodes ask each other in messages that they sign: all that the listener for peers answers.
fn between_nodes() -> OpenApiRouter<Context> {
    OpenApiRouter::new()
        .routes(routes!(sync::index).layer(layers::answers()))
        .routes(routes!(events::next_index))
        .routes(routes!(exchange::greeting))
        .routes(routes!(exchange::revisions))
        .routes(routes!(exchange::seen))
        .routes(routes!(exchange::offer).layer(DefaultBodyLimit::max(PARCELS_LIMIT)))
        .routes(routes!(exchange::peer_lease))
        .routes(routes!(exchange::icon))
        .routes(routes!(exchange::fetch))
        .routes(routes!(exchange::give).layer(DefaultBodyLimit::max(PARCELS_LIMIT)))
        .routes(routes!(invitations::redeem).layer(DefaultBodyLimit::max(INVITATION_LIMIT)))
}

/// The service of the listener for peers.
fn peer_router(context: Context, config: &HttpConfig) -> Router {
    let served = OpenApiRouter::new().routes(routes!(system::health)).merge(between_nodes());
    let (router, _) = served.split_for_parts();
    let signed = router.layer(from_fn(peer_listener::expect_signed));
    let signed = signed.layer(axum::Extension(Scheme::of(config)));
    layers::around(signed, &context, config).with_state(context)
}

/// The service of a node.
pub fn router(context: Context, config: &HttpConfig) -> Router {
    let (router, document) = routes().split_for_parts();
    let connections = Connections::new(&context, config.body_bytes);
    let public = context.own.node_settings.public_url.clone();
    let published = config.published.map(|address| address.port());
    let place = PagePlace::new(context.node, public, published);
    let router = router
        .layer(from_fn_with_state(context.clone(), forward::pass))
        .merge(page::files())
        .layer(axum::Extension(place))
        .layer(axum::Extension(system::WrittenDocument::of(&document)))
        .layer(axum::Extension(connections))
        .layer(axum::Extension(Scheme::of(config)));
    layers::around(router, &context, config).with_state(context)
}

/// The document of the API, as `/openapi.json` serves it.
pub fn document() -> utoipa::openapi::OpenApi {
    routes().split_for_parts().1
}

/// What the document says beyond its routes.
#[derive(OpenApi)]
#[openapi(
    info(title = "Baton", description = "Keeps browser sessions alive. Every error is a problem."),
    // What goes over the relay's WebSocket, or as an event, belongs to no operation.
    components(schemas(
        Problem, BrowserMessage, ClientMessage, RelayMessage, ExecEvent, ChatChunk, SyncStanding,
        LiveMessage, ViewerMessage
    )),
    modifiers(&ApiKey)
)]
struct Document;

/// How callers say who they are.
struct ApiKey;

impl Modify for ApiKey {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        if let Some(components) = document.components.as_mut() {
            components.add_security_scheme("api_key", scheme);
        }
    }
}
