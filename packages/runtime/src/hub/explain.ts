import type { AnyTool, CallError, CallOptions, Effect, ResolvedTarget, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import {
  type Decision,
  decide,
  explainDecision,
  type Policy,
  type PolicyQuestion,
  requestsFor,
  type ValueEvidence,
} from '@tool-hub/policy'
import type { Grant } from '../approvals/index.ts'
import { callRisks } from './pipeline/approval-views/call-views.ts'
import { commandViews } from './pipeline/approval-views/command-views.ts'
import type { Call, DecidedCall } from './pipeline/call.ts'
import { question } from './pipeline/decide.ts'
import { judge } from './pipeline/judge.ts'
import { rememberedAnswer } from './pipeline/remembered-answers.ts'
import { asToolError } from './pipeline/settle.ts'
import { newCall, withOwnNames } from './pipeline.ts'
import type { RunMoment } from './run-index/run-moments.ts'
import { OWN_RUN } from './run-ownership.ts'
import type { RunState } from './run-state.ts'
import type { Runtime } from './runtime.ts'

/** Options of `explain`. */
export interface ExplainOptions extends CallOptions {
  /** Decides by these rules. Default: the current policy. */
  readonly policy?: Policy
  /** Decides as of this moment of the run, see `recordedCalls`. Default: now. */
  readonly asOf?: RunMoment
}

/** What would happen to a call, why, and what would change it. */
export interface Explanation {
  /** Canonical name of the tool, or the requested name if it is unknown. */
  readonly tool: string
  /** What would happen: `allow`, `ask` or `deny`. */
  readonly effect: Effect
  /** The rule that decides, in one line. */
  readonly rule: string
  /** Where the rule is defined: `tool-hub.yaml:12`, `shipped policy:7`. */
  readonly source: string
  /** The reason that the rule states. */
  readonly reason: string
  /** The resolved targets of the call. */
  readonly targets: readonly ResolvedTarget[]
  /** The known risks of the call in plain words, the most dangerous first. Absent if there are none. */
  readonly risks?: readonly string[]
  /** Set if the call would fail before policy decides. */
  readonly error?: CallError
  /** The decision for every capability and target. Absent if the call would fail before policy decides. */
  readonly decision?: Decision
  /** Set if the decision is `ask` and a remembered answer covers the call. */
  readonly remembered?: { readonly decision: 'allow' | 'deny'; readonly by: string; readonly grant: string }
  /** Set if the decision differs in a tainted run, that is, one that has read content from outside. */
  readonly inTaintedRun?: Pick<Decision, 'effect' | 'rule' | 'source' | 'reason'>
  /** Set if the call only says what it would do: the decision about the same call with its confirmation. */
  readonly confirmed?: Pick<Decision, 'effect' | 'rule' | 'source' | 'reason'>
  /** The explanation for people, in several lines. */
  readonly text: string
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** Explains what would happen to a call: runs steps 1 to 5 of the pipeline, without side effects. */
export async function explainCall(
  ownRuntime: Runtime,
  asked: string | AnyTool,
  input: unknown,
  { policy, asOf, ...options }: ExplainOptions = {},
): Promise<Explanation> {
  // An explanation is not a call: the shadow policy is not compared.
  const runtime =
    policy || ownRuntime.shadowPolicy
      ? { ...ownRuntime, policy: policy ?? ownRuntime.policy, shadowPolicy: undefined }
      : ownRuntime
  const begun = newCall(runtime, asked, input, withOwnNames(options))
  if (asOf === undefined) {
    return explainIn(runtime, { begun, asked }, async () => {
      if (runtime.identity.runOwner) await runtime.runs.assertMayUse(begun.run, runtime.identity.runOwner)
      const run = runtime.runs.rehearsal(begun.run, runtime.identity.runOwner)
      // A run that nobody has begun has heard nothing: its store need not even exist.
      if (options.run !== undefined || runtime.runs.isOpen(begun.run))
        await runtime.people.userTexts.prepare(run, undefined)
      return run
    })
  }
  const explained: Explanation[] = []
  for (const evidence of await runtime.people.userTexts.recall(begun.run, asOf)) {
    const call = newCall(runtime, asked, input, withOwnNames(options))
    const openRun = async () => pastRun(runtime.runs.rehearsal(begun.run, runtime.identity.runOwner), asOf, evidence)
    explained.push(await explainIn(runtime, { begun: call, asked }, openRun))
  }
  return explained.reduce((a, b) => (STRICTNESS[b.effect] > STRICTNESS[a.effect] ? b : a))
}

async function explainIn(
  runtime: Runtime,
  { begun, asked }: { readonly begun: Call; readonly asked: string | AnyTool },
  openRun: () => Promise<RunState>,
): Promise<Explanation> {
  let run: RunState
  let decided: DecidedCall
  try {
    run = await openRun()
    decided = await judge(runtime, run, begun, asked)
  } catch (thrown) {
    return runtime.redactor.value(refused(begun, asToolError(begun, thrown)))
  }
  return withConfirmed(runtime, decided, await explainDecided(runtime, run, decided), openRun)
}

/** Adds the decision about the confirmed call, if this one only says what it would do. */
async function withConfirmed(
  runtime: Runtime,
  { call: { name, options }, tool, valid: { input } }: DecidedCall,
  explained: Explanation,
  openRun: () => Promise<RunState>,
): Promise<Explanation> {
  const { confirmedBy } = tool.tool
  const given = input as Readonly<Record<string, unknown>>
  if (confirmedBy === undefined || given[confirmedBy] === true) return explained
  const begun = newCall(runtime, name, { ...given, [confirmedBy]: true }, options)
  const { effect, rule, source, reason } = await explainIn(runtime, { begun, asked: name }, openRun)
  const text = `${explained.text}\n  with ${confirmedBy}: true: ${effect}\n    rule: ${rule}\n    source: ${source}`
  return { ...explained, confirmed: { effect, rule, source, reason }, text }
}

/** The run as it was at a moment of its record: with the guards of today, and what it knew then. */
function pastRun(run: RunState, past: RunMoment, evidence: ValueEvidence): RunState {
  const { isTainted: tainted } = past
  const { id, cache, starts, sandbox, seen, recent, responses, backgroundCommands, earlierCommands } = run
  return {
    ...{ id, cache, starts, sandbox, seen, recent, responses, backgroundCommands, earlierCommands },
    ...{ past, evidence, tainted, taintedBy: tainted ? run.taintedBy : [], hasOutsideArtifacts: tainted },
    ...{ records: undefined, hold: OWN_RUN, keptTaint: undefined, inFlight: 0 },
    taint() {},
    onTaint: () => () => {},
    taintedBeside: () => tainted,
  }
}

async function explainDecided(runtime: Runtime, run: RunState, decided: DecidedCall): Promise<Explanation> {
  const decision = withUnloaded(runtime, run, decided)
  const { rule, source, reason } = decision
  const asked = question(runtime, run, decided.valid)
  const inTaintedRun = decideTainted(runtime, asked, decision)
  const { doubt } = decided.tool.tool
  const remembered =
    decided.effect === 'ask' ? describeGrant(await rememberedAnswer(runtime, run, decided.valid)) : undefined
  const risks = risksOf(runtime, run, decided)
  const text = [
    explainDecision(asked, decision),
    ...risks.map((risk) => `  risk: ${escapeLine(risk)}`),
    ...(doubt === undefined ? [] : [`  in doubt, so it asks: ${escapeLine(doubt)}`]),
    ...(remembered
      ? [`  answered before: ${remembered.decision} by ${escapeLine(remembered.by)} (${remembered.grant})`]
      : []),
    ...(inTaintedRun ? [describeTainted(inTaintedRun)] : []),
    ...(run.tainted ? [`  the run has read from outside: ${run.taintedBy.join(', ')}`] : []),
  ].join('\n')
  const shared = {
    tool: decided.call.name,
    targets: decided.valid.targets,
    decision,
    ...(risks.length > 0 && { risks }),
    ...(remembered && { remembered }),
    ...(inTaintedRun && { inTaintedRun }),
  }
  if (decided.effect === decision.effect) return { ...shared, effect: decided.effect, rule, source, reason, text }
  const tightened = {
    rule: `a decide hook tightened ${decision.effect} to ${decided.effect}`,
    source: 'hook',
    reason: 'a decide hook',
  }
  return { ...shared, effect: decided.effect, ...tightened, text: `${text}\n${tightened.rule}` }
}

/** Returns the risks that an approver of the call would see. */
function risksOf(runtime: Runtime, run: RunState, decided: DecidedCall): string[] {
  const redactor = runtime.redactor.forDecision({ runsCode: decided.valid.capabilities.includes('exec') })
  return callRisks(decided, commandViews(runtime, run, decided, redactor), redactor)
}

/** Adds the requests of skills that this run has not loaded. */
function withUnloaded(runtime: Runtime, run: RunState, decided: DecidedCall): Decision {
  const { decision } = decided
  const others = requestsFor(runtime.sources.requests.get(undefined) ?? [], question(runtime, run, decided.valid))
  const more = others.filter((line) => !decision.requests.includes(line)).map((line) => `${line} once it is loaded`)
  return more.length === 0 ? decision : { ...decision, requests: [...decision.requests, ...more] }
}

/** Returns the decision in a tainted run, or `undefined` if it is the same. */
function decideTainted(runtime: Runtime, asked: PolicyQuestion, { effect }: Decision): Explanation['inTaintedRun'] {
  if (asked.tainted) return undefined
  const other = decide(runtime.policy, { ...asked, tainted: true })
  if (other.effect === effect) return undefined
  return { effect: other.effect, rule: other.rule, source: other.source, reason: other.reason }
}

function describeGrant(grant: Grant | undefined): Explanation['remembered'] {
  return grant && { decision: grant.effect, by: grant.by, grant: grant.id }
}

function describeTainted({ effect, source }: NonNullable<Explanation['inTaintedRun']>): string {
  return `  in a run that has read from outside: ${effect} (${source})`
}

/** Explains a call that fails before policy decides: it counts as denied, whatever the rules say. */
function refused(call: Call, { code, message, retryable, fix }: ToolError): Explanation {
  return {
    tool: call.name,
    effect: 'deny',
    rule: code,
    source: 'built in',
    reason: message,
    targets: call.valid?.targets ?? [],
    error: { code, message, retryable, fix },
    text: `deny  ${call.name}\n  ${code}: ${message}\n  fix: ${fix.hint}`,
  }
}
