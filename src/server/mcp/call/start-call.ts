import {
  type CallToolResult,
  type ContentBlock as McpBlock,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Artifact, CallEvent, ContentBlock, Failure, Success, ToolResult } from '../../../core/index.ts'
import { isPlainObject } from '../../../lib/index.ts'
import type { ClientView, Connection } from '../connection.ts'
import { shownLine } from '../elicitation/forms.ts'
import type { CallParams } from './call-params.ts'
import type { CallStart, OngoingCall } from './ongoing-call.ts'
import { type TellProgress, tellProgress } from './progress.ts'
import { isLarger, shortenData } from './shorten-data.ts'

const MAX_DATA_CHARS = 1_000_000

const MIN_DATA_CHARS = 2_000

/** A request to call a tool, and what it may bring along. */
export interface CallRequest extends Pick<CallStart, 'answers' | 'onAsk'> {
  readonly params: CallParams
  readonly context: ServerContext
  readonly tell: TellProgress | undefined
}

/** Sends a call down the road of the hub, in the run of its session. */
export function startCall(connection: Connection, client: ClientView, request: CallRequest): OngoingCall {
  const { session } = connection
  const { tools } = session.service
  const { params, context, tell, answers, onAsk } = request
  const { name } = params
  return session.start({
    name,
    input: params.arguments ?? {},
    caller: client.caller,
    canAsk: client.canElicit && session.asksClient,
    answers,
    onAsk,
    onEvent: eventListener(connection, context, tell),
    toResult: (result) => {
      const tool = tools.find(name)
      if (!tool && isUnknown(result)) throw unknownTool(name)
      return toCallResult(result, { schema: tool?.outputSchema, uriOf: session.artifacts.uriOf })
    },
  })
}

/** How to tell the client of progress; `undefined` when it does not want to hear of it. */
export function progressTeller(
  { session }: Connection,
  params: CallParams,
  context: ServerContext,
): TellProgress | undefined {
  const token = params._meta?.progressToken
  return token === undefined ? undefined : tellProgress(context, token, session.service.clock)
}

/** Who hears the events of a call while this request waits for it. */
export function eventListener(
  { listener }: Connection,
  context: ServerContext,
  tell: TellProgress | undefined,
): ((event: CallEvent) => void) | undefined {
  if (!listener) return tell
  return (event) => {
    listener(event, context)
    tell?.(event)
  }
}

/** A tool that the client may not see does not exist for it. */
function isUnknown({ error }: ToolResult): boolean {
  return error?.code === 'TOOL_NOT_FOUND' || error?.code === 'TOOL_DISABLED'
}

function unknownTool(name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shownLine(name, 128)}`)
}

/** What is known of the tool and the client. */
interface ResultPlace {
  /** What the tool says of its data; undefined for one whose results have none. */
  readonly schema: object | undefined
  /** Makes an artifact known to the client; gives back its address. */
  readonly uriOf: (artifact: Artifact) => string
}

/**
 * The result of a call in MCP's words; its artifacts are links that resources/read follows.
 *
 * Clients show a model the text or the data, so one limit holds for both: where the hub cut the text, the data may have
 * twice as many characters as what is left, and its longest texts are cut; the whole text is the artifact that is linked.
 * A tool of which the text fits has said what a model needs of it: its data stays whole up to 1,000,000 characters. Data
 * is never left out, since clients refuse the result of a tool that promises it.
 */
function toCallResult(result: ToolResult, { schema, uriOf }: ResultPlace): CallToolResult | Promise<CallToolResult> {
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
  if (!meta.truncated) return MAX_DATA_CHARS
  const shown = content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
  return Math.max(MIN_DATA_CHARS, shown * 2)
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

/** A call that failed may have something to show nevertheless; why it failed comes first. */
function withReason(content: McpBlock[], { error }: Failure): McpBlock[] {
  const reason = `${error.code}: ${error.message} ${error.fix.hint}`
  const [first] = content
  if (first?.type === 'text' && first.text.startsWith(`${error.code}: `)) return content
  return [{ type: 'text', text: reason }, ...content]
}
