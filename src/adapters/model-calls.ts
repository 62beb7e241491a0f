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

/** Progress of a call that has no result yet. */
export interface CallProgress {
  /** `pending`: it waits for somebody else. */
  readonly status: 'running' | 'pending'
  /** The progress that the tool reported so far. */
  readonly content: readonly ContentBlock[]
}

/**
 * Yields the progress of a call and then its result. Stopping the iteration does not stop the call; its signal does.
 * (Unlike `hub.stream` it creates no signal, which would cost more than the rest of a small call.)
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

/** Whether a person has to approve a call: policy asks, and no remembered answer applies. */
export async function needsAnswer(
  hub: Pick<Hub, 'explain'>,
  name: string,
  input: unknown,
  who: CallOptions,
): Promise<boolean> {
  const { effect, remembered } = await hub.explain(name, input, who)
  return effect === 'ask' && remembered === undefined
}

/**
 * Options that approve one call which a person approved elsewhere. Calls inside it were not shown to that person, so
 * their approvals are left to the hub.
 */
export function approveOwnCall(
  by: string,
  onEvent?: CallOptions['onEvent'],
): Required<Pick<CallOptions, 'approve' | 'onEvent'>> {
  let own: string | undefined
  return {
    // Only events of this call arrive here, and this one arrives before its question.
    onEvent: (event) => {
      if (event.type === 'approval-requested') own = event.request.id
      onEvent?.(event)
    },
    approve: ({ id }) => (id === own ? { decision: 'allow', by } : undefined),
  }
}

/** A failure as plain text for the model: the error, then any data there is. */
export function failureText({ content, data, error }: Failure): string {
  const text = content.map(textOfBlock).join('\n')
  return data === undefined ? text : `${error.code}: ${error.message} ${error.fix.hint}\n${text}`
}

/**
 * Stands for arguments that are not JSON: a hub accepts only plain data, so the call fails on record, whatever the
 * tool accepts.
 */
export const NO_JSON: object = new (class ArgumentsThatAreNoJson {})()

/** More than a hub accepts by default, and than any model writes. */
const MAX_CHARS = 20_000_000
const MAX_REASON_CHARS = 200

/** Parses the arguments that a model wrote as JSON, or returns the problem. An empty text means no arguments. */
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
