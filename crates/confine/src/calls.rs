//! Refuses calls of the kernel that no browser and no tool needs, and that reach out of where they run.
//!
//! The one idea: a refused call answers with an error, as it does for a user without rights or on an
//! older kernel, and never ends a program. Programs that try such calls, and many do to find out what
//! there is, go on without.
//!
//! What stays allowed although it sounds alike: user namespaces, `chroot` and `seccomp`, of which
//! Chromium makes its own sandbox, and `mount`, which does nothing outside of such a namespace.

use seccompiler::{BpfProgram, TargetArch, sock_filter};
use std::io::Error;

/// Why calls could not be refused.
#[derive(Debug, thiserror::Error)]
pub enum CallsError {
    /// We do not know how calls are numbered here.
    #[error("expected a processor of the kind x86_64 or aarch64, found {}", std::env::consts::ARCH)]
    UnknownProcessor,
    /// The kernel takes no filters.
    #[error("expected a kernel that takes filters of calls (CONFIG_SECCOMP_FILTER): {0}")]
    Kernel(#[source] Error),
    /// What we asked the kernel to take makes no sense.
    #[error("expected a filter of calls that the kernel takes: {0}")]
    Filter(#[source] seccompiler::Error),
}

/// How a refused call answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// `EPERM`: the caller lacks the right.
    NotPermitted,
    /// `ENOSYS`: this kernel has no such call, so that the program takes the way it has without.
    NoSuchCall,
}

/// A call that is refused.
#[derive(Debug, Clone, Copy)]
pub struct Refused {
    /// As in `syscalls(2)`.
    pub name: &'static str,
    /// On this kind of processor.
    pub number: i64,
    /// What the caller gets.
    pub answer: Answer,
    /// What it could do to others.
    pub reason: &'static str,
}

/// A line of the table: the name is the number, too.
macro_rules! refused {
    ($($call:ident $number:ident $answer:ident $reason:literal;)*) => {
        &[$(Refused {
            name: stringify!($call),
            number: libc::$number,
            answer: Answer::$answer,
            reason: $reason,
        }),*]
    };
}

/// Every call that is refused, with the reason.
pub const REFUSED: &[Refused] = refused! {
    add_key SYS_add_key NotPermitted "puts keys where others of the user find them";
    keyctl SYS_keyctl NotPermitted "reads and changes keys of the user, and joins others' sessions";
    request_key SYS_request_key NotPermitted "finds keys of the user, and has the kernel start a program";

    ptrace SYS_ptrace NotPermitted "takes over other processes";
    process_vm_readv SYS_process_vm_readv NotPermitted "reads the memory of other processes";
    process_vm_writev SYS_process_vm_writev NotPermitted "writes the memory of other processes";
    pidfd_getfd SYS_pidfd_getfd NotPermitted "takes descriptors out of other processes";
    // Mesa asks whether two descriptors are the same, and lives without an answer.
    kcmp SYS_kcmp NoSuchCall "tells what other processes share";

    bpf SYS_bpf NotPermitted "runs programs in the kernel";
    perf_event_open SYS_perf_event_open NotPermitted "watches kernel and processors; often at fault";
    userfaultfd SYS_userfaultfd NotPermitted "holds the kernel up in the middle of a call; helps exploits";
    // Node and others look whether there is one, and take epoll otherwise.
    io_uring_setup SYS_io_uring_setup NoSuchCall "makes calls that no filter sees; often at fault";
    io_uring_enter SYS_io_uring_enter NoSuchCall "makes calls that no filter sees; often at fault";
    io_uring_register SYS_io_uring_register NoSuchCall "makes calls that no filter sees; often at fault";

    open_by_handle_at SYS_open_by_handle_at NotPermitted "opens files by number, past folders and mounts";
    fanotify_init SYS_fanotify_init NotPermitted "watches and holds up others' use of files";
    lookup_dcookie SYS_lookup_dcookie NotPermitted "tells paths outside of what is shown";
    syslog SYS_syslog NotPermitted "reads and clears the log of the kernel";

    init_module SYS_init_module NotPermitted "puts code into the kernel";
    finit_module SYS_finit_module NotPermitted "puts code into the kernel";
    delete_module SYS_delete_module NotPermitted "takes code out of the kernel";
    kexec_load SYS_kexec_load NotPermitted "replaces the kernel";
    kexec_file_load SYS_kexec_file_load NotPermitted "replaces the kernel";
    reboot SYS_reboot NotPermitted "stops the machine";
    swapon SYS_swapon NotPermitted "writes memory of the machine to a file";
    swapoff SYS_swapoff NotPermitted "fills the memory of the machine";
    acct SYS_acct NotPermitted "writes a file about each process of the machine";
    quotactl SYS_quotactl NotPermitted "changes what users may store";
    quotactl_fd SYS_quotactl_fd NotPermitted "changes what users may store";
    settimeofday SYS_settimeofday NotPermitted "changes the time of the machine";
    clock_settime SYS_clock_settime NotPermitted "changes the time of the machine";
    adjtimex SYS_adjtimex NotPermitted "changes the pace of the machine's clock";
    clock_adjtime SYS_clock_adjtime NotPermitted "changes the pace of the machine's clock";
    vhangup SYS_vhangup NotPermitted "takes terminals from others";
};

/// Of `x86_64` alone: direct access to hardware.
#[cfg(target_arch = "x86_64")]
const OF_THIS_PROCESSOR: &[Refused] = refused! {
    iopl SYS_iopl NotPermitted "speaks to hardware past the kernel";
    ioperm SYS_ioperm NotPermitted "speaks to hardware past the kernel";
    modify_ldt SYS_modify_ldt NoSuchCall "makes segments of old programs; often at fault";
};
#[cfg(not(target_arch = "x86_64"))]
const OF_THIS_PROCESSOR: &[Refused] = &[];

/// Makes every refused call answer with an error, for the calling thread and what it starts from now
/// on. Neither can get more rights by executing a program (`no_new_privs`).
///
/// Calls with the numbers of other kinds of processors (32 bits on 64, x32) answer as if there were
/// none: who may call by another number passes every table.
pub fn refuse() -> Result<(), CallsError> {
    let processor = TargetArch::try_from(std::env::consts::ARCH);
    let processor = processor.map_err(|_| CallsError::UnknownProcessor)?;
    let refused = REFUSED.iter().chain(OF_THIS_PROCESSOR);
    apply(&program(processor, refused))
}

/// Refuses the calling thread, and what it starts from now on, to send to an address that it names
/// (`sendto(2)`), but to the kernel's own (`netlink(7)`): who has one way out, which is a TCP port, sends
/// datagrams nowhere else. Datagram sockets there are all the same, since browsers ask them which of the
/// machine's addresses is theirs, and without an answer have no calls over TCP either.
///
/// A message whose address stands in memory (`sendmsg(2)`) no filter sees: this keeps a program that is what
/// it was, not one that was taken over. Comes beside [`refuse`], which keeps out the numbers of other kinds of
/// processors.
pub fn refuse_addressed_sends() -> Result<(), CallsError> {
    let step = |code, value| sock_filter { code, jt: 0, jf: 0, k: value };
    let jump = |value: u32, jt, jf| sock_filter { code: IF_EQUAL, jt, jf, k: value };
    let send = u32::try_from(libc::SYS_sendto).unwrap_or(u32::MAX);
    apply(&[
        step(LOAD, NUMBER),
        jump(send, 0, 6),
        step(LOAD, FIFTH),
        jump(0, 0, 2),
        step(LOAD, FIFTH + 4),
        jump(0, 2, 0),
        step(LOAD, SIXTH),
        jump(OF_NETLINK, 0, 1),
        step(ANSWER, libc::SECCOMP_RET_ALLOW),
        step(ANSWER, Answer::NotPermitted.word()),
    ])
}

fn apply(program: &[sock_filter]) -> Result<(), CallsError> {
    seccompiler::apply_filter(program).map_err(|error| match error {
        seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
            CallsError::Kernel(error)
        }
        error => CallsError::Filter(error),
    })
}

// Where in what it looks at a filter finds the number of the call, and the kind of processor
// (`struct seccomp_data` in linux/seccomp.h).
const NUMBER: u32 = 0;
const PROCESSOR: u32 = 4;
// The lower halves of two arguments, on processors whose lower half comes first, as ours are.
const FIFTH: u32 = 48;
const SIXTH: u32 = 56;
/// How long the kernel's own addresses are, in bytes, and those of the internet are not
/// (`struct sockaddr_nl` in linux/netlink.h).
const OF_NETLINK: u32 = 12;
/// The bit that numbers of x32 have, and no other ones.
const X32: u32 = 0x4000_0000;
// Instructions (linux/bpf_common.h): load a word from there; go on if equal; if a bit is set; answer.
const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_SET: u16 = 0x45;
const ANSWER: u16 = 0x06;

/// The filter that the kernel runs at each call. The library's own compiler ends programs that use
/// numbers of other processors, and knows no x32, so the few instructions stand here.
fn program<'a>(processor: TargetArch, refused: impl Iterator<Item = &'a Refused>) -> BpfProgram {
    // The next instruction is passed over if the condition holds, or unless it does.
    let step = |code, value| sock_filter { code, jt: 0, jf: 0, k: value };
    let skip_if = |code, value| sock_filter { code, jt: 1, jf: 0, k: value };
    let skip_unless = |code, value| sock_filter { code, jt: 0, jf: 1, k: value };
    let mut program = vec![
        step(LOAD, PROCESSOR),
        skip_if(IF_EQUAL, audit_number(processor)),
        step(ANSWER, Answer::NoSuchCall.word()),
        step(LOAD, NUMBER),
        skip_unless(IF_SET, X32),
        step(ANSWER, Answer::NoSuchCall.word()),
    ];
    for call in refused {
        let number = u32::try_from(call.number).unwrap_or(u32::MAX);
        program.push(skip_unless(IF_EQUAL, number));
        program.push(step(ANSWER, call.answer.word()));
    }
    program.push(step(ANSWER, libc::SECCOMP_RET_ALLOW));
    program
}

/// What the kernel calls this kind of processor (linux/audit.h).
fn audit_number(processor: TargetArch) -> u32 {
    const BITS_64: u32 = 0x8000_0000;
    const LITTLE_ENDIAN: u32 = 0x4000_0000;
    let machine = match processor {
        TargetArch::x86_64 => 62,
        TargetArch::aarch64 => 183,
        TargetArch::riscv64 => 243,
    };
    machine | BITS_64 | LITTLE_ENDIAN
}

impl Answer {
    /// As a filter answers it.
    fn word(self) -> u32 {
        libc::SECCOMP_RET_ERRNO | self.error().unsigned_abs()
    }

    /// What the caller finds in `errno`.
    pub fn error(self) -> i32 {
        match self {
            Self::NotPermitted => libc::EPERM,
            Self::NoSuchCall => libc::ENOSYS,
        }
    }
}
