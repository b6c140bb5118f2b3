//! Passes messages between one WebSocket and one keeper, until either side ends.
//!
//! The one idea: no side waits for the other without a limit. A client that is silent for too long, or reads
//! nothing, loses its connection; the browser does not notice. While a person drives, what acts is answered
//! here and reaches no browser (`turn` says what that is).

use super::turn::{ClientSetup, Turn, refusal};
use crate::cdp::{FRAME_LIMIT, FrameReader, FrameWriter, Transport};
use futures_util::stream::{SplitSink, SplitStream, unfold};
use futures_util::{SinkExt, Stream, StreamExt};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// How often a client is asked whether it is there, and how long it may say nothing at all.
const PATIENCE: SilenceLimits =
    SilenceLimits { pause: Duration::from_secs(30), silence: Duration::from_secs(90) };
/// How long one message may take to be passed on.
const SEND_LIMIT: Duration = Duration::from_mins(1);
/// How long the last words may take.
const FAREWELL_LIMIT: Duration = Duration::from_secs(2);
/// How many refusals wait for a client.
const REFUSALS: usize = 64;

type Sink<S> = SplitSink<WebSocketStream<S>, Message>;

/// How long a client that says nothing is waited for.
#[derive(Debug, Clone, Copy)]
struct SilenceLimits {
    pause: Duration,
    silence: Duration,
}

/// Why a client may not stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMore {
    /// What let it in holds no longer.
    Unwelcome,
    /// We end. The browser does not.
    Ending,
    /// The session goes on at another node.
    Moved,
}

/// Why a connection ends: a code of RFC 6455, section 7.4.1, and words for people.
#[derive(Debug, Clone, Copy)]
struct Farewell(CloseCode, &'static str);

const BROWSER_ENDED: Farewell = Farewell(CloseCode::Away, "the session's browser has ended");
const WE_END: Farewell = Farewell(CloseCode::Away, "the node ends, and the browser goes on");
const MOVED: Farewell =
    Farewell(CloseCode::Restart, "the session moves to another node: connect again");
const NO_MORE: Farewell = Farewell(CloseCode::Policy, "this client may not stay any longer");
const CLIENT_LEFT: Farewell = Farewell(CloseCode::Normal, "");
const TOO_SLOW: Farewell = Farewell(CloseCode::Policy, "expected a client that reads and answers");
const NO_CDP: Farewell = Farewell(CloseCode::Invalid, "expected text messages with JSON");

/// What a server answers to the key with which a client asks for a WebSocket (RFC 6455, section
/// 4.2.2).
pub fn accept_key(key: &[u8]) -> String {
    derive_accept_key(key)
}

/// Passes messages between a client that was promised a WebSocket on `stream`, and a keeper. Ends
/// when one of them does, or with `no_more`. `turn` says whether the client may act.
pub async fn relay<S>(
    stream: S,
    keeper: Transport,
    no_more: impl Future<Output = NoMore>,
    turn: watch::Receiver<Turn>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    pass(stream, keeper, no_more, turn, PATIENCE).await;
}

async fn pass<S>(
    stream: S,
    keeper: Transport,
    no_more: impl Future<Output = NoMore>,
    turn: watch::Receiver<Turn>,
    patience: SilenceLimits,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_LIMIT))
        .max_frame_size(Some(FRAME_LIMIT));
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let (mut sink, mut stream) = socket.split();
    let (reader, mut writer) = keeper.split();
    let (refuse, refusals) = mpsc::channel(REFUSALS);
    let gate = Gate { turn, refuse };
    let farewell = tokio::select! {
        farewell = to_client(reader, refusals, &mut sink, patience.pause) => farewell,
        farewell = to_keeper(&mut stream, &mut writer, &gate, patience.silence) => farewell,
        why = no_more => match why {
            NoMore::Unwelcome => NO_MORE,
            NoMore::Ending => WE_END,
            NoMore::Moved => MOVED,
        },
    };
    tracing::debug!(?farewell, "a client's connection ends");
    let Farewell(code, reason) = farewell;
    let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    // Who does not hear it any more needs no farewell.
    let _ = timeout(FAREWELL_LIMIT, sink.send(Message::Close(Some(close)))).await;
    writer.close().await;
    // Who does answers it, and may have said something before: a line that ends with that unread loses the
    // farewell on its way.
    let _ = timeout(FAREWELL_LIMIT, async { while let Some(Ok(_)) = stream.next().await {} }).await;
}

/// Who may act, and where it is said that a client may not.
struct Gate {
    turn: watch::Receiver<Turn>,
    refuse: mpsc::Sender<Vec<u8>>,
}

async fn to_client<S>(
    reader: FrameReader,
    mut refusals: mpsc::Receiver<Vec<u8>>,
    sink: &mut Sink<S>,
    pause: Duration,
) -> Farewell
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut frames = pin!(frames(reader));
    let mut pings = interval(pause);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            frame = frames.next() => match frame.map(Utf8Bytes::try_from) {
                Some(Ok(text)) => Message::Text(text),
                Some(Err(_)) => return NO_CDP,
                None => return BROWSER_ENDED,
            },
            // They are of our own making, and texts.
            Some(refusal) = refusals.recv() => match Utf8Bytes::try_from(refusal) {
                Ok(text) => Message::Text(text),
                Err(_) => continue,
            },
            _ = pings.tick() => Message::Ping(Vec::new().into()),
        };
        match timeout(SEND_LIMIT, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return CLIENT_LEFT,
            Err(_) => return TOO_SLOW,
        }
    }
}

/// The keeper's frames, one after the other, until it ends.
fn frames(reader: FrameReader) -> impl Stream<Item = Vec<u8>> {
    unfold(reader, async |mut reader| match reader.next().await {
        Ok(Some(frame)) => Some((frame, reader)),
        Ok(None) | Err(_) => None,
    })
}

async fn to_keeper<S>(
    messages: &mut SplitStream<WebSocketStream<S>>,
    writer: &mut FrameWriter,
    gate: &Gate,
    silence: Duration,
) -> Farewell
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut set_up = ClientSetup::default();
    loop {
        let text = match timeout(silence, messages.next()).await {
            Ok(Some(Ok(Message::Text(text)))) => text,
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
            Ok(Some(Ok(Message::Binary(_) | Message::Frame(_)))) => return NO_CDP,
            Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) => return CLIENT_LEFT,
            Err(_) => return TOO_SLOW,
        };
        // A keeper ends its frames with it; no JSON holds one.
        if text.as_bytes().contains(&0) {
            return NO_CDP;
        }
        let refused = refusal(&gate.turn.borrow(), &mut set_up, text.as_bytes());
        if let Some(refused) = refused {
            match timeout(SEND_LIMIT, gate.refuse.send(refused)).await {
                Ok(Ok(())) => continue,
                Ok(Err(_)) | Err(_) => return TOO_SLOW,
            }
        }
        match timeout(SEND_LIMIT, writer.send(text.as_bytes().to_vec())).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return BROWSER_ENDED,
            Err(_) => return TOO_SLOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::io::{DuplexStream, duplex, split};

    type Line = (WebSocketStream<DuplexStream>, Transport, tokio::task::JoinHandle<()>);

    /// A client, the keeper's end of the line, and what passes messages between them.
    async fn line(patience: SilenceLimits) -> Line {
        let (near, far) = duplex(1 << 16);
        let (keeper, ours) = duplex(1 << 16);
        let nul = |stream| {
            let (reader, writer) = split(stream);
            Transport::nul(reader, writer)
        };
        let (_, turn) = watch::channel(Turn::Own);
        let passing = tokio::spawn(pass(far, nul(ours), pending(), turn, patience));
        (WebSocketStream::from_raw_socket(near, Role::Client, None).await, nul(keeper), passing)
    }

    /// The next message that is no ping.
    async fn heard(client: &mut WebSocketStream<DuplexStream>) -> Message {
        loop {
            match client.next().await.unwrap().unwrap() {
                Message::Ping(_) => {}
                message => return message,
            }
        }
    }

    fn farewell(message: Message) -> (CloseCode, String) {
        let Message::Close(Some(close)) = message else { panic!("expected a close: {message:?}") };
        (close.code, close.reason.to_string())
    }

    #[tokio::test]
    async fn messages_pass_in_both_directions_until_the_keeper_ends() {
        let (mut client, keeper, passing) = line(PATIENCE).await;
        let (mut reader, mut writer) = keeper.split();
        client.send(Message::text("{\"id\":1}")).await.unwrap();
        assert_eq!(reader.next().await.unwrap().unwrap(), b"{\"id\":1}");
        writer.send(b"{\"id\":1,\"result\":{}}".to_vec()).await.unwrap();
        assert_eq!(heard(&mut client).await, Message::text("{\"id\":1,\"result\":{}}"));
        writer.close().await;
        let (code, reason) = farewell(heard(&mut client).await);
        assert_eq!((code, reason.as_str()), (CloseCode::Away, "the session's browser has ended"));
        passing.await.unwrap();
    }

    #[tokio::test]
    async fn whoever_may_not_stay_is_told_why() {
        for (why, expected) in [
            (NoMore::Unwelcome, (CloseCode::Policy, "this client may not stay any longer")),
            (NoMore::Ending, (CloseCode::Away, "the node ends, and the browser goes on")),
        ] {
            let (near, far) = duplex(1 << 16);
            let (_keeper, ours) = duplex(1 << 16);
            let (reader, writer) = split(ours);
            let keeper = Transport::nul(reader, writer);
            let (_, turn) = watch::channel(Turn::Own);
            let passing = tokio::spawn(pass(far, keeper, async move { why }, turn, PATIENCE));
            let mut client = WebSocketStream::from_raw_socket(near, Role::Client, None).await;
            let (code, reason) = farewell(heard(&mut client).await);
            assert_eq!((code, reason.as_str()), expected);
            passing.await.unwrap();
        }
    }

    #[tokio::test]
    async fn what_is_no_json_never_reaches_the_keeper() {
        for message in [Message::text("{}\0{}"), Message::binary(vec![1])] {
            let (mut client, keeper, passing) = line(PATIENCE).await;
            client.send(message).await.unwrap();
            let (code, _) = farewell(heard(&mut client).await);
            assert_eq!(code, CloseCode::Invalid);
            let (mut reader, _writer) = keeper.split();
            assert!(reader.next().await.unwrap().is_none());
            passing.await.unwrap();
        }
    }

    #[tokio::test]
    async fn while_a_person_drives_what_acts_is_answered_with_who_and_what_reads_goes_on() {
        let (near, far) = duplex(1 << 16);
        let (keeper, ours) = duplex(1 << 16);
        let nul = |stream| {
            let (reader, writer) = split(stream);
            Transport::nul(reader, writer)
        };
        let (turns, turn) = watch::channel(Turn::Of("ada".into()));
        let passing = tokio::spawn(pass(far, nul(ours), pending(), turn, PATIENCE));
        let mut client = WebSocketStream::from_raw_socket(near, Role::Client, None).await;
        let (mut reader, _writer) = nul(keeper).split();
        let click = r#"{"id":1,"method":"Input.dispatchMouseEvent","params":{},"sessionId":"S"}"#;
        let look = r#"{"id":2,"method":"Page.captureScreenshot","sessionId":"S"}"#;
        client.send(Message::text(click)).await.unwrap();
        client.send(Message::text(look)).await.unwrap();
        assert_eq!(reader.next().await.unwrap().unwrap(), look.as_bytes());
        let answer = heard(&mut client).await.into_text().unwrap();
        assert!(answer.contains("ada") && answer.contains(r#""sessionId":"S""#), "{answer}");
        turns.send(Turn::Own).unwrap();
        client.send(Message::text(click)).await.unwrap();
        assert_eq!(reader.next().await.unwrap().unwrap(), click.as_bytes());
        drop(client);
        passing.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_falls_silent_loses_its_connection_and_one_that_answers_does_not() {
        let hasty =
            SilenceLimits { pause: Duration::from_millis(10), silence: Duration::from_secs(1) };
        let (silent, _keeper, passing) = line(hasty).await;
        passing.await.unwrap();
        drop(silent);

        let (mut client, _keeper, passing) = line(hasty).await;
        // A reader answers pings by itself.
        let reads = async { while let Some(Ok(_)) = client.next().await {} };
        timeout(hasty.silence * 2, reads).await.unwrap_err();
        assert!(!passing.is_finished());
    }
}
