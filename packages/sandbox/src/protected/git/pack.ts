/** What an index of a pack says: where each object is. */
export interface PackIndex {
  /** Where the objects begin, in their order in the pack. */
  readonly offsets: Float64Array
  /** The hash of the object that begins there, if one does. */
  readonly hashAt: (offset: number) => Buffer | undefined
  /** Where the next object begins; undefined after the last one. */
  readonly endOf: (offset: number) => number | undefined
  /** Where the object with this hash begins. */
  readonly offsetOf: (hash: Buffer) => number | undefined
}

/** The beginning of an object in a pack. */
export interface PackedHeader {
  readonly type: PackedType
  /** How long its content or its delta is. */
  readonly size: number
  /** Where the compressed bytes begin, counted from the beginning of the object. */
  readonly dataAt: number
  /** How far before the object the one begins that a delta changes. */
  readonly distance?: number
  /** The object that a delta changes. */
  readonly base?: Buffer
}

type PackedType = 'commit' | 'tree' | 'blob' | 'tag' | 'delta'

const TYPES: readonly (PackedType | undefined)[] = [
  ...([undefined, 'commit', 'tree', 'blob', 'tag', undefined, 'delta', 'delta'] as const),
]
const OFFSET_DELTA = 6

const MAGIC = 0xff744f63
const FANOUT_BYTES = 256 * 4
/** How many objects are read in one step. */
const STEP_OBJECTS = 5_000
const IS_LONG = 0x80000000

/** How many objects an index of a pack has; undefined if it is none. */
export function countPacked(bytes: Buffer): number | undefined {
  const at = tablesAt(bytes)
  return bytes.length < at ? undefined : bytes.readUInt32BE(at - 4)
}

/**
 * Reads an index of a pack (versions 1 and 2). Returns undefined if two readers could understand it in two ways. A caller
 * that must not block runs other work between the steps.
 */
export function* readPackIndexInSteps(bytes: Buffer, hashBytes: number): Generator<undefined, PackIndex | undefined> {
  const count = countPacked(bytes)
  const begin = tablesAt(bytes)
  const isOld = begin === FANOUT_BYTES
  const step = isOld ? hashBytes + 4 : hashBytes
  const offsetsAt = begin + (count ?? 0) * (hashBytes + 4)
  const longAt = offsetsAt + (count ?? 0) * 4
  if (count === undefined || bytes.length < (isOld ? offsetsAt : longAt) + 2 * hashBytes) return undefined
  const byOffset = new Map<number, number>()
  const offsets = new Float64Array(count)
  for (let index = 0; index < count; index++) {
    const short = bytes.readUInt32BE(isOld ? begin + index * step : offsetsAt + index * 4)
    const at = longAt + (short - IS_LONG) * 8
    const isLong = !isOld && short >= IS_LONG
    if (isLong && at + 8 > bytes.length) return undefined
    offsets[index] = isLong ? Number(bytes.readBigUInt64BE(at)) : short
    byOffset.set(offsets[index]!, index)
    if (index % STEP_OBJECTS === 0) yield
  }
  // Of two objects at one place, one has another content than its name says.
  if (byOffset.size < count) return undefined
  const hashOf = (index: number) => {
    const at = begin + index * step + (isOld ? 4 : 0)
    return bytes.subarray(at, at + hashBytes)
  }
  // Filled at the first delta that names its base by its hash: most packs have none.
  let byHash: Map<string, number> | undefined
  return {
    offsets: offsets.sort(),
    endOf: (offset) => firstAbove(offsets, offset),
    hashAt: (offset) => {
      const index = byOffset.get(offset)
      return index === undefined ? undefined : hashOf(index)
    },
    offsetOf: (hash) => {
      byHash ??= new Map([...byOffset].map(([offset, index]) => [hashOf(index).toString('latin1'), offset]))
      return byHash.get(hash.toString('latin1'))
    },
  }
}

/** Where the object with this hash begins, without reading all of an index, of which `read` returns a part. */
export function packedOffset(read: (at: number, length: number) => Buffer, hash: Buffer): number | undefined {
  const begin = tablesAt(read(0, 9))
  const isOld = begin === FANOUT_BYTES
  const number = (at: number) => read(at, 4).readUInt32BE(0)
  const countUpTo = (first: number) => (first < 0 ? 0 : number(begin - FANOUT_BYTES + first * 4))
  const step = isOld ? hash.length + 4 : hash.length
  let low = countUpTo(hash[0]! - 1)
  for (let high = countUpTo(hash[0]!); low < high; ) {
    const middle = (low + high) >>> 1
    const order = read(begin + middle * step + (isOld ? 4 : 0), hash.length).compare(hash)
    if (order === 0) {
      if (isOld) return number(begin + middle * step)
      const count = countUpTo(255)
      const short = number(begin + count * (step + 4) + middle * 4)
      const long = begin + count * (step + 8) + (short - IS_LONG) * 8
      return short < IS_LONG ? short : Number(read(long, 8).readBigUInt64BE(0))
    }
    if (order < 0) low = middle + 1
    else high = middle
  }
  return undefined
}

function firstAbove(sorted: Float64Array, value: number): number | undefined {
  let low = 0
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1
    if (sorted[middle]! > value) high = middle
    else low = middle + 1
  }
  return sorted[low]
}

function tablesAt(bytes: Buffer): number {
  const isNew = bytes.length > 8 && bytes.readUInt32BE(0) === MAGIC
  return FANOUT_BYTES + (isNew ? 8 : 0)
}

/** Reads the beginning of an object in a pack. Returns undefined if it is none. */
export function readPackedHeader(bytes: Buffer, hashBytes: number): PackedHeader | undefined {
  let at = 0
  let byte = bytes[at++] ?? 0
  const kind = (byte >> 4) & 7
  const type = TYPES[kind]
  let size = byte & 15
  for (let factor = 16; byte & 0x80; factor *= 128) {
    byte = bytes[at++] ?? 0
    size += (byte & 0x7f) * factor
  }
  if (type === undefined || !Number.isSafeInteger(size)) return undefined
  if (type !== 'delta') return { type, size, dataAt: at }
  if (kind !== OFFSET_DELTA) return { type, size, dataAt: at + hashBytes, base: bytes.subarray(at, at + hashBytes) }
  byte = bytes[at++] ?? 0
  let distance = byte & 0x7f
  while (byte & 0x80) {
    byte = bytes[at++] ?? 0
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  return { type, size, dataAt: at, distance }
}

/** The longest beginning of an object in a pack: two numbers or a number and a hash. */
export const MAX_PACKED_HEADER_BYTES = 64

/** How long the content is that a delta makes. */
export function sizeAfterDelta(delta: Buffer): number {
  return readSize(delta, readSize(delta, 0).end).size
}

/** Applies a delta to the content that it changes. Returns undefined if it does not fit. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer | undefined {
  const before = readSize(delta, 0)
  const after = readSize(delta, before.end)
  if (before.size !== base.length) return undefined
  const result = Buffer.alloc(after.size)
  let length = 0
  let at = after.end
  while (at < delta.length) {
    const code = delta[at++]!
    let from = at
    let size = code
    let source = delta
    if (code & 0x80) {
      source = base
      from = 0
      size = 0
      for (let bit = 0; bit < 4; bit++) if (code & (1 << bit)) from += (delta[at++] ?? 0) * 256 ** bit
      for (let bit = 0; bit < 3; bit++) if (code & (16 << bit)) size += (delta[at++] ?? 0) * 256 ** bit
      size ||= 0x10000
    } else {
      at += size
    }
    // A code of zero is reserved.
    if (code === 0 || from + size > source.length || length + size > result.length) return undefined
    source.copy(result, length, from, from + size)
    length += size
  }
  return length === result.length ? result : undefined
}

function readSize(bytes: Buffer, at: number): { readonly size: number; readonly end: number } {
  let size = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++] ?? 0
    size += (byte & 0x7f) * factor
    if ((byte & 0x80) === 0) return { size, end: at }
  }
}
