import { compareText, countCodePoints } from '../cut-text.ts'
import { invalidPath, isRecord, jsonEqual, jsonSize, type Meter } from '../meter.ts'

type Kind = 'any' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'expression' | 'numbers' | 'strings'
type Expression = (item: unknown) => unknown
type Key = number | string

interface JmesFunction {
  /** The type of each argument; `number|string` is either. */
  readonly kinds: readonly string[]
  /** The last type applies to all further arguments, which arrive as one array. */
  readonly variadic: boolean
  readonly run: (...args: never[]) => unknown
}

const MAX_TEXT_LENGTH = 10_485_760

/** Listing the keys of a large object is slow: one key costs as much as several steps. */
const KEY_STEPS = 8

/** Searching a text compares, at worst, each of its characters at each position; this many comparisons are one step. */
const COMPARISONS_A_STEP = 256

/**
 * The functions of the JMESPath standard and, from zip on, those of the community edition that cannot grow a value
 * without bound.
 */
const FUNCTIONS: ReadonlyMap<string, JmesFunction> = new Map([
  define('abs', ['number'], (value: number) => Math.abs(value)),
  define('avg', ['numbers'], (list: number[]) => (list.length === 0 ? null : sum(list) / list.length)),
  define('ceil', ['number'], (value: number) => Math.ceil(value)),
  define('contains', ['array|string', 'any'], contains),
  define('ends_with', ['string', 'string'], (text: string, end: string) => text.endsWith(end)),
  define('floor', ['number'], (value: number) => Math.floor(value)),
  define('join', ['string', 'strings'], join),
  define('keys', ['object'], (value: object) => Object.keys(value)),
  define('length', ['string|array|object'], length),
  define('map', ['expression', 'array'], (expression: Expression, list: unknown[]) => list.map(expression)),
  define('max', ['numbers|strings'], (list: Key[], meter: Meter) => best(list, (item) => item, 1, meter)),
  define('max_by', ['array', 'expression'], (list: unknown[], by: Expression, meter: Meter) =>
    best(list, by, 1, meter),
  ),
  define('merge', ['object'], (all: object[]) => Object.fromEntries(all.flatMap(Object.entries)), { variadic: true }),
  define('min', ['numbers|strings'], (list: Key[], meter: Meter) => best(list, (item) => item, -1, meter)),
  define('min_by', ['array', 'expression'], (list: unknown[], by: Expression, meter: Meter) =>
    best(list, by, -1, meter),
  ),
  define('not_null', ['any'], (all: unknown[]) => all.find((item) => item !== null) ?? null, { variadic: true }),
  define('reverse', ['array|string'], reverse),
  define('sort', ['numbers|strings'], (list: Key[], meter: Meter) => sort(list, (item) => item, meter)),
  define('sort_by', ['array', 'expression'], sort),
  define('starts_with', ['string', 'string'], (text: string, start: string) => text.startsWith(start)),
  define('sum', ['numbers'], sum),
  define('to_array', ['any'], (value: unknown) => (Array.isArray(value) ? value : [value])),
  define('to_number', ['any'], toNumber),
  define('to_string', ['any'], toText),
  define('type', ['any'], (value: unknown) => kindOf(value)),
  define('values', ['object'], (value: object) => Object.values(value)),
  define('zip', ['array'], zip, { variadic: true }),
  define('items', ['object'], (value: object) => Object.entries(value)),
  define('from_items', ['array'], fromItems),
  define('group_by', ['array', 'expression'], groupBy),
  define('lower', ['string'], (text: string) => text.toLowerCase()),
  define('upper', ['string'], (text: string) => text.toUpperCase()),
  define('split', ['string', 'string'], split),
  define('trim', ['string'], (text: string) => text.trim()),
])

/** Calls a function with checked arguments; metered before it runs. */
export function callFunction(name: string, args: readonly unknown[], meter: Meter): unknown {
  const entry = FUNCTIONS.get(name)
  if (!entry) throw invalidPath(`unknown function ${name}(); there are ${[...FUNCTIONS.keys()].join(', ')}.`)
  const { kinds, variadic, run } = entry
  if (variadic ? args.length < kinds.length : args.length !== kinds.length) {
    const count = `${variadic ? 'at least ' : ''}${kinds.length} argument${kinds.length === 1 ? '' : 's'}`
    throw invalidPath(`${name}() takes ${count}, not ${args.length}.`)
  }
  for (const [index, arg] of args.entries()) {
    meter.spend(cost(arg))
    const wanted = kinds[index] ?? kinds.at(-1)!
    if (wanted.split('|').some((kind) => isKind(arg, kind as Kind))) continue
    throw invalidPath(
      `argument ${index + 1} of ${name}() is ${kindOf(arg)}, it has to be ${wanted.replaceAll('|', ' or ')}.`,
    )
  }
  const received = variadic ? [args] : args
  return run(...([...received, meter] as never[])) ?? null
}

function define(
  name: string,
  kinds: readonly string[],
  run: JmesFunction['run'],
  { variadic = false }: { variadic?: boolean } = {},
): [string, JmesFunction] {
  return [name, { kinds, variadic, run }]
}

function cost(arg: unknown): number {
  if (typeof arg === 'string') return 1 + (arg.length >> 4)
  if (Array.isArray(arg)) return 1 + arg.length
  return isRecord(arg) ? 1 + KEY_STEPS * Object.keys(arg).length : 1
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'function' ? 'expression' : (typeof value as Kind)
}

function isKind(value: unknown, kind: Kind): boolean {
  const actual = kindOf(value)
  if (kind === 'any') return actual !== 'expression'
  if (kind === 'numbers') return Array.isArray(value) && value.every((item) => typeof item === 'number')
  if (kind === 'strings') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  return actual === kind
}

function sum(list: readonly number[]): number {
  return list.reduce((total, item) => total + item, 0)
}

function contains(where: string | unknown[], wanted: unknown, meter: Meter): boolean {
  if (typeof where !== 'string') return where.some((item) => jsonEqual(item, wanted, meter))
  if (typeof wanted !== 'string') return false
  meter.spend((where.length * wanted.length) / COMPARISONS_A_STEP)
  return where.includes(wanted)
}

function split(text: string, separator: string, meter: Meter): string[] {
  const maxPieces = text.length / Math.max(1, separator.length)
  meter.spend(maxPieces + (text.length * separator.length) / COMPARISONS_A_STEP)
  return text.split(separator)
}

function reverse(value: string | unknown[], meter: Meter): string | unknown[] {
  meter.spend(value.length)
  return typeof value === 'string' ? [...value].reverse().join('') : value.toReversed()
}

function length(value: string | unknown[] | object): number {
  if (typeof value === 'string') return countCodePoints(value)
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

function join(glue: string, list: string[], meter: Meter): string {
  const chars = list.reduce((total, item) => total + item.length + glue.length, 0)
  assertShort('join', chars)
  meter.spend(chars >> 4)
  return list.join(glue)
}

function toText(value: unknown, meter: Meter): string {
  if (typeof value === 'string') return value
  const bytes = jsonSize(value, MAX_TEXT_LENGTH)
  assertShort('to_string', bytes)
  meter.spend(bytes >> 4)
  return JSON.stringify(value)
}

function assertShort(name: string, size: number): void {
  if (size > MAX_TEXT_LENGTH)
    throw invalidPath(`${name}() would make a text longer than ${MAX_TEXT_LENGTH} characters.`)
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > 400 || !NUMBER.test(value)) return null
  return Number.isFinite(Number(value)) ? Number(value) : null
}

/** The items with their keys, which must be all numbers or all texts. */
function keyed<Item>(list: readonly Item[], by: (item: Item) => unknown): { item: Item; key: Key }[] {
  const pairs = list.map((item) => ({ item, key: by(item) }))
  const kind = pairs.length === 0 ? 'number' : kindOf(pairs[0]!.key)
  const odd = pairs.find(({ key }) => kindOf(key) !== kind || (kind !== 'number' && kind !== 'string'))
  if (odd)
    throw invalidPath(`values to order by have to be all numbers or all strings, there is ${kindOf(odd.key)} too.`)
  return pairs as { item: Item; key: Key }[]
}

function compareKeys(left: Key, right: Key, meter: Meter): number {
  if (typeof left !== 'string' || typeof right !== 'string') return Number(left) - Number(right)
  meter.spend(Math.min(left.length, right.length) >> 4)
  return compareText(left, right)
}

function best<Item>(list: readonly Item[], by: (item: Item) => unknown, direction: 1 | -1, meter: Meter): Item | null {
  const [first, ...others] = keyed(list, by)
  if (!first) return null
  return others.reduce((top, pair) => (compareKeys(pair.key, top.key, meter) * direction > 0 ? pair : top), first).item
}

function sort<Item>(list: readonly Item[], by: (item: Item) => unknown, meter: Meter): Item[] {
  const pairs = keyed(list, by)
  meter.spend(pairs.length * Math.ceil(Math.log2(pairs.length + 1)))
  return pairs.sort((left, right) => compareKeys(left.key, right.key, meter)).map(({ item }) => item)
}

function zip(lists: readonly unknown[][]): unknown[][] {
  const shortest = lists.reduce((least, list) => Math.min(least, list.length), Number.POSITIVE_INFINITY)
  return Array.from({ length: shortest }, (_, index) => lists.map((list) => list[index]))
}

function fromItems(list: readonly unknown[], meter: Meter): object {
  meter.spend(list.length * KEY_STEPS)
  const isPair = (item: unknown) => Array.isArray(item) && item.length === 2 && typeof item[0] === 'string'
  if (!list.every(isPair)) throw invalidPath('from_items() needs pairs of a string and a value.')
  return Object.fromEntries(list as [string, unknown][])
}

function groupBy(list: readonly unknown[], by: Expression, meter: Meter): object {
  const groups = new Map<string, unknown[]>()
  for (const item of list) {
    const key = by(item)
    if (typeof key !== 'string') throw invalidPath(`group_by() needs strings to group by, there is ${kindOf(key)}.`)
    // Equal texts are compared to their end.
    meter.spend(KEY_STEPS + (key.length >> 6))
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return Object.fromEntries(groups)
}
