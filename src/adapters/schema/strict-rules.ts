import type { JsonObject } from '../../core/schema/index.ts'

/** What a provider's strict mode understands, and how much of it. */
export interface StrictRules {
  /** `nullable`: every property must be required, so one that may be left out may be null instead. */
  readonly optionals: 'nullable' | 'kept'
  /** Keywords with plain values that are understood. */
  readonly keywords: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  readonly hasPatterns: boolean
  /** The largest `minItems` that is understood. */
  readonly maxMinItems: number
  readonly allowsRecursion: boolean
  readonly most: {
    /** Objects and lists in each other. */
    readonly levels: number
    readonly properties: number
    readonly enumValues: number
    /** Characters of one enum that is a long one. */
    readonly longEnumChars: number
    /** Names of properties and definitions, and values of enums, in all. */
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

/** From how many values on an enum is a long one. */
export const LONG_ENUM = 250

/** How much of it a schema has, as `most` of the rules. */
export type StrictCounts = { -readonly [K in keyof Omit<StrictRules['most'], 'levels' | 'longEnumChars'>]: number }

/** Says what a schema has too much of. */
export function findExcess(counts: StrictCounts, { most }: StrictRules): string | undefined {
  const { properties, enumValues, nameChars } = counts
  if (properties > most.properties) return `has ${properties} properties, the limit is ${most.properties}`
  if (enumValues > most.enumValues) return `has ${enumValues} enum values, the limit is ${most.enumValues}`
  if (nameChars > most.nameChars) return `has ${nameChars} characters of names, the limit is ${most.nameChars}`
  return undefined
}

/** What one request to Anthropic may hold of strict tools in all. */
export const ANTHROPIC_REQUEST = { tools: 20, optionals: 24, unions: 16 } as const

/** Not all engines that have patterns have these: looking around, back references, classes of Unicode, word ends. */
const RICH_PATTERN = /\(\?[=!<]|\\[1-9bBpPkuxc]/

/** A rewritten schema with those of its old keywords that are understood; the others become words, and are named. */
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

/** Keywords that help nobody who cannot check them. */
const NOT_WORTH_TELLING = new Set([
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
/** A bound that no model would come near by itself. */
const FAR = 1_000

/** The schema with what its provider does not understand told in words to the model, which can still keep to it. */
export function noteInDescription(schema: JsonObject, dropped: JsonObject): JsonObject {
  const told = Object.entries(dropped).filter(([keyword, value]) => isWorthTelling(keyword, value))
  if (told.length === 0) return schema
  const note = `(${told.map(([keyword, value]) => `${keyword}: ${shortJson(value)}`).join(', ')})`
  const description = typeof schema.description === 'string' ? `${schema.description} ${note}` : note
  return { ...schema, description }
}

function isWorthTelling(keyword: string, value: unknown): boolean {
  if (NOT_WORTH_TELLING.has(keyword)) return false
  if (keyword === 'minLength') return Number(value) > 1
  return !(keyword.startsWith('max') && Number(value) >= FAR)
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'undefined'
  return json.length > MAX_CHARS ? `${json.slice(0, MAX_CHARS)}…` : json
}
