import type { JsonObject } from '@tool-hub/core/schema'

/** What a provider's strict mode supports, and its limits. */
export interface StrictRules {
  /** `nullable`: every property must be required, so an optional one becomes nullable. */
  readonly optionals: 'nullable' | 'kept'
  /** Supported keywords with plain values. */
  readonly keywords: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  readonly hasPatterns: boolean
  /** The largest supported `minItems`. */
  readonly maxMinItems: number
  readonly allowsRecursion: boolean
  readonly most: {
    /** Nesting of objects and lists. */
    readonly levels: number
    readonly properties: number
    readonly enumValues: number
    /** Total characters of an enum that counts as long. */
    readonly longEnumChars: number
    /** Total characters of property names, definition names and enum values. */
    readonly nameChars: number
  }
}

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']

/** OpenAI's Structured Outputs. */
export const OPENAI_STRICT: StrictRules = {
  optionals: 'nullable',
  keywords: new Set([
    ...['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    ...['minItems', 'maxItems', 'title', 'description'],
  ]),
  formats: new Set(FORMATS),
  hasPatterns: true,
  maxMinItems: Number.POSITIVE_INFINITY,
  allowsRecursion: true,
  most: { levels: 10, properties: 5_000, enumValues: 1_000, longEnumChars: 15_000, nameChars: 120_000 },
}

/** Anthropic's strict tool use. */
export const ANTHROPIC_STRICT: StrictRules = {
  optionals: 'kept',
  keywords: new Set(['title', 'description', 'minItems']),
  formats: new Set([...FORMATS, 'uri']),
  hasPatterns: false,
  maxMinItems: 1,
  allowsRecursion: false,
  most: { levels: 10, properties: 500, enumValues: 500, longEnumChars: 15_000, nameChars: 50_000 },
}

/** An enum with more values than this counts as long. */
export const LONG_ENUM = 250

/** The counts of a schema that `most` limits. */
export type StrictCounts = { -readonly [K in keyof Omit<StrictRules['most'], 'levels' | 'longEnumChars'>]: number }

/** Returns which limit a schema exceeds, or `undefined`. */
export function findExcess(counts: StrictCounts, { most }: StrictRules): string | undefined {
  const { properties, enumValues, nameChars } = counts
  if (properties > most.properties) return `has ${properties} properties, the limit is ${most.properties}`
  if (enumValues > most.enumValues) return `has ${enumValues} enum values, the limit is ${most.enumValues}`
  if (nameChars > most.nameChars) return `has ${nameChars} characters of names, the limit is ${most.nameChars}`
  return undefined
}

/** Limits for all strict tools of one request to Anthropic. */
export const ANTHROPIC_REQUEST = { tools: 20, optionals: 24, unions: 16 } as const

/** Not supported by all engines: lookaround, back references, Unicode classes, word boundaries. */
const RICH_PATTERN = /\(\?[=!<]|\\[1-9bBpPkuxc]/

/**
 * Adds the supported keywords of the original to a rewritten schema; the others are described in words and reported.
 */
export function keepKeywords(
  schema: JsonObject,
  old: JsonObject,
  handled: ReadonlySet<string>,
  rules: StrictRules,
): { readonly schema: JsonObject; readonly dropped: readonly string[] } {
  const kept: JsonObject = { ...schema }
  const dropped: JsonObject = {}
  for (const [keyword, value] of Object.entries(old)) {
    if (handled.has(keyword) || keyword === '$defs' || keyword === 'definitions') continue
    if (isUnderstood(keyword, value, rules)) kept[keyword] = value
    else dropped[keyword] = value
  }
  return { schema: noteInDescription(kept, dropped), dropped: Object.keys(dropped) }
}

function isUnderstood(keyword: string, value: unknown, rules: StrictRules): boolean {
  if (keyword === 'format') return rules.formats.has(String(value))
  if (keyword === 'pattern') return rules.hasPatterns && !RICH_PATTERN.test(String(value))
  if (keyword === 'minItems') return Number(value) <= rules.maxMinItems
  return rules.keywords.has(keyword)
}

/** Keywords that mean nothing to a model. */
const NOT_WORTH_DESCRIBING = new Set([
  '$comment',
  '$schema',
  '$id',
  '$anchor',
  'deprecated',
  'readOnly',
  'writeOnly',
  'id',
])
const MAX_CHARS = 300
/** A bound that no model would reach by itself. */
const FAR = 1_000

/** Describes unsupported keywords in the description, so that the model can still follow them. */
export function noteInDescription(schema: JsonObject, dropped: JsonObject): JsonObject {
  const described = Object.entries(dropped).filter(([keyword, value]) => isWorthDescribing(keyword, value))
  if (described.length === 0) return schema
  const note = `(${described.map(([keyword, value]) => `${keyword}: ${shortJson(value)}`).join(', ')})`
  const description = typeof schema.description === 'string' ? `${schema.description} ${note}` : note
  return { ...schema, description }
}

function isWorthDescribing(keyword: string, value: unknown): boolean {
  if (NOT_WORTH_DESCRIBING.has(keyword)) return false
  if (keyword === 'minLength') return Number(value) > 1
  return !(keyword.startsWith('max') && Number(value) >= FAR)
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'undefined'
  return json.length > MAX_CHARS ? `${json.slice(0, MAX_CHARS)}…` : json
}
