import type { Pin } from './pins.ts'

/** Of one server, so that none can take the room of the others. */
const MAX_PINS = 2_000
const MAX_BYTES = 1_000_000
/** What a pin may grow by when its definition changes, without its parts. */
const DRIFT_BYTES = 200

/**
 * The pins of one server as far as there is room, those it has and those it should get. First the texts go that show a
 * change, then those of new tools and of tools that are not listed now. A pin itself never goes: its server could list
 * others until it does, and then come back with another definition under the name. What is new is left out instead.
 */
export function fitPins(
  known: readonly Pin[],
  fresh: readonly Pin[],
  listed: { has(tool: string): boolean },
): readonly Pin[] {
  let room = MAX_BYTES - sum(known, leastBytes)
  const added = fresh.slice(0, Math.max(0, MAX_PINS - known.length)).filter((pin) => {
    room -= leastBytes(pin)
    return room >= 0
  })
  const all = [...known, ...added]
  room = MAX_BYTES - sum(all, leastBytes)
  const worth = ({ tool, isNew }: Pin) => (isNew ? 0 : 2) + (listed.has(tool) ? 1 : 0)
  const byWorth = [...all].sort((a, b) => worth(b) - worth(a))
  const keep = (parts: (pin: Pin) => unknown) => {
    const kept = byWorth.filter((pin) => {
      room -= bytesOf(parts(pin) ?? {})
      return room >= 0
    })
    return new Set(kept)
  }
  const whole = keep(({ parts }) => parts)
  const comparable = keep(({ drifted }) => drifted?.parts)
  return all.map((pin) => ({
    ...pin,
    ...(!whole.has(pin) && { parts: {} }),
    ...(pin.drifted && !comparable.has(pin) && { drifted: { ...pin.drifted, parts: {} } }),
  }))
}

/** What it needs, now and when its definition changes. */
function leastBytes({ server, tool, hash, at }: Pin): number {
  return bytesOf({ server, tool, hash, at }) + DRIFT_BYTES
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function sum(pins: readonly Pin[], bytes: (pin: Pin) => number): number {
  return pins.reduce((total, pin) => total + bytes(pin), 0)
}
