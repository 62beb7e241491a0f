import { ToolError } from '../../core/errors.ts'

/** What a terminal sends for the keys that have names. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['enter', '\r'],
  ['tab', '\t'],
  ['escape', '\x1b'],
  ['space', ' '],
  ['backspace', '\x7f'],
  ['delete', '\x1b[3~'],
  ['up', '\x1b[A'],
  ['down', '\x1b[B'],
  ['right', '\x1b[C'],
  ['left', '\x1b[D'],
  ['home', '\x1b[H'],
  ['end', '\x1b[F'],
  ['pageup', '\x1b[5~'],
  ['pagedown', '\x1b[6~'],
])

/** The bytes of a key: `Enter`, `Up`, `C-c`, `M-x`, or one character. */
export function keyBytes(key: string): string {
  const bytes = bytesOf(key)
  if (bytes !== undefined) return bytes
  throw new ToolError('INPUT_SCHEMA_INVALID', `There is no key ${JSON.stringify(key)}.`, { hint: HINT })
}

/** Whether a key has bytes to send. */
export function isKey(key: string): boolean {
  return bytesOf(key) !== undefined
}

/** What to say of one that has none. */
export function notAKey(key: string): string {
  return `There is no key ${JSON.stringify(key)}. ${HINT}`
}

const HINT = `Use one character, C-c for Ctrl and a letter, M-x for Alt, or ${[...KEYS.keys()].join(', ')}.`

function bytesOf(key: string): string | undefined {
  const named = KEYS.get(key.toLowerCase())
  if (named !== undefined) return named
  const control = /^C-([a-z@[\\\]^_])$/i.exec(key)?.[1]
  if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f)
  const meta = /^M-(.)$/su.exec(key)?.[1]
  if (meta !== undefined) return `\x1b${meta}`
  return [...key].length === 1 ? key : undefined
}
