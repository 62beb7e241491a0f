import { ToolError } from '../../errors.ts'
import type { McpServer } from '../../options.ts'
import type { SourceHost } from '../../source.ts'
import type { Era } from './connect.ts'
import { Connection } from './connection.ts'
import type { LeftOut } from './definition.ts'
import type { References } from './fill-references.ts'
import { START_TIMEOUT_MS } from './limits.ts'
import { Pins } from './pins.ts'
import { assertServerName } from './server-name.ts'
import { ServerTools } from './server-tools.ts'
import { upstreamError } from './upstream-error.ts'

/** What was found out about a server. */
export type ServerReport =
  | {
      readonly ok: true
      readonly era: Era
      /** What it calls itself. */
      readonly info: { readonly name: string; readonly version: string } | undefined
      readonly tools: readonly ReportedTool[]
      readonly leftOut: readonly LeftOut[]
      readonly connectMs: number
      readonly listMs: number
    }
  | { readonly ok: false; readonly problem: ToolError; readonly ms: number }

/** A tool of it, as a hub would have it. */
export interface ReportedTool {
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  readonly capabilities: readonly string[]
  /** What changed in it since it was first seen. */
  readonly drift: string | undefined
  /** Why every call of it would ask. */
  readonly doubt: string | undefined
}

/** Connects to a server, looks at what it has and disconnects, for `tool-hub mcp test`. What is new is pinned. */
export async function testServer(
  name: string,
  server: McpServer,
  host: SourceHost,
  env: References['env'] = process.env,
): Promise<ServerReport> {
  const { clock } = host
  const startedAt = clock.now()
  const deadline = new AbortController()
  const timeoutMs = server.startTimeoutMs ?? START_TIMEOUT_MS
  const cancel = clock.after(timeoutMs, () => deadline.abort(tooSlow(name, timeoutMs)))
  let connection: Connection | undefined
  try {
    assertServerName(name)
    connection = await Connection.open({ name, server, host, env, known: {}, signal: deadline.signal })
    const connectedAt = clock.now()
    const { definitions, leftOut } = await connection.list(deadline.signal)
    const listMs = clock.now() - connectedAt
    const call = () => Promise.reject(new ToolError('ABORTED', 'This server is only looked at.'))
    const shelf = new ServerTools({ name, server, names: [name], host, pins: new Pins(host.data), call })
    await shelf.take(definitions, leftOut, deadline.signal)
    const { era, info } = connection
    const tools = shelf.tools.map(({ name, title, description, capabilities, doubt }) => {
      return { name, title, description, capabilities, doubt, drift: shelf.drifts.get(name) }
    })
    return { ok: true, era, info, tools, leftOut: shelf.leftOut, connectMs: connectedAt - startedAt, listMs }
  } catch (error) {
    const reason = deadline.signal.aborted && !ToolError.is(error) ? deadline.signal.reason : error
    return { ok: false, problem: upstreamError(name, connection?.reason ?? reason), ms: clock.now() - startedAt }
  } finally {
    cancel()
    await connection?.close().catch(() => {})
  }
}

function tooSlow(name: string, timeoutMs: number): ToolError {
  return new ToolError('TIMEOUT', `${name} did not connect and list its tools within ${timeoutMs} ms.`, {
    hint: `Raise startTimeout of mcpServers.${name}, or see whether its command works by hand.`,
  })
}
