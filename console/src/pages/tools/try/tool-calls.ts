import { api } from '../../../api/api.ts'
import { session } from '../../../api/session.ts'
import { createValue } from '../../../state/create-value.ts'
import { type CallState, type CallStep, IDLE, stepCall } from './call-state.ts'

/** The last call of each tool that was made here; they go on while other pages are looked at. */
export const toolCalls = createValue<ReadonlyMap<string, CallState>>(new Map())

const aborts = new Map<string, AbortController>()

// Whoever signs in next has nothing to do with them.
session.watch(() => {
  if (session.get().state === 'signed-in') return
  for (const tool of [...aborts.keys()]) cancelCall(tool)
  toolCalls.set(new Map())
})

/** Calls a tool and follows it to its end. */
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
    take({ type: 'fail', error: new Error('The connection ended before the call did; its run says how it went.') })
  } catch (error) {
    if (!abort.signal.aborted) take({ type: 'fail', error: error as Error })
  } finally {
    if (aborts.get(tool) === abort) aborts.delete(tool)
  }
}

/** Stops the call of a tool, if one is under way. */
export function cancelCall(tool: string): void {
  const abort = aborts.get(tool)
  if (!abort) return
  stepTool(tool, { type: 'cancel' })
  aborts.delete(tool)
  abort.abort()
}

/** Puts away what a call gave. */
export function forgetCall(tool: string): void {
  stepTool(tool, { type: 'forget' })
}

function stepTool(tool: string, step: CallStep): void {
  const state = stepCall(toolCalls.get().get(tool) ?? IDLE, step)
  toolCalls.set(new Map([...toolCalls.get(), [tool, state]]))
}
