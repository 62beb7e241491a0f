// Part of child-main.mjs: sends messages and errors to the hub.

const MARK = Symbol.for('tool-hub.ToolError')
const MAX_LINE_BYTES = 10_000_000

const toHub = process.stdout.write.bind(process.stdout)

/** Sends a message to the hub. A message that is too long becomes an error of its call. */
export function send(message) {
  const line = JSON.stringify(message)
  const bytes = Buffer.byteLength(line)
  toHub(`${bytes <= MAX_LINE_BYTES ? line : JSON.stringify(tooLong(message, bytes))}\n`)
}

function tooLong({ type, call }, bytes) {
  const message = `It would be ${bytes} bytes, ${MAX_LINE_BYTES} is the limit for one message of an isolated plugin.`
  if (type === 'ready') return { type: 'failed', message }
  return { type: 'error', call, error: { code: 'OUTPUT_SCHEMA_INVALID', message } }
}

/** An error that every copy of tool-hub recognises. */
export function toolError({ code, message, fix, retryable = false }) {
  const error = new Error(message)
  return Object.assign(error, { name: 'ToolError', [MARK]: true, code, fix: fix ?? { hint: message }, retryable })
}

/** An error as it crosses the pipe. */
export function errorShape(error) {
  const message = String(error?.message ?? error).slice(0, 10_000)
  if (typeof error !== 'object' || error === null || !(MARK in error))
    return { message, stack: String(error?.stack ?? '').slice(0, 10_000) }
  const { code, fix, retryable, data } = error
  return { code, message, retryable, fix: plain(fix), data: plain(data) }
}

/** The value as JSON keeps it; undefined if JSON cannot represent it. */
function plain(value) {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    return undefined
  }
}
