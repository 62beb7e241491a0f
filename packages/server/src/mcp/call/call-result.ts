import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { Artifact, ContentBlock, Failure, Success, ToolResult } from '@tool-hub/core'
import { isPlainObject, toPointer } from '@tool-hub/core/lib'
import { compileSchema } from '@tool-hub/core/schema'
import { shortenText } from '@tool-hub/runtime/limits'

/** As much as a model gets of the text of a tool that sets no limit of its own. */
const MAX_DATA_CHARS = 30_000
const MIN_DATA_CHARS = 2_000
const MIN_CUT_LENGTH = 200
const MAX_ROUNDS = 5

/** The tool's schema and the client's artifacts. */
interface ResultPlace {
  /** Output schema of the tool; `undefined` if it has none. */
  readonly schema: object | undefined
  /** Makes an artifact available to the client; returns its URI. */
  readonly uriOf: (artifact: Artifact) => string
}

/**
 * The result of a call as MCP content; its artifacts are links for resources/read. Clients show a model the text or the
 * data, so one limit holds for both: if the hub cut the text, the data may have as many characters as the text that is
 * left, and otherwise 30,000, or as many as a longer text has. A text that stands twice is given once, and the longest
 * texts are cut; the linked artifact has the whole text. Data is never left out, because clients refuse a result without
 * the data that the tool declares.
 */
export function toCallResult(
  result: ToolResult,
  { schema, uriOf }: ResultPlace,
): CallToolResult | Promise<CallToolResult> {
  const content = result.content.map(toMcpBlock)
  for (const artifact of result.artifacts) content.push(toLink(artifact, uriOf(artifact)))
  if (!result.ok) return { content: withReason(content, result), isError: true }
  const { data } = result
  if (!schema || !isPlainObject(data)) return { content }
  const maxChars = maxDataChars(result)
  if (!isLarger(data, maxChars)) return { content, structuredContent: data }
  const bounds = { maxChars, schema, where: whereWhole(result, uriOf) }
  return shortenData(data, bounds).then((short) => ({
    content,
    structuredContent: short as CallToolResult['structuredContent'],
  }))
}

function maxDataChars({ meta, content }: Success): number {
  const shown = content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
  return Math.max(meta.truncated ? MIN_DATA_CHARS : MAX_DATA_CHARS, shown)
}

function whereWhole({ meta, artifacts }: Success, uriOf: ResultPlace['uriOf']): string | undefined {
  const whole = artifacts.find(({ ref }) => ref === meta.truncated?.artifact)
  return whole && uriOf(whole)
}

function toMcpBlock(block: ContentBlock): McpBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mimeType: block.mediaType }
    case 'resource':
      return { type: 'resource', resource: toResource(block) }
    case 'resource-link': {
      const { uri, name, title, description, mediaType, bytes } = block
      return { type: 'resource_link', uri, name, title, description, mimeType: mediaType, size: bytes }
    }
  }
}

function toResource({ uri, mediaType, text, data }: Extract<ContentBlock, { type: 'resource' }>) {
  const mimeType = mediaType === undefined ? {} : { mimeType: mediaType }
  return data === undefined ? { uri, ...mimeType, text: text ?? '' } : { uri, ...mimeType, blob: data }
}

function toLink({ name, bytes, mediaType }: Artifact, uri: string): McpBlock {
  return { type: 'resource_link', uri, name, mimeType: mediaType, size: bytes }
}

/** A failed call may have content, too; the reason comes first. */
function withReason(content: McpBlock[], { error }: Failure): McpBlock[] {
  const { code, message, fix } = error
  const reason = `${code}: ${message} ${fix.hint}`
  const [first] = content
  if (first?.type === 'text' && first.text.startsWith(`${code}: `)) return content
  return [{ type: 'text', text: reason }, ...content]
}

/** Limits of the data of a result. */
interface DataBounds {
  readonly maxChars: number
  /** Output schema of the tool, which clients validate. */
  readonly schema: object
  /** Where the whole text is. */
  readonly where?: string
}

/** Whether data has more characters than allowed, approximately as JSON. */
function isLarger(data: unknown, maxChars: number): boolean {
  return roomAfter(data, maxChars) < 0
}

/**
 * Returns a copy of data with its longest texts cut in the middle until it fits, each with a mark. It still matches its
 * schema: texts with a format, a pattern or a choice stay whole, and if that is not enough, all data does. Lists keep
 * every item, because a list that ends early would be misleading.
 */
async function shortenData(data: object, { maxChars, schema, where }: DataBounds): Promise<object> {
  const mark = (cut: number) =>
    `\n… [${cut} characters cut${where === undefined ? '' : `; the whole text: ${where}`}] …\n`
  const kept = new Set<string>()
  let once = withoutRepeats(data)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const longest = lengthToFit(once, maxChars, kept)
    const cut = (text: string) => shortenText(text, { maxChars: longest ?? text.length, mode: 'middle', mark }).text
    const copy = mapTexts(once, kept, cut) as object
    const misfits = await placesThatMisfit(copy, schema)
    if (misfits.length === 0) return copy
    for (const place of misfits) kept.add(place)
    once = data
  }
  return data
}

/** A copy in which a long text that several keys have is given for the first of them: the output of a command is its end, too. */
function withoutRepeats(data: object): object {
  const first = new Map<unknown, string>()
  const entries = Object.entries(data).map(([key, value]) => {
    const known = first.get(value)
    if (typeof value !== 'string' || value.length <= MIN_CUT_LENGTH) return [key, value]
    if (known !== undefined) return [key, `[the same text as ${known}]`]
    first.set(value, key)
    return [key, value]
  })
  return Object.fromEntries(entries)
}

/** Returns how long one text may be so that all fit together; `undefined` if none can be cut. */
function lengthToFit(data: object, maxChars: number, kept: ReadonlySet<string>): number | undefined {
  const lengths: number[] = []
  mapTexts(data, kept, (text) => {
    lengths.push(text.length)
    return text
  })
  lengths.sort((a, b) => a - b)
  let room = roomAfter(data, maxChars, true)
  for (const length of lengths) room += length
  for (const [index, length] of lengths.entries()) {
    const share = Math.max(MIN_CUT_LENGTH, Math.floor(room / (lengths.length - index)))
    if (length > share) return share
    room -= length
  }
  return undefined
}

/** Maps the texts of data; those at or below the kept places stay. */
function mapTexts(value: unknown, kept: ReadonlySet<string>, change: (text: string) => string, place = ''): unknown {
  if (kept.has(place)) return value
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, kept, change, `${place}/*`))
  // fromEntries defines keys, so one named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      mapTexts(part, kept, change, `${place}${anyIndex(toPointer([key]))}`),
    ]),
  )
}

async function placesThatMisfit(data: object, schema: object): Promise<string[]> {
  try {
    const checked = await compileSchema(schema as never, { side: 'output' }).validate(data)
    return checked.ok ? [] : checked.issues.map(({ path }) => anyIndex(path))
  } catch {
    // A schema that cannot be compiled here may be validated by the client, so nothing is cut.
    return ['']
  }
}

/** All items of a list are treated alike. */
function anyIndex(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')
}

/** The room that is left; stops counting below zero, unless `toTheEnd`. */
function roomAfter(value: unknown, room: number, toTheEnd = false): number {
  if (typeof value === 'string') return room - value.length - 3
  if (typeof value !== 'object' || value === null) return room - 6
  let left = room - 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && (toTheEnd || left >= 0); index++)
      left = roomAfter(value[index], left, toTheEnd)
    return left
  }
  for (const key in value) {
    if (left < 0 && !toTheEnd) return left
    left = roomAfter((value as Readonly<Record<string, unknown>>)[key], left - key.length - 3, toTheEnd)
  }
  return left
}
