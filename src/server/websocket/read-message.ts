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

/** Reads what a client says; throws when it is no message. Calls and acknowledgements of the usual form are read by hand, for speed. */
export function readMessage(text: string, maxEntries = WS_LIMITS.messageEntries): ReadMessage {
  checkJsonEntries(text, maxEntries)
  const value = parseJson(text)
  if (isUsualCall(value)) {
    if (value.input === undefined) value.input = {}
    value.onAsk = 'wait'
    return value
  }
  if (isReceived(value)) return value
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

function isUsualCall(value: unknown): value is CallMessage {
  const call = (value ?? {}) as Partial<CallMessage>
  if (call.type !== 'call') return false
  const { type, id, tool, input, stream, idempotencyKey, repeatKey, requestId, taskId, run, ...others } = call
  if (typeof id !== 'string' || typeof tool !== 'string') return false
  if (id.length === 0 || id.length > 100 || tool.length > 200) return false
  if (stream !== undefined && typeof stream !== 'boolean') return false
  if (idempotencyKey !== undefined && !isText(idempotencyKey, 512)) return false
  if (repeatKey !== undefined && !isText(repeatKey, 200)) return false
  if (run !== undefined && !isText(run, 128)) return false
  if (requestId !== undefined && !isText(requestId, 200)) return false
  if (taskId !== undefined && !isText(taskId, 200)) return false
  return Object.keys(others).length === 0
}

function isReceived(value: unknown): value is { type: 'received'; seq: number } {
  const { type, seq } = (value ?? {}) as { type?: unknown; seq?: unknown }
  return type === 'received' && Number.isSafeInteger(seq) && (seq as number) >= 0 && Object.keys(value!).length === 2
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= most
}

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
