import type { HubOptions } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { once } from '../../lib/index.ts'
import { compileVisibility, dialectOf } from '../../policy/index.ts'
import type { ServedHub } from '../../server/mcp/index.ts'
import { type BuiltinCard, builtinCards } from '../../tools/index.ts'

/** A hub that is created when it is first needed; its tools are known before. */
export interface DeferredHub extends ServedHub {
  /** Creates the hub, once. */
  load(): Promise<Hub>
  /** Closes the hub if it was created. */
  close(): Promise<void>
}

/**
 * Stands for a hub that has only the built-in tools. A client that starts tool-hub wants the list immediately, and loading what
 * a call needs takes longer than everything that the list needs.
 */
export function deferHub(options: HubOptions, make: () => Promise<Hub>): DeferredHub {
  let making: Promise<Hub> | undefined
  let made: Hub | undefined
  const listeners = new Set<() => void>()
  const makeOnce = once(async () => {
    const hub = await make()
    made = hub
    hub.onToolsChanged(() => {
      for (const listener of listeners) listener()
    })
    return hub
  })
  const load = () => {
    making = makeOnce()
    return making
  }
  return {
    load,
    cards: (asked) => made?.cards(asked) ?? cardsOf(options, asked?.dialect),
    onToolsChanged(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ready: async (asked) => made?.ready(asked),
    callDynamic: async (...call) => (made ?? (await load())).callDynamic(...call),
    artifact: async (...asked) => (await load()).artifact(...asked),
    endRun: async (run) => made?.endRun(run),
    // It may be in the making although nobody waits for it any more.
    close: async () => (await making?.catch(() => undefined))?.close(),
  }
}

function cardsOf({ visibility = {} }: HubOptions, dialect = dialectOf(visibility)): ReturnType<Hub['cards']> {
  const sees = compileVisibility(visibility)
  return builtinCards
    .filter(({ tool, names, group }) => sees({ name: tool, names, group }).visible)
    .map((card) => toCard(card, dialect))
}

function toCard({ names: _, group: __, dialects, ...card }: BuiltinCard, dialect: string | undefined) {
  return { ...card, ...(dialect !== undefined && Object.hasOwn(dialects, dialect) && dialects[dialect]) }
}
