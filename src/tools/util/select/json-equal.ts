import type { Meter } from '../meter.ts'

/** Deep equality of JSON values, whatever the order of keys; the meter pays for what it looks at. */
export function jsonEqual(left: unknown, right: unknown, meter: Meter): boolean {
  if (typeof left === 'string' && typeof right === 'string') return textEqual(left, right, meter)
  meter.spend(1)
  if (left === right) return true
  if (Array.isArray(left)) return Array.isArray(right) && arrayEqual(left, right, meter)
  if (isRecord(left) && isRecord(right)) return recordEqual(left, right, meter)
  return false
}

/** What listing one value of an object costs: in a large one it is a walk through a hash table. */
export const VALUE_STEPS = 3

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textEqual(left: string, right: string, meter: Meter): boolean {
  meter.spend(1)
  if (left.length !== right.length) return false
  meter.spend(left.length >> 6)
  return left === right
}

function arrayEqual(left: readonly unknown[], right: readonly unknown[], meter: Meter): boolean {
  return left.length === right.length && left.every((item, index) => jsonEqual(item, right[index], meter))
}

function recordEqual(left: Record<string, unknown>, right: Record<string, unknown>, meter: Meter): boolean {
  const keys = Object.keys(left)
  const others = Object.keys(right).length
  meter.spend(keys.length + others)
  if (keys.length !== others) return false
  return keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key], right[key], meter))
}
