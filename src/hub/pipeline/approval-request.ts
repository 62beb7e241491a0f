import { dirname } from 'node:path'
import { type ApprovedValue, type Grant, isStoredInPart } from '../../approvals/index.ts'
import { type ApprovalRequest, lazyModule, type ScriptPlace, type StoredApproval } from '../../core/index.ts'
import { deepFreeze, hashJson, isPlainObject, revealLine } from '../../lib/index.ts'
import { decide, escapeGlob, offerCommandPatterns, patternRule, unprovenValues } from '../../policy/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type FoundCall, givenIds, untilStopped, type ValidCall } from './call.ts'
import { question, targetLines } from './decide.ts'
import { recentCalls } from './record.ts'

/** Only a call that waits for a person needs them. */
const loadCallViews = lazyModule(() => import('./approval-views/call-views.ts'))

/** Start of a view that is incomplete; no diff starts like this. */
export const NOT_WHOLE = 'NOT SHOWN WHOLE: '

const MAX_NAMED_VALUES = 10
const MAX_VALUES_CHARS = 500
const MAX_NAMED_TARGETS = 5

/** Creates the request that the approver sees, without secrets. An adopted request keeps its id and its times. */
export async function createApprovalRequest(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  asked: {
    readonly hash: string
    readonly targets: readonly string[]
    readonly round: number
    readonly adopted?: StoredApproval
  },
): Promise<ApprovalRequest> {
  const { hash, targets, round, adopted } = asked
  const decision = call.decision
  const { session, purpose } = call.options
  const now = runtime.clock.now()
  const redactor = runtime.redactor.forDecision({ runsCode: call.capabilities.includes('exec') })
  const { callRisks, viewsOf } = await untilStopped(call, loadCallViews())
  // Views only help the approver: a view that fails is left out of the request.
  const views = await untilStopped(
    call,
    viewsOf(runtime, run, call, redactor).catch(() => []),
  )
  const risks = callRisks(call, views, redactor)
  const script = call.script && (await untilStopped(call, withSource(call.script, call.keepSource)))
  const id = round === 1 ? `approval-${call.id}` : `approval-${call.id}-${round}`
  const request: ApprovalRequest = {
    id: adopted?.id ?? id,
    callId: call.id,
    run: call.run,
    ...(session !== undefined && { session }),
    tool: call.name,
    input: structuredClone(redactor.value(call.input)),
    targets: [...targets],
    rule: decision.rule,
    reason: decision.reason,
    caller: call.caller,
    ...(script && { script }),
    ...(runtime.principal !== undefined && { principal: runtime.principal }),
    ...(purpose !== undefined && { purpose: redactor.text(purpose) }),
    ...runtime.redactor.value(givenIds(call.options)),
    requests: [...decision.requests],
    labels: run.tainted ? ['untrusted' as const] : [],
    ...(run.tainted && { taintedBy: run.taintedBy }),
    ...(risks.length > 0 && { risks }),
    views,
    history: recentCalls(run),
    coverage: {
      ...coverage(runtime, call, targets),
      ...patternCoverage(runtime, run, call),
      ...valueCoverage(runtime, run, call),
    },
    ...(call.decision.unproven && { unproven: call.decision.unproven }),
    hash,
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + runtime.approvals.timeoutMs).toISOString(),
  }
  const warnings = [redactor.warning(), ...viewWarning(request), ...(await keepWhole(run, call, request))]
  const reason = [decision.reason, ...warnings.filter((warning) => warning !== undefined)].join(' ')
  return deepFreeze({ ...request, reason })
}

/** The script that makes the call, with its source: that is stored before anybody is asked, so every approver finds it. */
async function withSource(script: ScriptPlace, keepSource: Call['keepSource']): Promise<ScriptPlace> {
  // The source only helps the approver: a request without it says so.
  const source = await keepSource?.().catch(() => undefined)
  return { ...script, ...(source !== undefined && { source }) }
}

function viewWarning({ views }: ApprovalRequest): string[] {
  const count = views.filter((view) => view.kind === 'diff' && view.diff.startsWith(NOT_WHOLE)).length
  return count === 0 ? [] : [`WARNING: file changes that are not shown completely: ${count}.`]
}

/** Stores the complete arguments as an artifact of the run if the request contains only their start and end. */
async function keepWhole({ records }: RunState, call: DecidedCall, request: ApprovalRequest): Promise<string[]> {
  if (!records || !isStoredInPart(request)) return []
  try {
    const options = { name: `${request.id}.json`, mediaType: 'application/json' }
    const artifact = await untilStopped(call, records.putArtifact(JSON.stringify(request.input), options))
    call.artifacts.push(artifact)
    return [`The complete arguments are stored in this run as ${artifact.ref}.`]
  } catch {
    // The request states what is missing; whether a failing disk stops the call is decided by the records.
    return []
  }
}

/** Returns everything that the approval of a call is bound to: if any of it changes, the answer no longer applies. */
export function boundTo(
  runtime: Runtime,
  call: ValidCall,
): { readonly hash: string; readonly targets: readonly string[] } {
  const targets = targetLines(runtime, call)
  const { doubt } = call.tool.tool
  const sandbox = call.sandbox ?? 'none'
  return { hash: approvalHash({ tool: call.name, input: call.input, targets, sandbox, doubt }), targets }
}

/** The hash that an answer is bound to. */
export function approvalHash({
  tool,
  input,
  targets,
  sandbox,
  doubt,
}: {
  readonly tool: string
  readonly input: unknown
  readonly targets: readonly string[]
  /** The isolation level: an approval inside the sandbox does not apply outside it. */
  readonly sandbox: string
  /** Why the tool is in doubt: the approval of one changed definition does not cover the next change. */
  readonly doubt?: string
}): string {
  return hashJson({ tool, input, targets, sandbox, doubt })
}

/**
 * Returns `false` for commands: their target does not include folder, variables and input, so only the exact call is
 * covered.
 */
export function canCoverTargets({ capabilities, tool }: FoundCall): boolean {
  return !capabilities.includes('exec') && tool.tool.doubt === undefined
}

/** Returns the pattern as people see it. A pattern that contains a secret is not offered. */
function patternCoverage(runtime: Runtime, run: RunState, call: DecidedCall): { readonly pattern?: string } {
  const shown = patternOf(runtime, run, call)?.shown
  return shown === undefined || runtime.redactor.text(shown) !== shown ? {} : { pattern: shown }
}

function coverage(runtime: Runtime, call: DecidedCall, targets: readonly string[]): ApprovalRequest['coverage'] {
  const by = runtime.principal === undefined ? '' : ` by ${runtime.principal}`
  const exact = `this very call of ${call.name}${by}, with the same arguments`
  if (targets.length === 0 || !canCoverTargets(call)) return { exact }
  const others = targets.length - MAX_NAMED_TARGETS
  const named = targets.slice(0, MAX_NAMED_TARGETS).join(', ')
  const on = others > 0 ? `${named} and ${others} more` : named
  return { exact, targets: `every call of ${call.name}${by} on ${on}, whatever its other arguments` }
}

/** Returns the values that nothing shows to come from the user, for an answer that covers them; at most a few are shown. */
function valueCoverage(runtime: Runtime, run: RunState, call: DecidedCall): { readonly values?: string } {
  const values = call.decision.unproven ? unprovenValues(question(runtime, run, call)) : []
  if (values.length === 0 || values.length > MAX_NAMED_VALUES) return {}
  const named = values.map(({ argument, value }) => `${argument} ${JSON.stringify(value)}`).join(', ')
  const shown = runtime.redactor.text(named)
  // A value that cannot be shown cannot be approved for later calls.
  return shown !== named || named.length > MAX_VALUES_CHARS ? {} : { values: `${revealLine(named)} of ${call.name}` }
}

/** The values that an answer about `coverage.values` covers. */
export function valuesToApprove(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
): readonly ApprovedValue[] | undefined {
  if (valueCoverage(runtime, run, call).values === undefined) return undefined
  const values = unprovenValues(question(runtime, run, call))
  return values.map(({ argument, value }) => ({ argument, hash: hashJson(value) }))
}

/** The calls that a remembered answer covers beyond this one. */
type GrantPattern = NonNullable<Grant['pattern']>

/**
 * Returns the pattern that is offered with an approval: the program and subcommand of a command line (`npm test *`), the
 * folder of a file, or the host of a URL. Offered only if, as a rule, it would allow this call: it never covers a denied
 * target, a tool in doubt or a command that was not understood completely.
 */
export function patternOf(runtime: Runtime, run: RunState, call: DecidedCall): GrantPattern | undefined {
  if (call.tool.tool.doubt !== undefined || call.decision.effect !== 'ask') return undefined
  const pattern = call.capabilities.includes('exec')
    ? commandPattern(runtime, run, call)
    : (serverPattern(call) ?? hostPattern(call) ?? folderPattern(call))
  return pattern && permits(runtime, run, call, pattern) ? pattern : undefined
}

/** Returns whether the call would need no approval if the pattern were an additional rule. */
export function permits(runtime: Runtime, run: RunState, call: ValidCall, pattern: GrantPattern): boolean {
  const policy = runtime.policy.withRule(patternRule(call.name, pattern))
  return decide(policy, question(runtime, run, call)).effect === 'allow'
}

function commandPattern(runtime: Runtime, run: RunState, call: DecidedCall): GrantPattern | undefined {
  const commands = call.targets.filter(({ capability }) => capability === 'exec')
  const [command] = commands
  if (!command || commands.length > 1) return undefined
  const on = offerCommandPatterns(runtime.policy, question(runtime, run, call), command.value)
  return on && { on, shown: on.join(', ') }
}

/** The pattern for all tools of an MCP server. A tool whose definition changes is in doubt and still needs an approval. */
function serverPattern({ name, targets }: Call): GrantPattern | undefined {
  const [, server] = /^mcp\/([\w-]+)\./.exec(name) ?? []
  const isOfServer = targets.length > 0 && targets.every(({ value }) => value.startsWith(`mcp:${server}/`))
  return server !== undefined && isOfServer
    ? { on: [`mcp:${server}/*`], shown: `mcp:${server}/*`, tools: `mcp/${server}.` }
    : undefined
}

/** The pattern for the host of a call that only fetches. Calls that send data are approved one by one. */
function hostPattern({ name, targets }: Call): GrantPattern | undefined {
  const origins = new Set(
    targets.map(({ capability, value }) => (capability === 'network' ? originOf(value) : undefined)),
  )
  const [origin] = origins
  return origin === undefined || origins.size > 1 ? undefined : { on: [`${origin}/**`], shown: `${name} on ${origin}/` }
}

/** Returns the origin of a URL whose host is a plain name or number: other characters have a meaning in patterns. */
function originOf(address: string): string | undefined {
  const origin = URL.canParse(address) ? new URL(address).origin : ''
  return /^https?:\/\/[a-z0-9.:-]+$/.test(origin) ? origin : undefined
}

/** The pattern for the folder of the only file that the call names, if it is below the root. */
function folderPattern({ name, targets, input }: Call): GrantPattern | undefined {
  const paths = new Set(targets.map(({ value }) => value))
  const [path] = paths
  const isOfFiles = targets.every(({ capability }) => capability !== 'network' && capability !== 'remote')
  const written = isPlainObject(input) ? input.path : undefined
  if (path === undefined || paths.size > 1 || !isOfFiles || typeof written !== 'string') return undefined
  const folder = dirname(written)
  // Only a folder that the call names below the root: the root itself would cover everything.
  if (folder === '.' || /(^|\/)\.\.?(\/|$)|^[/~]/.test(written) || !path.endsWith(`/${written}`)) return undefined
  return { on: [`${escapeGlob(dirname(path))}/**`], shown: `${name} in ${folder}/` }
}
