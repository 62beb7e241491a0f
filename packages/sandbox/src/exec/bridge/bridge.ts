import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownFile, privateFolder } from '../../system/index.ts'

/** A file of the machine and its path in the sandbox, read-only. */
export interface Bind {
  readonly from: string
  readonly to: string
}

/** The path of the proxy's unix socket in the sandbox. */
export const PROXY_SOCKET = '/run/tool-hub/proxy.sock'

/** The port on the sandbox's own loopback interface that leads to the proxy. */
export const PROXY_PORT = 3128

const LOOPBACK = 'localhost,127.0.0.1,::1'
const NODE = '/run/tool-hub/node'
const SCRIPT = '/run/tool-hub/bridge.mjs'

/** What the bridge needs in the sandbox in addition to system libraries: node, and the one file it runs. */
export function bridgeBinds(): Bind[] {
  return [
    { from: process.execPath, to: NODE },
    { from: readableScript(), to: SCRIPT },
  ]
}

/** A copy for every user: tool-hub may be installed in a folder that only its owner can enter, such as /root. */
function readableScript(): string {
  const path = join(privateFolder(), 'bridge.mjs')
  if (existsSync(path)) return path
  const draft = `${path}.draft`
  writeFileSync(draft, readFileSync(ownFile('sandbox/exec/bridge/bridge-main.mjs')))
  chmodSync(draft, 0o444)
  renameSync(draft, path)
  return path
}

/** The words that run the bridge in the sandbox; it prints `ready` and a newline once it accepts connections. */
export function bridgeCommand({
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

/** The variables that lead programs to the proxy; all of them, since each program reads only some. */
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
    // The sandbox's own loopback, where a test may run a server; it leads nowhere else.
    NO_PROXY: LOOPBACK,
    no_proxy: LOOPBACK,
    // Node (22.21 and 24) reads the variables above only with this one.
    NODE_USE_ENV_PROXY: '1',
  }
}
