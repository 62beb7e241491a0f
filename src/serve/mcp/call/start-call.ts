import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import type { CallEvent, ToolResult } from '../../../result.ts'
import { shownLine } from '../ask/shown-text.ts'
import type { ClientView } from '../client-view.ts'
import type { CallParams } from './call-params.ts'
import type { Connection } from './connection.ts'
import type { CallStart, OngoingCall } from './ongoing-call.ts'
import { tellProgress } from './progress.ts'
import { toCallResult } from './to-call-result.ts'

/** A request to call a tool, and what it may bring along. */
export interface CallRequest extends Pick<CallStart, 'signal' | 'answers' | 'hearsEvents' | 'onAsk'> {
  readonly params: CallParams
  readonly context: ServerContext
}

/** Sends a call down the road of the hub, in the run of its session. */
export function startCall(connection: Connection, client: ClientView, request: CallRequest): OngoingCall {
  const { session } = connection
  const { tools } = session.service
  const { params, context, signal, answers, hearsEvents, onAsk } = request
  const { name } = params
  return session.start({
    name,
    input: params.arguments ?? {},
    caller: client.caller,
    canAsk: client.canElicit && session.asksClient,
    signal,
    answers,
    hearsEvents,
    onAsk,
    onEvent: eventListener(connection, params, context),
    toResult: (result) => {
      const tool = tools.find(name)
      if (!tool && isUnknown(result)) throw unknownTool(name)
      return toCallResult(result, { schema: tool?.outputSchema, uriOf: session.artifacts.uriOf })
    },
  })
}

/** Who hears the events of a call while this request waits for it; nobody, unless it was asked for. */
export function eventListener(
  { session, listener }: Connection,
  params: CallParams,
  context: ServerContext,
): ((event: CallEvent) => void) | undefined {
  const token = params._meta?.progressToken
  const tell = token === undefined ? undefined : tellProgress(context, token, session.service.clock)
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
