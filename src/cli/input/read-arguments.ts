import { ToolError } from '../../errors.ts'
import type { Hub } from '../../hub.ts'
import { compileSchema } from '../../schema/compile-schema.ts'
import { allReady } from '../hub/all-ready.ts'
import { quoteWord } from '../own-command.ts'
import { UsageError } from '../usage-error.ts'
import { parseFlags } from './parse-flags.ts'
import { parseJson, readStdin } from './read-input.ts'

/** What an input schema says of its arguments. */
interface Wanted {
  readonly properties?: Record<string, { readonly type?: unknown }>
  readonly required?: readonly string[]
}

/** The arguments of a call as they were typed, and the options of the command beside them. */
interface Typed {
  readonly tool: string
  readonly words: readonly string[]
  readonly flags: object
}

/** The arguments of a call as the command line gives them: JSON text, `-` for stdin, or flags; none is `{}`. */
export async function readArguments(hub: Hub, typed: Typed): Promise<unknown> {
  const schema = needsSchema(typed.words) ? await arrivedSchema(hub, typed.tool) : schemaOf(hub, typed.tool)
  const input = await parseWords(typed, schema)
  const taken = isFlags(typed.words) ? schema?.required?.find((name) => isTaken(name, typed, input)) : undefined
  if (taken === undefined) return input
  throw new UsageError(
    `--${taken} is an option of this command, and ${typed.tool} needs an argument of that name.`,
    behindDashes(taken),
  )
}

async function parseWords(typed: Typed, schema: Wanted | undefined): Promise<unknown> {
  const [first, ...others] = typed.words
  if (first === undefined) return {}
  if (isFlags(typed.words)) return parseFlags(typed.words, schema as Record<string, unknown>)
  if (others.length > 0) {
    throw new UsageError(
      `${typed.words.length} arguments after the tool.`,
      `Give one JSON text, or - for stdin, or --name value pairs. ${takenHint(typed, schema)}`.trimEnd(),
    )
  }
  if (first === '-') return parseJson(await readStdin(), 'stdin')
  const name = /^\s*[[{"]/.test(first) ? undefined : firstText(schema)
  if (name === undefined) return parseJson(first, 'The argument')
  throw new UsageError(`${JSON.stringify(first)} has no name.`, `Name it: --${name} ${quoteWord(first)}`)
}

/** Flags mean something only by the schema; what is wrong with JSON, or with the name, the call tells best. */
function needsSchema([first]: readonly string[]): boolean {
  return first !== undefined && first !== '-' && !/^\s*[[{"]/.test(first)
}

/** The tool may be on its way, from a server that has not said yet what it has. One that does not come is told. */
async function arrivedSchema(hub: Hub, tool: string): Promise<Wanted> {
  const schema = schemaOf(hub, tool)
  if (schema) return schema
  await allReady(hub)
  const arrived = schemaOf(hub, tool)
  if (arrived) return arrived
  const { error } = await hub.explain(tool, {})
  throw new ToolError(error?.code ?? 'TOOL_NOT_FOUND', error?.message ?? `There is no tool ${JSON.stringify(tool)}.`, {
    ...(error && { fix: error.fix }),
  })
}

/** The schema of the wire arguments: the dialect's own where the tool was named by a dialect. */
function schemaOf(hub: Hub, name: string): Wanted | undefined {
  const tool = hub.registry.get(name)
  if (!tool) return undefined
  const dialect = Object.values(tool.dialects ?? {}).find(
    ({ name: own, aliases = [] }) => own === name || aliases.includes(name),
  )
  return compileSchema(dialect?.input ?? tool.input, { side: 'input' }).jsonSchema()
}

/** The argument that a lone word is meant for. */
function firstText({ properties = {}, required = [] }: Wanted = {}): string | undefined {
  return required.find((name) => properties[name]?.type === 'string')
}

function takenHint(typed: Typed, { properties = {} }: Wanted = {}): string {
  const taken = Object.keys(properties).find((name) => Object.hasOwn(typed.flags, name))
  return taken === undefined ? '' : behindDashes(taken)
}

function behindDashes(name: string): string {
  return `Give the tool's own behind two dashes: … -- --${name} VALUE`
}

function isFlags([first = '--']: readonly string[]): boolean {
  return first.startsWith('--')
}

/** The command took for its own what the tool has to have. */
function isTaken(name: string, { flags }: Typed, input: unknown): boolean {
  return Object.hasOwn(flags, name) && !Object.hasOwn(input as object, name)
}
