import type { CallOptions } from '../core/index.ts'
import type { Hub } from '../hub/index.ts'

/** Whether a person has to be asked about a call: policy says so, and nobody has answered before. */
export async function needsAnswer(hub: Hub, name: string, input: unknown, who: CallOptions): Promise<boolean> {
  const { effect, remembered } = await hub.explain(name, input, who)
  return effect === 'ask' && remembered === undefined
}
