import { resolve } from 'node:path'
import { parseRate, parseSize } from '../../config/units.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { didYouMean } from '../../names.ts'
import type { NewToken } from '../../serve/api/service.ts'
import { SCOPES, type Scope } from '../../serve/api/shapes.ts'
import { parseTime } from '../input/parse-time.ts'
import { UsageError } from '../usage-error.ts'

/** What the options of `tokens add` say, as they were written. */
export interface LimitFlags {
  readonly scopes: string
  readonly budget?: string
  readonly rate?: string
  readonly root?: readonly string[]
  readonly expires: string
}

/** `call,read` as scopes. */
export function readScopes(written: string): Scope[] {
  return written.split(',').map((word) => {
    const scope = SCOPES.find((each) => each === word.trim())
    if (scope) return scope
    const hint = didYouMean(word.trim(), SCOPES) || `There are: ${SCOPES.join(', ')}.`
    throw new UsageError(`--scopes: ${JSON.stringify(word)} is no scope.`, hint)
  })
}

const UNITS = new Map<string, (text: string) => { calls?: number; wallMs?: number; bytes?: number; cost?: number }>([
  ['calls', (text) => ({ calls: readNumber(text) })],
  ['time', (text) => ({ wallMs: parseTime('--budget', text) })],
  ['bytes', (text) => ({ bytes: orUsage('--budget', () => parseSize(text)) })],
  ['cost', (text) => ({ cost: readNumber(text) })],
])

/** `calls=1000,time=10m` as a budget. */
export function readBudget(written: string): NonNullable<NewToken['budget']> {
  return Object.assign(
    {},
    ...written.split(',').map((part) => {
      const [unit = '', amount = ''] = part.trim().split('=', 2)
      const read = UNITS.get(unit)
      if (read) return read(amount)
      const hint = didYouMean(unit, [...UNITS.keys()]) || 'Write calls=1000,time=10m,bytes=10MB,cost=5.'
      throw new UsageError(`--budget: ${JSON.stringify(part)} is not known.`, hint)
    }),
  )
}

/** `10/s` as a rate. */
export function readRate(written: string): NonNullable<NewToken['rate']> {
  return orUsage('--rate', () => parseRate(written))
}

/** `./data:read` as a root. */
export function readRoots(written: readonly string[]): NonNullable<NewToken['roots']> {
  return written.map((text) => {
    const [, path = text, mode = 'write'] = /^(.+):(read|write)$/.exec(text) ?? []
    return { path: resolve(path), mode: mode === 'read' ? 'read' : 'write' }
  })
}

/** `30d` as the time when the token expires; `never` has none. */
export function readExpiry(written: string): number | undefined {
  return written === 'never' ? undefined : Date.now() + parseTime('--expires', written)
}

function readNumber(text: string): number {
  if (/^\d{1,15}(\.\d{1,6})?$/.test(text)) return Number(text)
  throw new UsageError(`--budget: ${JSON.stringify(text)} is not a number.`, 'Write calls=1000 or cost=2.5.')
}

function orUsage<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${option}: ${messageOf(error)}`, ToolError.is(error) ? error.fix.hint : undefined)
  }
}
