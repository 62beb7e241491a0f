import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { CallEvent, ToolResult } from '../../../core/index.ts'
import { isPlainObject } from '../../../lib/index.ts'
import type { ClientView, Connection } from '../connection.ts'
import { shownLine } from '../elicitation/forms.ts'
import { toCallResult } from './call-result.ts'
import type { CallStart, OngoingCall } from './ongoing-call.ts'
import { createProgressReport, type ReportProgress } from './progress.ts'

/** Characters of the name of a tool. */
const MAX_NAME_LENGTH = 256

const PARAMS = z.object({
  name: z.string().min(1).max(MAX_NAME_LENGTH),
  // Not copied: the hub checks the size and depth of arguments.
  arguments: z.custom<Readonly<Record<string, unknown>>>(isPlainObject, 'expected an object').optional(),
  task: z.object({ ttl: z.number().nullish() }).optional(),
  _meta: z.object({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
})

/** The parameters of tools/call. */
export type CallParams = z.infer<typeof PARAMS>

const PAGE = z.object({ cursor: z.undefined('this list has one page and no cursor').optional() }).optional()
const READ = z.object({ uri: z.string().min(1).max(2_000) })
const TASK = z.object({ taskId: z.string().min(1).max(200) })

/** The parameters of tools/call. */
export const parseCall = (params: unknown): CallParams => parsed('tools/call', PARAMS, params)

/** The parameters of a list, none of which has a second page. */
export const parsePage = (method: string, params: unknown): void => void parsed(method, PAGE, params)

/** The parameters of resources/read. */
export const parseRead = (params: unknown): z.infer<typeof READ> => parsed('resources/read', READ, params)

/** The parameters of requests about a task. */
export const parseTask = (method: string, params: unknown): z.infer<typeof TASK> => parsed(method, TASK, params)

function parsed<T>(method: string, schema: z.ZodType<T>, params: unknown): T {
  const result = schema.safeParse(params)
  if (result.success) return result.data
  const why = result.error.issues.map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`).join('; ')
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}: ${why.slice(0, 500)}`)
}

/** A request to call a tool. */
export interface CallRequest extends Pick<CallStart, 'answers' | 'onAsk'> {
  readonly params: CallParams
  readonly context: ServerContext
  readonly report: ReportProgress | undefined
}

/** Starts a call in the run of its session. */
export function startCall(connection: Connection, client: ClientView, request: CallRequest): OngoingCall {
  const { session } = connection
  const { tools } = session.service
  const { params, context, report, answers, onAsk } = request
  const { name } = params
  return session.start({
    name,
    input: params.arguments ?? {},
    caller: client.caller,
    canAsk: client.canElicit && session.asksClient,
    answers,
    onAsk,
    onEvent: eventListener(connection, context, report),
    toResult: (result) => {
      const tool = tools.find(name)
      if (!tool && isUnknown(result)) throw unknownTool(name)
      return toCallResult(result, { schema: tool?.outputSchema, uriOf: session.artifacts.uriOf })
    },
  })
}

/** Returns a function that sends progress; `undefined` if the client does not request it. */
export function progressReporter(
  { session }: Connection,
  params: CallParams,
  context: ServerContext,
): ReportProgress | undefined {
  const token = params._meta?.progressToken
  return token === undefined ? undefined : createProgressReport(context, token, session.service.clock)
}

/** Returns the listener for the events of a call while this request waits for it. */
export function eventListener(
  { listener }: Connection,
  context: ServerContext,
  report: ReportProgress | undefined,
): ((event: CallEvent) => void) | undefined {
  if (!listener) return report
  return (event) => {
    listener(event, context)
    report?.(event)
  }
}

/** A tool that the client may not see counts as unknown. */
function isUnknown({ error }: ToolResult): boolean {
  return error?.code === 'TOOL_NOT_FOUND' || error?.code === 'TOOL_DISABLED'
}

function unknownTool(name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shownLine(name, 128)}`)
}
