// Part of child-main.mjs: how a plugin's process speaks to the hub, and how errors cross over.

const MARK = Symbol.for('tool-hub.ToolError')
const MAX_LINE_BYTES = 10_000_000

const toHub = process.stdout.write.bind(process.stdout)

/** Says something to the hub. What is too long for a line becomes an error of its call. */
export function send(message) {
  const line = JSON.stringify(message)
  const bytes = Buffer.byteLength(line)
  toHub(`${bytes <= MAX_LINE_BYTES ? line : JSON.stringify(tooLong(message, bytes))}\n`)
}

function tooLong({ type, call }, bytes) {
  const message = `It would be ${bytes} bytes, ${MAX_LINE_BYTES} is the most that an isolated plugin says at once.`
  if (type === 'ready') return { type: 'failed', message }
  return { type: 'error', call, error: { code: 'OUTPUT_SCHEMA_INVALID', message } }
}

/** An error that every copy of tool-hub takes for its own. */
export function toolError({ code, message, fix, retryable = false }) {
  const error = new Error(message)
  return Object.assign(error, { name: 'ToolError', [MARK]: true, code, fix: fix ?? { hint: message }, retryable })
}

/** An error as it goes over the wire. */
export function errorShape(error) {
  const message = String(error?.message ?? error).slice(0, 10_000)
  if (typeof error !== 'object' || error === null || !(MARK in error))
    return { message, stack: String(error?.stack ?? '').slice(0, 10_000) }
  const { code, fix, retryable, data } = error
  return { code, message, retryable, fix: plain(fix), data: plain(data) }
}

/** What JSON says of a value; nothing when it cannot say it. */
function plain(value) {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    return undefined
  }
}
