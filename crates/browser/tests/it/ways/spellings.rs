//! The ways in which this machine itself is called: a service of its own that is not listed is no site.

/// How the machine is called, by the way; each has a port of its own.
pub(super) const SPELLINGS: &[(&str, &str)] = &[
    ("loopback-localhost", "localhost"),
    ("loopback-upper", "LOCALHOST"),
    ("loopback-dot", "localhost."),
    ("loopback-below", "a.localhost"),
    ("loopback-v4", "127.0.0.1"),
    ("loopback-v4-other", "127.0.0.2"),
    ("loopback-v4-short", "127.1"),
    ("loopback-v4-hex", "0x7f.1"),
    ("loopback-v4-octal", "0177.0.0.01"),
    ("loopback-v4-number", "2130706433"),
    ("loopback-v4-wide", "１２７.0.0.1"),
    ("loopback-v4-percent", "%31%32%37.0.0.1"),
    ("loopback-v4-any", "0.0.0.0"),
    ("loopback-v6", "[::1]"),
    ("loopback-v6-long", "[0:0:0:0:0:0:0:1]"),
    ("loopback-v6-mapped", "[::ffff:127.0.0.1]"),
    ("loopback-v6-mapped-hex", "[::ffff:7f00:1]"),
    ("loopback-v6-any", "[::]"),
    ("loopback-by-name", "loopback-by-name.forbidden.test"),
    ("link-local", "169.254.7.7"),
    ("private", "10.7.7.7"),
];
