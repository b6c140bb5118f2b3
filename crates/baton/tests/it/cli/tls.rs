//! A node with a certificate, as commands of its machine see it.

use super::fixture::{Folder, stdout};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

#[test]
fn commands_need_no_certificate_and_a_key_that_others_can_read_is_told() {
    let folder = Folder::new();
    let data = folder.data();
    std::fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["baton.example.org".to_owned()]).unwrap();
    let (certificate, key) = (data.join("tls.crt"), data.join("tls.key"));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let settings = format!("[server.tls]\ncertificate = {certificate:?}\nkey = {key:?}\n");
    std::fs::write(data.join("baton.toml"), settings).unwrap();

    folder.run(&["sessions", "list"]).success();
    let log = std::fs::read_to_string(data.join("node.log")).unwrap();
    assert!(log.contains("others can use the private key"), "{log}");
    let doctor = stdout(&folder.run(&["doctor"]), &data);
    assert!(doctor.contains("broken   certificate  others can use DATA/tls.key: mode 644"));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let doctor = stdout(&folder.run(&["doctor"]), &data);
    assert!(doctor.contains("ok       certificate  DATA/tls.crt"), "{doctor}");
    folder.stop_node();
}

/// Who opens a pipe that nobody writes to waits for ever: a command that reads whom the machine trusts does not end.
#[test]
fn a_command_that_asks_its_own_node_reads_no_authorities() {
    let folder = Folder::new();
    folder.run(&["sessions", "list"]).success();
    let pipe = folder.data().join("authorities");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let variable = ("SSL_CERT_FILE", pipe.to_str().unwrap());
    folder.run_with(&["sessions", "list"], &[variable]).success();
    folder.stop_node();
}
