import type { Hub } from '../../hub.ts'
import { ClientConnection, type ClientOptions } from './client-connection.ts'

/**
 * Connects a client whose tools it executes itself: they are governed like all others, a call of one is given to the
 * client, and its one answer ends the call. Knows no transport: whoever has one passes calls and answers on.
 * @example
 * const desk = connectClient(hub, { name: 'desk', tools: [{ function: { name: 'open_file', description: 'Open a file in the editor.', parameters } }] })
 * desk.onCall(async ({ callId, input }) => desk.answer(callId, { data: await editor.open(input) }))
 */
export function connectClient(
  hub: Pick<Hub, 'connect' | 'callDynamic' | 'registry' | 'run'>,
  options: ClientOptions,
): ClientConnection {
  return new ClientConnection(hub, options)
}
