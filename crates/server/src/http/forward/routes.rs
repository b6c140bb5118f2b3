//! Which routes need the node of the session that they name: the one table.
//!
//! The one idea: a new route below `/sessions/{id}` has to say which it is; a story compares the table with the
//! document of the API. All other routes are answered by the node that was asked.

use axum::http::{Method, Uri};
use baton_session::NodeId;

/// Where a request about a session is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At any node: the database says it.
    Anywhere,
    /// At the node of the session: it has the browser, the profile, the files or the tickets.
    SessionsNode,
    /// At the node of the session, which has its profile, while it is there and has room; else at one with room.
    SessionsNodeOrRoom,
    /// At a node with room for one browser more.
    Room,
    /// At the node that the path names, while it is there.
    NamedNode,
    /// At the node that made the sandbox which the path names.
    SandboxesNode,
    /// At the node of the session that is handed in; else at one with room.
    SandboxRoom,
    /// At the node of the ask that a guest shows.
    AsksNode,
    /// At the node that gave out the code, or the state, which a browser brings.
    CodesNode,
    /// At the node that has what the tab did which the path names.
    TabsNode,
    /// At the node that gave out the code, or the ticket, which a person's browser brings.
    BrowsersNode,
    /// At the node that was asked, which asks all others.
    Everywhere,
    /// At the node that began the client's session of the Model Context Protocol, which a header names.
    McpSessionsNode,
}

use Place::{
    Anywhere, AsksNode, BrowsersNode, CodesNode, Everywhere, McpSessionsNode, NamedNode, Room,
    SandboxRoom, SandboxesNode, SessionsNode, SessionsNodeOrRoom, TabsNode,
};

/// Every route that names a session, a node or a sandbox, those that make what runs at a node, those of tabs,
/// of guests and of people who sign in, and those of the Model Context Protocol.
pub const ROUTES: &[(&str, &str, Place)] = &[
    // What it says of itself is more than what the database knows of it.
    ("GET", "/nodes/{id}", NamedNode),
    // It is gone.
    ("DELETE", "/nodes/{id}", Anywhere),
    ("POST", "/nodes/{id}/drain", NamedNode),
    ("DELETE", "/nodes/{id}/drain", NamedNode),
    ("POST", "/nodes/{id}/sessions/{session}", NamedNode),
    ("POST", "/nodes/{id}/tools/{tool}", NamedNode),
    ("GET", "/mcp", McpSessionsNode),
    ("POST", "/mcp", McpSessionsNode),
    ("DELETE", "/mcp", McpSessionsNode),
    ("GET", "/api/sandboxes", Everywhere),
    ("POST", "/api/sandboxes", SandboxRoom),
    ("GET", "/api/sandboxes/{id}", SandboxesNode),
    ("DELETE", "/api/sandboxes/{id}", SandboxesNode),
    ("GET", "/api/sandboxes/{id}/display", SandboxesNode),
    ("POST", "/api/sandboxes/{id}/display", SandboxesNode),
    ("POST", "/api/sandboxes/{id}/exec", SandboxesNode),
    ("GET", "/api/sandboxes/{id}/files", SandboxesNode),
    ("PUT", "/api/sandboxes/{id}/files", SandboxesNode),
    ("POST", "/v1/chat/completions", SandboxRoom),
    ("GET", "/debug/tabs", Everywhere),
    ("POST", "/debug/tabs/{token}/network", TabsNode),
    ("POST", "/debug/tabs/{token}/console", TabsNode),
    ("GET", "/debug/tabs/{token}/har", TabsNode),
    ("POST", "/debug/pair/exchange", BrowsersNode),
    ("GET", "/api/signaling/ws", BrowsersNode),
    ("POST", "/page/session", CodesNode),
    ("GET", "/page/oidc/callback", CodesNode),
    ("POST", "/asked/look", AsksNode),
    ("POST", "/asked/open", AsksNode),
    ("GET", "/asked", AsksNode),
    ("POST", "/asked/end", AsksNode),
    ("PUT", "/asked/files/{name}", AsksNode),
    ("GET", "/asked/live", AsksNode),
    ("POST", "/asked/live", AsksNode),
    ("DELETE", "/nodes/{id}/sessions/{session}", NamedNode),
    ("PUT", "/nodes/{id}/sessions/{session}/files/{name}", NamedNode),
    ("DELETE", "/nodes/{id}/sessions/{session}/files/{name}", NamedNode),
    ("POST", "/nodes/{id}/sessions/{session}/profile", NamedNode),
    ("POST", "/sessions", Room),
    // Its tabs, its way out and where it is driven are its browser's.
    ("GET", "/sessions/{id}", SessionsNode),
    ("DELETE", "/sessions/{id}", SessionsNode),
    ("POST", "/sessions/{id}/abandon", SessionsNode),
    // Who asks a person waits where the ask is.
    ("POST", "/sessions/{id}/ask", SessionsNode),
    ("GET", "/sessions/{id}/ask/{ask}", SessionsNode),
    ("DELETE", "/sessions/{id}/ask/{ask}", SessionsNode),
    ("POST", "/sessions/{id}/capture", SessionsNode),
    ("GET", "/sessions/{id}/cdp", SessionsNode),
    ("POST", "/sessions/{id}/cdp", SessionsNode),
    ("POST", "/sessions/{id}/close", SessionsNode),
    ("GET", "/sessions/{id}/contexts", SessionsNode),
    ("POST", "/sessions/{id}/contexts/keep", SessionsNode),
    ("POST", "/sessions/{id}/debug", SessionsNode),
    ("GET", "/sessions/{id}/diff", Anywhere),
    // What is active is captured first.
    ("GET", "/sessions/{id}/export", SessionsNode),
    ("GET", "/sessions/{id}/files", SessionsNode),
    ("GET", "/sessions/{id}/files/{name}", SessionsNode),
    ("PUT", "/sessions/{id}/files/{name}", SessionsNode),
    ("DELETE", "/sessions/{id}/files/{name}", SessionsNode),
    ("GET", "/sessions/{id}/history", Anywhere),
    ("GET", "/sessions/{id}/icon", Anywhere),
    ("GET", "/sessions/{id}/live", SessionsNode),
    ("POST", "/sessions/{id}/live", SessionsNode),
    ("GET", "/sessions/{id}/logins", Anywhere),
    // Connections to its browser hear of it at once.
    ("POST", "/sessions/{id}/pass", SessionsNode),
    ("GET", "/sessions/{id}/preview", Anywhere),
    ("POST", "/sessions/{id}/resume", SessionsNodeOrRoom),
    ("POST", "/sessions/{id}/rollback", SessionsNode),
    ("POST", "/sessions/{id}/save", SessionsNode),
    ("GET", "/sessions/{id}/state", Anywhere),
];

/// Where a request for a route is answered; none for a route that names no session.
pub(super) fn place(method: &Method, route: &str) -> Option<Place> {
    // What answers GET answers HEAD.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let found = ROUTES.iter().find(|(of, path, _)| *of == method.as_str() && *path == route);
    found.map(|(_, _, place)| *place)
}

/// The session that the path of such a request names.
pub(super) fn session(path: &str) -> Option<String> {
    named(path, "/sessions/")
}

/// The node that the path of such a request names.
pub(super) fn node(path: &str) -> Option<String> {
    named(path, "/nodes/")
}

/// The token of a tab that the path of such a request names.
pub(super) fn tab(path: &str) -> Option<String> {
    named(path, "/debug/tabs/")
}

/// The sandbox that the path of such a request names.
pub(super) fn sandbox(path: &str) -> Option<String> {
    named(path, "/api/sandboxes/")
}

fn named(path: &str, before: &str) -> Option<String> {
    let rest = path.strip_prefix(before)?;
    let named = rest.split('/').next()?;
    let named = percent_encoding::percent_decode_str(named).decode_utf8().ok()?;
    Some(named.into_owned())
}

/// The same address, with the node by its id.
pub(super) fn with_node(uri: &Uri, node: NodeId) -> Uri {
    let rest = uri.path().strip_prefix("/nodes/").and_then(|rest| rest.split_once('/'));
    let rest = rest.map(|(_, rest)| format!("/{rest}")).unwrap_or_default();
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let same = format!("/nodes/{node}{rest}{query}");
    same.parse().unwrap_or_else(|_| uri.clone())
}

/// Whether a request to this path has the link of an ask in its body.
pub(super) fn brings_link(path: &str) -> bool {
    matches!(path, "/asked/look" | "/asked/open")
}

/// Whether a request to this path is a guest's.
pub(super) fn is_guests(path: &str) -> bool {
    path == "/asked" || path.starts_with("/asked/")
}

/// The ticket in the query of an address.
pub(super) fn ticket(query: Option<&str>) -> Option<String> {
    in_query(query, "ticket")
}

/// The mark of a node in the query of an address.
pub(super) fn node_in(query: Option<&str>) -> Option<String> {
    in_query(query, "node")
}

/// What a provider sends a browser back with, in the query of an address.
pub(super) fn state(query: Option<&str>) -> Option<String> {
    in_query(query, "state")
}

fn in_query(query: Option<&str>, wanted: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query?.as_bytes());
    pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
}
