import { type Awaitable, type Dialect, ToolError } from '../../core/index.ts'
import { describeIssues, type SchemaResult } from '../../core/schema/index.ts'
import { isPlainObject } from '../../lib/index.ts'
import { takeInput } from '../../limits/index.ts'
import type { Runtime } from '../runtime.ts'
import type { Call, FoundCall, ValidCall } from './call.ts'
import type { RegisteredDialect } from './registered-tool.ts'

/** Checks the size of the input and copies it, so that nobody outside can change it between decision and execution. */
export function checkInputSize(runtime: Runtime, call: Call): void {
  const { inputDepth: maxDepth, inputBytes: maxBytes, inputEntries: maxEntries } = runtime.settings
  const { value, bytes } = takeInput(call.input, { maxDepth, maxBytes, maxEntries })
  call.input = value
  call.inputBytes = bytes
}

/** Translates the arguments of a dialect into canonical ones, which are all that policy and records see. */
export async function translate(
  runtime: Runtime,
  call: FoundCall,
  { dialect, input }: RegisteredDialect,
): Promise<void> {
  if (dialect.checkSpelling && isPlainObject(call.input)) dialect.checkSpelling(call.input)
  if (dialect.argumentAliases) call.input = renameArguments(call, dialect.argumentAliases)
  if (input) call.input = accepted(call, await input.validate(call.input))
  if (dialect.toInput) call.input = dialect.toInput(call.input)
  checkInputSize(runtime, call)
}

/** Step 2: lets the owner's `before` hooks replace the input. */
export async function rewrite(runtime: Runtime, call: FoundCall): Promise<void> {
  await runtime.hooks.before(call)
  checkInputSize(runtime, call)
}

/** Step 3: parses the input with the schema of the tool. Returns a promise only if the schema does. */
export function validate(runtime: Runtime, call: FoundCall): Awaitable<ValidCall> {
  const checking = call.tool.input.validate(call.input)
  if (checking instanceof Promise) return checking.then((result) => accept(runtime, call, result))
  return accept(runtime, call, checking)
}

/** Returns the value that passed the schema. Throws INPUT_SCHEMA_INVALID with the issues otherwise. */
export function accepted(call: Call, result: SchemaResult): unknown {
  if (result.ok) return result.value
  throw new ToolError('INPUT_SCHEMA_INVALID', describeIssues(result.issues, `Invalid arguments for ${call.wire}`))
}

function accept(runtime: Runtime, call: FoundCall, result: SchemaResult): ValidCall {
  call.input = accepted(call, result)
  call.isValid = true
  const isMarked = call.tool.capabilities.has('write:fs') && runtime.redactor.isMark(JSON.stringify(call.input))
  if (!isMarked) return call as ValidCall
  const message = 'The arguments contain a redaction mark; writing it would destroy the secret that it stands for.'
  throw new ToolError('INPUT_SCHEMA_INVALID', message, {
    hint: 'Use an edit that leaves the marked text unchanged.',
  })
}

/** Renames arguments that models of other vendors spell differently. Throws if an argument is given twice. */
function renameArguments(call: Call, aliases: NonNullable<Dialect['argumentAliases']>): unknown {
  const { input } = call
  if (!isPlainObject(input)) return input
  const renamed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(aliases, key) ? aliases[key]! : key
    if (Object.hasOwn(renamed, name))
      throw new ToolError('INPUT_SCHEMA_INVALID', `Invalid arguments for ${call.wire}: ${name} is given twice.`)
    renamed[name] = value
  }
  return renamed
}
