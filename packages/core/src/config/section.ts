import { z } from 'zod'
import type { ProgramAccess } from '../commands.ts'
import { parseDuration, parseRate, parseSize, UNIT_PATTERNS } from './units.ts'

/** An optional key with what it means and, where it has one, its default as an owner would write it. */
export function key<S extends z.ZodType>(schema: S, description: string, fallback?: unknown) {
  return schema.optional().meta({ description, ...(fallback === undefined ? {} : { default: fallback }) })
}

/** A text that says something. */
export const text = z.string().min(1)

/** One text or a list of them. */
export const texts = z.union([text, z.array(text).min(1)])

/** A whole number from 0 up. */
export const countSchema = z.int().min(0)

/** `60s`, `5m`, or milliseconds. */
export const duration = measure('time', parseDuration, UNIT_PATTERNS.duration, ['60s', '5m', 250])

/** `30KB`, `5MB`, or bytes. */
export const size = measure('size', parseSize, UNIT_PATTERNS.size, ['30KB', '5MB', 65_536])

/** `10/s`, `100/min`, or a token bucket. */
export const rate = z
  .union([
    z
      .string()
      .superRefine((value, ctx) => complain(ctx, () => parseRate(value)))
      .meta({ pattern: UNIT_PATTERNS.rate }),
    z.strictObject({
      perSecond: z.number().positive().describe('Calls a second, on average.'),
      burst: key(z.number().min(1), 'Calls in a burst.'),
    }),
  ])
  .meta({ title: 'rate', examples: ['10/s', '100/min', { perSecond: 10, burst: 20 }] })

function measure(title: string, parse: (value: string | number) => number, pattern: string, examples: unknown[]) {
  return z
    .union([z.string().meta({ pattern }), z.number()])
    .superRefine((value, ctx) => complain(ctx, () => parse(value)))
    .meta({ title, examples })
}

function complain(ctx: z.RefinementCtx, parse: () => unknown): void {
  try {
    parse()
  } catch (error) {
    ctx.addIssue((error as Error).message)
  }
}
/** The object without the keys whose value is `undefined`, so that spreading it overwrites nothing. */
export function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
}

/** Makes a path of the config file absolute: it is relative to the folder of the file, `~/` is the owner's home. */
export type ResolvePath = (path: string) => string

const access = z.strictObject({
  readable: key(z.array(text), 'Further files and folders that it sees.', []),
  writable: key(z.array(text), 'Folders that it may change.', []),
  hosts: key(z.array(text), 'Hosts that it reaches.', []),
})

/** `true`, or what a sandboxed program can access in addition to the folders of the system. */
export const programAccessSchema = z.union([z.boolean(), access])

/** What a sandboxed program can access, with absolute folders. */
export function toProgramAccess(access: ProgramAccess, resolvePath: ResolvePath): ProgramAccess {
  const absolute = (paths: readonly string[] | undefined) => paths?.map(resolvePath)
  const { readable, writable, hosts } = access
  return {
    ...(readable && { readable: absolute(readable) }),
    ...(writable && { writable: absolute(writable) }),
    ...(hosts && { hosts }),
  }
}

const logFormat = z.enum(['json', 'text', 'none'])

/** `log` in the section of a process. */
export const logSchema = z.union([
  logFormat,
  z.strictObject({
    format: key(logFormat, 'JSON lines, text for people, or nothing. Default: text on a terminal, else json.'),
    level: key(
      z.enum(['debug', 'info', 'warn', 'error']),
      'Lowest level that is logged; debug logs every call.',
      'info',
    ),
  }),
])

/** How the log of a process is written. */
export interface LogOptions {
  /** Default: `text` on a terminal, else `json`. */
  readonly format?: 'json' | 'text' | 'none'
  /** Lowest level that is logged. Default: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
}

/** The section as options. */
export function toLog(log: z.output<typeof logSchema> | undefined): LogOptions | undefined {
  return typeof log === 'string' ? { format: log } : log && withoutUndefined<LogOptions>(log)
}
