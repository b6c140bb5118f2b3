//! What a sandbox may use.

use super::fixture::{made, says, sh, spec};
use baton_sandbox::{Ended, Enforced, Limits};
use baton_testing::skip;

#[tokio::test]
async fn a_full_disk_is_an_error_in_the_sandbox_and_nowhere_else() {
    let mut spec = spec();
    spec.limits = Limits { disk: 1 << 20, ..Limits::default() };
    let sandbox = made(&spec).await;
    let done = sh(&*sandbox, "head -c 2000000 /dev/zero > big").await;
    assert!(done.errors.contains("No space left on device"), "{}", done.errors);
    says(&*sandbox, "rm big && head -c 500000 /dev/zero > small").await;
    for room in ["/etc", "/run", "/tmp", "/dev/shm"] {
        let done = sh(&*sandbox, &format!("head -c 100000000 /dev/zero > {room}/big")).await;
        assert_ne!(done.ended, Ended::Code(0), "{room}");
    }
}

#[tokio::test]
async fn memory_processes_and_processors_are_limited_where_the_machine_can() {
    let mut spec = spec();
    spec.limits = Limits { memory: 64 << 20, processes: 40, processors: 0.5, ..Limits::default() };
    let sandbox = made(&spec).await;
    if let Enforced::No(reason) = sandbox.enforced() {
        assert!(reason.starts_with("control groups cannot be used here: "), "{reason}");
        skip!("{reason}");
    }
    // A child takes the blame; the sandbox lives on.
    let hog = sh(&*sandbox, "python3 -c 'bytearray(500 << 20)'; echo $?").await;
    assert_eq!(hog.output, "137\n");
    let many = "i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done; wait";
    let bomb = sh(&*sandbox, many).await;
    assert!(bomb.errors.contains("Cannot fork"), "{}", bomb.errors);
}
