import { didYouMean, ToolError } from '@tool-hub/core'
import { compileSchema } from '@tool-hub/core/schema'
import type { Hub } from '@tool-hub/runtime/hub'
import { UsageError } from '../exit.ts'
import { allReady } from '../hub/sources.ts'
import { quoteShellWord } from '../invocation.ts'

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The part of an input schema that is read here. */
interface InputShape {
  readonly properties?: Record<string, { readonly type?: unknown }>
  readonly required?: readonly string[]
}

/** The arguments of a call as they were typed, with the options of the command. */
interface Typed {
  readonly tool: string
  readonly words: readonly string[]
  readonly flags: object
}

/** The arguments of a call as the command line gives them: JSON text, `-` for stdin, or flags; none is `{}`. */
export async function readToolArguments(hub: Hub, typed: Typed): Promise<unknown> {
  const schema = needsSchema(typed.words) ? await arrivedSchema(hub, typed.tool) : schemaOf(hub, typed.tool)
  const input = await parseWords(typed, schema)
  const taken = isFlags(typed.words) ? schema?.required?.find((name) => isTaken(name, typed, input)) : undefined
  if (taken === undefined) return input
  throw new UsageError(
    `--${taken} is an option of this command, and ${typed.tool} needs an argument of that name.`,
    behindDashes(taken),
  )
}

async function parseWords(typed: Typed, schema: InputShape | undefined): Promise<unknown> {
  const [first, ...others] = typed.words
  if (first === undefined) return {}
  if (isFlags(typed.words)) return parseFlags(typed.words, schema as Record<string, unknown>)
  if (others.length > 0) {
    throw new UsageError(
      `${typed.words.length} arguments after the tool.`,
      `Give one JSON text, or - for stdin, or --name value pairs. ${takenHint(typed, schema)}`.trimEnd(),
    )
  }
  if (first === '-') return parseJsonInput(await readStdin(), 'stdin')
  const name = /^\s*[[{"]/.test(first) ? undefined : firstText(schema)
  if (name === undefined) return parseJsonInput(first, 'The argument')
  throw new UsageError(`${JSON.stringify(first)} has no name.`, `Name it: --${name} ${quoteShellWord(first)}`)
}

/** Only flags need the schema; mistakes in JSON or in the name are best reported by the call. */
function needsSchema([first]: readonly string[]): boolean {
  return first !== undefined && first !== '-' && !/^\s*[[{"]/.test(first)
}

/** Waits for tools of servers that are still connecting. Throws if the tool does not exist then. */
async function arrivedSchema(hub: Hub, tool: string): Promise<InputShape> {
  const schema = schemaOf(hub, tool)
  if (schema) return schema
  await allReady(hub)
  const arrived = schemaOf(hub, tool)
  if (arrived) return arrived
  const { error } = await hub.explain(tool, {})
  throw new ToolError(error?.code ?? 'TOOL_NOT_FOUND', error?.message ?? `Unknown tool ${JSON.stringify(tool)}.`, {
    ...(error && { fix: error.fix }),
  })
}

/** The schema of the wire arguments: the dialect's own where the tool was named by a dialect. */
function schemaOf(hub: Hub, name: string): InputShape | undefined {
  const tool = hub.registry.get(name)
  if (!tool) return undefined
  const dialect = Object.values(tool.dialects ?? {}).find(
    ({ name: own, aliases = [] }) => own === name || aliases.includes(name),
  )
  return compileSchema(dialect?.input ?? tool.input, { side: 'input' }).jsonSchema()
}

/** The argument that a single word is meant for. */
function firstText({ properties = {}, required = [] }: InputShape = {}): string | undefined {
  return required.find((name) => properties[name]?.type === 'string')
}

function takenHint(typed: Typed, { properties = {} }: InputShape = {}): string {
  const taken = Object.keys(properties).find((name) => Object.hasOwn(typed.flags, name))
  return taken === undefined ? '' : behindDashes(taken)
}

function behindDashes(name: string): string {
  return `Give the tool's own behind two dashes: … -- --${name} VALUE`
}

function isFlags([first = '--']: readonly string[]): boolean {
  return first.startsWith('--')
}

/** Whether the command has taken an option that the tool requires. */
function isTaken(name: string, { flags }: Typed, input: unknown): boolean {
  return Object.hasOwn(flags, name) && !Object.hasOwn(input as object, name)
}

type JsonSchema = Record<string, unknown>

/** Arguments of a tool given as `--path x --max-bytes 10 --deep`, typed by the JSON Schema of its input. */
export function parseFlags(words: readonly string[], schema: JsonSchema): Record<string, unknown> {
  const properties = new Map(Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>))
  const values = new Map<string, unknown>()
  const rest = words.filter((word) => word !== '--')
  while (rest.length > 0) {
    const { name, property, text, isNegated } = takeFlag(rest, properties)
    if (values.has(name))
      throw new UsageError(`--${name} is given twice.`, 'A list is given as JSON: --tags \'["a","b"]\'.')
    values.set(name, isNegated ? false : readValue(name, property, text, rest))
  }
  // Made from entries, so that a flag named __proto__ is a key like any other.
  return Object.fromEntries(values)
}

function takeFlag(rest: string[], properties: ReadonlyMap<string, JsonSchema>) {
  const word = rest.shift()!
  if (!word.startsWith('--')) {
    throw new UsageError(
      `${JSON.stringify(word)} stands alone.`,
      'Give arguments as one JSON text, or as --name value.',
    )
  }
  const equals = word.indexOf('=')
  const spelled = equals === -1 ? word.slice(2) : word.slice(2, equals)
  const text = equals === -1 ? undefined : word.slice(equals + 1)
  const name = findName(spelled, properties)
  if (name !== undefined) return { name, property: properties.get(name)!, text, isNegated: false }
  const negated = spelled.startsWith('no-') && text === undefined ? findName(spelled.slice(3), properties) : undefined
  if (negated !== undefined) return { name: negated, property: properties.get(negated)!, text, isNegated: true }
  throw new UsageError(`The tool has no argument --${spelled}.`, suggest(spelled, properties))
}

/** As the schema spells it, or with hyphens: `--max-bytes` for `maxBytes` and `max_bytes`. */
function findName(spelled: string, properties: ReadonlyMap<string, JsonSchema>): string | undefined {
  if (properties.has(spelled)) return spelled
  const camel = spelled.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  if (properties.has(camel)) return camel
  const snake = spelled.replaceAll('-', '_')
  return properties.has(snake) ? snake : undefined
}

function suggest(spelled: string, properties: ReadonlyMap<string, JsonSchema>): string {
  const known = [...properties.keys()].map((name) => `--${name}`)
  return (
    didYouMean(`--${spelled}`, known) || (known.length > 0 ? `It has: ${known.join(', ')}.` : 'It takes no arguments.')
  )
}

function readValue(name: string, property: JsonSchema, text: string | undefined, rest: string[]): unknown {
  const types = typesOf(property)
  const next = rest[0]
  if (text === undefined && types.has('boolean') && next !== 'true' && next !== 'false') return true
  const value = text ?? rest.shift()
  if (value === undefined) throw new UsageError(`--${name} needs a value.`, `Write --${name} VALUE.`)
  return convert(name, types, value)
}

function convert(name: string, types: ReadonlySet<string>, text: string): unknown {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if ((types.has('number') || types.has('integer')) && NUMBER.test(text)) return Number(text)
  if (types.has('null') && text === 'null') return null
  if (types.has('array') || types.has('object') || types.size === 0) {
    const parsed = tryJson(text)
    if (parsed !== undefined) return parsed.value
  }
  if (types.has('string') || types.size === 0) return text
  throw new UsageError(`--${name} must be ${[...types].join(' or ')}, got ${JSON.stringify(text)}.`, wanted(types))
}

function wanted(types: ReadonlySet<string>): string {
  if (types.has('array') || types.has('object')) return 'Give it as JSON, quoted for the shell.'
  return types.has('boolean') ? 'Give true or false.' : 'Give a number such as 10.'
}

/** The JSON types that a value may have; empty when the schema does not say. */
function typesOf(schema: JsonSchema): Set<string> {
  const own = [schema.type ?? []].flat() as string[]
  const literals = [...((schema.enum as unknown[]) ?? []), ...('const' in schema ? [schema.const] : [])].map(typeName)
  const parts = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? (list as JsonSchema[]) : []))
  const all = parts.map(typesOf)
  // One part that takes anything makes the whole take anything.
  if (all.some((types) => types.size === 0)) return new Set()
  return new Set([...(own.length > 0 ? own : literals), ...all.flatMap((types) => [...types])])
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function tryJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** More than any hub takes as arguments; a stream without end must not fill the memory. */
const MAX_BYTES = 64_000_000

/** All of stdin as text. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += chunk.length
    if (bytes > MAX_BYTES)
      throw new UsageError(
        `stdin has more than ${MAX_BYTES} bytes.`,
        'Give less, or a file of lines to tool-hub batch.',
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The value of a JSON text. Throws a `UsageError` if it is not JSON. */
export function parseJsonInput(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError(
      `${what} is not JSON: ${(cause as Error).message}`,
      'Quote it for the shell: \'{"key": "value"}\'.',
    )
  }
}
