//! How much is kept of a tab.

/// How much is kept of a tab. What exceeds it drops the oldest, or is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests.
    pub requests: usize,
    /// Lines of the console.
    pub console_entries: usize,
    /// Bytes of all of it: three quarters for requests, the rest for the console, so that neither
    /// drives out the other.
    pub bytes: usize,
    /// Bytes of one body, and of one message of a WebSocket: `response_body_max_size`.
    pub body_bytes: usize,
    /// Bytes of any other text: an address, the value of a header, a line of the console.
    pub text_bytes: usize,
    /// Headers of one request, or of one answer.
    pub headers: usize,
    /// Messages of one WebSocket.
    pub messages: usize,
    /// Bytes of the messages of one WebSocket.
    pub messages_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 10_000,
            console_entries: 5_000,
            bytes: 32 << 20,
            body_bytes: 102_400,
            text_bytes: 16 << 10,
            headers: 200,
            messages: 1_000,
            messages_bytes: 1 << 20,
        }
    }
}

impl Limits {
    /// Bytes of requests.
    pub(super) fn request_bytes(&self) -> usize {
        self.bytes - self.console_bytes()
    }

    /// Bytes of the console.
    pub(super) fn console_bytes(&self) -> usize {
        self.bytes / 4
    }
}
