//! TLS: a real handshake, and certificates that cannot be used.

use crate::fixture::{Folder, Node};
use baton_net::tls::TlsFiles;
use baton_server::{ServeError, serve};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_util::sync::CancellationToken;

/// The name in the certificate.
const NAME: &str = "baton.example.org";

/// A certificate in the folder, and the files that hold it.
fn certificate(folder: &Folder) -> (CertificateDer<'static>, TlsFiles) {
    let names = vec![NAME.to_owned(), "127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let files = TlsFiles { certificate: file(folder, "tls.crt"), key: file(folder, "tls.key") };
    std::fs::write(&files.certificate, cert.pem()).unwrap();
    std::fs::write(&files.key, signing_key.serialize_pem()).unwrap();
    (cert.der().clone(), files)
}

fn file(folder: &Folder, name: &str) -> PathBuf {
    folder.data.path().join(name)
}

/// The answer to a request over TLS, by a client that trusts this certificate only.
async fn ask(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    name: &'static str,
    headers: &str,
) -> io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name).unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let request = format!("GET /sessions HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8(answer).unwrap())
}

/// A node that speaks TLS, its address, and its certificate.
async fn secured() -> (Node, SocketAddr, CertificateDer<'static>) {
    let folder = Folder::new();
    let (trusted, files) = certificate(&folder);
    let mut config = folder.config();
    config.exposure.tls = Some(files);
    config.exposure.allowed_hosts = vec![NAME.to_owned()];
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().unwrap().port()));
    (folder.start_at(config, listener).await, address, trusted)
}

#[tokio::test]
async fn other_machines_talk_to_a_node_over_tls() {
    let (node, address, trusted) = secured().await;
    let key = format!("Authorization: Bearer {}\r\n", node.admin_key());
    let headers = format!("Host: {NAME}\r\n{key}");
    let answer = ask(address, &trusted, NAME, &headers).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let origin = format!("{headers}Origin: https://{NAME}\r\n");
    assert!(ask(address, &trusted, NAME, &origin).await.unwrap().contains(" 200 OK\r\n"));
    let clear = format!("{headers}Origin: http://{NAME}\r\n");
    assert!(ask(address, &trusted, NAME, &clear).await.unwrap().contains(" 403 Forbidden\r\n"));
    let rebound = format!("Host: evil.test\r\n{key}");
    assert!(ask(address, &trusted, NAME, &rebound).await.unwrap().contains(" 403 Forbidden\r\n"));
    let no_key = format!("Host: {NAME}\r\n");
    assert!(ask(address, &trusted, NAME, &no_key).await.unwrap().contains(" 401 Unauthorized\r\n"));

    let unnamed = ask(address, &trusted, "other.example.org", &headers).await.unwrap_err();
    assert_eq!(unnamed.kind(), io::ErrorKind::InvalidData, "the certificate is for another name");
    let (another, _files) = certificate(&Folder::new());
    assert!(ask(address, &another, NAME, &headers).await.is_err(), "it is not trusted");
    node.stop().await;
}

#[tokio::test]
async fn commands_of_this_machine_find_the_node_without_a_certificate() {
    let (node, address, _trusted) = secured().await;
    let local = &node.file.url;
    assert_eq!((local.scheme(), local.host_str()), ("http", Some("127.0.0.1")));
    assert_ne!(local.port(), Some(address.port()));
    assert!(node.admin().list_keys(None).await.is_ok());
    // Whoever speaks in clear text to the other port gets nothing, and stops nobody.
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut clear = TcpStream::connect(address).await.unwrap();
    clear.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // It may be reset, or told in TLS that this was none.
    let _ = clear.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"));
    assert!(node.admin().health().await.is_ok());
    node.stop().await;
    assert_eq!(silent.read(&mut [0; 8]).await.unwrap_or(0), 0, "the node has let go of it");
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_starts_nothing() {
    let folder = Folder::new();
    let (_trusted, good) = certificate(&folder);
    let (_trusted, other) = {
        let elsewhere = Folder::new();
        let (trusted, files) = certificate(&elsewhere);
        let key = file(&folder, "other.key");
        std::fs::copy(files.key, &key).unwrap();
        (trusted, key)
    };
    let text = file(&folder, "text");
    std::fs::write(&text, "hunter2").unwrap();
    let torn = file(&folder, "torn");
    std::fs::write(&torn, "-----BEGIN PRIVATE KEY-----\nhunter2!\n-----END PRIVATE KEY-----\n")
        .unwrap();
    let missing = file(&folder, "missing");
    let pairs = [
        (&missing, &good.key),
        (&text, &good.key),
        (&good.certificate, &missing),
        (&good.certificate, &text),
        (&good.certificate, &torn),
        (&good.certificate, &good.certificate),
        (&good.certificate, &other),
    ];
    let mut errors = Vec::new();
    for (certificate, key) in pairs {
        let mut config = folder.config();
        config.exposure.tls = Some(TlsFiles { certificate: certificate.clone(), key: key.clone() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = serve(config, listener, CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, ServeError::Tls(_)), "{error}");
        errors.push(error.to_string().replace(folder.data.path().to_str().unwrap(), "DATA"));
    }
    let errors = errors.join("\n");
    assert!(!errors.contains("hunter2"), "what stands in the files is not repeated");
    insta::assert_snapshot!(errors, @r"
    expected a certificate (PEM) at DATA/missing, found: No such file or directory (os error 2)
    expected a certificate (PEM) at DATA/text, found none in it
    expected a private key (PEM) at DATA/missing, found: No such file or directory (os error 2)
    expected a private key (PEM) at DATA/text, found none in it
    expected a private key (PEM) at DATA/torn, found something damaged
    expected a private key (PEM) at DATA/tls.crt, found none in it
    expected the certificate DATA/tls.crt and the key DATA/other.key to belong together, found: keys may not be consistent: KeyMismatch
    ");
    assert!(!folder.data.database().exists(), "nothing was started");
}
