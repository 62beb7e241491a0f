import { ToolError } from '../../core/index.ts'
import { type BoundInput, takeInput } from '../../limits/index.ts'
import type { Call } from './call.ts'
import { decideCall, refuse } from './decide.ts'
import type { Parts, RunState } from './parts.ts'
import { accepted, rewrite, validate } from './take-input.ts'
import { resolveTargets } from './targets.ts'
import { bounded } from './until-stopped.ts'

/**
 * Gives a call the arguments that its approver wants instead. They go the same steps as any: hooks, schema, targets,
 * policy. What policy would only ask about, the approver has answered; what it denies stays denied.
 */
export async function changeInput(parts: Parts, run: RunState, call: Call, input: unknown): Promise<void> {
  const { value, bytes } = bareInput(parts, input)
  call.replaceInput(value)
  call.inputBytes = bytes
  if (parts.hooks.has('before')) await rewrite(parts, call)
  const validating = validate(parts, call)
  if (validating) await bounded(parts, call, validating)
  const resolving = resolveTargets(parts, run, call)
  if (resolving) await bounded(parts, call, resolving)
  decideCall(parts, run, call)
  if (parts.hooks.has('decide')) call.effect = await parts.hooks.decide(call, call.effect)
  refuse(call)
}

/** Says what is wrong with such arguments while the approver can still correct them. Changes nothing. */
export async function checkChange(parts: Parts, call: Call, input: unknown): Promise<void> {
  accepted(call, await call.tool!.input.validate(bareInput(parts, input).value))
}

/** What was shown had its secrets marked out; a mark that comes back would stand where the secret was. */
function bareInput(parts: Parts, input: unknown): BoundInput {
  const { inputDepth: maxDepth, inputBytes: maxBytes, inputEntries: maxEntries } = parts.settings
  const taken = takeInput(input, { maxDepth, maxBytes, maxEntries })
  if (!parts.redactor.isMark(JSON.stringify(taken.value) ?? '')) return taken
  throw new ToolError('INPUT_SCHEMA_INVALID', 'The changed arguments hold a redaction mark in the place of a secret.', {
    hint: 'Approve the call as it is, or write the marked part anew.',
  })
}
