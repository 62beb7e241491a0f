import { isPlainObject, sha256 } from '@tool-hub/core/lib'
import type { EventBody } from './events.ts'

/** Arguments whose JSON is longer are left out of the record. */
export const MAX_ARGS_CHARS = 2_048

/**
 * Returns the JSON of an event for its line. Arguments over 2 KB are replaced by their size.
 * Never throws. Returns `undefined` for an event without a type.
 */
export function encodeEvent(event: EventBody): string | undefined {
  const text = safeJson(event)
  if (!text.startsWith('{"type":"')) return undefined
  // If the event is small, so are its arguments: an ordinary call costs one stringify and one comparison.
  if (text.length <= MAX_ARGS_CHARS || !('args' in event) || event.args === undefined) return text
  const size = sizeOf(event.args)
  if (size !== undefined && size <= MAX_ARGS_CHARS) return text
  return safeJson({ ...event, args: undefined, argsBytes: event.argsBytes ?? size })
}

function sizeOf(value: unknown): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '')
  } catch {
    // Cyclic arguments have no size; the record then has only their hash.
    return undefined
  }
}

/** The `prev` of a run's first line. */
export const FIRST_PREV = '0'.repeat(64)

/** What the next line is linked to. */
export interface ChainLink {
  readonly seq: number
  readonly hash: string
}

/** Makes the next line, newline included, and what its successor is linked to. */
export function linkLine(last: ChainLink, time: string, body: string): ChainLink & { readonly line: string } {
  const seq = last.seq + 1
  const sealed = `{"seq":${seq},"time":"${time}",${body.slice(1, -1)},"prev":"${last.hash}"`
  const hash = sha256(sealed)
  return { seq, hash, line: `${sealed},"hash":"${hash}"}\n` }
}

/** The fields of a line that the chain consists of. */
export interface LineFacts extends ChainLink {
  readonly prev: string
  readonly time: string
  readonly type: string
  readonly callId: string | undefined
  /** Whether the hash of the line matches its content. */
  readonly intact: boolean
}

const HEAD = /^\{"seq":(\d{1,15}),"time":"([^"\\]{1,40})","type":"([a-z-]{1,40})"(?:,"callId":"([^"\\]{1,128})")?/
const HEAD_BYTES = 320
const TAIL = /^,"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/
const TAIL_BYTES = 149
const HASH_BYTES = 75

/** Reads a line without parsing it (a run can have a million). Returns `undefined` if it is not a line of ours. */
export function inspectLine(line: Buffer): LineFacts | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES))
  const tail = TAIL.exec(line.toString('latin1', Math.max(0, line.length - TAIL_BYTES)))
  if (!head || !tail) return undefined
  const hash = tail[2]!
  const intact = sha256(line.subarray(0, line.length - HASH_BYTES)) === hash
  return { seq: Number(head[1]), time: head[2]!, type: head[3]!, callId: head[4], prev: tail[1]!, hash, intact }
}

/** Returns the JSON of the event, as it was passed to `linkLine`. */
export function bodyOf(line: Buffer): string {
  const text = line.toString('utf8', 0, line.length - TAIL_BYTES)
  return `{${text.slice(text.indexOf('"type":'))}}`
}

const MAX_CHARS = 32_768
const FIELD_CHARS = 4_096
const STRING_CHARS = 1_024
const MAX_ITEMS = 64
const MAX_DEPTH = 8
const UNREADABLE = '[unreadable]'

/**
 * Writes any value as JSON, whatever a tool put into it: cycles, BigInt, 5,000 levels, getters that throw, and
 * texts of any size. Ordinary values are written as `JSON.stringify` does; what it refuses, or what is longer than
 * `maxChars`, is written cut down. Never throws.
 */
export function safeJson(value: unknown, maxChars = MAX_CHARS): string {
  try {
    const text = JSON.stringify(value)
    if (text !== undefined && text.length <= maxChars) return text
  } catch {
    // Whatever the reason, the cut copy below can be written.
  }
  try {
    return JSON.stringify(cutFields(value)) ?? 'null'
  } catch {
    return JSON.stringify(UNREADABLE)
  }
}

/** Each field of the outermost object has its own limit, so that a huge one does not displace the others. */
function cutFields(value: unknown): unknown {
  try {
    if (!isPlainObject(value)) return cut(value, { chars: FIELD_CHARS }, [])
    const copy = Object.create(null) as Record<string, unknown>
    for (const key of Object.keys(value).slice(0, MAX_ITEMS)) {
      copy[key.slice(0, STRING_CHARS)] = cut(read(value, key), { chars: FIELD_CHARS }, [])
    }
    return copy
  } catch {
    return UNREADABLE
  }
}

/** What is left of the limit of one field. */
interface Room {
  chars: number
}

function cut(value: unknown, room: Room, ancestors: readonly object[]): unknown {
  if (typeof value === 'string') return take(cutText(value), room)
  if (typeof value === 'bigint') return take(cutText(`${value}n`), room)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return take(value, room)
  if (typeof value !== 'object') return undefined
  if (room.chars <= 0) return '…'
  if (ancestors.includes(value)) return take('[cycle]', room)
  if (ancestors.length >= MAX_DEPTH) return take('[deeper]', room)
  try {
    return cutObject(value, room, [...ancestors, value])
  } catch {
    // A revoked proxy, for example.
    return take(UNREADABLE, room)
  }
}

function cutObject(value: object, room: Room, ancestors: readonly object[]): unknown {
  if (Array.isArray(value)) return cutArray(value, room, ancestors)
  if (value instanceof Date) return take(textOf(value), room)
  if (ArrayBuffer.isView(value)) return take(`[${value.byteLength} bytes]`, room)
  if (value instanceof Map || value instanceof Set) return take(`[${value.size} entries]`, room)
  if (value instanceof Error) return cut({ name: value.name, message: value.message }, room, ancestors)
  const copy = Object.create(null) as Record<string, unknown>
  const keys = Object.keys(value)
  for (const key of keys.slice(0, MAX_ITEMS)) {
    if (room.chars <= 0) break
    copy[take(cutText(key), room)] = cut(read(value, key), room, ancestors)
  }
  if (Object.keys(copy).length < keys.length) copy['…'] = keys.length
  return copy
}

function cutArray(value: readonly unknown[], room: Room, ancestors: readonly object[]): unknown[] {
  const copy: unknown[] = []
  for (let index = 0; index < value.length && copy.length < MAX_ITEMS && room.chars > 0; index++) {
    copy.push(cut(value[index], room, ancestors))
  }
  if (copy.length < value.length) copy.push(`… ${value.length} in all`)
  return copy
}

function textOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : String(date.toISOString())
}

function cutText(text: string): string {
  return text.length <= STRING_CHARS ? text : `${text.slice(0, STRING_CHARS)}… ${text.length} characters in all`
}

function take<T extends string | number | boolean | null>(value: T, room: Room): T {
  room.chars -= typeof value === 'string' ? JSON.stringify(value).length : 8
  return value
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return UNREADABLE
  }
}
