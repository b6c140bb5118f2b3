//! Refused calls answer with an error, by whatever number they are made, and everything else works.

use crate::seen_by_a_child;
use baton_confine::calls::{Answer, REFUSED, refuse, refuse_addressed_sends};
use std::io::{ErrorKind, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;

#[test]
fn every_call_of_the_table_is_refused_to_a_child() {
    // It ends at the first call that is not, because without the filter some of these do things.
    let lines: Vec<String> = REFUSED
        .iter()
        .map(|call| {
            let (name, number, error) = (call.name, call.number, call.answer.error());
            let call = format!("call({number}, 0, 0, 0, 0, 0, 0)");
            format!("assert {call} == -{error}, '{name}'; print('{name}')")
        })
        .collect();
    let printed = seen_by_a_child(|| refuse().unwrap(), lines.join("\n"));
    let names: Vec<&str> = REFUSED.iter().map(|call| call.name).collect();
    assert_eq!(printed.lines().collect::<Vec<_>>(), names);
    // What programs look for before they take another way has to look as if it were not there.
    for call in REFUSED.iter().filter(|call| call.name.starts_with("io_uring")) {
        assert_eq!(call.answer, Answer::NoSuchCall);
    }
}

#[test]
fn no_child_gets_more_rights_by_executing_a_program() {
    let program = "print(open('/proc/self/status').read())";
    let status = seen_by_a_child(|| refuse().unwrap(), program.to_owned());
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(status.contains("Seccomp:\t2"), "{status}");
}

#[test]
fn what_programs_need_is_left_alone() {
    let program = "
import subprocess, threading, socket
assert call(39) == os.getpid() or os.uname().machine != 'x86_64'
first, second = socket.socketpair()
thread = threading.Thread(target=lambda: first.send(b'hello'))
thread.start(); thread.join()
assert second.recv(9) == b'hello'
child = subprocess.run(['sh', '-c', 'echo nested | cat'], capture_output=True, text=True)
print(child.stdout, end='')
# Chromium's own sandbox is made of these; a container may forbid them, but not with ENOSYS.
print(os.fork() == 0 and libc.unshare(0x10000000) == 0 or ctypes.get_errno() != errno.ENOSYS)
";
    let printed = seen_by_a_child(|| refuse().unwrap(), program.to_owned());
    assert!(printed.starts_with("nested\n"), "{printed}");
    assert!(!printed.contains("False"), "{printed}");
}

#[test]
fn a_thread_that_gave_nothing_up_is_not_bound() {
    std::thread::spawn(|| refuse().unwrap()).join().unwrap();
    let program = "print(open('/proc/self/status').read())";
    let status = seen_by_a_child(|| (), program.to_owned());
    assert!(status.contains("Seccomp:\t0"), "{status}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn numbers_of_other_processors_are_no_way_around() {
    // x32: the same calls with bit 30 set. i386: by its own gate, where 288 is keyctl and 20 getpid;
    // where the kernel has no such gate, the program is ended by a signal, with us or without.
    let program = "
assert call(0x40000000 | 250, 0, 0, 0) == -errno.ENOSYS
assert call(0x40000000 | 39) == -errno.ENOSYS
def gate(number):
    code = b'\\xb8' + number.to_bytes(4, 'little') + b'\\x31\\xdb\\xcd\\x80\\xc3'
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b'\\x53' + code[:-1] + b'\\x5b\\xc3')
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()
def answers(number):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(gate(number)).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    return os.read(reading, 100).decode() or 'ended'
print(answers(20), answers(288))
";
    let unbound = seen_by_a_child(|| (), program.to_owned());
    let bound = seen_by_a_child(|| refuse().unwrap(), program.to_owned());
    let has_gate = !unbound.contains("ended");
    assert_eq!(bound, if has_gate { "-38 -38\n" } else { "ended ended\n" }, "{unbound}");
}

#[test]
fn who_is_kept_from_datagrams_speaks_tcp_and_to_whom_it_is_connected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let heard = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (there, to) = (listener.local_addr().unwrap(), heard.local_addr().unwrap());
    let tried = std::thread::spawn(move || {
        refuse_addressed_sends().unwrap();
        for here in ["127.0.0.1:0", "[::1]:0"] {
            let socket = UdpSocket::bind(here).unwrap();
            let sent = socket.send_to(b"word", socket.local_addr().unwrap());
            assert_eq!(sent.unwrap_err().kind(), ErrorKind::PermissionDenied, "{here}");
        }
        // How a program asks which of its addresses leads there.
        let asks = UdpSocket::bind("0.0.0.0:0").unwrap();
        asks.connect(to).unwrap();
        assert!(asks.local_addr().unwrap().ip().is_loopback());
        TcpStream::connect(there).unwrap().write_all(b"word").unwrap();
        let (one, _other) = UnixDatagram::pair().unwrap();
        one.send(b"word").unwrap();
        assert!(std::net::ToSocketAddrs::to_socket_addrs("localhost:1").unwrap().next().is_some());
    });
    tried.join().unwrap();
}
