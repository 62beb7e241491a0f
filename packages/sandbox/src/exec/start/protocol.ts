import type { Readable, Writable } from 'node:stream'

// The hub and its spawner exchange JSON objects, one per line. The two tables below are the only description of the
// messages: the types and the validation both follow from them.

type Check<Value> = (value: unknown) => value is Value
type Schema = Readonly<Record<string, Check<unknown>>>
type Checked<C> = C extends Check<infer Value> ? Value : never
type Fields<S> = {
  readonly [K in keyof S as undefined extends Checked<S[K]> ? never : K]: Checked<S[K]>
} & { readonly [K in keyof S as undefined extends Checked<S[K]> ? K : never]?: Checked<S[K]> }
type Message<Table> = { [T in keyof Table]: { readonly type: T } & Fields<Table[T]> }[keyof Table]

const text: Check<string> = (value): value is string => typeof value === 'string'
const flag: Check<boolean> = (value): value is boolean => typeof value === 'boolean'
const count: Check<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const HUB_MESSAGES = {
  /** Starts a prewarmed process: a shell outside of any sandbox that waits to become one. */
  prewarm: {
    id: count,
    level: oneOf('full', 'namespaces', 'none'),
    env: recordOf(text),
    /** The filter's program in base64, and the descriptor from which the sandbox reads it. */
    seccomp: optional(object({ fd: count, program: text })),
    hasHelper: flag,
    /** The sandbox may run further commands after its first one; its shells create the pipes of each. */
    isReusable: flag,
    /** Files of its cgroup, to which it writes in order to join. */
    joinFiles: listOf(text),
  },
  /** Turns a prewarmed process into a sandbox, whose shell waits for its command. */
  open: {
    id: count,
    file: text,
    args: listOf(text),
    /** Paths whose mounts are checked before the sandbox gets its command. */
    swappable: optional(listOf(text)),
    /** Paths that must be mounted as long as the command runs. */
    closed: optional(listOf(text)),
    /** Opened before there is a command: whether its folders are still the same is checked when the command comes. */
    isWarm: flag,
  },
  /**
   * Gives a sandbox its command. `helper` is a script to run first, whose first line of output is awaited. `nextId`: the
   * id under which the sandbox waits for another command when this one has ended, if it can be used again. A sandbox that
   * does not report within `startMs` how the start went is killed.
   */
  run: { id: count, script: text, helper: optional(text), nextId: optional(count), startMs: count },
  /** The hub has opened its ends of the pipes. */
  connected: { id: count },
  /** `graceMs`: how long the command has between SIGTERM and SIGKILL. */
  stop: { id: count, graceMs: optional(count) },
  /** The hub knows that the sandbox has ended. */
  release: { id: count },
} as const satisfies Readonly<Record<string, Schema>>

const SPAWNER_MESSAGES = {
  hello: {},
  /** Where the hub opens its ends of the command's pipes: input, output, errors. */
  pipes: { id: count, paths: listOf(text, 3) },
  /** The command has replaced the shell; `pid` is its process id outside of the sandbox. */
  running: { id: count, pid: optional(count) },
  /** The shell reports why it could not start the command. */
  refused: { id: count, reason: text },
  /** The sandbox failed to start, or has ended; `reason` is what the sandbox itself reported. */
  broken: { id: count, reason: text },
  /**
   * No process of the command is left; always the last message with this id. `uncovered`: it was killed because a new
   * file at this path, which the sandbox had closed, was no longer covered.
   */
  ended: { id: count, exitCode: optional(count), signal: optional(text), uncovered: optional(text) },
} as const satisfies Readonly<Record<string, Schema>>

/** A message from the hub to its spawner. */
export type HubMessage = Message<typeof HUB_MESSAGES>
export type PrewarmMessage = Extract<HubMessage, { type: 'prewarm' }>
export type OpenMessage = Extract<HubMessage, { type: 'open' }>
export type RunMessage = Extract<HubMessage, { type: 'run' }>

/** A message from the spawner to its hub. */
export type SpawnerMessage = Message<typeof SPAWNER_MESSAGES>

/** How a command ended. */
export type Exit = Omit<Extract<SpawnerMessage, { type: 'ended' }>, 'type' | 'id'>

/** Parses a line from the hub; throws if it is not a valid message. */
export function parseHubMessage(line: string): HubMessage {
  const message: unknown = JSON.parse(line)
  if (isMessage(HUB_MESSAGES, message)) return message
  throw new TypeError(`not a message to the spawner: ${line.slice(0, 200)}`)
}

/** Parses a line from the spawner; throws if it is not a valid message. */
export function parseSpawnerMessage(line: string): SpawnerMessage {
  const message: unknown = JSON.parse(line)
  if (isMessage(SPAWNER_MESSAGES, message)) return message
  throw new TypeError(`not a message of the spawner: ${line.slice(0, 200)}`)
}

/** Writes a message. Those of one turn are written together: every write wakes the other process. */
export function writeLine(stream: Writable, message: HubMessage | SpawnerMessage): void {
  stream.cork()
  process.nextTick(() => stream.uncork())
  stream.write(`${JSON.stringify(message)}\n`)
}

/** Calls `onLine` for every complete line of a UTF-8 stream; text after the last newline is dropped. */
export function forEachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
}

function isMessage<Table extends Readonly<Record<string, Schema>>>(
  table: Table,
  value: unknown,
): value is Message<Table> {
  if (!isObject(value) || !text(value.type) || !Object.hasOwn(table, value.type)) return false
  return object(table[value.type]!)(value)
}

function object<S extends Schema>(schema: S): Check<Fields<S>> {
  const checks = Object.entries(schema)
  return (value): value is Fields<S> => isObject(value) && checks.every(([name, check]) => check(value[name]))
}

function optional<Value>(check: Check<Value>): Check<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || check(value)
}

function oneOf<const Value extends string>(...values: readonly Value[]): Check<Value> {
  return (value): value is Value => values.includes(value as Value)
}

function listOf<Item>(check: Check<Item>, length?: number): Check<readonly Item[]> {
  return (value): value is readonly Item[] =>
    Array.isArray(value) && value.every(check) && (length === undefined || value.length === length)
}

function recordOf<Value>(check: Check<Value>): Check<Readonly<Record<string, Value>>> {
  return (value): value is Readonly<Record<string, Value>> => isObject(value) && Object.values(value).every(check)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
