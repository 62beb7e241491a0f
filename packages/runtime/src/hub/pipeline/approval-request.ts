import { dirname } from 'node:path'
import { type ApprovalRequest, lazyModule, type ScriptPlace, type StoredApproval } from '@tool-hub/core'
import { deepFreeze, hashJson, isPlainObject, revealLine } from '@tool-hub/core/lib'
import {
  askedParts,
  decide,
  describeCommandPatterns,
  escapeGlob,
  offerCommandPatterns,
  patternRule,
  unprovenValues,
} from '@tool-hub/policy'
import { type ApprovedValue, type Grant, isStoredInPart, type NamedScript } from '../../approvals/index.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, givenIds, untilStopped, type ValidCall } from './call.ts'
import { question, targetLines } from './decide.ts'
import { isAllFound, scriptsOfCall } from './named-scripts.ts'
import { recentCalls } from './record.ts'

/** Only a call that waits for a person needs them. */
const loadCallViews = lazyModule(() => import('./approval-views/call-views.ts'))

const MAX_NAMED_VALUES = 10
const MAX_VALUES_CHARS = 500
const MAX_NAMED_TARGETS = 5
const MAX_NAMED_SCRIPTS = 5

/** Creates the request that the approver sees, without secrets. An adopted request keeps its id and its times. */
export async function createApprovalRequest(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  asked: {
    readonly hash: string
    readonly targets: readonly string[]
    readonly round: number
    readonly adopted?: StoredApproval
    /** Scripts that changed since a remembered yes that would cover the call. */
    readonly changed: readonly string[]
  },
): Promise<ApprovalRequest> {
  const { hash, targets, round, adopted, changed } = asked
  const decision = decided.decision
  const { session, purpose } = decided.call.options
  const now = runtime.clock.now()
  const redactor = runtime.redactor.forDecision({ runsCode: decided.valid.capabilities.includes('exec') })
  const { callRisks, viewsOf, viewWarnings } = await untilStopped(decided.call, loadCallViews())
  // Views only help the approver: a view that fails is left out of the request.
  const views = await untilStopped(
    decided.call,
    viewsOf(runtime, run, decided, redactor).catch(() => []),
  )
  const risks = callRisks(decided, views, redactor)
  const script =
    decided.call.script && (await untilStopped(decided.call, withSource(decided.call.script, decided.call.keepSource)))
  const id = round === 1 ? `approval-${decided.call.id}` : `approval-${decided.call.id}-${round}`
  const request: ApprovalRequest = {
    id: adopted?.id ?? id,
    callId: decided.call.id,
    run: decided.call.run,
    ...(session !== undefined && { session }),
    tool: decided.call.name,
    input: structuredClone(redactor.value(decided.valid.input)),
    targets: [...targets],
    rule: decision.rule,
    reason: decision.reason,
    caller: decided.call.caller,
    ...(script && { script }),
    ...(runtime.identity.principal !== undefined && { principal: runtime.identity.principal }),
    ...(purpose !== undefined && { purpose: redactor.text(purpose) }),
    ...runtime.redactor.value(givenIds(decided.call.options)),
    requests: [...decision.requests],
    labels: run.tainted ? ['untrusted' as const] : [],
    ...(run.tainted && { taintedBy: run.taintedBy }),
    ...(risks.length > 0 && { risks }),
    views,
    history: recentCalls(run),
    coverage: {
      ...callCoverage(runtime, decided, targets),
      ...patternCoverage(runtime, run, decided),
      ...valueCoverage(runtime, run, decided),
    },
    ...(decided.decision.unproven && { unproven: decided.decision.unproven }),
    hash,
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + runtime.people.approvals.timeoutMs).toISOString(),
  }
  const warnings = [
    ...changed.map(describeChange),
    redactor.warning(),
    ...viewWarnings(views),
    ...(await keepWhole(run, decided, request)),
  ]
  const reason = [decision.reason, ...warnings.filter((warning) => warning !== undefined)].join(' ')
  return deepFreeze({ ...request, reason })
}

function describeChange(script: string): string {
  return `${revealLine(script)} changed since this was allowed.`
}

/** The script that makes the call, with its source: that is stored before anybody is asked, so every approver finds it. */
async function withSource(script: ScriptPlace, keepSource: Call['keepSource']): Promise<ScriptPlace> {
  // The source only helps the approver: a request without it says so.
  const source = await keepSource?.().catch(() => undefined)
  return { ...script, ...(source !== undefined && { source }) }
}

/** Stores the complete arguments as an artifact of the run if the request contains only their start and end. */
async function keepWhole({ records }: RunState, decided: DecidedCall, request: ApprovalRequest): Promise<string[]> {
  if (!records || !isStoredInPart(request)) return []
  try {
    const options = { name: `${request.id}.json`, mediaType: 'application/json' }
    const artifact = await untilStopped(decided.call, records.putArtifact(JSON.stringify(request.input), options))
    decided.call.report.artifacts.push(artifact)
    return [`The complete arguments are stored in this run as ${artifact.ref}.`]
  } catch {
    // The request states what is missing; whether a failing disk stops the call is decided by the records.
    return []
  }
}

/** Returns everything that the approval of a call is bound to: if any of it changes, the answer no longer applies. */
export function boundTo(
  runtime: Runtime,
  valid: ValidCall,
): { readonly hash: string; readonly callHash: string; readonly targets: readonly string[] } {
  const targets = targetLines(runtime, valid)
  const { doubt } = valid.tool.tool
  const sandbox = valid.sandbox ?? 'none'
  const bound = { tool: valid.call.name, input: valid.input, targets, sandbox, doubt }
  const callHash = approvalHash(bound)
  const scripts = scriptsOfCall(valid)
  return { hash: scripts.length === 0 ? callHash : approvalHash({ ...bound, scripts }), callHash, targets }
}

/** The call as grants are compared with it. */
export function coveredCall(runtime: Runtime, run: RunState, valid: ValidCall) {
  const { callHash: hash, targets } = boundTo(runtime, valid)
  return {
    hash,
    targets,
    tool: valid.call.name,
    principal: runtime.identity.principal,
    session: sessionOf(valid),
    // A tool in doubt is not the tool that was approved: only an answer to this exact doubt counts.
    isExact: valid.tool.tool.doubt !== undefined,
    permits: (pattern: NonNullable<Grant['pattern']>) => permits(runtime, run, valid, pattern),
    changedScripts: (grant: Grant) => changedScripts(runtime, run, valid, grant),
  }
}

/** The session of a call, or its run if it has none. */
export function sessionOf(valid: ValidCall): string {
  return valid.call.options.session ?? `run:${valid.call.run}`
}

/** The scripts that a grant is about and that are not as they were: for a pattern, those of the parts that need an approval. */
function changedScripts(runtime: Runtime, run: RunState, valid: ValidCall, grant: Grant): readonly string[] {
  const named = grant.covers === 'pattern' ? askedScripts(runtime, run, valid) : scriptsOfCall(valid)
  const known = new Map(grant.scripts?.map(({ name, hash }) => [name, hash]))
  return named.filter(({ name, hash }) => known.get(name) !== hash).map(({ name }) => name)
}

/** The scripts of the parts that need an approval. */
function askedScripts(runtime: Runtime, run: RunState, valid: ValidCall): readonly NamedScript[] {
  const asked = question(runtime, run, valid)
  const parts = [...valid.readings.keys()].flatMap((target) => askedParts(runtime.policy, asked, target))
  return parts.flatMap((part) => valid.scripts.get(part) ?? [])
}

/** The hash that an answer is bound to. */
export function approvalHash({
  tool,
  input,
  targets,
  sandbox,
  doubt,
  scripts,
}: {
  readonly tool: string
  readonly input: unknown
  readonly targets: readonly string[]
  /** The isolation level: an approval inside the sandbox does not apply outside it. */
  readonly sandbox: string
  /** Why the tool is in doubt: the approval of one changed definition does not cover the next change. */
  readonly doubt?: string
  /** The scripts that a command names: the approval of one content does not cover another. */
  readonly scripts?: readonly NamedScript[]
}): string {
  return hashJson({ tool, input, targets, sandbox, doubt, scripts })
}

/**
 * Returns `false` for commands: their target does not include folder, variables and input, so only the exact call is
 * covered.
 */
export function canCoverTargets({ capabilities, tool }: ValidCall): boolean {
  return !capabilities.includes('exec') && tool.tool.doubt === undefined
}

/** Returns the pattern as people see it. A pattern that contains a secret is not offered. */
function patternCoverage(runtime: Runtime, run: RunState, decided: DecidedCall): { readonly pattern?: string } {
  const shown = patternOf(runtime, run, decided)?.shown
  return shown === undefined || runtime.redactor.text(shown) !== shown ? {} : { pattern: shown }
}

function callCoverage(runtime: Runtime, decided: DecidedCall, targets: readonly string[]): ApprovalRequest['coverage'] {
  const by = runtime.identity.principal === undefined ? '' : ` by ${runtime.identity.principal}`
  const until = runtime.redactor.text(untilChange(scriptsOfCall(decided.valid)))
  const exact = `this exact call of ${decided.call.name}${by}, with the same arguments${until}`
  if (targets.length === 0 || !canCoverTargets(decided.valid)) return { exact }
  const others = targets.length - MAX_NAMED_TARGETS
  const named = targets.slice(0, MAX_NAMED_TARGETS).join(', ')
  const on = others > 0 ? `${named} and ${others} more` : named
  return { exact, targets: `every call of ${decided.call.name}${by} on ${on}, whatever its other arguments` }
}

/** Returns the values that nothing shows to come from the user, for an answer that covers them; at most a few are shown. */
function valueCoverage(runtime: Runtime, run: RunState, decided: DecidedCall): { readonly values?: string } {
  const values = decided.decision.unproven ? unprovenValues(question(runtime, run, decided.valid)) : []
  if (values.length === 0 || values.length > MAX_NAMED_VALUES) return {}
  const named = values.map(({ argument, value }) => `${argument} ${JSON.stringify(value)}`).join(', ')
  const shown = runtime.redactor.text(named)
  // A value that cannot be shown cannot be approved for later calls.
  return shown !== named || named.length > MAX_VALUES_CHARS
    ? {}
    : {
        values: `${revealLine(named)} of ${decided.call.name}${values.length > 1 ? ', together' : ''}, if everything else comes from the user`,
      }
}

/** The values that an answer about `coverage.values` covers. */
export function valuesToApprove(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
): readonly ApprovedValue[] | undefined {
  if (valueCoverage(runtime, run, decided).values === undefined) return undefined
  const values = unprovenValues(question(runtime, run, decided.valid))
  return values.map(({ argument, value }) => ({ argument, hash: hashJson(value) }))
}

/** The calls that a remembered answer covers beyond this one. */
type GrantPattern = NonNullable<Grant['pattern']>

/**
 * Returns the pattern that is offered with an approval: the words of a command line with other files or messages, the folder
 * of a file, or the host of a URL. Offered only if, as a rule, it would allow this call: it never covers a denied
 * target, a tool in doubt or a command that was not understood completely.
 */
export function patternOf(runtime: Runtime, run: RunState, decided: DecidedCall): GrantPattern | undefined {
  if (decided.tool.tool.doubt !== undefined || decided.decision.effect !== 'ask') return undefined
  const pattern = decided.valid.capabilities.includes('exec')
    ? commandPattern(runtime, run, decided)
    : (serverPattern(decided) ?? hostPattern(decided) ?? folderPattern(decided))
  return pattern && permits(runtime, run, decided.valid, pattern) ? pattern : undefined
}

/** Returns whether the call would need no approval if the pattern were an additional rule. */
function permits(runtime: Runtime, run: RunState, valid: ValidCall, pattern: GrantPattern): boolean {
  const policy = runtime.policy.withRule(patternRule(valid.call.name, pattern))
  return decide(policy, question(runtime, run, valid)).effect === 'allow'
}

function commandPattern(runtime: Runtime, run: RunState, decided: DecidedCall): GrantPattern | undefined {
  const commands = decided.valid.targets.filter(({ capability }) => capability === 'exec')
  const [command] = commands
  if (!command || commands.length > 1) return undefined
  const asked = question(runtime, run, decided.valid)
  const on = offerCommandPatterns(runtime.policy, asked, command.value)
  if (on === undefined) return undefined
  const parts = askedParts(runtime.policy, asked, command.value)
  // A script that was not found can be any: only this exact call is covered.
  if (!parts.every((part) => isAllFound(part, decided.valid.scripts.get(part)))) return undefined
  return { on, shown: `${describeCommandPatterns(on)}${untilChange(askedScripts(runtime, run, decided.valid))}` }
}

/** When a remembered yes about these scripts ends, in words. */
function untilChange(scripts: readonly NamedScript[]): string {
  const names = [...new Set(scripts.map(({ name }) => name))]
  if (names.length === 0) return ''
  const more = names.length > MAX_NAMED_SCRIPTS ? [`one of ${names.length - MAX_NAMED_SCRIPTS} more files`] : []
  return `, until ${[...names.slice(0, MAX_NAMED_SCRIPTS), ...more].join(' or ')} changes`
}

/** The pattern for all tools of an MCP server. A tool whose definition changes is in doubt and still needs an approval. */
function serverPattern({ call: { name }, valid: { targets } }: DecidedCall): GrantPattern | undefined {
  const [, server] = /^mcp\/([\w-]+)\./.exec(name) ?? []
  const isOfServer = targets.length > 0 && targets.every(({ value }) => value.startsWith(`mcp:${server}/`))
  return server !== undefined && isOfServer
    ? { on: [`mcp:${server}/*`], shown: `mcp:${server}/*`, tools: `mcp/${server}.` }
    : undefined
}

/** The pattern for the host of a call that only fetches. Calls that send data are approved one by one. */
function hostPattern({ call: { name }, valid: { targets } }: DecidedCall): GrantPattern | undefined {
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
function folderPattern({ call: { name }, valid: { targets, input } }: DecidedCall): GrantPattern | undefined {
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
