// How much is kept, sent and waited for: every bound of the extension.

/** Events that are kept of a tab, and their bytes, until the node has them. */
export const RING_EVENTS = 1_000
export const RING_BYTES = 4 << 20

/** Bytes of a body, unless the settings or the node say otherwise; and what they can say at most. */
export const BODY_BYTES = 102_400
export const MOST_BODY_BYTES = 512 << 10

/** Bytes of any other text: an address, the value of a header, a line of the console. */
export const TEXT_BYTES = 16 << 10
/** Headers of one request, or of one answer. */
export const HEADERS = 200

/** The largest message to the node, in bytes. */
export const MESSAGE_BYTES = 4 << 20
/** When so many bytes wait in the socket, nothing more is put there. */
export const SOCKET_BYTES = 8 << 20

/** Bodies that are fetched at once, and that wait for it. */
export const BODIES = 16
export const BODIES_WAITING = 256
/** How long the browser may take for one command, in milliseconds. */
export const COMMAND_MS = 5_000

/** Requests of a tab that have not ended and are remembered; the same of WebSockets. */
export const OPEN_REQUESTS = 10_000

/** Tabs that are looked at, and cocoons that a node may name. */
export const TABS = 200
export const COCOONS = 1_000

/** Names of a node's own in a list, by which secrets are told, and characters of each. */
export const OWN_NAMES = 1_000
export const OWN_NAME = 128

/** Between two messages of ours to the node, in milliseconds: a worker sleeps after 30 s of silence. */
export const HEARTBEAT_MS = 20_000
/** How long a node may be silent after a heartbeat. */
export const SILENCE_MS = 5_000
/** How long one attempt to connect may take. */
export const ATTEMPT_MS = 4_000
/** How long the exchange of a code may take. */
export const PAIRING_MS = 10_000
