//! What the session of whoever starts us holds is not found by what we start.

use crate::seen_by_a_child;
use baton_confine::keyring::{Joined, join};
use baton_testing::skip;
use std::sync::Arc;

/// Looks for a key in the session, puts one of its own there, and tells both.
fn look_and_leave(name: &str) -> String {
    // keyctl is 250 or 219, add_key 248 or 217; 10 is KEYCTL_SEARCH, -3 the session's keyring.
    format!(
        "
x86 = os.uname().machine == 'x86_64'
keyctl, add_key = (250, 248) if x86 else (219, 217)
session = ctypes.c_long(-3)
for name in (b'of-the-user', b'of-a-neighbour'):
    print(call(keyctl, 10, session, b'user', name, 0) > 0)
print(call(add_key, b'user', b'{name}', b'secret', 6, session) > 0)
"
    )
}

#[test]
fn a_child_finds_neither_the_keys_of_the_session_nor_those_of_a_neighbour() {
    let joined = join().unwrap();
    if joined != Joined::Own {
        // A kernel without keys, or a container that refuses the calls: nothing can be found.
        skip!("no keys of the kernel can be had here: {joined:?}");
    }
    // This thread plays the one who starts a node: what it puts there, its children find.
    let session = keyutils::Keyring::attach(keyutils::SpecialKeyring::Session).unwrap();
    let mut session = session;
    session.add_key::<keyutils::keytypes::User, _, _>("of-the-user", &b"secret"[..]).unwrap();
    let inherited = look_and_leave("of-a-neighbour");
    assert_eq!(seen_by_a_child(|| (), inherited.clone()), "True\nFalse\nTrue\n");
    assert_eq!(seen_by_a_child(|| (), inherited), "True\nTrue\nTrue\n");

    let own: Arc<dyn Fn() + Send + Sync> = Arc::new(|| {
        assert_eq!(join().unwrap(), Joined::Own);
    });
    for name in ["of-a-neighbour", "another"] {
        let own = Arc::clone(&own);
        let seen = seen_by_a_child(move || own(), look_and_leave(name));
        assert_eq!(seen, "False\nFalse\nTrue\n", "the child that leaves {name}");
    }
}
