//! The Debian package (deb(5), deb-control(5)): an `ar` archive of two tar archives.
//!
//! It has the node as a service of the system, which nobody is made to run: a person's own node needs none, so
//! the unit is there and not enabled.

use crate::archive::{self, Entry};
use crate::contents::Contents;
use crate::program::Program;
use crate::{VERSION, write};
use anyhow::Result;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The package's name.
const NAME: &str = "baton-browser";
/// The unit of systemd.
const UNIT: &str = include_str!("../debian/baton.service");
/// The user of the unit.
const USER: &str = include_str!("../debian/baton.sysusers");
/// What `dpkg` runs: its name, and its text.
const SCRIPTS: [(&str, &str); 3] = [
    ("postinst", include_str!("../debian/postinst")),
    ("prerm", include_str!("../debian/prerm")),
    ("postrm", include_str!("../debian/postrm")),
];

/// Makes the package of a program, where Debian has its target.
pub(crate) fn package(
    program: &Program,
    contents: &Contents,
    time: u64,
    to: &Path,
) -> Result<Option<PathBuf>> {
    let Some(architecture) = program.target.debian else { return Ok(None) };
    let files = files(program, contents)?;
    let mut control = vec![Entry::text("control", control(program, architecture, &files)?)];
    control.extend(SCRIPTS.map(|(name, text)| Entry::program(name, text)));
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", archive::tar_gz(&control, time)?),
        ("data.tar.gz", archive::tar_gz(&files, time)?),
    ];
    let name = format!("{NAME}_{VERSION}_{architecture}.deb");
    Ok(Some(write(to, &name, &ar(&members, time))?))
}

fn files(program: &Program, contents: &Contents) -> Result<Vec<Entry>> {
    let mut files = vec![Entry::program("usr/bin/baton", program.bytes.clone())];
    for completion in &contents.completions {
        files.push(Entry::text(completion.debian, completion.script.clone()));
    }
    for (page, text) in &contents.pages {
        files.push(Entry::text(format!("usr/share/man/man1/{page}.gz"), archive::gzip(text)?));
    }
    let own = contents
        .licences
        .iter()
        .map(|(name, text)| Entry::text(format!("usr/share/doc/{NAME}/{name}"), text.clone()));
    files.extend(own);
    let copyright = format!("usr/share/doc/{NAME}/copyright");
    files.push(Entry::text(copyright, include_str!("../debian/copyright")));
    files.push(Entry::text("usr/lib/systemd/system/baton.service", UNIT));
    files.push(Entry::text("usr/lib/sysusers.d/baton.conf", USER));
    Ok(files)
}

fn control(program: &Program, architecture: &str, files: &[Entry]) -> Result<String> {
    // In KiB, as deb-substvars(5) says it is estimated.
    let size: usize = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let mut control = String::new();
    for (field, value) in [
        ("Package", NAME),
        ("Version", VERSION),
        ("Architecture", architecture),
        ("Maintainer", "The Baton contributors <contributors@baton-browser.invalid>"),
        ("Installed-Size", &size.to_string()),
        ("Depends", &program.debian_depends()?),
        ("Recommends", "chromium | google-chrome-stable"),
        ("Suggests", "bubblewrap, slirp4netns, nftables, tigervnc-standalone-server"),
        ("Section", "web"),
        ("Priority", "optional"),
        ("Homepage", env!("CARGO_PKG_REPOSITORY")),
        ("Description", include_str!("../debian/description").trim_end()),
    ] {
        writeln!(control, "{field}: {value}")?;
    }
    Ok(control)
}

/// An `ar` archive as deb(5) has it: names of at most 15 bytes, members at even places.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        let header = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644");
        archive.extend(header.as_bytes());
        archive.extend(bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::{UNIT, USER, ar};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    #[test]
    fn members_begin_at_even_places() {
        let archive = ar(&[("debian-binary", b"2.0".to_vec()), ("next", b"x".to_vec())], 7);
        let text = String::from_utf8(archive).unwrap();
        let expected = concat!(
            "!<arch>\n",
            "debian-binary   7           0     0     100644  3         `\n2.0\n",
            "next            7           0     0     100644  1         `\nx\n",
        );
        assert_eq!(text, expected);
    }

    /// Settings of systemd.exec(5) under which a sandbox or a browser does not start, and why.
    const BREAKING: [(&str, &str); 11] = [
        ("MemoryDenyWriteExecute", "pages run code that the browser makes while it runs"),
        ("PrivateDevices", "networks of sandboxes need /dev/net/tun"),
        ("PrivateNetwork", "sessions are of sites"),
        ("ProcSubset", "browsers and sandboxes read more of /proc than processes"),
        ("ProtectControlGroups", "what a sandbox may use is written there"),
        (
            "ProtectHostname",
            "sethostname is refused in every namespace, and bubblewrap gives a sandbox its name",
        ),
        (
            "ProtectKernelLogs",
            "it mounts over /proc/kmsg: no namespace may mount a /proc of its own",
        ),
        (
            "ProtectKernelTunables",
            "it mounts over /proc/sys: no namespace may mount a /proc of its own",
        ),
        (
            "ProtectProc",
            "the /proc of the unit is another mount: no namespace may mount one of its own",
        ),
        ("RestrictFileSystems", "namespaces mount proc, tmpfs and devpts"),
        ("RestrictNamespaces", "the browser's sandbox and ours are made of namespaces"),
    ];
    /// What neither a browser nor a sandbox calls (systemd-analyze syscall-filter).
    const NEEDLESS: [&str; 7] =
        ["@clock", "@cpu-emulation", "@module", "@obsolete", "@raw-io", "@reboot", "@swap"];
    /// What a browser and the programs of a sandbox's network speak.
    const SPOKEN: [&str; 4] = ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"];

    fn settings() -> impl Iterator<Item = (&'static str, &'static str)> {
        UNIT.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='))
    }

    #[test]
    fn the_unit_lets_browsers_and_sandboxes_start() {
        for (name, why) in BREAKING {
            let found = settings().find(|(setting, _)| *setting == name);
            assert_eq!(found, None, "{name}: {why}");
        }
        let over_proc = settings().find(|(_, value)| value.contains("/proc"));
        assert_eq!(over_proc, None, "no namespace may mount a /proc of its own then");
        for (_, calls) in settings().filter(|(name, _)| *name == "SystemCallFilter") {
            // A list of what is allowed would miss what the next browser calls.
            let refused = calls.strip_prefix('~').expect("a list of what is refused");
            for group in refused.split_whitespace() {
                assert!(NEEDLESS.contains(&group), "{group} may be called");
            }
        }
        for (_, families) in settings().filter(|(name, _)| *name == "RestrictAddressFamilies") {
            for family in SPOKEN {
                assert!(families.split_whitespace().any(|found| found == family), "{family}");
            }
        }
        let devices: Vec<_> = settings().filter(|(name, _)| *name == "DeviceAllow").collect();
        assert_eq!(devices, [("DeviceAllow", "/dev/net/tun rw")]);
    }

    #[test]
    fn the_units_node_is_the_one_that_commands_of_its_user_find() {
        let of = |name: &str| settings().find(|(setting, _)| *setting == name).unwrap().1;
        // Another folder than the usual one of that home would be another node's.
        assert_eq!(of("ExecStart"), "/usr/bin/baton serve");
        let home = of("Environment").strip_prefix("HOME=").unwrap();
        assert!(USER.lines().any(|line| line.starts_with("u baton ") && line.ends_with(home)));
        // A node takes 90 seconds at most, and 120 more where it brings sessions to others.
        assert!(of("TimeoutStopSec").parse::<u32>().unwrap() >= 210);
    }

    /// What a script asks of a systemd that refuses `refused`, with the way in which it then ends what runs, and what
    /// is written to where the kernel ends the rest of the unit; and whether the script ended well. The folders of the
    /// system are its own, and at its end there are no settings of the unit in them.
    fn asked_of_systemd(script: &str, word: &str, refused: &str) -> (String, String, bool) {
        let folder = tempfile::tempdir().unwrap();
        let systemctl = folder.path().join("systemctl");
        let says = format!(
            "#!/bin/sh\necho $@ $(cat /run/systemd/system/baton.service.d/* 2> /dev/null)\n[ \"$1\" != '{refused}' ]\n"
        );
        fs::write(&systemctl, says).unwrap();
        fs::set_permissions(&systemctl, Permissions::from_mode(0o755)).unwrap();
        let group = folder.path().join("group");
        fs::create_dir(&group).unwrap();
        fs::write(group.join("cgroup.kill"), "").unwrap();
        let around = "sh -c \"$1\" script \"$2\"; ended=$?; \
            [ ! -e /run/systemd/system/baton.service.d ] || exit 3; exit $ended";
        let mut run = Command::new("bwrap");
        run.args(["--dev-bind", "/", "/", "--tmpfs", "/run", "--dir", "/run/systemd/system"]);
        run.args(["--tmpfs", "/sys", "--bind"]).arg(&group);
        run.args(["/sys/fs/cgroup/system.slice/baton.service", "--setenv", "PATH"]);
        run.arg(format!("{}:/usr/bin:/bin", folder.path().display()));
        let done = run.args(["sh", "-c", around, "around", script, word]).output().unwrap();
        let why = String::from_utf8_lossy(&done.stderr);
        assert!(matches!(done.status.code(), Some(0 | 1)), "{}: {why}", done.status);
        let killed = fs::read_to_string(group.join("cgroup.kill")).unwrap();
        (String::from_utf8(done.stdout).unwrap(), killed, done.status.success())
    }

    #[test]
    fn a_removal_ends_browsers_and_an_upgrade_leaves_them() {
        let prerm = include_str!("../debian/prerm");
        let drop_in = "[Service] KillMode=mixed";
        let asked = format!(
            "daemon-reload {drop_in}\ndisable --now baton.service {drop_in}\ndaemon-reload\n"
        );
        let killed = "1\n".to_owned();
        assert_eq!(asked_of_systemd(prerm, "remove", ""), (asked.clone(), killed, true));
        let nothing = (String::new(), String::new(), true);
        assert_eq!(asked_of_systemd(prerm, "upgrade", ""), nothing);
        // One that is broken off leaves the unit as it was.
        let broken_off = (asked, String::new(), false);
        assert_eq!(asked_of_systemd(prerm, "remove", "disable"), broken_off);
        // So does one whose terminal is closed.
        let hangs_up =
            "systemctl() { [ $1 != disable ] || kill -HUP $$; command systemctl \"$@\"; }";
        let (_, killed, ended_well) =
            asked_of_systemd(&format!("{hangs_up}\n{prerm}"), "remove", "");
        assert_eq!((killed, ended_well), (String::new(), false));
    }

    #[test]
    fn what_a_killed_removal_left_behind_ends_whatever_is_done_next() {
        let postinst = include_str!("../debian/postinst");
        let killed = "mkdir -p /run/systemd/system/baton.service.d
            echo KillMode=mixed > /run/systemd/system/baton.service.d/remove.conf\n";
        let script = format!("{killed}{postinst}");
        for word in ["abort-remove", "abort-upgrade"] {
            assert_eq!(asked_of_systemd(&script, word, "").0, "daemon-reload\n", "{word}");
        }
        // The node of another version is told to end by a unit that leaves browsers to the next one.
        let upgrades = "mkdir /run/programs
            printf '#!/bin/sh\\n' > /run/programs/systemd-sysusers
            chmod +x /run/programs/systemd-sysusers
            PATH=/run/programs:$PATH
            set -- \"$1\" 0.1.0\n";
        let (asked, ..) = asked_of_systemd(&format!("{upgrades}{script}"), "configure", "");
        assert_eq!(asked, "daemon-reload\ndaemon-reload\ntry-restart baton.service\n");
    }
}
