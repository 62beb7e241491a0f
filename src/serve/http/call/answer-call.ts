import type { IncomingMessage, ServerResponse } from 'node:http'
import { requireScope } from '../../auth/require-scope.ts'
import type { Visitor } from '../../service.ts'
import { admit } from '../admit.ts'
import { errorAnswer } from '../answer/error-answer.ts'
import type { HttpDoor } from '../http-door.ts'
import { discardBody, readJson } from '../read-body.ts'
import { readCall, type WantedCall } from './read-call.ts'
import { socketSignal } from './socket-signal.ts'
import { streamCall } from './stream-call.ts'
import { WaitingAnswer } from './waiting-answer.ts'

/**
 * `POST /v1/tools/{name}/call`, on Node's own request and response: the road that must be fast. 200 for every call that
 * took the road, whatever came of it. A client that goes away stops its call, unless the call has an idempotency key:
 * then it continues, and the next call with that key gets its result. An approval that the call waited for stays.
 */
export async function answerCall(
  door: HttpDoor,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { visitor } = await admit(door.doorkeeper, request)
    requireScope(visitor, 'call')
    const body = await readJson(request, door.callLimits)
    const wanted = readCall(body, request.headers['idempotency-key'] as string | undefined)
    if (wantsStream(request.headers.accept)) return await streamCall(door, visitor, name, wanted, request, response)
    await door.turns.next()
    const answer = new WaitingAnswer(response, door.clock)
    try {
      answer.send(JSON.stringify(await call(visitor, name, wanted, request)))
    } finally {
      answer.stop()
    }
  } catch (error) {
    refuseOn(response, error, door.report)
    discardBody(request)
  }
}

/** Answers on a response of Node what went wrong; cuts off when the answer had begun. */
export function refuseOn(response: ServerResponse, error: unknown, report: (error: unknown) => void): void {
  const { status, headers, body } = errorAnswer(error, report)
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Makes the call for as long as its client is there. */
function call(visitor: Visitor, name: string, wanted: WantedCall, { socket }: IncomingMessage) {
  const { input, options, survivesClient } = wanted
  if (survivesClient) return visitor.hub.callDynamic(name, input, options)
  return visitor.hub.callDynamic(name, input, { ...options, signal: socketSignal(socket) })
}

function wantsStream(accept: string | undefined): boolean {
  return accept?.includes('text/event-stream') === true
}
