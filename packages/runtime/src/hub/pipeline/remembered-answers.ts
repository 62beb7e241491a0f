import { hashJson } from '@tool-hub/core/lib'
import type { ControlValue, ValueEvidence } from '@tool-hub/policy'
import type { Grant } from '../../approvals/index.ts'
import type { RunMoment } from '../run-index/run-moments.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { coveredCall, sessionOf } from './approval-request.ts'
import type { ValidCall } from './call.ts'
import { wordsFor } from './call.ts'

/** Returns an earlier answer that covers this call too, if there is one. */
export async function rememberedAnswer(runtime: Runtime, run: RunState, valid: ValidCall): Promise<Grant | undefined> {
  const found = await findGrant(runtime, run, valid)
  // A pattern does not replace the person that a hook requires for this call.
  const isHooked = found?.covers === 'pattern' && runtime.hooks.names.has('decide')
  return isHooked && (await runtime.hooks.decide(valid.call, 'allow')) !== 'allow' ? undefined : found
}

/** Returns the remembered answer that covers a call. */
function findGrant(runtime: Runtime, run: RunState, valid: ValidCall): Promise<Grant | undefined> {
  return runtime.people.grants.find(coveredCall(runtime, run, valid))
}

/** Makes the values known that people have approved for this tool. A remembered refusal of this call still counts. */
export async function knowApprovedValues(runtime: Runtime, run: RunState, valid: ValidCall): Promise<void> {
  const isApproved = await approvedTest(runtime, run, valid)
  if (!isApproved || (await rememberedAnswer(runtime, run, valid))?.effect === 'deny') return
  valid.values = { ...NO_WORDS, ...wordsFor(run, valid.call), isApproved }
}

const NO_WORDS = { hasUserText: false, isFromUser: () => false }

/**
 * Returns the same for the shadow policy, apart from the evidence of the call, and without running a hook. Never rejects:
 * `undefined` if nothing was approved or the grants cannot be read.
 */
export async function approvedEvidence(
  runtime: Runtime,
  run: RunState,
  valid: ValidCall,
): Promise<ValueEvidence | undefined> {
  const find = async () => {
    const isApproved = await approvedTest(runtime, run, valid)
    if (!isApproved || (await findGrant(runtime, run, valid))?.effect === 'deny') return undefined
    return { ...NO_WORDS, ...wordsFor(run, valid.call), isApproved }
  }
  return new Promise((resolve) => {
    const cancel = runtime.clock.after(MAX_SHADOW_WAIT_MS, () => resolve(undefined))
    // Without evidence, the shadow policy decides more strictly; the call itself must not fail for it.
    find()
      .then(resolve, () => resolve(undefined))
      .finally(cancel)
  })
}

/** How long a call waits for evidence that only the shadow policy needs. */
const MAX_SHADOW_WAIT_MS = 1_000

/** Returns a test whether one answer of a person covers values of this tool; `undefined` if nobody has approved any. */
async function approvedTest(
  runtime: Runtime,
  { past }: RunState,
  valid: ValidCall,
): Promise<ValueEvidence['isApproved'] | undefined> {
  const {
    identity: { principal },
  } = runtime
  const answers = past
    ? await answersAsOf(runtime, past, valid)
    : await runtime.people.grants.approvedValues({ tool: valid.call.name, principal, session: sessionOf(valid) })
  if (answers.length === 0) return undefined
  const keyOf = (argument: string, hash: string) => `${hash} ${argument}`
  const approved = answers.map(
    ({ values = [] }) => new Map(values.map((each) => [keyOf(each.argument, each.hash), each])),
  )
  const keysOf = (values: readonly ControlValue[]) =>
    values.map(({ argument, value }) => keyOf(argument, hashJson(value)))
  return (values, of) => {
    const keys = keysOf(values)
    const covering = approved.filter((together) => keys.every((key) => together.has(key)))
    if (of === undefined || covering.length === 0) return covering.length > 0
    const chosen = new Set(keysOf(of.values))
    return covering.some((together) =>
      [...together].every(([key, { argument }]) => chosen.has(key) || of.texts.has(argument)),
    )
  }
}

/** The answers about values before a recorded call. One that may have been revoked by then does not count. */
async function answersAsOf(
  { people: { grants }, clock }: Runtime,
  { at, principal, session, approvals }: RunMoment,
  { call: { name: tool, run } }: ValidCall,
): Promise<readonly Pick<Grant, 'values'>[]> {
  const known = await grants.approvedValues({ tool, principal, session: session ?? `run:${run}` })
  const hasEnded = (until: number | 'session') => until === 'session' || (at < until && until <= clock.now())
  return [
    ...known.filter(({ createdAt }) => Date.parse(createdAt) <= at),
    ...approvals
      .filter((each) => each.tool === tool && each.principal === principal && hasEnded(each.until))
      .filter((each) => each.until !== 'session' || each.session === session),
  ]
}
