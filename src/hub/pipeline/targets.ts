import {
  type AnyTool,
  type Capability,
  type CommandTarget,
  commandValue,
  lazyModule,
  type SandboxLevel,
  type Targets,
  ToolError,
} from '../../core/index.ts'
import { isPlainObject, sha256 } from '../../lib/index.ts'
import type { ProcessGuard } from '../../sandbox/exec/index.ts'
import type { FilesGuard } from '../../sandbox/files/index.ts'
import type { NetworkGuard } from '../../sandbox/network/index.ts'
import type { CommandReading } from '../../shell/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import type { Call, ValidCall } from './call.ts'

/** The guards of a run, which resolve the targets that a tool names to real paths, URLs and commands. */
export interface SandboxHandles {
  files(): FilesGuard
  /** The artifacts of the run, each a file named after its hash; `undefined` if the hub keeps no records. */
  artifacts(): FilesGuard | undefined
  network(): NetworkGuard
  process(): ProcessGuard
  /** The isolation level of commands on this machine; does not need a root. */
  sandboxLevel(): Promise<SandboxLevel>
}

const MAX_TARGETS = 1_000

/**
 * Step 4: resolves which capabilities this call uses and on which real paths and normalised URLs. Throws if a guard refuses
 * a target. A capability with an empty list of targets is not used by this call. Returns a promise only for commands, whose
 * parser and runner are loaded on first use.
 */
export function resolveTargets(runtime: Runtime, run: RunState, call: ValidCall): Promise<void> | undefined {
  if (call.tool.capabilities.has('exec')) return runtime.commands.ready().then(() => resolveStated(runtime, run, call))
  return resolveStated(runtime, run, call)
}

function resolveStated(runtime: Runtime, run: RunState, call: ValidCall): Promise<void> | undefined {
  const { tool, capabilities, capabilityList } = call.tool
  call.capabilities = capabilityList
  if (!tool.targets) return capabilities.has('exec') ? readCommands(runtime, run, call, []) : undefined
  const stated = Object.entries(statedTargets(call, tool.targets, run)).flatMap(([name, values]) => {
    const list = values === undefined ? [] : [values].flat()
    if (list.length === 0 && values !== undefined) call.capabilities = without(call.capabilities, name)
    return list.map((value) => ({ capability: name as Capability, value }))
  })
  if (stated.length > MAX_TARGETS) throw tooMany(stated.length)
  call.targets = stated.map(({ capability, value }) => {
    if (!capabilities.has(capability)) throw undeclared(call, capability)
    return { capability, value: realTarget(call, capability, value, run.sandbox) }
  })
  const commands = stated.flatMap(({ capability, value }) => (capability === 'exec' ? [commandOf(value)] : []))
  if (call.capabilities.includes('exec')) return readCommands(runtime, run, call, commands)
}

/** A command given as a string is a bash command line that runs in the first root. */
function commandOf(value: string | CommandTarget): CommandTarget {
  return typeof value === 'string' ? { command: value } : value
}

function without(capabilities: readonly Capability[], name: string): readonly Capability[] {
  return capabilities.filter((capability) => capability !== name)
}

/** Returns whether the file exists and the run has not read it. The guard compares the content at the moment of use. */
function isUnreadBy(path: string, { sandbox, seen }: RunState): boolean {
  const present = sandbox.files().present(path)
  return present !== undefined && seen.get(present) === undefined
}

function tooMany(count: number): ToolError {
  const message = `The call has ${count} targets; the limit is ${MAX_TARGETS}.`
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Split the call into smaller ones.' })
}

function statedTargets(call: ValidCall, targets: NonNullable<AnyTool['targets']>, run: RunState): Targets {
  const isUnread = (path: string) => {
    const isNew = isUnreadBy(path, run)
    if (isNew) call.unread = path
    return isNew
  }
  const stated: unknown = targets(call.input, { isUnread })
  // A promise or a map has no fields, so it would claim that the call has no targets.
  if (isPlainObject(stated)) return stated
  throw new ToolError('INTERNAL', `targets() of ${call.name} must return a plain object, not a promise.`)
}

function realTarget(
  call: ValidCall,
  capability: Capability,
  value: string | CommandTarget,
  sandbox: SandboxHandles,
): string {
  if (capability === 'exec') return commandValue(checkedCommand(value))
  if (typeof value !== 'string') {
    throw new ToolError('INPUT_SCHEMA_INVALID', `A target of ${capability} must be a string, got ${typeof value}.`)
  }
  switch (capability) {
    case 'read:fs':
      return sandbox.files().resolve(value, 'read')
    case 'write:fs':
      return sandbox.files().resolve(value, 'write')
    case 'network':
    case 'send':
      return sandbox.network().resolve(value)
    case 'danger:destructive':
      // For files, the target is a path; for anything else, it is the name that the tool uses.
      return call.tool.capabilities.has('write:fs') ? sandbox.files().resolve(value, 'write') : value
    default:
      return value
  }
}

/** Checks a command, because a tool in plain JavaScript may return anything. Throws INPUT_SCHEMA_INVALID. */
function checkedCommand(value: unknown): CommandTarget {
  const command = commandOf(value as string)
  const { command: line, argv } = command ?? {}
  const isLine = typeof line === 'string' && argv === undefined
  const isWords = line === undefined && Array.isArray(argv) && argv.every((word) => typeof word === 'string')
  if (isLine || (isWords && argv.length > 0)) return command
  throw new ToolError(
    'INPUT_SCHEMA_INVALID',
    'A command must be a bash command line, or a list of arguments that run without a shell.',
  )
}

function undeclared(call: ValidCall, capability: string): ToolError {
  return new ToolError('INTERNAL', `targets() of ${call.name} names ${capability}, which the tool does not declare.`)
}

const loadReadCommandLine = lazyModule(() => import('../../shell/reader/index.ts'))
const loadReadArgv = lazyModule(() => import('../../shell/reader/index.ts'))

/** Step 4 for commands: parses what each would run, where, and at which isolation level. */
async function readCommands(
  runtime: Runtime,
  run: RunState,
  call: ValidCall,
  commands: readonly CommandTarget[],
): Promise<void> {
  if (commands.length === 0) {
    // A tool that names no command may run none, so it does not need a working folder yet.
    call.sandbox = await run.sandbox.sandboxLevel()
    return
  }
  const guard = run.sandbox.process()
  const [{ level }, askSecondParser, { readCommandLine }, { readArgv }] = await Promise.all([
    guard.report(),
    runtime.commands.secondParser(),
    loadReadCommandLine(),
    loadReadArgv(),
  ])
  call.sandbox = level
  for (const command of commands) {
    const { cwd, argv, command: line, env } = command
    const place = { ...guard.place(cwd), env }
    const reading = argv ? readArgv(argv, place, askSecondParser) : readCommandLine(line!, place, askSecondParser)
    const value = commandValue(command)
    call.readings.set(value, together(call.readings.get(value), reading))
    call.commands.push({ value, cwd: place.cwd, env: env ?? [] })
  }
}

/** Merges two readings of the same command line, in two folders or with other variables: the stricter one counts. */
function together(a: CommandReading | undefined, b: CommandReading): CommandReading {
  return a ? { parts: [...a.parts, ...b.parts], doubts: [...a.doubts, ...b.doubts] } : b
}

/**
 * Returns the targets of a call as people and records see them: `write:fs /srv/notes.md`. Secrets are redacted; a hash
 * distinguishes such targets, because a grant for one must not cover the other.
 */
export function targetLines({ redactor }: Runtime, call: Call): string[] {
  return call.targets.map(({ capability, value }) => {
    const shown = redactor.text(value)
    return shown === value ? `${capability} ${value}` : `${capability} ${shown} (${sha256(value).slice(0, 16)})`
  })
}
