import type { CallToolResult } from '@modelcontextprotocol/client'
import { mcpContent } from '@tool-hub/adapters'
import {
  type AnyTool,
  type BaseContext,
  type Capability,
  type ContentBlock,
  defineTool,
  type McpServer,
  messageOf,
  ToolError,
} from '@tool-hub/core'
import { escapeLine, isPlainObject } from '@tool-hub/core/lib'
import { compileSchema, textArguments } from '@tool-hub/core/schema'
import {
  cleanSchema,
  cleanTexts,
  isDeeperThan,
  type LeftOut,
  type McpJsonObject,
  type ServerToolDefinition,
} from './definitions.ts'

/** How deep the data of an answer may be nested. */
const MAX_ANSWER_DEPTH = 100
const ERROR_CHARS = 4_000

/** What a tool of a server is made from. */
export interface ToolParts {
  /** The name in the hub. */
  readonly name: string
  readonly serverName: string
  readonly server: McpServer
  /** The definition as its server has it now. */
  readonly definition: ServerToolDefinition
  /** What models see instead until the owner accepts the definition. */
  readonly shown?: ServerToolDefinition | undefined
  /** What changed in it since it was first seen. */
  readonly drift: string | undefined
  /** Returns the same object for equal schemas, so that each is compiled once. */
  readonly share: (schema: McpJsonObject) => McpJsonObject
  readonly call: (definition: ServerToolDefinition, input: unknown, ctx: BaseContext) => Promise<CallToolResult>
}

/** Makes a hub's tool of a server's tool. Its annotations count only if the owner trusts the server. */
export async function toTool(parts: ToolParts): Promise<AnyTool | LeftOut> {
  const { name, serverName, server, definition, shown = definition, share, call } = parts
  const { tool } = definition
  const repaired = repairInput(shown.input)
  if (!repaired) return { tool, why: 'its arguments are no object' }
  const input = share(cleanSchema(repaired))
  const output = shown.output && share(cleanSchema(shown.output))
  const why = (await whyUnusable(input, 'input')) ?? (output && (await whyUnusable(output, 'output')))
  if (why !== undefined) return { tool, why }
  const { title, description, hidden } = cleanTexts(shown)
  const doubts = [hidden ?? cleanTexts(definition).hidden, parts.drift].filter((doubt) => doubt !== undefined)
  const target = `mcp:${serverName}/${tool}`
  const trust = trustIn(server, tool)
  // Whether the data of the last answer only repeated its text: a server does that with all answers of a tool, or none.
  let isRepeated = false
  return defineTool({
    name,
    kind: 'mcp',
    title,
    description: description.trim() === '' ? `The tool ${tool} of the MCP server ${serverName}.` : description,
    input,
    output,
    ...rightsOf([shown.annotations, definition.annotations], target, trust),
    // What a server says about its arguments is one of its annotations.
    texts: trust.annotations ? textArguments(input) : undefined,
    // Not `group:<server>`: a server named `fs` has nothing to do with the files of the sandbox.
    group: 'mcp',
    category: 'mcp',
    tags: [`mcp:${serverName}`],
    timeoutMs: server.timeoutMs,
    ...(doubts.length > 0 && { doubt: doubts.join('\n') }),
    execute: async (given: unknown, ctx: BaseContext) => {
      if (shown !== definition && !(await fits(given, definition))) throw unfit(serverName, tool)
      const answer = await call(definition, given, ctx)
      const data = await settleAnswer(answer, { target, hasOutput: output !== undefined }, ctx)
      isRepeated = output !== undefined && repeatsText(answer)
      return data
    },
    toModel: (data: unknown) => {
      if (!output) return (data as AnswerData).content
      return (isRepeated ? onlyText(data) : undefined) ?? JSON.stringify(data)
    },
  }) as AnyTool
}

/** Whether a tool could not be made. */
export function isIgnoredTool(made: AnyTool | LeftOut): made is LeftOut {
  return 'why' in made
}

/** What the owner believes about a tool. */
interface ToolTrust {
  /** What it declares about itself. */
  readonly annotations: boolean
  /** That its results are not content from outside; absent: those of its reads are not. */
  readonly results?: boolean
}

function trustIn({ trust }: McpServer, tool: string): ToolTrust {
  if (typeof trust !== 'object') return { annotations: trust === true }
  const isNamed = (names: readonly string[] = []) =>
    names.some((name) => (name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : tool === name))
  return { annotations: isNamed(trust.annotations), results: isNamed(trust.results) }
}

/**
 * Assumes the worst unless the owner trusts the annotations; then takes the stricter of the current and the pinned ones.
 * With per-tool trust, a read-only tool that takes a URL still counts as network access: the URL can carry data out.
 */
function rightsOf(annotations: readonly McpJsonObject[], target: string, trust: ToolTrust) {
  const mayDestroy = annotations.some(({ destructiveHint }) => destructiveHint === true)
  const isDestructive = trust.annotations && mayDestroy
  const isReadOnly = annotations.every(({ readOnlyHint }) => readOnlyHint === true)
  const results =
    trust.results === undefined ? {} : { results: trust.results ? ('own' as const) : ('outside' as const) }
  if (trust.annotations && isReadOnly && !isDestructive) {
    const isByTool = trust.results !== undefined
    const targets = (input: unknown) => ({ remote: isByTool && namesAddress(input) ? target : [] })
    return { capabilities: ['remote'] as const, targets, ...results }
  }
  const capabilities: readonly Capability[] = isDestructive ? ['remote', 'danger:destructive'] : ['remote']
  const targets = Object.fromEntries(capabilities.map((capability) => [capability, target]))
  // Nobody needs to trust a server to believe that a tool of it deletes.
  return { capabilities, targets: () => targets, ...(mayDestroy && { mayDestroy }), ...results }
}

const ADDRESS_NAME =
  /(?:^|[_-])(?:urls?|uris?|links?|hrefs?|hosts?|domains?|endpoints?|(?:web)?sites?|webhooks?)$|(?:Url|URL|Uri|Link|Host)s?$/
const ADDRESS_VALUE = /^[a-z][a-z0-9+.-]*:\/\/|^www\./i

/** Whether an argument is an address, by its name or its value. */
function namesAddress(value: unknown, name = '', depth = 0): boolean {
  if (depth > MAX_ANSWER_DEPTH) return true
  if (typeof value === 'string') return value !== '' && (ADDRESS_NAME.test(name) || ADDRESS_VALUE.test(value.trim()))
  if (Array.isArray(value)) return value.some((item) => namesAddress(item, name, depth + 1))
  return isPlainObject(value) && Object.entries(value).some(([key, field]) => namesAddress(field, key, depth + 1))
}

/** How the message begins if the check of a schema did not end. */
export const UNCHECKED = 'could not be checked'

/** Compiling happens with the first value, and throws if the schema is broken. */
async function whyUnusable(schema: McpJsonObject, side: 'input' | 'output'): Promise<string | undefined> {
  try {
    const checked = await compileSchema(schema, { side }).validate({})
    // An empty object is checked immediately, unless the schema is built so that no check ends.
    const endless = checked.ok ? undefined : checked.issues.find(({ message }) => message.startsWith(UNCHECKED))
    return endless && `its ${side} schema ${endless.message}`
  } catch (error) {
    return messageOf(error)
  }
}

/** Whether arguments that the pinned schema accepts are also accepted by the server's current one. */
async function fits(given: unknown, { input }: ServerToolDefinition): Promise<boolean> {
  const schema = repairInput(input)
  if (!schema) return false
  try {
    return (await compileSchema(schema, { side: 'input' }).validate(given)).ok
  } catch {
    // A schema that cannot be used accepts nothing.
    return false
  }
}

/** Does not quote the new schema: nobody has accepted its texts. */
function unfit(server: string, tool: string): ToolError {
  const name = JSON.stringify(escapeLine(tool.slice(0, 80)))
  return new ToolError('CONFLICT', `${server} changed the arguments of the tool ${name}; these do not fit any more.`, {
    hint: `It was not called. The owner looks at the change with \`tool-hub mcp test ${server}\` and accepts it with \`tool-hub mcp pin ${server}\`.`,
  })
}

/** Data of a tool without an output schema. */
interface AnswerData {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
}

/**
 * Returns the data of an answer: the structured content if the tool has an output schema, otherwise its content
 * blocks. Throws if the answer reports an error, with the text that lets a model correct itself.
 */
export async function settleAnswer(
  answer: CallToolResult,
  { target, hasOutput }: { readonly target: string; readonly hasOutput: boolean },
  ctx: BaseContext,
): Promise<unknown> {
  const { structuredContent, isError } = answer
  if (isDeeperThan(structuredContent, MAX_ANSWER_DEPTH)) {
    throw new ToolError('UPSTREAM_ERROR', `The answer of ${target} is over ${MAX_ANSWER_DEPTH} levels deep.`, {
      retryable: false,
    })
  }
  const content = mcpContent(answer.content)
  const data: AnswerData = { content, structuredContent }
  if (isError) throw failed(target, data, hasOutput)
  if (!hasOutput) return data
  if (structuredContent === undefined) throw unstructured(target)
  await keepOthers(content, ctx)
  return structuredContent
}

/** Whether the structured content is one field with the text of the answer, which models read better as it is. */
function repeatsText({ content, structuredContent }: CallToolResult): boolean {
  const [block, ...others] = content
  return block?.type === 'text' && others.length === 0 && onlyText(structuredContent) === block.text
}

/** The text of an object with one field; `undefined` for all other data. */
function onlyText(data: unknown): string | undefined {
  const [value, ...others] = isPlainObject(data) ? Object.values(data) : []
  return typeof value === 'string' && others.length === 0 ? value : undefined
}

/** Structured data has no place for images and other blocks, so they become artifacts. */
async function keepOthers(content: readonly ContentBlock[], ctx: BaseContext): Promise<void> {
  for (const block of content) {
    if (block.type === 'text') continue
    const what = block.type === 'resource-link' ? 'a link' : `a block of the type ${block.type}`
    ctx.notice(`The answer came with ${what}: ${await keep(block, ctx)}`)
  }
}

async function keep(block: ContentBlock, ctx: BaseContext): Promise<string> {
  try {
    if (!('data' in block) || block.data === undefined) {
      const text = 'text' in block && block.text !== undefined ? block.text : JSON.stringify(block)
      return (await ctx.artifact(text, { mediaType: 'text/plain' })).ref
    }
    const { mediaType = 'application/octet-stream' } = block
    return (await ctx.artifact(Buffer.from(block.data, 'base64'), { mediaType })).ref
  } catch (error) {
    // The answer itself is complete.
    if (ToolError.is(error)) return `it could not be kept, ${error.message}`
    throw error
  }
}

function failed(target: string, data: AnswerData, hasOutput: boolean): ToolError {
  const text = textOf(data.content).trim().slice(0, ERROR_CHARS)
  return new ToolError('EXEC_FAILED', text === '' ? `${target} failed and does not say why.` : text, {
    hint: 'Read the message of the server; correct the arguments, or use another tool.',
    // The data of a failure is declared by the output schema too, which a server need not follow then.
    ...(!hasOutput && data.content.length > 0 && { data }),
  })
}

function unstructured(target: string): ToolError {
  const message = `${target} promises data of a certain form and answered without.`
  return new ToolError('OUTPUT_SCHEMA_INVALID', message, { hint: 'Report it to the author of the server.' })
}

/** The text of content blocks, for messages. */
function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const
/** Chains of references and nested unions have to end. */
const MAX_STEPS = 200

/**
 * Turns the schema of a server's arguments into one that hubs and model providers accept: an object at its root, with
 * properties and without a union. Several shapes become one that every one of them fits; the server still validates.
 * Returns `undefined` if the schema does not describe an object.
 */
export function repairInput(given: unknown): McpJsonObject | undefined {
  if (given === undefined || given === null || given === true) return EMPTY
  if (!isPlainObject(given)) return undefined
  const flat = flatten(given, { root: given, left: MAX_STEPS })
  if (!flat) return undefined
  const { properties, required, ...others } = flat
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return {
    ...others,
    type: 'object',
    properties: isPlainObject(properties) ? properties : {},
    ...(names.length > 0 && { required: [...new Set(names)] }),
  }
}

const EMPTY: McpJsonObject = { type: 'object', properties: {} }

/** The root that references point into, and how many steps are left. */
interface Walk {
  readonly root: McpJsonObject
  left: number
}

function flatten(schema: McpJsonObject, walk: Walk): McpJsonObject | undefined {
  if (walk.left-- <= 0 || !mayBeObject(schema.type)) return undefined
  const target = typeof schema.$ref === 'string' ? refersTo(schema.$ref, walk.root) : undefined
  if (target) {
    const { $ref, ...others } = schema
    const meant = flatten(target, walk)
    return meant && flatten(both(meant, others), walk)
  }
  const union = UNIONS.find((keyword) => Array.isArray(schema[keyword]))
  if (!union) return schema
  const { [union]: branches, ...others } = schema
  const objects = (branches as readonly unknown[])
    .filter(isPlainObject)
    .map((branch) => flatten(branch, walk))
    .filter((branch) => branch !== undefined)
  if (objects.length === 0) return (branches as readonly unknown[]).length === 0 ? others : undefined
  const merged = objects.reduce(union === 'allOf' ? both : either)
  return flatten(both(others, merged), walk)
}

/** The intersection of two schemas: all properties, everything that either requires. */
function both(a: McpJsonObject, b: McpJsonObject): McpJsonObject {
  return { ...a, ...b, ...merged(a, b, 'allOf'), required: [...namesOf(a.required), ...namesOf(b.required)] }
}

/** The union of two schemas: all properties, only what both require. */
function either(a: McpJsonObject, b: McpJsonObject): McpJsonObject {
  const alsoNeeded = new Set(namesOf(b.required))
  const { additionalProperties: first, ...others } = a
  const isClosed = first === false && b.additionalProperties === false
  return {
    ...others,
    ...merged(a, b, 'anyOf'),
    required: namesOf(a.required).filter((name) => alsoNeeded.has(name)),
    ...(isClosed && { additionalProperties: false }),
  }
}

function merged(a: McpJsonObject, b: McpJsonObject, how: 'allOf' | 'anyOf'): McpJsonObject {
  const properties = new Map<string, unknown>(isPlainObject(a.properties) ? Object.entries(a.properties) : [])
  for (const [name, schema] of isPlainObject(b.properties) ? Object.entries(b.properties) : []) {
    const known = properties.get(name)
    const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(schema)
    properties.set(name, isSame ? schema : { [how]: [known, schema] })
  }
  return properties.size > 0 ? { properties: Object.fromEntries(properties) } : {}
}

function refersTo(reference: string, root: McpJsonObject): McpJsonObject | undefined {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
  const definitions = place === undefined ? undefined : root[place]
  if (!isPlainObject(definitions) || name === undefined || !Object.hasOwn(definitions, name)) return undefined
  const found = definitions[name]
  return isPlainObject(found) ? found : undefined
}

function mayBeObject(type: unknown): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function namesOf(required: unknown): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
