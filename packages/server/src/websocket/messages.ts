import { ToolError } from '@tool-hub/core'
import { clientMessage } from '@tool-hub/core/protocol'
import { describeIssues, fromStandardIssues } from '@tool-hub/core/schema'
import { checkJsonEntries } from '@tool-hub/runtime/limits'
import type { z } from 'zod'

/** Limits of WebSocket connections and sessions. */
export interface WsLimits {
  readonly connections: number
  /** For each principal. */
  readonly connectionsEach: number
  /** For each message. */
  readonly messageBytes: number
  /** Keys and elements of one message, counted before it is parsed. */
  readonly messageEntries: number
  /** For each session. */
  readonly callsInFlight: number
  /** Messages of a session that were not acknowledged. */
  readonly keptMessages: number
  readonly keptBytes: number
  /** Written and not yet read by the client. */
  readonly bufferedBytes: number
  /** How long a client may be too slow. */
  readonly stalledMs: number
  /** How long a session lives without a connection. */
  readonly sessionMs: number
  /** A connection is pinged after this silence, and closed after the same time again. */
  readonly silenceMs: number
  readonly badMessages: number
  /** Disconnected sessions of one principal, and the bytes they keep together. */
  readonly waitingSessions: number
  readonly waitingBytes: number
}

const MIB = 1_048_576

export const WS_LIMITS: WsLimits = {
  connections: 20_000,
  connectionsEach: 1_000,
  messageBytes: 10 * MIB,
  messageEntries: 50_000,
  callsInFlight: 256,
  keptMessages: 1_000,
  keptBytes: 8 * MIB,
  bufferedBytes: 16 * MIB,
  stalledMs: 30_000,
  sessionMs: 120_000,
  silenceMs: 30_000,
  badMessages: 20,
  waitingSessions: 1_000,
  waitingBytes: 64 * MIB,
}

/**
 * Codes with which the server closes a connection, in addition to 1000 (regular close) and 1001 (the server closes).
 */
export const CLOSE_CODES = {
  badMessages: 4400,
  notAdmitted: 4401,
  tooSlow: 4408,
  takenOver: 4409,
} as const

/** A validated message. */
export type ReadMessage = z.output<typeof clientMessage>

/** A message for the session of a connection. */
export type WsSessionMessage = Exclude<ReadMessage, { type: 'hello' | 'ping' }>

/** A validated call. */
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

/** Finds the `id` of an invalid message, so that its sender gets an error for it. */
export function idOf(text: string): string | undefined {
  // A large message is not parsed: it may have been refused because of its size.
  if (text.length > MAX_PARSED_CHARS) return EARLY_ID.exec(text)?.[1]
  try {
    const { id } = JSON.parse(text) as { id?: unknown }
    return typeof id === 'string' && id.length <= 100 ? id : undefined
  } catch {
    // Not JSON, so it has no id.
    return undefined
  }
}

const MAX_PARSED_CHARS = 10_000
/** Matches an id that comes before everything but other texts. */
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
