//! The listed host over TLS: a certificate that says where its issuer's lies, and answers of HTTP/2 that hint at other
//! hosts before they come.

use super::way::{LISTED, Way, Ways};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, CustomExtension, Issuer, KeyPair, PublicKeyData};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

/// The ways, the port of the listed host where each begins, and what it hints at.
pub(super) const OF_TLS: &[(&str, u16, &str)] = &[
    ("issuer-of-certificate", 9443, ""),
    ("early-hints-preload", 8443, "<$TLS>; rel=preload; as=script"),
    ("early-hints-preconnect", 8444, "<$TLS>; rel=preconnect"),
];

/// Listens at the ports of all ways, for as long as the process lives. Tells the switch by which a browser trusts
/// this host.
pub(super) async fn listen(ways: &Ways) -> String {
    let mut trusted = Vec::new();
    for (name, port, hint) in OF_TLS {
        let way = ways.of(name);
        let key = KeyPair::generate().unwrap();
        let is_known = !hint.is_empty();
        if is_known {
            trusted.push(STANDARD.encode(Sha256::digest(key.subject_public_key_info())));
        }
        let acceptor = acceptor(&way, &key, is_known);
        let listener = TcpListener::bind((LISTED.1, *port)).await.unwrap();
        let hint = way.fill(hint);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, acceptor.clone(), hint.clone()));
            }
        });
    }
    format!("--ignore-certificate-errors-spki-list={}", trusted.join(","))
}

/// With a certificate that nobody issued whom the browser knows: it is told at which host to find that one.
fn acceptor(way: &Way, key: &KeyPair, is_known: bool) -> TlsAcceptor {
    let mut params = CertificateParams::new(vec![LISTED.0.to_owned()]).unwrap();
    if !is_known {
        let content = issuer_at(&way.fill("$URL"));
        // `id-pe-authorityInfoAccess` (RFC 5280, section 4.2.2.1).
        let extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], content);
        params.custom_extensions.push(extension);
    }
    let issuer = Issuer::new(CertificateParams::default(), KeyPair::generate().unwrap());
    let certificate = params.signed_by(key, &issuer).unwrap().der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// One description of access: `id-ad-caIssuers`, and a short address.
fn issuer_at(url: &str) -> Vec<u8> {
    let within = |tag: u8, content: Vec<u8>| {
        let length = u8::try_from(content.len()).ok().filter(|length| *length < 128).unwrap();
        [vec![tag, length], content].concat()
    };
    let method = vec![0x06, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, 2];
    let place = within(0x86, url.as_bytes().to_vec());
    within(0x30, within(0x30, [method, place].concat()))
}

/// The kinds of frames that are sent or looked at (RFC 9113, section 6), and what the flags of one mean.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_OF_STREAM: u8 = 1;
const END_OF_HEADERS: u8 = 4;
const ACKNOWLEDGES: u8 = 1;
/// What a client says first.
const PREFACE: usize = 24;

async fn serve(stream: TcpStream, acceptor: TlsAcceptor, hint: String) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    // A client that leaves has heard enough.
    let _ = speak(&mut stream, &hint).await;
}

async fn speak(stream: &mut TlsStream<TcpStream>, hint: &str) -> std::io::Result<()> {
    stream.read_exact(&mut [0; PREFACE]).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut content = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut content).await?;
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match (head[3], head[4]) {
            (SETTINGS, 0) => stream.write_all(&frame(SETTINGS, ACKNOWLEDGES, 0, &[])).await?,
            (HEADERS, _) => {
                // `:status: 103` and `link`, then `:status: 200` and `content-type` (RFC 7541, appendix A).
                let early = [field(&[0x08], "103"), field(&[0x0f, 30], hint)].concat();
                stream.write_all(&frame(HEADERS, END_OF_HEADERS, id, &early)).await?;
                let late = [vec![0x88], field(&[0x0f, 16], "text/html")].concat();
                stream.write_all(&frame(HEADERS, END_OF_HEADERS, id, &late)).await?;
                stream.write_all(&frame(DATA, END_OF_STREAM, id, b"a")).await?;
            }
            _ => {}
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// A field that is not kept, whose name is known by its number.
fn field(name: &[u8], value: &str) -> Vec<u8> {
    let length = u8::try_from(value.len()).ok().filter(|length| *length < 127).unwrap();
    [name, &[length], value.as_bytes()].concat()
}
