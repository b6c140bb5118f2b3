//! What must not be possible from inside: each attempt is made, and refused.

use super::fixture::{made, removed, sandbox, says, sh, spec};
use baton_sandbox::{Ended, Mount, SandboxError};
use std::path::Path;

#[tokio::test]
async fn files_of_this_machine_are_not_there() {
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("key"), "a secret").unwrap();
    let sandbox = sandbox().await;
    let here = env!("CARGO_MANIFEST_DIR");
    for path in
        [secret.path().to_str().unwrap(), here, "/root", "/home", "/var", "/etc/shadow", "/sys"]
    {
        let done = sh(&*sandbox, &format!("ls -d {path}")).await;
        assert_eq!(done.ended, Ended::Code(2), "{path}: {}", done.output);
    }
    // What the first process holds, none of it the node's, is not even shown.
    for name in ["environ", "fd/0", "mem", "maps"] {
        assert_ne!(
            sh(&*sandbox, &format!("cat /proc/1/{name}")).await.ended,
            Ended::Code(0),
            "{name}"
        );
    }
}

#[tokio::test]
async fn programs_and_settings_cannot_be_changed() {
    let sandbox = sandbox().await;
    for path in
        ["/usr/x", "/etc/ssl/x", "/x", "/dev/x", "/run/baton", "/proc/sys/kernel/core_pattern"]
    {
        let done = sh(&*sandbox, &format!("echo x > {path}")).await;
        assert_ne!(done.ended, Ended::Code(0), "{path} was written");
    }
    let before = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let tries = [
        "umount /proc/sys",
        "mount -t proc proc /proc",
        "mount -o remount,rw /usr",
        "mount -o bind /workspace /usr",
        "unshare -Urm sh -c 'umount /proc/sys && echo x > /proc/sys/kernel/core_pattern'",
        "unshare -Urmpf sh -c 'mount -t proc proc /proc && echo x > /proc/sys/kernel/core_pattern'",
        "unshare -Urm mount -o remount,rw /usr",
    ];
    for line in tries {
        assert_ne!(sh(&*sandbox, line).await.ended, Ended::Code(0), "{line}");
    }
    assert_eq!(std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap(), before);
}

#[tokio::test]
async fn nothing_in_it_has_rights() {
    let sandbox = sandbox().await;
    let status =
        says(&*sandbox, "grep -E 'Cap|NoNewPrivs' /proc/self/status | tr -s '\\t' ' '").await;
    insta::assert_snapshot!(status, @"
    CapInh: 0000000000000000
    CapPrm: 0000000000000000
    CapEff: 0000000000000000
    CapBnd: 0000000000000000
    CapAmb: 0000000000000000
    NoNewPrivs: 1
    ");
    for line in ["su -c id", "chroot / id", "nsenter -t 1 -m id", "mknod /workspace/disk b 254 0"] {
        assert_ne!(sh(&*sandbox, line).await.ended, Ended::Code(0), "{line}");
    }
}

#[tokio::test]
async fn processes_outside_are_neither_seen_nor_signalled() {
    let mut outside =
        tokio::process::Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
    let sandbox = sandbox().await;
    assert_eq!(
        says(&*sandbox, "ps -eo comm= > list; sort -u list | tr '\\n' ' '").await,
        "baton ps sh"
    );
    let pid = outside.id().unwrap();
    assert_ne!(sh(&*sandbox, &format!("kill -9 {pid}")).await.ended, Ended::Code(0));
    // All that it may signal are its own.
    sh(&*sandbox, "kill -9 -1").await;
    assert!(outside.try_wait().unwrap().is_none());
    outside.kill().await.unwrap();
}

#[tokio::test]
async fn sandboxes_see_nothing_of_each_other() {
    let (one, other) = tokio::join!(sandbox(), sandbox());
    says(&*one, "echo mine > /workspace/profile; echo mine > /tmp/x; echo mine > /dev/shm/x").await;
    assert_eq!(
        says(&*other, "ls -A /workspace /tmp /dev/shm").await,
        "/dev/shm:\n\n/tmp:\n\n/workspace:"
    );
    says(&*one, "ipcmk -M 4096").await;
    assert_eq!(says(&*other, "ipcs -m | grep -c '^0x' || true").await, "0");
    removed(one).await.unwrap();
    assert_eq!(says(&*other, "echo unharmed").await, "unharmed");
}

#[tokio::test]
async fn what_is_shown_to_a_sandbox_is_only_shown() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tool"), "shown").unwrap();
    // The node may be root, whose folders nobody else may enter.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut spec = spec();
    let mount = |target: &str| Mount { source: folder.path().into(), target: target.into() };
    spec.mounts = vec![mount("/opt/tool")];
    let sandbox = made(&spec).await;
    assert_eq!(says(&*sandbox, "cat /opt/tool/tool").await, "shown");
    assert_ne!(sh(&*sandbox, "echo x > /opt/tool/tool").await.ended, Ended::Code(0));
    spec.mounts = vec![mount("/opt/../etc")];
    let error = super::fixture::provider().create(&spec).await.unwrap_err();
    assert!(matches!(&error, SandboxError::InvalidMount(path) if path == Path::new("/opt/../etc")));
}

use baton_sandbox::Provider as _;
