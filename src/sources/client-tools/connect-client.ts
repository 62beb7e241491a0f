import type { Hub } from '../../hub/hub.ts'
import { ClientConnection, type ClientConnectionOptions } from './client-connection.ts'

/**
 * Connects a client whose tools it executes itself: they are governed like all others, a call of one is given to the
 * client, and its one answer ends the call. Knows no transport: anyone who has one passes calls and answers on.
 * @example
 * const desk = connectClient(hub, { name: 'desk', tools: [{ function: { name: 'open_file', description: 'Open a file in the editor.', parameters } }] })
 * desk.onCall(async ({ callId, input }) => desk.answer(callId, { data: await editor.open(input) }))
 */
export function connectClient(
  hub: Pick<Hub, 'connect' | 'callDynamic' | 'registry' | 'run'>,
  options: ClientConnectionOptions,
): ClientConnection {
  return new ClientConnection(hub, options)
}
