import { dirname } from 'node:path'
import { type Grant, isStoredInPart } from '../../approvals/index.ts'
import type { ApprovalRequest, StoredApproval } from '../../core/index.ts'
import { deepFreeze, hashJson, isPlainObject } from '../../lib/index.ts'
import { decide, escapeGlob, offerCommandPatterns, patternRule } from '../../policy/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { callRisks, viewsOf } from './approval-views/call-views.ts'
import { NOT_WHOLE } from './approval-views/diff-views.ts'
import { type Call, type DecidedCall, type FoundCall, givenIds, untilStopped } from './call.ts'
import { question } from './decide.ts'
import { recentCalls } from './record.ts'
import { targetLines } from './targets.ts'

const MAX_NAMED_TARGETS = 5

/** What the approver sees, without secrets. An adopted request keeps its id and its times. */
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
  // Views only help to decide: the request is made without one that fails.
  const views = await untilStopped(
    call,
    viewsOf(runtime, run, call, redactor).catch(() => []),
  )
  const risks = callRisks(call, views, redactor)
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
    ...(runtime.principal !== undefined && { principal: runtime.principal }),
    ...(purpose !== undefined && { purpose: redactor.text(purpose) }),
    ...runtime.redactor.value(givenIds(call.options)),
    requests: [...decision.requests],
    labels: run.tainted ? ['untrusted' as const] : [],
    ...(risks.length > 0 && { risks }),
    views,
    history: recentCalls(run),
    coverage: { ...coverage(runtime, call, targets), ...patternCoverage(runtime, run, call) },
    hash,
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + runtime.approvals.timeoutMs).toISOString(),
  }
  const warnings = [redactor.warning(), ...viewWarning(request), ...(await keepWhole(run, call, request))]
  const reason = [decision.reason, ...warnings.filter((warning) => warning !== undefined)].join(' ')
  return deepFreeze({ ...request, reason })
}

function viewWarning({ views }: ApprovalRequest): string[] {
  const count = views.filter((view) => view.kind === 'diff' && view.diff.startsWith(NOT_WHOLE)).length
  return count === 0 ? [] : [`WARNING: of the changes of files, ${count} are not shown whole.`]
}

/** If only the ends of the arguments are stored, keeps them whole as an artifact of the run. */
async function keepWhole({ records }: RunState, call: DecidedCall, request: ApprovalRequest): Promise<string[]> {
  if (!records || !isStoredInPart(request)) return []
  try {
    const options = { name: `${request.id}.json`, mediaType: 'application/json' }
    const artifact = await untilStopped(call, records.putArtifact(JSON.stringify(request.input), options))
    call.artifacts.push(artifact)
    return [`All arguments are ${artifact.ref} of the run.`]
  } catch {
    // The request says what is missing; the records decide whether a failing disk stops the call.
    return []
  }
}

/** What the approval of a call is bound to: if any of it changes, the answer no longer holds. */
export function boundTo(
  runtime: Runtime,
  call: DecidedCall,
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
  /** The level of isolation: an approval for inside the sandbox does not hold outside. */
  readonly sandbox: string
  /** Why the tool is in doubt: an approval of one change does not cover the next. */
  readonly doubt?: string
}): string {
  return hashJson({ tool, input, targets, sandbox, doubt })
}

/** The target of a command does not include its folder, variables and input: an approval covers this very call only. */
export function canCoverTargets({ capabilities, tool }: FoundCall): boolean {
  return !capabilities.includes('exec') && tool.tool.doubt === undefined
}

/** The pattern for people; one that holds a secret is not offered. */
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
  return { exact, targets: `every call of ${call.name}${by} on ${on}, whatever else it says` }
}

/** What a remembered answer covers beyond this call. */
type GrantPattern = NonNullable<Grant['pattern']>

/**
 * The pattern that is offered with an approval: the program and command of a command line (`npm test *`), the folder of
 * a file, or the host of an address. Offered only if, as a rule, it would allow this very call: it never covers a deny, a
 * doubt or an unknown part.
 */
export function patternOf(runtime: Runtime, run: RunState, call: DecidedCall): GrantPattern | undefined {
  if (call.tool.tool.doubt !== undefined || call.decision.effect !== 'ask') return undefined
  const pattern = call.capabilities.includes('exec')
    ? commandPattern(runtime, run, call)
    : (serverPattern(call) ?? hostPattern(call) ?? folderPattern(call))
  return pattern && permits(runtime, run, call, pattern) ? pattern : undefined
}

/** Whether the call would run without an approval if the pattern were a rule in addition to the others. */
export function permits(runtime: Runtime, run: RunState, call: DecidedCall, pattern: GrantPattern): boolean {
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

/** All tools of an MCP server; one whose definition changes is in doubt, and still needs an approval. */
function serverPattern({ name, targets }: Call): GrantPattern | undefined {
  const [, server] = /^mcp\/([\w-]+)\./.exec(name) ?? []
  const isOfServer = targets.length > 0 && targets.every(({ value }) => value.startsWith(`mcp:${server}/`))
  return server !== undefined && isOfServer
    ? { on: [`mcp:${server}/*`], shown: `mcp:${server}/*`, tools: `mcp/${server}.` }
    : undefined
}

/** The host of a call that only fetches; calls that send something are approved one by one. */
function hostPattern({ name, targets }: Call): GrantPattern | undefined {
  const origins = new Set(
    targets.map(({ capability, value }) => (capability === 'network' ? originOf(value) : undefined)),
  )
  const [origin] = origins
  return origin === undefined || origins.size > 1 ? undefined : { on: [`${origin}/**`], shown: `${name} on ${origin}/` }
}

/** Only of a URL whose host is a plain name or number: other characters would have a meaning in a pattern. */
function originOf(address: string): string | undefined {
  const origin = URL.canParse(address) ? new URL(address).origin : ''
  return /^https?:\/\/[a-z0-9.:-]+$/.test(origin) ? origin : undefined
}

/** The folder of the only file that the call names, if it is below the root. */
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
