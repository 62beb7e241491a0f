/** The longest message of a server, in bytes. */
export const MOST_MESSAGE_BYTES = 10_000_000
/** What is kept of what a server prints about itself. */
export const MOST_STDERR_BYTES = 65_536
/** Tools of one server, and pages they may come on. */
export const MOST_TOOLS = 1_000
/** Pages of one listing. */
export const MOST_PAGES = 100
/** How long a server may take to connect and list its tools. */
export const START_TIMEOUT_MS = 30_000
/** How deep the data of an answer may be nested. */
export const DEEPEST_ANSWER = 100
/** The SDK must have a time of its own; the hub's is what counts. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
