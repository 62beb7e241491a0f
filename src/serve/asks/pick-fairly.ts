import { ToolError } from '../../errors.ts'
import type { AskBrief } from '../../store.ts'

/** A place between two asks, newest first. */
interface Place {
  readonly askedAt: number
  /** Of several of one millisecond. */
  readonly id?: string
}

const PLACE = /^(\d{1,15})(?:~(\S{1,250}))?$/

/**
 * So many asks that each caller has a part: the newest of everybody first, then the second newest. `next` is the place up
 * to which all were picked; who goes on there misses nothing, and may see some again.
 */
export function pickFairly(asks: readonly AskBrief[], limit: number): { picked: AskBrief[]; next?: string } {
  const turns = new Map<string, number>()
  const inTurn = asks.map((ask, index) => {
    const turn = turns.get(ask.caller) ?? 0
    turns.set(ask.caller, turn + 1)
    return { index, turn }
  })
  const chosen = inTurn.sort((a, b) => a.turn - b.turn || a.index - b.index).slice(0, limit)
  const indexes = new Set(chosen.map(({ index }) => index))
  const firstLeft = asks.findIndex((_, index) => !indexes.has(index))
  const last = asks[firstLeft - 1]
  return { picked: asks.filter((_, index) => indexes.has(index)), ...(last && { next: placeOf(last) }) }
}

/** The place after an ask. */
export function placeOf({ askedAt, id }: AskBrief): string {
  return `${askedAt}~${id}`
}

/** The place that somebody wants to go on from: the `next` of a page, or a time in milliseconds. */
export function readPlace(text: string): Place {
  const [, time, id] = PLACE.exec(text) ?? []
  if (time !== undefined) return { askedAt: Number(time), ...(id !== undefined && { id }) }
  throw new ToolError('INPUT_SCHEMA_INVALID', 'before is no place in the list of asks.', {
    hint: 'Give the next of the page before.',
  })
}

/** Whether an ask comes after the place, newest first. */
export function isAfter({ askedAt, id }: Place, ask: AskBrief): boolean {
  return ask.askedAt < askedAt || (ask.askedAt === askedAt && id !== undefined && ask.id < id)
}
