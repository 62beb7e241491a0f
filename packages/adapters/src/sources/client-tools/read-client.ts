import {
  assertToolName,
  type ClientAnswer,
  type ClientToolDefinition,
  type Content,
  type ContentBlock,
  messageOf,
  ToolError,
} from '@tool-hub/core'
import { escapeText, isPlainObject } from '@tool-hub/core/lib'
import { type AnySchema, compileSchema, describeIssues, fromStandardIssues } from '@tool-hub/core/schema'
import { boundInput } from '@tool-hub/runtime/limits'
import { z } from 'zod'
import { refuseReservedName } from '../reserved-names.ts'

/** A validated definition. */
export interface ReadDefinition {
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  readonly input: AnySchema
  readonly output: AnySchema | undefined
  readonly timeoutMs: number | undefined
}

const MAX_SCHEMA_BYTES = 100_000
const MAX_SCHEMA_DEPTH = 50
const MAX_TIMEOUT_MS = 3_600_000

const description = z.string().max(10_000).optional()
const schema = z.custom<AnySchema>((value) => (typeof value === 'object' && value !== null) || isCallable(value))
const common = { output: schema.optional(), timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional() }
const functionSchema = z.object({
  function: z.object({ name: z.string(), description, parameters: schema.optional() }),
  ...common,
})
const ownSchema = z.object({
  name: z.string(),
  title: z.string().max(200).optional(),
  description,
  input: schema.optional(),
  ...common,
})

/** Reads and bounds the definition of a client's tool, which may come from another machine. */
export function readDefinition(given: ClientToolDefinition): ReadDefinition {
  const { name, title, description, input, output, timeoutMs } = flatten(given)
  assertToolName(name)
  refuseReservedName(name)
  return {
    name,
    title: title && escapeText(title),
    description: description ? escapeText(description) : `${title ?? name}, done by the client.`,
    input: readSchema(input, 'input') ?? NO_ARGUMENTS,
    output: readSchema(output, 'output'),
    timeoutMs,
  }
}

const NO_ARGUMENTS = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })

function flatten(given: ClientToolDefinition): z.output<typeof ownSchema> {
  const isFunction = typeof given === 'object' && given !== null && 'function' in given
  if (!isFunction) return parse(ownSchema, given)
  const { function: facts, ...others } = parse(functionSchema, given)
  return { name: facts.name, description: facts.description, input: facts.parameters, ...others }
}

function parse<T extends z.ZodType>(schema: T, given: unknown): z.output<T> {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const issues = fromStandardIssues(result.error.issues, { value: given, jsonSchema: () => ({}) })
  throw new ToolError('INPUT_SCHEMA_INVALID', describeIssues(issues, 'A definition of a client tool is not usable'), {
    hint: 'Give { function: { name, description, parameters } }, parameters being JSON Schema.',
  })
}

/** A schema that cannot be shown would break the list of all tools, so it is checked now. */
function readSchema(given: AnySchema | undefined, side: 'input' | 'output'): AnySchema | undefined {
  if (given === undefined) return undefined
  const schema = '~standard' in given ? given : copyJson(given, side)
  const { type } = compileSchema(schema, { side }).jsonSchema()
  if (side === 'output' || type === 'object') return schema
  throw new ToolError(
    'INPUT_SCHEMA_INVALID',
    'The arguments of a client tool are an object, its schema says otherwise.',
    {
      hint: 'Give parameters of the form { type: "object", properties }.',
    },
  )
}

function copyJson(given: AnySchema, side: string): AnySchema {
  try {
    // Copied through JSON: a schema made by a library has additional marks.
    const copy = boundInput(JSON.parse(JSON.stringify(given)), {
      maxDepth: MAX_SCHEMA_DEPTH,
      maxBytes: MAX_SCHEMA_BYTES,
    })
    return isPlainObject(copy) ? copy : {}
  } catch (cause) {
    const why = messageOf(cause).replace(/^The input/, `The ${side} schema`)
    throw new ToolError('INPUT_SCHEMA_INVALID', why, { hint: 'Give a smaller JSON Schema.', cause })
  }
}

function isCallable(value: unknown): boolean {
  // arktype's schemas are functions.
  return typeof value === 'function' && '~standard' in value
}

/** The outcome of a client's answer. */
export type ReadAnswer =
  | { readonly type: 'data'; readonly data: unknown }
  | { readonly type: 'error'; readonly message: string }

const MAX_ANSWER_BYTES = 10_485_760
const MAX_ANSWER_DEPTH = 50
const MAX_MESSAGE_CHARS = 2_000
const MAX_BLOCKS = 1_000

const media = (type: 'image' | 'audio') =>
  z
    .object({
      type: z.literal(type),
      data: z.string(),
      mediaType: z.string().optional(),
      mimeType: z.string().optional(),
    })
    .transform(({ data, mediaType, mimeType }) => ({ type, data, mediaType: mediaType ?? mimeType ?? '' }))
const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  media('image'),
  media('audio'),
  z.object({
    type: z.literal('resource'),
    uri: z.string(),
    mediaType: z.string().optional(),
    text: z.string().optional(),
    data: z.string().optional(),
  }),
  z.object({
    type: z.literal('resource-link'),
    uri: z.string(),
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    mediaType: z.string().optional(),
    bytes: z.number().optional(),
  }),
])
const blocks = z.array(block).max(MAX_BLOCKS)
const contentData = z.strictObject({ content: blocks, details: z.unknown() })

/** Reads the answer of a client. Throws if it is not valid; the call then continues to wait. */
export function readClientAnswer(given: ClientAnswer, { hasOutput }: { readonly hasOutput: boolean }): ReadAnswer {
  const answer = bound(given)
  if (!isPlainObject(answer)) throw noAnswer('it is not an object')
  const said = (['data', 'content', 'error'] as const).filter((key) => answer[key] !== undefined)
  if (said.length !== 1) throw noAnswer(`it has ${said.join(' and ') || 'none of data, content and error'}`)
  if (answer.error !== undefined) return { type: 'error', message: readMessage(answer.error) }
  if (answer.data !== undefined) return { type: 'data', data: answer.data }
  if (hasOutput) throw noAnswer('the tool has an output schema, so it needs data')
  return { type: 'data', data: { content: readContent(answer.content), details: answer.details ?? null } }
}

/** What a model sees of an answer: its content blocks, or the data as JSON. */
export function showClientAnswer(data: unknown): Content {
  if (typeof data === 'string') return data
  const content = contentData.safeParse(data)
  return content.success ? content.data.content : JSON.stringify(data)
}

function bound(given: unknown): unknown {
  try {
    return boundInput(given, { maxDepth: MAX_ANSWER_DEPTH, maxBytes: MAX_ANSWER_BYTES })
  } catch (error) {
    throw noAnswer(
      messageOf(error)
        .replace(/^The input/, 'it')
        .replace(/\.$/, ''),
    )
  }
}

function readContent(content: unknown): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const result = blocks.safeParse(content)
  if (result.success) return result.data
  throw noAnswer('its content is neither a text nor a list of blocks (text, image, audio, resource, resource-link)')
}

function readMessage(error: unknown): string {
  const message = isPlainObject(error) ? error.message : error
  if (typeof message !== 'string') throw noAnswer('its error has no message')
  return escapeText(message.slice(0, MAX_MESSAGE_CHARS))
}

function noAnswer(why: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `Invalid answer to a call: ${why}.`, {
    hint: 'Answer with one of { data }, { content } and { error }; the call still waits.',
  })
}
