import { z } from 'zod'
import { type ClientAnswer, type Content, type ContentBlock, messageOf, ToolError } from '../../core/index.ts'
import { escapeText, isPlainObject } from '../../lib/index.ts'
import { boundInput } from '../../limits/index.ts'

/** What an answer of a client means for its call. */
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

/** Reads what a client answers; what is no answer is refused, and the call continues waiting for one. */
export function readClientAnswer(given: ClientAnswer, { hasOutput }: { readonly hasOutput: boolean }): ReadAnswer {
  const answer = bound(given)
  if (!isPlainObject(answer)) throw noAnswer('it is no object')
  const said = (['data', 'content', 'error'] as const).filter((key) => answer[key] !== undefined)
  if (said.length !== 1) throw noAnswer(`it has ${said.join(' and ') || 'none of data, content and error'}`)
  if (answer.error !== undefined) return { type: 'error', message: readMessage(answer.error) }
  if (answer.data !== undefined) return { type: 'data', data: answer.data }
  if (hasOutput) throw noAnswer('the tool has an output schema, so it needs data')
  return { type: 'data', data: { content: readContent(answer.content), details: answer.details ?? null } }
}

/** What a model sees of the data of an answer: the blocks, where it is some; else the data as JSON. */
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
  return new ToolError('INPUT_SCHEMA_INVALID', `That is no answer to a call: ${why}.`, {
    hint: 'Answer with one of { data }, { content } and { error }; the call still waits.',
  })
}
