import type { z } from 'zod'
import { ToolError } from '../../core/index.ts'
import { describeIssues, fromStandardIssues } from '../../core/schema/index.ts'
import { checkJsonEntries } from '../../limits/index.ts'
import { clientMessage } from '../../protocol/index.ts'
import { WS_LIMITS } from './limits.ts'

/** A message that was checked. */
export type ReadMessage = z.output<typeof clientMessage>

/** A call that was checked. */
export type CallMessage = Extract<ReadMessage, { type: 'call' }>

/** Reads a message of a client; throws INPUT_SCHEMA_INVALID if it is not one. */
export function readMessage(text: string, maxEntries = WS_LIMITS.messageEntries): ReadMessage {
  checkJsonEntries(text, maxEntries)
  const value = parseJson(text)
  const result = clientMessage.safeParse(value)
  if (result.success) return result.data
  const issues = fromStandardIssues(result.error.issues, { value, jsonSchema: () => ({}) })
  throw notUnderstood(describeIssues(issues, 'The message is not understood'), result.error)
}

/** The `id` of a message that could not be read, so that whoever waits for an answer gets one. */
export function idOf(text: string): string | undefined {
  // A large one is not parsed for that: it may be refused because it should not be parsed at all.
  if (text.length > MAX_PARSED_CHARS) return EARLY_ID.exec(text)?.[1]
  try {
    const { id } = JSON.parse(text) as { id?: unknown }
    return typeof id === 'string' && id.length <= 100 ? id : undefined
  } catch {
    // Then it has none.
    return undefined
  }
}

const MAX_PARSED_CHARS = 10_000
/** The id that stands before everything but other texts. */
const EARLY_ID = /^\s*\{\s*(?:"(?:type|tool|run)"\s*:\s*"[^"\\]{0,200}"\s*,\s*){0,3}"id"\s*:\s*"([^"\\]{1,100})"/

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notUnderstood('The message is not JSON.', cause)
  }
}

function notUnderstood(message: string, cause: unknown): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, {
    hint: 'Send one JSON object a message, with a type such as call and only the fields of that type.',
    cause,
  })
}
