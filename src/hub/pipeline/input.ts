import { ToolError } from '../../core/index.ts'
import { describeIssues, type SchemaResult } from '../../core/schema/index.ts'
import { takeInput } from '../../limits/index.ts'
import type { Parts } from '../runtime.ts'
import type { Call } from './call.ts'

/** From here on nobody outside holds the input: what was judged is what runs. */
export function bound(parts: Parts, call: Call): void {
  const { inputDepth: maxDepth, inputBytes: maxBytes, inputEntries: maxEntries } = parts.settings
  const { value, bytes } = takeInput(call.input, { maxDepth, maxBytes, maxEntries })
  call.input = value
  call.inputBytes = bytes
}

/** Step 2: the owner's hooks may make it another input. */
export async function rewrite(parts: Parts, call: Call): Promise<void> {
  await parts.hooks.before(call)
  bound(parts, call)
}

/** Step 3: what the tool's schema makes of the input. A promise only where the schema gives one. */
export function validate(parts: Parts, call: Call): Promise<void> | undefined {
  const checking = call.tool!.input.validate(call.input)
  if (checking instanceof Promise) return checking.then((result) => accept(parts, call, result))
  accept(parts, call, checking)
}

/** The value that passed a schema, or what is wrong with it. */
export function accepted(call: Call, result: SchemaResult): unknown {
  if (result.ok) return result.value
  throw new ToolError('INPUT_SCHEMA_INVALID', describeIssues(result.issues, `Invalid arguments for ${call.wire}`))
}

function accept(parts: Parts, call: Call, result: SchemaResult): void {
  call.input = accepted(call, result)
  call.isValid = true
  if (!call.tool!.capabilities.has('write:fs') || !parts.redactor.isMark(JSON.stringify(call.input))) return
  const message = 'The arguments hold a redaction mark; writing it would destroy the secret it stands for.'
  throw new ToolError('INPUT_SCHEMA_INVALID', message, {
    hint: 'Leave the marked part as it is, with an edit that does not touch it.',
  })
}
