import type { Grant } from '../approvals/index.ts'
import type { AnyTool, CallError, Effect, ResolvedTarget, ToolError } from '../core/index.ts'
import { escapeLine } from '../lib/index.ts'
import { type Decision, decide, explainDecision, type PolicyQuestion, requestsFor } from '../policy/index.ts'
import { callRisks } from './pipeline/approval-views/call-views.ts'
import { commandViews } from './pipeline/approval-views/command-views.ts'
import { rememberedAnswer } from './pipeline/approve.ts'
import type { Call } from './pipeline/call.ts'
import { question } from './pipeline/decide.ts'
import { asToolError } from './pipeline/settle.ts'
import { judge } from './pipeline.ts'
import type { Parts, RunState } from './runtime.ts'

/** What would happen to a call, why, and what would change it. */
export interface Explanation {
  /** Canonical name of the tool, or the name that was asked for if there is none. */
  readonly tool: string
  /** What would happen: `allow`, `ask` or `deny`. */
  readonly effect: Effect
  /** The rule that decides, in one line. */
  readonly rule: string
  /** Where that rule was written: `tool-hub.yaml:12`, `default.yaml:7`. */
  readonly source: string
  /** Why, in words of the rule. */
  readonly reason: string
  /** What the call would touch, resolved. */
  readonly targets: readonly ResolvedTarget[]
  /** What is dangerous about the call, in words, the most dangerous first; absent where nothing is known to be. */
  readonly risks?: readonly string[]
  /** Set when the call would not get as far as policy. */
  readonly error?: CallError
  /** The decision for every capability and target; absent when the call would not get as far. */
  readonly decision?: Decision
  /** Set when it would ask, and somebody has answered before. */
  readonly remembered?: { readonly decision: 'allow' | 'deny'; readonly by: string; readonly grant: string }
  /** Set when a run that has read from outside gets another answer. */
  readonly inTaintedRun?: Pick<Decision, 'effect' | 'rule' | 'source' | 'reason'>
  /** For people, several lines. */
  readonly text: string
}

/** Steps 1 to 5 of the road, told instead of travelled. */
export async function explainCall(
  parts: Parts,
  run: RunState,
  call: Call,
  named: string | AnyTool,
): Promise<Explanation> {
  try {
    await judge(parts, run, call, named)
  } catch (thrown) {
    return parts.redactor.value(refused(call, asToolError(call, thrown)))
  }
  const decision = withUnloaded(parts, run, call)
  const { rule, source, reason } = decision
  const asked = question(parts, run, call)
  const inTaintedRun = decideTainted(parts, asked, decision)
  const { doubt } = call.tool!.tool
  const remembered = call.effect === 'ask' ? tellRemembered(await rememberedAnswer(parts, run, call)) : undefined
  const risks = risksOf(parts, run, call)
  const text = [
    explainDecision(asked, decision),
    ...risks.map((risk) => `  risk: ${escapeLine(risk)}`),
    ...(doubt === undefined ? [] : [`  in doubt, so it asks: ${escapeLine(doubt)}`]),
    ...(remembered
      ? [`  answered before: ${remembered.decision} by ${escapeLine(remembered.by)} (${remembered.grant})`]
      : []),
    ...(inTaintedRun ? [tellTainted(inTaintedRun)] : []),
  ].join('\n')
  const told = {
    tool: call.name,
    targets: call.targets,
    decision,
    ...(risks.length > 0 && { risks }),
    ...(remembered && { remembered }),
    ...(inTaintedRun && { inTaintedRun }),
  }
  if (call.effect === decision.effect) return { ...told, effect: call.effect, rule, source, reason, text }
  const tightened = {
    rule: `a decide hook tightened ${decision.effect} to ${call.effect}`,
    source: 'hook',
    reason: 'a decide hook',
  }
  return { ...told, effect: call.effect, ...tightened, text: `${text}\n${tightened.rule}` }
}

/** What an approver of the call would be told. */
function risksOf(parts: Parts, run: RunState, call: Call): string[] {
  const redactor = parts.redactor.forDecision({ runsCode: call.capabilities.includes('exec') })
  return callRisks(call, commandViews(parts, run, call, redactor), redactor)
}

/** Also what skills would ask for that this run has not loaded. */
function withUnloaded(parts: Parts, run: RunState, call: Call): Decision {
  const decision = call.decision!
  const others = requestsFor(parts.sources.requests(undefined), question(parts, run, call))
  const more = others.filter((line) => !decision.requests.includes(line)).map((line) => `${line} once it is loaded`)
  return more.length === 0 ? decision : { ...decision, requests: [...decision.requests, ...more] }
}

/** The answer in a run that has read from outside, where it is another one. */
function decideTainted(parts: Parts, asked: PolicyQuestion, { effect }: Decision): Explanation['inTaintedRun'] {
  if (asked.tainted) return undefined
  const other = decide(parts.policy, { ...asked, tainted: true })
  if (other.effect === effect) return undefined
  return { effect: other.effect, rule: other.rule, source: other.source, reason: other.reason }
}

function tellRemembered(grant: Grant | undefined): Explanation['remembered'] {
  return grant && { decision: grant.effect, by: grant.by, grant: grant.id }
}

function tellTainted({ effect, source }: NonNullable<Explanation['inTaintedRun']>): string {
  return `  in a run that has read from outside: ${effect} (${source})`
}

/** A call that cannot be made is denied, whatever the rules say of it. */
function refused(call: Call, { code, message, retryable, fix }: ToolError): Explanation {
  return {
    tool: call.name,
    effect: 'deny',
    rule: code,
    source: 'built in',
    reason: message,
    targets: call.targets,
    error: { code, message, retryable, fix },
    text: `deny  ${call.name}\n  ${code}: ${message}\n  fix: ${fix.hint}`,
  }
}
