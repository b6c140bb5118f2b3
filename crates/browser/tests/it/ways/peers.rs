//! What WebRTC sends: questions to STUN and TURN servers, and checks of addresses that another peer named.

/// Bodies of functions as those of the scripts are.
pub(super) const PEERS: &[(&str, &str)] = &[
    ("stun", "return gathers({urls: `stun:${host}`})"),
    ("stun-address", "return gathers({urls: `stun:${address}`})"),
    ("turn-udp", "return gathers(turn(`turn:${host}?transport=udp`))"),
    ("turn-udp-address", "return gathers(turn(`turn:${address}?transport=udp`))"),
    ("turn-tcp", "return gathers(turn(`turn:${host}?transport=tcp`))"),
    ("turn-tcp-address", "return gathers(turn(`turn:${address}?transport=tcp`))"),
    ("turn-tls", "return gathers(turn(`turns:${host}?transport=tcp`))"),
    ("turn-tls-address", "return gathers(turn(`turns:${address}?transport=tcp`))"),
    ("candidate-udp", "return checks(`udp 2122260223 ${address} 3478 typ host`)"),
    (
        "candidate-udp-reflexive",
        "return checks(`udp 1686052607 ${address} 3478 typ srflx raddr 0.0.0.0 rport 0`)",
    ),
    ("candidate-udp-name", "return checks(`udp 2122260223 ${host} 3478 typ host`)"),
    ("candidate-tcp", "return checks(`tcp 1518280447 ${address} 443 typ host tcptype passive`)"),
    ("candidate-tcp-name", "return checks(`tcp 1518280447 ${host} 443 typ host tcptype passive`)"),
];

/// What they have in common.
pub(super) const COMMON: &str = r"
const turn = (urls) => ({urls, username: 'a', credential: 'b'});
const peer = (...iceServers) => {
    const made = new RTCPeerConnection({iceServers});
    window.kept = [...(window.kept ?? []), made];
    return made;
};
const gathers = async (server) => {
    const one = peer(server);
    one.createDataChannel('way');
    await one.setLocalDescription(await one.createOffer());
    while (one.iceGatheringState !== 'complete')
        await new Promise((changed) => one.onicegatheringstatechange = changed);
};
const checks = async (candidate) => {
    const [one, other] = [peer(), peer()];
    one.createDataChannel('way');
    await one.setLocalDescription(await one.createOffer());
    await other.setRemoteDescription(one.localDescription);
    await other.setLocalDescription(await other.createAnswer());
    await one.setRemoteDescription(other.localDescription);
    await one.addIceCandidate({candidate: `candidate:1 1 ${candidate}`, sdpMid: '0'});
    // It asks again and again, until the bound of the way.
    while (one.iceConnectionState !== 'failed')
        await new Promise((changed) => one.oniceconnectionstatechange = changed);
};
";
