import {
  type AnyTool,
  type Capability,
  type CommandTarget,
  commandValue,
  lazyModule,
  type ResolvedTarget,
  ToolError,
} from '@tool-hub/core'
import { isPlainObject, sha256, withStop } from '@tool-hub/core/lib'
import {
  type Decision,
  decide,
  type Policy,
  type PolicyQuestion,
  requestsFor,
  type ValueEvidence,
} from '@tool-hub/policy'
import type { CommandReading } from '@tool-hub/shell'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import type { DecidedCall, JudgedCommand, ValidCall } from './call.ts'
import { wordsFor } from './call.ts'
import { readNamedScripts } from './named-scripts.ts'
import { markLink } from './taint.ts'

const MAX_TARGETS = 1_000

/**
 * Step 4: resolves which capabilities this call uses and on which real paths and normalised URLs. Throws if a guard refuses
 * a target. A capability with an empty list of targets is not used by this call. Returns a promise only for commands, whose
 * parser and runner are loaded on first use.
 */
export function resolveTargets(runtime: Runtime, run: RunState, valid: ValidCall): Promise<void> | undefined {
  const { tool, capabilities, capabilityList } = valid.tool
  valid.capabilities = capabilityList
  const stated = tool.targets ? statedTargets(run, valid, tool.targets) : NO_TARGETS
  if (stated.length > MAX_TARGETS) throw tooMany(stated.length)
  const targets: ResolvedTarget[] = []
  for (const target of stated) {
    const { capability } = target
    if (!capabilities.has(capability)) throw undeclared(valid, capability)
    targets.push({ capability, value: realTarget(runtime, run, valid, target) })
  }
  valid.targets = targets
  return capabilities.has('exec') ? readCommands(runtime, run, valid, stated) : undefined
}

/** Step 5: checks the kind of the caller and applies the policy. Hooks may tighten the decision afterwards. */
export function decideCall(
  runtime: Runtime,
  run: DecidingRun,
  valid: ValidCall,
  shadowEvidence?: ValueEvidence,
): DecidedCall {
  const { call } = valid
  const { tool, callers } = valid.tool
  const { callerKind = 'direct' } = call.options
  if (!callers.includes(callerKind)) {
    throw new ToolError('POLICY_DENIED', `${tool.name} may not be called by a ${callerKind}.`, {
      hint: `Its callers: ${callers.join(', ')}.`,
    })
  }
  const asked = question(runtime, run, valid)
  let decision = decide(runtime.policy, asked)
  const loaded = runtime.sources.requests.get(call.run)
  if (loaded) decision = { ...decision, requests: [...new Set([...decision.requests, ...requestsFor(loaded, asked)])] }
  if (tool.doubt !== undefined) decision = doubted(decision, tool.doubt)
  const { shadowPolicy } = runtime
  if (shadowPolicy)
    runtime.shadow.compare(run, call, decision, () => decideShadow(shadowPolicy, asked, tool, shadowEvidence))
  const { effect } = decision
  const decided: DecidedCall = { valid, call, tool: valid.tool, decision, effect, isInTaintedRun: asked.tainted }
  call.decided = decided
  return decided
}

/** Returns what the shadow policy says to the same question. */
function decideShadow(policy: Policy, asked: PolicyQuestion, tool: AnyTool, evidence?: ValueEvidence): Decision {
  const { arguments: given } = asked
  const { doubt } = tool
  const decision = decide(policy, evidence && given ? { ...asked, arguments: { ...given, evidence } } : asked)
  return doubt === undefined ? decision : doubted(decision, doubt)
}

/** Returns the question about a call that policy decides. */
export function question({ settings }: Runtime, run: Taint, valid: ValidCall): PolicyQuestion {
  const { tool, ruleNames: names, groups } = valid.tool
  const { callerKind: caller = 'direct', grants, untrusted } = valid.call.options
  const { capabilities, targets, readings } = valid
  const tainted = run.tainted || untrusted === true
  return {
    tool: tool.name,
    names,
    groups,
    capabilities,
    targets,
    readings,
    isUnsandboxed: valid.sandbox === 'none' && settings.isSandboxRequired,
    caller,
    tainted,
    grants,
    mayDestroy: tool.mayDestroy,
    arguments: {
      tool: tool.name,
      title: tool.title,
      input: valid.input,
      schema: valid.tool.input,
      texts: tool.texts,
      targets: tool.evidence,
      evidence: valid.values ?? wordsFor(run, valid.call),
    },
  }
}

/** Throws POLICY_DENIED if the call is denied, with the rule and the fix. */
export function denyCall(decided: DecidedCall): void {
  if (decided.effect !== 'deny') return
  const { effect, rule, reason, fix } = decided.decision
  if (effect === 'deny') {
    const unread = unreadThatDenies(decided)
    const about = unread === undefined ? '' : ` ${JSON.stringify(unread)} exists, and this run has not read it.`
    // The default reason only repeats the rule.
    const why = reason === `Denied by ${rule}.` ? '.' : `: ${withStop(reason)}`
    throw new ToolError('POLICY_DENIED', `${decided.call.name} is denied by ${rule}${why}${about}`, {
      // Without a key, because the caller itself can read the file.
      fix: unread === undefined ? fix : { hint: `Read the whole file first, then write. Or: ${fix.hint}` },
    })
  }
  throw new ToolError('POLICY_DENIED', `${decided.call.name} is denied by a decide hook.`, {
    hint: 'Ask the owner of the hook.',
  })
}

/** Returns the existing file that the run has not read, if that alone is why the call is denied. */
function unreadThatDenies({ valid: { unread }, decision }: DecidedCall): string | undefined {
  const denied = decision.demands.filter(({ effect }) => effect === 'deny')
  return denied.every(({ capability }) => capability === 'danger:destructive') ? unread : undefined
}

/** The state of a run that decisions depend on. */
export type Taint = Pick<RunState, 'tainted' | 'evidence'>

/** The same with the record of the run, for what the shadow policy decides. */
type DecidingRun = Taint & Pick<RunState, 'records'>

/** Tightens `allow` to `ask` for a tool in doubt: the rules were written for its earlier definition. */
function doubted(decision: Decision, doubt: string): Decision {
  if (decision.effect === 'deny') return decision
  if (decision.effect === 'ask') return { ...decision, reason: `${decision.reason} ${doubt}` }
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: a tool in doubt asks',
    source: 'built in',
    layer: 'fallback',
    reason: doubt,
    fix: { hint: 'Approve the call when asked. Accept the changes of an MCP server with `tool-hub mcp pin`.' },
  }
}

/** A target as the tool states it. */
interface StatedTarget {
  readonly capability: Capability
  readonly value: string | CommandTarget
}

const NO_TARGETS: readonly StatedTarget[] = []

function statedTargets(run: RunState, valid: ValidCall, targets: NonNullable<AnyTool['targets']>): StatedTarget[] {
  const isUnread = (path: string) => {
    const isNew = isUnreadBy(path, run)
    if (isNew) valid.unread = path
    return isNew
  }
  const byCapability: unknown = targets(valid.input, { isUnread })
  // A promise or a map has no fields, so it would claim that the call has no targets.
  if (!isPlainObject(byCapability))
    throw new ToolError('INTERNAL', `targets() of ${valid.call.name} must return a plain object, not a promise.`)
  const stated: StatedTarget[] = []
  for (const name of Object.keys(byCapability)) {
    const values = byCapability[name]
    if (values === undefined) continue
    const capability = name as Capability
    if (Array.isArray(values)) for (const value of values) stated.push({ capability, value })
    else stated.push({ capability, value: values as string | CommandTarget })
    if (Array.isArray(values) && values.length === 0) valid.capabilities = without(valid.capabilities, name)
  }
  return stated
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
  const hint = 'Split the call into smaller ones.'
  return new ToolError('INPUT_SCHEMA_INVALID', `The call has ${count} targets; the limit is ${MAX_TARGETS}.`, { hint })
}

function realTarget(runtime: Runtime, run: RunState, valid: ValidCall, { capability, value }: StatedTarget): string {
  const { sandbox } = run
  const onLink = (link: string, isUntrusted: boolean) => markLink(runtime, run, valid.call, link, isUntrusted)
  if (capability === 'exec') return commandValue(checkedCommand(value))
  if (typeof value !== 'string') {
    throw new ToolError('INPUT_SCHEMA_INVALID', `A target of ${capability} must be a string, got ${typeof value}.`)
  }
  switch (capability) {
    case 'read:fs':
      return sandbox.files().resolve(value, 'read', onLink)
    case 'write:fs':
      return sandbox.files().resolve(value, 'write', onLink)
    case 'network':
    case 'send':
      return sandbox.network().resolve(value)
    case 'danger:destructive':
      // For files, the target is a path; for anything else, it is the name that the tool uses.
      return valid.tool.capabilities.has('write:fs') ? sandbox.files().resolve(value, 'write', onLink) : value
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

function undeclared({ call }: ValidCall, capability: string): ToolError {
  return new ToolError('INTERNAL', `targets() of ${call.name} names ${capability}, which the tool does not declare.`)
}

const loadReader = lazyModule(() => import('@tool-hub/shell/reader'))

/** Step 4 for commands: parses what each would run, where, and at which isolation level. */
async function readCommands(
  runtime: Runtime,
  run: RunState,
  valid: ValidCall,
  stated: readonly StatedTarget[],
): Promise<void> {
  await runtime.commands.ready()
  if (!valid.capabilities.includes('exec')) return
  const commands = stated.flatMap(({ capability, value }) => (capability === 'exec' ? [commandOf(value)] : []))
  if (commands.length === 0) {
    // A tool that names no command may run none, so it does not need a working folder yet.
    valid.sandbox = await run.sandbox.sandboxLevel()
    return
  }
  const guard = run.sandbox.process()
  const [{ level }, askSecondParser, { readArgv, readCommandLine }] = await Promise.all([
    guard.report(),
    runtime.commands.secondParser(),
    loadReader(),
  ])
  valid.sandbox = level
  const readings = new Map<string, CommandReading>()
  const judged: JudgedCommand[] = []
  for (const command of commands) {
    const { cwd, argv, command: line, env, stdin } = command
    const place = { ...guard.place(cwd), env, stdin }
    const reading = argv ? readArgv(argv, place, askSecondParser) : readCommandLine(line!, place, askSecondParser)
    const value = commandValue(command)
    readings.set(value, together(readings.get(value), reading))
    judged.push({ value, cwd: place.cwd, env: env ?? [] })
  }
  valid.readings = readings
  valid.scripts = await readNamedScripts(run, valid)
  valid.commands = judged
}

/** Merges two readings of the same command line, in two folders or with other variables: the stricter one counts. */
function together(a: CommandReading | undefined, b: CommandReading): CommandReading {
  return a ? { parts: [...a.parts, ...b.parts], doubts: [...a.doubts, ...b.doubts] } : b
}

/**
 * Returns the targets of a call as people and records see them: `write:fs /srv/notes.md`. Secrets are redacted; a hash
 * distinguishes such targets, because a grant for one must not cover the other.
 */
export function targetLines({ redactor }: Runtime, { targets }: ValidCall): string[] {
  return targets.map(({ capability, value }) => {
    const shown = redactor.text(value)
    return shown === value ? `${capability} ${value}` : `${capability} ${shown} (${sha256(value).slice(0, 16)})`
  })
}
