import { useState } from 'react'
import { api, session } from '../../../api/session.ts'
import { createValue } from '../../../lib/watched-value.ts'
import { type CallState, type CallStep, IDLE, stepCall } from './call-state.ts'

/** The last call of each tool. Calls continue while other pages are shown. */
export const toolCalls = createValue<ReadonlyMap<string, CallState>>(new Map())

const aborts = new Map<string, AbortController>()

// The next user must not see them.
session.watch(() => {
  if (session.get().state === 'signed-in') return
  for (const tool of [...aborts.keys()]) cancelCall(tool)
  toolCalls.set(new Map())
})

/** Calls a tool and follows the call until it ends. */
export async function startCall(
  tool: string,
  input: unknown,
  options: { readonly run: string; readonly purpose?: string },
): Promise<void> {
  cancelCall(tool)
  const abort = new AbortController()
  aborts.set(tool, abort)
  const take = (step: CallStep) => aborts.get(tool) === abort && stepTool(tool, step)
  take({ type: 'start' })
  try {
    for await (const event of api.stream(tool, input, { ...options, signal: abort.signal }))
      take({ type: 'event', event })
    take({ type: 'fail', error: new Error('The connection ended before the call did; its run shows the result.') })
  } catch (error) {
    if (!abort.signal.aborted) take({ type: 'fail', error: error as Error })
  } finally {
    if (aborts.get(tool) === abort) aborts.delete(tool)
  }
}

/** Stops the call of a tool, if it is running. */
export function cancelCall(tool: string): void {
  const abort = aborts.get(tool)
  if (!abort) return
  stepTool(tool, { type: 'cancel' })
  aborts.delete(tool)
  abort.abort()
}

/** Clears the result of a call. */
export function forgetCall(tool: string): void {
  stepTool(tool, { type: 'forget' })
}

function stepTool(tool: string, step: CallStep): void {
  const state = stepCall(toolCalls.get().get(tool) ?? IDLE, step)
  toolCalls.set(new Map([...toolCalls.get(), [tool, state]]))
}

const runs = new Map<string, string>()

/**
 * The run of all calls that a user tries until the page is reloaded, so that they can be found and undone together.
 * Runs belong to their creator, so each user has another one.
 */
export function tryRun(principal: string): string {
  const known = runs.get(principal)
  if (known !== undefined) return known
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const run = `console-${time}-${randomWord()}`
  runs.set(principal, run)
  return run
}

function randomWord(): string {
  return [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

const drafts = new Map<string, unknown>()
session.watch(() => session.get().state !== 'signed-in' && drafts.clear())

/** The input for a tool, kept while other tabs and tools are shown. */
export function useDraft(tool: string, first: () => unknown): [unknown, (input: unknown) => void] {
  const [input, setInput] = useState(() => (drafts.has(tool) ? drafts.get(tool) : first()))
  const change = (next: unknown) => {
    drafts.set(tool, next)
    setInput(next)
  }
  return [input, change]
}
