import type { ClientOptions, ToolMap } from './client-options.ts'
import { HubClient } from './hub-client.ts'

/**
 * A client of a tool-hub service, for browsers and Node; it needs no package. With a token it asks as that token's
 * principal, without one as the person who is signed in on the page. Node 20 has no WebSocket of its own: give `createClient`
 * the one of the package `ws`.
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:4040', token, WebSocket })
 * const result = await client.call('core/fs.readText', { path: 'README.md' })
 * const socket = await client.connect()
 * for await (const event of socket.stream('core/exec.run', { argv: ['npm', 'test'] })) console.log(event.type)
 */
export function createClient<T extends ToolMap = ToolMap>(options: ClientOptions = {}): HubClient<T> {
  return new HubClient<T>(options)
}
