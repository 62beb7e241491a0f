import type { SandboxLevel } from '../../../contracts/commands.ts'
import type { Exit } from './started.ts'

/** What the hub tells its spawner, one JSON object a line. */
export type HubMessage =
  | SeedMessage
  | OpenMessage
  /** Gives a jail its command; `companion` is a text to run first, whose first line of output is waited for. */
  | { readonly type: 'run'; readonly id: number; readonly script: string; readonly companion?: string }
  /** The hub holds its ends of the pipes. */
  | { readonly type: 'taken'; readonly id: number }
  /** `graceMs`: how long it has between being asked to end and being killed. */
  | { readonly type: 'stop'; readonly id: number; readonly graceMs?: number }
  /** The hub has heard of its end. */
  | { readonly type: 'forget'; readonly id: number }

/** Starts a shell, outside of any jail, that waits to become one: a seed. */
export interface SeedMessage {
  readonly type: 'seed'
  readonly id: number
  readonly level: SandboxLevel
  readonly env: Readonly<Record<string, string>>
  /** The filter's program in base64, and the descriptor the jail reads it from. */
  readonly seccomp?: { readonly fd: number; readonly program: string }
  readonly hasCompanion: boolean
  /** Files of its group, in which it writes that it is in it. */
  readonly entrances: readonly string[]
}

/** Makes a seed a jail, whose shell waits for its command. */
export interface OpenMessage {
  readonly type: 'open'
  readonly id: number
  readonly file: string
  readonly args: readonly string[]
  /** Paths whose mounts are looked at before the jail gets a command. */
  readonly swappable?: readonly string[]
  /** Paths that must be mounted as long as it has a command. */
  readonly closed?: readonly string[]
  /** Made ahead: whether its folders are still the same is asked when its command comes. */
  readonly isAhead: boolean
}

/** What a spawner tells its hub, one JSON object a line. */
export type SpawnerMessage =
  | { readonly type: 'hello' }
  /** Where the hub opens its ends of the command's pipes. */
  | { readonly type: 'pipes'; readonly id: number; readonly paths: readonly string[] }
  /** The command has replaced the shell; `pid` is what it is outside of its jail. */
  | { readonly type: 'running'; readonly id: number; readonly pid?: number }
  /** The shell says why it could not start the command. */
  | { readonly type: 'refused'; readonly id: number; readonly reason: string }
  /** There is no jail, or no longer; what it said itself. */
  | { readonly type: 'broken'; readonly id: number; readonly reason: string }
  /** Nothing of it is left. Always the last word about a jail. `uncovered`: why it was killed, a path of `closed`. */
  | ({ readonly type: 'ended'; readonly id: number } & Exit)

/** Reads a line from the hub; throws unless it is exactly a message. */
export function parseHubMessage(line: string): HubMessage {
  const message = objectOf(line)
  if (isHubMessage(message)) return message
  throw new TypeError(`not a message to the spawner: ${line.slice(0, 200)}`)
}

/** Reads a line from the spawner; throws unless it is exactly a message. */
export function parseSpawnerMessage(line: string): SpawnerMessage {
  const message = objectOf(line)
  if (isSpawnerMessage(message)) return message
  throw new TypeError(`not a message of the spawner: ${line.slice(0, 200)}`)
}

type Fields = Record<string, unknown>

function isHubMessage(message: unknown): message is HubMessage {
  if (!isFields(message) || !isCount(message.id)) return false
  if (message.type === 'taken' || message.type === 'forget') return true
  if (message.type === 'stop') return isOptional(message.graceMs, isCount)
  if (message.type === 'run') return isText(message.script) && isOptional(message.companion, isText)
  return (message.type === 'seed' && isSeed(message)) || (message.type === 'open' && isOpen(message))
}

function isSeed(message: Fields): boolean {
  return (
    (message.level === 'full' || message.level === 'namespaces' || message.level === 'none') &&
    isFields(message.env) &&
    Object.values(message.env).every(isText) &&
    isOptional(message.seccomp, (it) => isFields(it) && isCount(it.fd) && isText(it.program)) &&
    typeof message.hasCompanion === 'boolean' &&
    isListOf(message.entrances, isText)
  )
}

function isOpen(message: Fields): boolean {
  return (
    isText(message.file) &&
    isListOf(message.args, isText) &&
    isOptional(message.swappable, (it) => isListOf(it, isText)) &&
    isOptional(message.closed, (it) => isListOf(it, isText)) &&
    typeof message.isAhead === 'boolean'
  )
}

function isSpawnerMessage(message: unknown): message is SpawnerMessage {
  if (!isFields(message)) return false
  if (message.type === 'hello') return true
  if (!isCount(message.id)) return false
  if (message.type === 'running') return isOptional(message.pid, isCount)
  if (message.type === 'pipes') return isListOf(message.paths, isText) && message.paths.length === 3
  if (message.type === 'refused' || message.type === 'broken') return isText(message.reason)
  const isExit = isOptional(message.exitCode, isCount) && isOptional(message.signal, isText)
  return message.type === 'ended' && isExit && isOptional(message.uncovered, isText)
}

function objectOf(line: string): unknown {
  return JSON.parse(line)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(isItem)
}

function isOptional(value: unknown, isValid: (value: unknown) => boolean): boolean {
  return value === undefined || isValid(value)
}
