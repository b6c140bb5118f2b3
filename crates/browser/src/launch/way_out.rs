//! The only way out of a browser to the network, as it is told of it: the switches that lead everything there,
//! and how many connections it may have.

use super::options::LaunchError;
use super::settings;
use std::path::Path;

/// The name of a session's way out, which is the only one that its browser can resolve: `.invalid` is no name
/// of the internet (RFC 6761, section 6.4).
const NAME: &str = "way-out.baton.invalid";

/// What leads a browser to its way out and nowhere else, tried with 124 other ways. Without the second, this
/// machine's own addresses are asked directly (`net/proxy_resolution/proxy_bypass_rules.cc`); without the
/// third, names are asked of DNS, and contexts with a proxy of their own find one; without the last, WebRTC
/// sends UDP.
pub(super) fn switches(port: u16) -> [String; 4] {
    [
        format!("--proxy-server=http://{NAME}:{port}"),
        "--proxy-bypass-list=<-loopback>".to_owned(),
        format!("--host-resolver-rules=MAP {NAME}:{port} 127.0.0.1:{port} , MAP * ~NOTFOUND"),
        "--webrtc-ip-handling-policy=disable_non_proxied_udp".to_owned(),
    ]
}

/// How many connections Chromium may have to a proxy, and how many `WebSocket`s: the most that it takes
/// (`net/socket/client_socket_pool_manager.cc`), where it has some hundred by itself.
const CONNECTIONS: u8 = 255;

/// Lets the browsers on `profile` have as many connections to one proxy as they can. Settings that cannot be
/// read are left to the browser, which makes new ones.
pub(super) fn raise_connections(profile: &Path) -> Result<(), LaunchError> {
    settings::change(&profile.join("Local State"), "net", |net| {
        for name in ["max_connections_per_proxy", "max_connections_per_proxy_for_websocket"] {
            net.insert(name.to_owned(), CONNECTIONS.into());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::raise_connections;
    use std::fs;

    #[test]
    fn what_else_is_in_the_settings_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Local State");
        raise_connections(folder.path()).unwrap();
        let made = fs::read_to_string(&path).unwrap();
        fs::write(&path, r#"{"a":[1],"net":{"b":2,"max_connections_per_proxy":8}}"#).unwrap();
        raise_connections(folder.path()).unwrap();
        insta::assert_snapshot!(
            format!("{made}\n{}", fs::read_to_string(&path).unwrap()),
            @r#"
        {"net":{"max_connections_per_proxy":255,"max_connections_per_proxy_for_websocket":255}}
        {"a":[1],"net":{"b":2,"max_connections_per_proxy":255,"max_connections_per_proxy_for_websocket":255}}
        "#
        );
        fs::write(&path, "{").unwrap();
        raise_connections(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{", "it is the browser's to mend");
    }
}
