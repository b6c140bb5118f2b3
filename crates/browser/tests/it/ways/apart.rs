//! A network of the story's own: the test starts itself once more where nothing of this machine's network is there,
//! all files that it makes are in memory, and all of its processes end with it.

use std::process::{Command, Stdio};

/// Says that the process is the one within.
const WITHIN: &str = "BATON_TEST_APART";
/// What is said once all is made.
const MADE: &str = "the network is made";
/// What is said once all ways are counted.
pub(super) const COUNTED: &str = "all ways are counted";

/// Makes the network: an interface behind which nobody is, with all hosts of the story at this end of it; and
/// the folder for files. `$1` is the folder, `$2` the user.
const MAKE: &str = r#"
ip link set lo up
ip link add way-here type veth peer name way-there
for interface in way-here way-there; do
    if [ -e /proc/sys/net/ipv6 ]; then echo 1 > /proc/sys/net/ipv6/conf/$interface/disable_ipv6; fi
done
ip address add 11.7.0.1/16 dev way-here
ip link set way-here up
ip link set way-there up
ip route add local 11.7.0.0/16 dev lo
ip route add local 10.7.7.7 dev lo
ip route add local 169.254.7.7 dev lo
ip route add default dev way-here
echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
mount -t tmpfs -o mode=1777 tmpfs "$1"
cd "$1"
mkdir -m 777 home
echo 'nameserver 11.7.0.1' > resolv.conf
echo 'hosts: files dns' > nsswitch.conf
chmod 644 resolv.conf nsswitch.conf
mount --bind resolv.conf /etc/resolv.conf
if [ -e /etc/nsswitch.conf ]; then mount --bind nsswitch.conf /etc/nsswitch.conf; fi
export TMPDIR="$1" HOME="$1/home"
user=$2
shift 2
if [ "$user" != 0 ]; then
    capabilities=-all,+net_raw,+net_admin
    set -- setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps "$capabilities" \
        --ambient-caps "$capabilities" -- "$@"
fi
"$@" --list > /dev/null
echo 'the network is made'
# Its group is outside, and has no number here: as of a program that comes into a container.
exec "$@"
"#;

/// Where a story is.
pub(super) enum Place {
    /// In the network of its own, where it has to be told.
    Within,
    /// Outside: it was told, and this is what it said.
    Told(String),
    /// Nowhere: no such network can be made here.
    Nowhere(String),
}

/// Whether this is the process in the network of the story's own.
pub(super) fn is_within() -> bool {
    std::env::var_os(WITHIN).is_some()
}

/// Tells the story of this test in a network of its own, as this user; 0 is whoever runs the test.
pub(super) fn tell(test: &str, user: u32) -> Place {
    if is_within() {
        return Place::Within;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["sh", "-ec", MAKE, "sh"]).arg(folder.path()).arg(user.to_string());
    command.arg(std::env::current_exe().unwrap()).args([
        "--exact",
        test,
        "--include-ignored",
        "--nocapture",
    ]);
    let told = command.env(WITHIN, "1").stdin(Stdio::null()).output();
    let told = match told {
        Ok(told) => told,
        Err(error) => return Place::Nowhere(format!("no unshare: {error}")),
    };
    let [said, why] =
        [told.stdout, told.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    if !said.contains(MADE) {
        return Place::Nowhere(format!("no network of its own can be made: {why}"));
    }
    assert!(told.status.success() && said.contains(COUNTED), "{said}{why}");
    Place::Told(said)
}
