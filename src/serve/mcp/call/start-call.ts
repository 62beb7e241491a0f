import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import type { CallEvent, ToolResult } from '../../../result.ts'
import { shownLine } from '../ask/shown-text.ts'
import type { ClientView } from '../client-view.ts'
import type { CallParams } from './call-params.ts'
import type { Connection } from './connection.ts'
import type { CallStart, OngoingCall } from './ongoing-call.ts'
import { type TellProgress, tellProgress } from './progress.ts'
import { toCallResult } from './to-call-result.ts'

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
