import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallEvent } from '../../../result.ts'
import type { Visitor } from '../../service.ts'
import type { HttpDoor } from '../http-door.ts'
import { EventStream } from '../stream/event-stream.ts'
import type { WantedCall } from './read-call.ts'
import { socketSignal } from './socket-signal.ts'

/**
 * Tells a call's events as they happen; the last is `call-ended`. Progress that a slow reader has no room for is left
 * out: it never holds up the call, and its end always comes.
 */
export async function streamCall(
  { clock, maxWaitingBytes }: HttpDoor,
  visitor: Visitor,
  name: string,
  { input, options, survivesClient }: WantedCall,
  { socket }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const stream = new EventStream(response, { clock, maxWaitingBytes })
  let hasEnded = false
  const onEvent = (event: CallEvent) => {
    if (event.type === 'call-progressed' && stream.isFull) return
    hasEnded ||= event.type === 'call-ended'
    stream.send(event.type, event)
  }
  const signal = survivesClient ? undefined : socketSignal(socket)
  const result = await visitor.hub.callDynamic(name, input, { ...options, onEvent, signal })
  if (!hasEnded) stream.send('call-ended', { type: 'call-ended', callId: result.callId, result })
  stream.end()
}
