//! The targets that Baton is built for, and what each world of packages calls them.

/// A kind of machine, with a C library or none.
#[derive(Debug)]
pub(crate) struct Target {
    /// What Rust calls it.
    pub(crate) triple: &'static str,
    /// What Rust calls its processor.
    pub(crate) processor: &'static str,
    /// What Debian calls it (`dpkg --print-architecture`), where there is a Debian package.
    pub(crate) debian: Option<&'static str>,
    /// What npm calls its processor (`process.arch`), where there is an npm package.
    pub(crate) npm: Option<&'static str>,
    /// What wheels call it (PEP 600), where there is a wheel.
    pub(crate) wheel: Option<&'static str>,
    /// The newest glibc that its program may want; none where it may want none at all.
    pub(crate) glibc: Option<(u32, u32)>,
}

/// What Debian 10, RHEL 8 and Ubuntu 20.04 have, or something newer.
const OLDEST_GLIBC: (u32, u32) = (2, 28);

/// Those with glibc first: they are what packages carry.
pub(crate) static TARGETS: [Target; 4] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        processor: "x86_64",
        debian: Some("amd64"),
        npm: Some("x64"),
        wheel: Some("manylinux_2_28_x86_64"),
        glibc: Some(OLDEST_GLIBC),
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        processor: "aarch64",
        debian: Some("arm64"),
        npm: Some("arm64"),
        wheel: Some("manylinux_2_28_aarch64"),
        glibc: Some(OLDEST_GLIBC),
    },
    Target {
        triple: "x86_64-unknown-linux-musl",
        processor: "x86_64",
        debian: None,
        npm: None,
        wheel: None,
        glibc: None,
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        processor: "aarch64",
        debian: None,
        npm: None,
        wheel: None,
        glibc: None,
    },
];

#[cfg(test)]
mod tests {
    use super::TARGETS;

    #[test]
    fn a_wheel_promises_the_glibc_that_is_checked() {
        for target in &TARGETS {
            let promised = target
                .glibc
                .map(|(major, minor)| format!("manylinux_{major}_{minor}_{}", target.processor));
            assert_eq!(promised.as_deref(), target.wheel, "{}", target.triple);
        }
    }
}
