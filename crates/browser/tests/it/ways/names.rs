//! Who answers questions about names in the network of the story, and remembers each.

use super::records::Records;
use super::way::{LISTED, REBOUND, RESOLVER, Ways};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::UdpSocket;

/// How long the head of a message is (RFC 1035, section 4.1.1).
const HEAD: usize = 12;
/// The type of a question for an address.
const ADDRESS: [u8; 2] = [0, 1];

/// Answers at the resolver's address, for as long as the process lives.
pub(super) async fn answer(ways: Arc<Ways>, records: Records) {
    let socket = UdpSocket::bind((RESOLVER, 53)).await.unwrap();
    tokio::spawn(async move {
        let mut message = [0; 1500];
        let mut looks = 0;
        while let Ok((length, client)) = socket.recv_from(&mut message).await {
            let Some((name, end)) = name_in(&message[..length]) else { continue };
            records.asked(&name);
            let mut address = ways.lookup(&name);
            if name == REBOUND {
                address = Some(if looks == 0 { LISTED.1 } else { Ipv4Addr::LOCALHOST });
                looks += usize::from(is_for_address(&message[..end]));
            }
            let answer = answered(&message[..end], address);
            let _ = socket.send_to(&answer, client).await;
        }
    });
}

/// The name in a question, and where the question ends.
fn name_in(message: &[u8]) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    let mut at = HEAD;
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(message.get(at..at + length)?).to_lowercase());
        at += length;
    }
    // Its type and class.
    let end = at + 4;
    (end <= message.len()).then(|| (labels.join("."), end))
}

fn is_for_address(question: &[u8]) -> bool {
    question[question.len() - 4..question.len() - 2] == ADDRESS
}

/// The answer to a question: this address, nothing of another type, or that there is no such name.
fn answered(question: &[u8], address: Option<Ipv4Addr>) -> Vec<u8> {
    let record = address.filter(|_| is_for_address(question));
    let mut answer = question.to_vec();
    // An authoritative answer; recursion is there for who wants it.
    answer[2] = 0x84 | question[2] & 1;
    answer[3] = 0x80 | if address.is_some() { 0 } else { 3 };
    answer[4..HEAD].copy_from_slice(&[0, 1, 0, u8::from(record.is_some()), 0, 0, 0, 0]);
    if let Some(address) = record {
        // The name of the question, its type and class, a minute, four bytes.
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        answer.extend(address.octets());
    }
    answer
}
