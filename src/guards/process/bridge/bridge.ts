import { fileURLToPath } from 'node:url'
import { ownFile } from '../../../own-file.ts'

/** A file of the machine and where it is seen in the jail, read-only. */
export interface Bind {
  readonly from: string
  readonly to: string
}

/** Where the proxy's unix socket is seen in the jail. */
export const PROXY_SOCKET = '/run/tool-hub/proxy.sock'

/** The port on the jail's own loopback that leads to the proxy. */
export const PROXY_PORT = 3128

const LOOPBACK = 'localhost,127.0.0.1,::1'
const NODE = '/run/tool-hub/node'
const SCRIPT = '/run/tool-hub/bridge.mjs'

/** What the jail must see for the bridge, beside the libraries of the system: node, and the one file it runs. */
export function bridgeBinds(): Bind[] {
  return [
    { from: process.execPath, to: NODE },
    { from: fileURLToPath(ownFile('guards/process/bridge/bridge-main.mjs')), to: SCRIPT },
  ]
}

/** The words that run the bridge in the jail; they print `ready` and a newline once connections are taken. */
export function bridgeCompanion({
  node = NODE,
  script = SCRIPT,
  socket = PROXY_SOCKET,
  port = PROXY_PORT,
}: {
  readonly node?: string
  readonly script?: string
  readonly socket?: string
  readonly port?: number
} = {}): string[] {
  return [node, '--max-old-space-size=64', '--max-semi-space-size=1', script, socket, String(port)]
}

/** The variables by which programs find the proxy; all of them, since each program knows only some. */
export function proxyEnvironment(port: number = PROXY_PORT): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`
  return {
    HTTP_PROXY: proxy,
    // curl reads only this spelling for http, since HTTP_PROXY could be a header of a CGI request.
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    all_proxy: proxy,
    // The jail's own loopback, where a test may run a server; it leads nowhere else.
    NO_PROXY: LOOPBACK,
    no_proxy: LOOPBACK,
    // Node (22.21 and 24) reads the variables above only when told to.
    NODE_USE_ENV_PROXY: '1',
  }
}
