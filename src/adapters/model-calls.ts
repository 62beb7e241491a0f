import {
  type CallEvent,
  type CallOptions,
  type ContentBlock,
  type Failure,
  type ToolResult,
  textOfBlock,
} from '../core/index.ts'
import type { Hub } from '../hub/index.ts'
import { escapeLine } from '../lib/index.ts'

/** What a call tells before it has a result. */
export interface CallProgress {
  /** `pending`: it waits for somebody else. */
  readonly status: 'running' | 'pending'
  /** What the tool has said so far. */
  readonly content: readonly ContentBlock[]
}

/**
 * A call as its progress and, last, its result. Who stops reading does not stop the call; its signal does. (Unlike
 * `hub.stream` it makes no signal of its own, which would cost more than the rest of a small call.)
 */
export async function* callWithProgress(
  start: (onEvent: (event: CallEvent) => void) => Promise<ToolResult>,
): AsyncGenerator<CallProgress | ToolResult, void, undefined> {
  const waiting: CallProgress[] = []
  let isEnded = false
  let wake = () => {}
  const ended = start((event) => {
    const progress = progressOf(event)
    if (progress) waiting.push(progress)
    wake()
  })
  const end = () => {
    isEnded = true
    wake()
  }
  ended.then(end, end)
  for (;;) {
    while (waiting.length > 0) yield waiting.shift()!
    if (isEnded) break
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  yield await ended
}

function progressOf(event: CallEvent): CallProgress | undefined {
  if (event.type === 'call-progressed') return { status: 'running', content: event.content }
  if (event.type !== 'call-pending') return undefined
  return { status: 'pending', content: [{ type: 'text', text: event.message }] }
}

/** Whether a person has to be asked about a call: policy says so, and nobody has answered before. */
export async function needsAnswer(hub: Hub, name: string, input: unknown, who: CallOptions): Promise<boolean> {
  const { effect, remembered } = await hub.explain(name, input, who)
  return effect === 'ask' && remembered === undefined
}

/**
 * A yes that a person gave elsewhere, for one call: it answers what policy asks about that very call. What calls inside
 * of it ask was never shown to anybody, so it is left to the hub.
 */
export function approveOwnCall(
  by: string,
  tell?: CallOptions['onEvent'],
): Required<Pick<CallOptions, 'approve' | 'onEvent'>> {
  let own: string | undefined
  return {
    // Only the call's own events come here, and this one comes before its question.
    onEvent: (event) => {
      if (event.type === 'approval-requested') own = event.request.id
      tell?.(event)
    },
    approve: ({ id }) => (id === own ? { decision: 'allow', by } : undefined),
  }
}

/** A failure for a model that gets only text: what is wrong, then whatever there is nevertheless. */
export function failureText({ content, data, error }: Failure): string {
  const text = content.map(textOfBlock).join('\n')
  return data === undefined ? text : `${error.code}: ${error.message} ${error.fix.hint}\n${text}`
}

/** Stands for arguments that are no JSON: a hub takes only plain data, so the call fails on record, whatever the tool accepts. */
export const NO_JSON: object = new (class ArgumentsThatAreNoJson {})()

/** More than a hub takes unless its owner raised it, and than any model writes. */
const MAX_CHARS = 20_000_000
const MAX_REASON_CHARS = 200

/** The arguments that a model wrote as JSON, or why they are none. No text at all means no arguments. */
export function parseArguments(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (text.length > MAX_CHARS) {
    return { problem: `The arguments have ${text.length} characters, the limit is ${MAX_CHARS}.` }
  }
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const reason = escapeLine((error as Error).message).slice(0, MAX_REASON_CHARS)
    return { problem: `The arguments are not JSON: ${reason}.` }
  }
}
