import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { messageOf } from '@tool-hub/core'
import { escapeLine, hashJson, holdsHidden, isPlainObject, withoutHidden } from '@tool-hub/core/lib'
import { z } from 'zod'

/** A JSON object from outside. */
export type McpJsonObject = Readonly<Record<string, unknown>>

/** A tool as its server describes it, with checked types and bounded size; its content is not trusted. */
export interface ServerToolDefinition {
  /** The server's own name for it. */
  readonly tool: string
  readonly title: string | undefined
  readonly description: string
  /** As the server sent it; `repairInput` makes it usable. */
  readonly input: unknown
  readonly output: McpJsonObject | undefined
  readonly annotations: McpJsonObject
  /** Hash of the whole definition, independent of the order of keys. */
  readonly hash: string
}

/** A tool of a server that a hub cannot offer. */
export interface LeftOut {
  /** The server's own name for it. */
  readonly tool: string
  /** What is wrong with its definition. */
  readonly why: string
}

const HEADER_KEYWORD = 'x-mcp-header'

/** A token of RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])

const MAX_NAME_LENGTH = 1_000
const MAX_DEFINITION_LENGTH = 200_000
/** Limit for all definitions of a server together. */
const MAX_CHARS = 5_000_000
const MAX_DEFINITION_DEPTH = 100
const SHOWN_NAME_CHARS = 80

const object = z.record(z.string(), z.unknown())

/** The fields of a tool that are used; others are ignored. */
const Given = z.looseObject({
  name: z.string().min(1).max(MAX_NAME_LENGTH),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  outputSchema: object.optional(),
  annotations: object.optional().catch(undefined),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined),
})

/**
 * Reads a list of tools one by one, so that a broken tool does not hide the others. The first of two with the same
 * name wins.
 */
export function readDefinitions(
  tools: readonly unknown[],
  { hasHeaders = false }: { readonly hasHeaders?: boolean } = {},
): { readonly definitions: readonly ServerToolDefinition[]; readonly leftOut: readonly LeftOut[] } {
  const definitions = new Map<string, ServerToolDefinition>()
  const leftOut: LeftOut[] = []
  const room = { chars: MAX_CHARS }
  for (const given of tools) {
    const read = attemptToRead(given, hasHeaders, room)
    if (typeof read === 'string') leftOut.push({ tool: nameOf(given) ?? 'one without a name', why: read })
    else if (definitions.has(read.tool)) leftOut.push({ tool: shown(read.tool), why: 'another has the same name' })
    else definitions.set(read.tool, read)
  }
  return { definitions: [...definitions.values()], leftOut }
}

/** A tool whose definition cannot even be read does not hide the others. */
function attemptToRead(...given: Parameters<typeof readDefinition>): ServerToolDefinition | string {
  try {
    return readDefinition(...given)
  } catch (error) {
    return `it cannot be read: ${escapeLine(messageOf(error).slice(0, 300))}`
  }
}

/** Returns the definition, or the reason why it cannot be used. */
function readDefinition(given: unknown, hasHeaders: boolean, room: { chars: number }): ServerToolDefinition | string {
  if (isDeeperThan(given, MAX_DEFINITION_DEPTH)) return `it is over ${MAX_DEFINITION_DEPTH} levels deep`
  const chars = JSON.stringify(given)?.length ?? 0
  if (chars > MAX_DEFINITION_LENGTH) return `it has ${chars} characters, the limit is ${MAX_DEFINITION_LENGTH}`
  room.chars -= chars
  if (room.chars < 0) return `the definitions of its server have over ${MAX_CHARS} characters`
  const parsed = Given.safeParse(given)
  if (!parsed.success)
    return `it is not a tool: ${escapeLine(z.prettifyError(parsed.error).replaceAll('\n', ' ')).slice(0, 300)}`
  const { name, title, description = '', inputSchema, outputSchema, annotations = {}, execution } = parsed.data
  if (execution?.taskSupport === 'required') return 'it can only be called as a task'
  const fault = hasHeaders ? findHeaderFault(inputSchema) : undefined
  if (fault !== undefined) return fault
  if (holdsNoNumber([inputSchema, outputSchema, annotations])) return 'it holds a number that no JSON can hold'
  const definition = { tool: name, title, description, input: inputSchema, output: outputSchema, annotations }
  return { ...definition, hash: hashDefinition(definition) }
}

/** One hash over name, texts, schemas and annotations, independent of the order of keys. */
export function hashDefinition(definition: Omit<ServerToolDefinition, 'hash'>): string {
  const { tool, title = null, description, input = null, output = null, annotations } = definition
  return hashJson({ annotations, description, input, output, title, tool })
}

/** JSON reads `1e400` as infinity, which can neither be written again nor compared. */
function holdsNoNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNoNumber)
}

function nameOf(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || !('name' in given)) return undefined
  return typeof given.name === 'string' ? shown(given.name) : undefined
}

function shown(name: string): string {
  return escapeLine(name.slice(0, SHOWN_NAME_CHARS))
}

/**
 * Finds what is wrong with arguments that a tool wants as HTTP headers (`x-mcp-header`): the protocol of 2026-07-28
 * requires clients to leave such a tool out. Only plain arguments reachable through `properties` alone may be headers.
 */
export function findHeaderFault(schema: unknown): string | undefined {
  const seen = new Set<string>()
  const visit = (part: unknown, { isReachable, isRoot = false }: ArgumentPlace): string | undefined => {
    if (Array.isArray(part)) return firstOf(part, (each) => visit(each, { isReachable: false }))
    if (!isPlainObject(part)) return undefined
    if (Object.hasOwn(part, HEADER_KEYWORD)) {
      const fault = isReachable && !isRoot ? faultOf(part, seen) : 'stands where no argument is'
      if (fault !== undefined) return `its ${HEADER_KEYWORD} ${fault}`
    }
    return firstOf(Object.entries(part), ([keyword, value]) => {
      if (keyword !== 'properties' || !isPlainObject(value)) return visit(value, { isReachable: false })
      return firstOf(Object.values(value), (each) => visit(each, { isReachable }))
    })
  }
  return visit(schema, { isReachable: true, isRoot: true })
}

interface ArgumentPlace {
  readonly isReachable: boolean
  readonly isRoot?: boolean
}

function faultOf(part: Readonly<Record<string, unknown>>, seen: Set<string>): string | undefined {
  const name = part[HEADER_KEYWORD]
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'is not the name of a header'
  if (!TYPES.has(part.type)) return 'belongs to an argument that is not a string, integer or boolean'
  if (seen.has(name.toLowerCase())) return `${JSON.stringify(name)} is there twice`
  seen.add(name.toLowerCase())
  return undefined
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a JSON value is nested deeper than `limit`. Iterative, so that deep input cannot overflow the stack. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue
    if (next.depth >= limit) return true
    const depth = next.depth + 1
    for (const part of Object.values(next.value)) {
      if (typeof part === 'object' && part !== null) waiting.push({ value: part, depth })
    }
  }
  return false
}

/** Key under which a list of tools passes through the SDK unchecked. */
const RAW_TOOLS_KEY = 'tool-hub/tools'

/**
 * Passes lists of tools through as their server wrote them: the SDK would refuse the whole list for one broken tool,
 * and many servers have one. The SDK still checks everything else.
 */
export function carryRawTools(transport: Transport): void {
  const lists = new Set<unknown>()
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if ('method' in message && message.method === 'tools/list' && 'id' in message) lists.add(message.id)
    return send(message, options)
  }
  const { onmessage } = transport
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    onmessage?.('result' in message && lists.delete(message.id) ? carried(message) : message, extra)
  }
}

/** The tools of one page, as the server sent them. */
export function rawToolsOf(result: {
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}): readonly unknown[] {
  const tools = result._meta?.[RAW_TOOLS_KEY]
  return Array.isArray(tools) ? tools : []
}

function carried(message: JSONRPCMessage & { readonly result: unknown }): JSONRPCMessage {
  const { tools, _meta, ...others } = message.result as Readonly<Record<string, unknown>>
  if (!Array.isArray(tools)) return message as JSONRPCMessage
  const result = { ...others, tools: [], _meta: { ...(isPlainObject(_meta) && _meta), [RAW_TOOLS_KEY]: tools } }
  return { ...message, result } as JSONRPCMessage
}

const DESCRIPTION_CHARS = 4_000
const TITLE_CHARS = 200
/** Half of a surrogate pair, which only cutting produces: hidden characters are removed before. */
const HALF_CHARACTER = /\p{Cs}/u
/** Keywords of a schema that only people and models read. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment'])

/** The texts of a definition that people and models read, without hidden characters. */
interface CleanTexts {
  readonly title: string | undefined
  readonly description: string
  /** Where hidden characters were found, for the approver; `undefined` if there were none. */
  readonly hidden: string | undefined
}

/** Removes hidden characters from the texts of a definition and reports where they were, schemas included. */
export function cleanTexts({ tool, title, description, input, output, annotations }: ServerToolDefinition): CleanTexts {
  const given = { name: tool, title, description, 'input schema': input, 'output schema': output, annotations }
  const places = Object.entries(given).filter(([, part]) => holdsHiddenAnywhere(part))
  const name = typeof annotations.title === 'string' ? (title ?? annotations.title) : title
  return {
    title: name === undefined ? undefined : withoutHidden(name).slice(0, TITLE_CHARS),
    description: shorten(withoutHidden(description)),
    hidden:
      places.length === 0 ? undefined : `its ${places.map(([place]) => place).join(', ')} holds hidden characters`,
  }
}

/** Removes hidden characters from the texts of a schema; names and values stay as they are. */
export function cleanSchema(schema: McpJsonObject): McpJsonObject {
  return clean(schema) as McpJsonObject
}

function clean(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(clean)
  if (!isPlainObject(part)) return part
  return Object.fromEntries(
    Object.entries(part).map(([keyword, value]) => {
      const isText = typeof value === 'string' && TEXTS.has(keyword)
      return [keyword, isText ? shorten(withoutHidden(value)) : clean(value)]
    }),
  )
}

function holdsHiddenAnywhere(part: unknown): boolean {
  if (typeof part === 'string') return holdsHidden(part)
  if (typeof part !== 'object' || part === null) return false
  return Object.entries(part).some(([key, value]) => holdsHidden(key) || holdsHiddenAnywhere(value))
}

function shorten(text: string): string {
  if (text.length <= DESCRIPTION_CHARS) return text
  const kept = text.slice(0, DESCRIPTION_CHARS).replace(HALF_CHARACTER, '')
  return `${kept} … [${text.length - DESCRIPTION_CHARS} characters cut]`
}
