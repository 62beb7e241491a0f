/** The longest message of a server, in bytes. */
export const MAX_MESSAGE_BYTES = 10_000_000
/** What is kept of what a server prints about itself. */
export const MAX_STDERR_BYTES = 65_536
/** Tools of one server, and pages they may come on. */
export const MAX_TOOLS = 1_000
/** Pages of one listing. */
export const MAX_PAGES = 100
/** How long a server may take to connect and list its tools. */
export const START_TIMEOUT_MS = 30_000
/** How deep the data of an answer may be nested. */
export const MAX_ANSWER_DEPTH = 100
/** The SDK must have a time of its own; the hub's is what counts. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
