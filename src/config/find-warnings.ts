import type { CheckedConfig } from './check-config.ts'
import type { ConfigDocument } from './config-document.ts'
import { FOREIGN_KEYS } from './mcp-schema.ts'
import { formatPath, formatPlace, type KeyPath } from './problem.ts'
import { walkConfig } from './walk-config.ts'

const TIMES = new Set<unknown>(['timeout', 'time'])

/** What is allowed but hardly meant. */
export function findWarnings(
  document: ConfigDocument,
  { redact, memory, secrets = {}, mcpServers = {} }: CheckedConfig,
): string[] {
  const warnings: string[] = []
  const warn = (path: KeyPath, message: string) =>
    warnings.push(`${formatPlace(document.label, path, document.locate(path))} ${formatPath(path)}: ${message}`)

  for (const { path, value } of walkConfig(document.value)) {
    const isTime = TIMES.has(path.at(-1)) && path[0] !== 'plugins'
    if (isTime && typeof value === 'number' && value < 1_000)
      warn(path, `${value} is milliseconds; write ${value}s for seconds.`)
  }
  if (memory?.provider === 'external' && memory.url === undefined && memory.mcp === undefined)
    warn(['memory', 'provider'], 'names no url and no mcp, so accepted notes are kept in the store below data.')
  for (const [index, name] of (redact?.env ?? []).entries()) {
    if (!process.env[name]) warn(['redact', 'env', index], `${name} is not set, so there is nothing to redact.`)
  }
  for (const [name, { env }] of Object.entries(secrets)) {
    if (!process.env[env]) warn(['secrets', name, 'env'], `${env} is not set, so there is no secret ${name}.`)
  }
  for (const [name, server] of Object.entries(mcpServers)) {
    for (const foreign of FOREIGN_KEYS.filter((each) => Object.hasOwn(server, each)))
      warn(['mcpServers', name, foreign], 'is of another program and says nothing here; write a rule instead.')
  }
  return warnings
}
