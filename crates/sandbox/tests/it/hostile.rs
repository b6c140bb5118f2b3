//! What runs in a sandbox and means harm: to the node's user, to a neighbour, or to what is read from it.
//!
//! `escapes` has what must not be possible because it is not there. Here is what is there, and is refused
//! or ended: each story does for real what somebody did to a sandbox once.

use super::fixture::{finish, label, made, provider, says, sh, spec};
use baton_sandbox::local::bare::BareProvider;
use baton_sandbox::{Command, Ended, InitCommand, Provider as _, Sandbox};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// How calls of the kernel are made by number, in Python. `call` returns what one answers, or the negative
/// number of its error.
const CALLS: &str = "
import ctypes, errno, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    answer = libc.syscall(ctypes.c_long(number), *arguments)
    return -ctypes.get_errno() if answer == -1 else answer
x86 = os.uname().machine == 'x86_64'
keyctl, add_key, ptrace = (250, 248, 101) if x86 else (219, 217, 117)
pidfd_open, pidfd_getfd, io_uring_setup = 434, 438, 425
session = ctypes.c_long(-3)
";

fn python(program: &str) -> Command {
    Command::new(["python3", "-I", "-c", &format!("{CALLS}{program}")])
}

/// What a program in a sandbox prints.
async fn printed(sandbox: &dyn Sandbox, program: &str) -> String {
    let done = finish(sandbox.start(&python(program)).await.unwrap(), b"").await;
    assert_eq!(done.ended, Ended::Code(0), "{}", done.errors);
    done.output
}

/// Of another owner than whoever has one of the provider's.
async fn bare(name: &str) -> Box<dyn Sandbox> {
    let program = env!("CARGO_BIN_EXE_baton-sandbox-guest").into();
    let init = InitCommand { program, args: Vec::new() };
    let label = format!("{}{name}", label());
    BareProvider::new(init, std::env::temp_dir(), &label).create(&spec()).await.unwrap()
}

#[tokio::test]
async fn keys_of_the_nodes_user_and_of_neighbours_are_out_of_reach() {
    // This thread plays the one who starts a node: what is in its session, its children inherit.
    baton_confine::keyring::join().unwrap();
    let put =
        format!("{CALLS}assert call(add_key, b'user', b'of-the-node', b'secret', 6, session) > 0");
    let output = std::process::Command::new("python3").args(["-I", "-c", &put]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let of = |name: &str| {
        format!(
            "
for other in (b'of-the-node', b'of-alice', b'of-bob'):
    # KEYCTL_SEARCH in the session
    print(call(keyctl, 10, session, b'user', other, 0))
# KEYCTL_JOIN_SESSION_KEYRING, and KEYCTL_LINK of the user's keyring to the session
print(call(keyctl, 1, None), call(keyctl, 8, ctypes.c_long(-4), session))
print(call(add_key, b'user', b'{name}', b'secret', 6, session))
try:
    print([line for line in open('/proc/keys') if 'of-' in line])
except OSError as error:
    print(errno.errorcode[error.errno])
"
        )
    };
    let isolated = [made(&spec()).await, made(&spec()).await];
    for (sandbox, name) in isolated.iter().zip(["of-alice", "of-bob"]) {
        assert_eq!(
            printed(&**sandbox, &of(name)).await,
            "-1\n-1\n-1\n-1 -1\n-1\nEACCES\n",
            "{name}"
        );
        assert_eq!(sh(&**sandbox, "cat /proc/keys /proc/key-users").await.output, "");
    }
    // One that isolates nothing sees what its user may see, but the calls are refused there, too.
    let bare = [bare("alice").await, bare("bob").await];
    for (sandbox, name) in bare.iter().zip(["of-alice", "of-bob"]) {
        let said = printed(&**sandbox, &of(name)).await;
        assert!(said.starts_with("-1\n-1\n-1\n-1 -1\n-1\n"), "{name}: {said}");
        sandbox.remove().await.unwrap();
    }
}

#[tokio::test]
async fn no_process_takes_over_another_one() {
    let sandbox = made(&spec()).await;
    let program = "
other = os.fork()
if other == 0:
    time.sleep(1000)
pidfd = call(pidfd_open, other, 0)
print(call(pidfd_getfd, pidfd, 1, 0), call(ptrace, 16, other, 0, 0), call(ptrace, 16, 1, 0, 0))
print(call(io_uring_setup, 8, bytes(120)))
# The first process speaks to the node: neither its memory nor its socket is anybody else's.
for name in ('mem', 'environ', 'maps', 'fd/0'):
    try:
        os.close(os.open('/proc/1/' + name, os.O_RDWR if name == 'mem' else os.O_RDONLY))
        print(name, 'was opened')
    except OSError as error:
        print(name, errno.errorcode[error.errno])
os.kill(other, signal.SIGKILL)
";
    let expected = "-1 -1 -1\n-38\nmem EACCES\nenviron EACCES\nmaps EACCES\nfd/0 EACCES\n";
    assert_eq!(printed(&*sandbox, program).await, expected);
}

#[tokio::test]
async fn what_does_not_want_to_end_is_ended_before_anything_is_read() {
    for sandbox in [made(&spec()).await, bare("ends").await] {
        // It hears no signal, has left its group and its parent, and starts itself anew all the time.
        let program = "
for number in range(1, 32):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
open('alive', 'a').write('.')
print('ready', flush=True)
while True:
    if os.fork():
        os._exit(0)
    open('alive', 'a').write('.')
    time.sleep(0.001)
";
        let mut process = sandbox.start(&python(program)).await.unwrap();
        let mut ready = [0; 6];
        process.output.read_exact(&mut ready).await.unwrap();
        sandbox.settle().await.unwrap();
        let signs = || async { says(&*sandbox, "wc -c < alive").await.parse::<u64>().unwrap() };
        let first = signs().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(signs().await, first, "it ran on");
        sandbox.remove().await.unwrap();
    }
}

#[tokio::test]
async fn a_sandbox_that_was_asked_to_end_holds_nothing_but_its_first_process() {
    let sandbox = provider().create(&spec()).await.unwrap();
    let mut left = sandbox
        .start(&Command::shell("trap '' TERM; setsid sleep 1000 & echo; wait"))
        .await
        .unwrap();
    // From now on it hears no SIGTERM.
    left.output.read_exact(&mut [0]).await.unwrap();
    sandbox.settle().await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), left.ended()).await.unwrap();
    assert_eq!(ended, Ended::Signal(9));
    assert_eq!(says(&*sandbox, "exec ps -eo comm=").await, "baton\nps");
    assert_eq!(sh(&*sandbox, "true").await.ended, Ended::Code(0));
}
