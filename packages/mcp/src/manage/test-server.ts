import { type McpServer, type SourceHost, ToolError } from '@tool-hub/core'
import type { ReferenceSources } from '@tool-hub/core/config'
import { escapeLine } from '@tool-hub/core/lib'
import { McpConnection, type ProtocolEra, START_TIMEOUT_MS } from '../connection/index.ts'
import type { LeftOut } from '../definitions.ts'
import { cleanTexts } from '../definitions.ts'
import { assertServerName } from '../mcp-source.ts'
import { Pins } from '../pins.ts'
import { isProgram } from '../resolve-server.ts'
import { ServerTools } from '../server-tools.ts'
import { tooSlow, upstreamError } from '../upstream-error.ts'

/** Result of testing a server. */
export type ServerReport =
  | {
      readonly ok: true
      readonly era: ProtocolEra
      /** The name and version that it reports. */
      readonly info: { readonly name: string; readonly version: string } | undefined
      readonly tools: readonly ReportedTool[]
      readonly leftOut: readonly LeftOut[]
      readonly connectMs: number
      readonly listMs: number
    }
  | { readonly ok: false; readonly problem: ToolError; readonly ms: number }

/** A tool of the server as a hub would offer it. */
export interface ReportedTool {
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  readonly capabilities: readonly string[]
  /** What changed in it since it was first seen. */
  readonly drift: string | undefined
  /** Why every call of it would ask. */
  readonly doubt: string | undefined
  /** Its server added it, and models do not see it until the owner accepts it. */
  readonly isNew: boolean
}

/** Connects to a server, lists its tools and disconnects, for `tool-hub mcp test`. New tools are pinned. */
export async function testServer(
  name: string,
  server: McpServer,
  host: SourceHost,
  env: ReferenceSources['env'] = process.env,
): Promise<ServerReport> {
  const { clock } = host
  const redact = (text: string) => host.redact(text)
  const startedAt = clock.now()
  const deadline = new AbortController()
  const timeoutMs = server.startTimeoutMs ?? START_TIMEOUT_MS
  const look = 'see whether its command works by hand.'
  const cancel = clock.after(timeoutMs, () => deadline.abort(tooSlow(name, server, timeoutMs, look)))
  let connection: McpConnection | undefined
  try {
    assertServerName(name)
    connection = await McpConnection.open({ name, server, host, env, known: {}, signal: deadline.signal })
    const connectedAt = clock.now()
    const { definitions, leftOut } = await connection.list(deadline.signal)
    const listMs = clock.now() - connectedAt
    const call = () => Promise.reject(new ToolError('ABORTED', 'This server is only looked at.'))
    const found = new ServerTools({ name, server, names: [name], host, pins: new Pins(host), call })
    await found.take(definitions, leftOut, deadline.signal)
    const { era } = connection
    const info = connection.info && { name: redact(connection.info.name), version: redact(connection.info.version) }
    const tools = [
      ...found.tools.map((tool) => ({ ...tool, drift: found.drifts.get(tool.name), isNew: false })),
      ...found.pending.map(({ name, definition, drift }) => {
        const { title, description } = cleanTexts(definition)
        return { name, title, description, capabilities: ['remote'], drift, doubt: drift, isNew: true }
      }),
    ].map(({ name, title, description, capabilities, doubt, drift, isNew }) => ({
      name,
      title: title && redact(title),
      description: redact(description),
      capabilities,
      doubt: doubt && redact(doubt),
      drift: drift && redact(drift),
      isNew,
    }))
    const redactedLeftOut = found.leftOut.map((texts) => redactTexts(texts, redact))
    return { ok: true, era, info, tools, leftOut: redactedLeftOut, connectMs: connectedAt - startedAt, listMs }
  } catch (error) {
    const reason = deadline.signal.aborted && !ToolError.is(error) ? deadline.signal.reason : error
    const problem = upstreamError(name, connection?.reason ?? reason)
    return { ok: false, problem: forPerson(problem, server, redact), ms: clock.now() - startedAt }
  } finally {
    cancel()
    await connection?.close().catch(() => {})
  }
}

/** Replaces hints that do not apply here: nothing restarts the server, and the reader is already testing it. */
function forPerson(problem: ToolError, server: McpServer, redact: SourceHost['redact']): ToolError {
  const { code, message, fix, retryable } = problem
  const hint = fix.hint.includes('tool-hub mcp test') ? byHand(server) : fix.hint
  return new ToolError(code, redact(message), { fix: { ...fix, hint: redact(hint) }, retryable, cause: problem })
}

/** The command as the config has it: resolved references may be secret. */
function byHand(server: McpServer): string {
  if (!isProgram(server))
    return `See whether it answers at ${escapeLine(server.url.split('?', 1)[0]!)}, and what it logs.`
  const words = [server.command, ...(server.args ?? [])].map(quote)
  return `Run it by hand: ${escapeLine(words.join(' '))}`
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function redactTexts(texts: LeftOut, redact: SourceHost['redact']): LeftOut {
  return { tool: redact(texts.tool), why: redact(texts.why) }
}
