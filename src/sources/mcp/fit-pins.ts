import type { Pin } from './pins.ts'

/** Of one server, so that none can take the room of the others. */
const MOST_PINS = 2_000
const MOST_BYTES = 1_000_000
/** What a pin may grow by when its definition changes, without its parts. */
const DRIFT_BYTES = 200

/**
 * The pins of one server as far as there is room, those it has and those it should get. First the texts go that only
 * serve to show a change, of tools that are not listed now before the others. A pin itself never goes: its server could
 * list others until it does, and then come back with another definition under the name. What is new is left out instead.
 */
export function fitPins(
  known: readonly Pin[],
  fresh: readonly Pin[],
  listed: { has(tool: string): boolean },
): readonly Pin[] {
  let room = MOST_BYTES - sum(known, leastBytes)
  const added = fresh.slice(0, Math.max(0, MOST_PINS - known.length)).filter((pin) => {
    room -= leastBytes(pin)
    return room >= 0
  })
  const all = [...known, ...added]
  room = MOST_BYTES - sum(all, leastBytes)
  const byWorth = [...all].sort((a, b) => Number(listed.has(b.tool)) - Number(listed.has(a.tool)))
  const whole = new Set<Pin>()
  for (const pin of byWorth) {
    room -= bytesOf([pin.parts, pin.drifted?.parts])
    if (room >= 0) whole.add(pin)
  }
  return all.map((pin) => (whole.has(pin) ? pin : bare(pin)))
}

/** Hashes alone. */
function bare(pin: Pin): Pin {
  return { ...pin, parts: {}, ...(pin.drifted && { drifted: { ...pin.drifted, parts: {} } }) }
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
