import { type McpServer, ToolError } from '../../core/index.ts'
import { isProgram } from './resolve-server.ts'

/** Programs that download what they run. */
const DOWNLOADERS = /(?:^|[/\\])(npx|npm|pnpm|pnpx|yarn|bunx|bun|uvx|uv|pipx|deno|docker)(?:\.cmd|\.exe)?$/

/** A server that took too long to connect and list its tools; `look` says how to find out why. */
export function tooSlow(name: string, server: McpServer, timeoutMs: number, look: string): ToolError {
  const downloader = cutOff(server)
  const hint = downloader
    ? `Its sandbox has no network, so ${downloader} cannot download anything: list the hosts it needs (sandbox: { hosts: […] } of mcpServers.${name}), or install the package and start that.`
    : `Raise startTimeout of mcpServers.${name}, or ${look}`
  return new ToolError('TIMEOUT', `${name} did not connect and list its tools within ${timeoutMs} ms.`, { hint })
}

/** The program that would have to download and cannot. */
function cutOff(server: McpServer): string | undefined {
  if (!isProgram(server) || !server.sandbox) return undefined
  const { hosts = [] } = server.sandbox === true ? {} : server.sandbox
  return hosts.length === 0 ? DOWNLOADERS.exec(server.command)?.[1] : undefined
}
