import { sha256 } from '@tool-hub/core/lib'
import { z } from 'zod'

/** The conversation that a call belongs to, in its `_meta`. */
export const CONVERSATION_META_KEY = 'tool-hub/run'

/** How a client may name a conversation: the name is part of the id of its run. */
export const CONVERSATION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,43}$/

/** The name of a conversation in the `_meta` of a request. */
export const CONVERSATION_META = {
  [CONVERSATION_META_KEY]: z
    .string()
    .regex(CONVERSATION, 'expected 1 to 44 letters, digits, ., _ and -, the first a letter or digit')
    .optional(),
}

/** The run of a conversation that a client names; no other client can name it. */
export function conversationRun(client: string, name: string): string {
  return `mcp-${name}-${sha256(JSON.stringify([client, name])).slice(0, 12)}`
}

/** A client with its authenticated names. As JSON no two are alike, whatever is in their names. */
export function authenticatedClient(names: readonly string[]): string {
  return `auth:${JSON.stringify(names)}`
}
