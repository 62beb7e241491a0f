import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { formatPath } from '../../config/problem.ts'
import { messageOf } from '../../errors.ts'
import type { HubOptions, McpServer } from '../../options.ts'
import { fillReferences } from '../../sources/mcp/fill-references.ts'
import type { McpServerStatus } from '../../sources/mcp/mcp-source.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { count } from '../output/count.ts'
import type { Finding } from './doctor-examine.ts'

/** The MCP servers: what the config of each refers to and is not set, and which did not answer. */
export function examineServers(
  { mcpServers = {}, secrets = {} }: HubOptions,
  status: readonly McpServerStatus[],
): Finding[] {
  return Object.entries(mcpServers).map(([name, server]) => {
    const now = status.find((each) => each.name === name)
    return serverFinding(name, server, { now, missing: missingIn(name, server, secrets) })
  })
}

/** Where other tools come from: plugins, the tools folder, skills. */
export function examineSources({ plugins = [], data, skills = [] }: HubOptions): Finding[] {
  const folder = join(data ?? '.tool-hub', 'tools')
  const names = plugins.map(({ name }) => name).join(', ')
  return [
    ...(plugins.length > 0 ? [good('plugins', `${count(plugins.length, 'plugin')}: ${names}`)] : []),
    ...(existsSync(folder) ? [good('tools', `${count(filesIn(folder), 'file')} in ${folder}`)] : []),
    ...skills.map(skillsFinding),
  ]
}

function serverFinding(
  name: string,
  server: McpServer,
  { now, missing }: { readonly now: McpServerStatus | undefined; readonly missing: string | undefined },
): Finding {
  if (server.disabled) return good('mcp', `${name} is disabled`)
  if (missing !== undefined)
    return { state: 'broken', what: 'mcp', detail: missing, fix: `Set it, or take ${name} out of mcpServers.` }
  if (now?.problem)
    return {
      state: 'weak',
      what: 'mcp',
      detail: `${name} does not answer: ${now.problem.message}`,
      fix: `See what it says: tool-hub mcp test ${name}.`,
    }
  if (now?.changed)
    return {
      state: 'weak',
      what: 'mcp',
      detail: `${name} changed or added ${count(now.changed.length, 'tool')} since it was first seen`,
      fix: `Look at it with: tool-hub mcp test ${name}; accept it with: tool-hub mcp pin ${name}.`,
    }
  if (now?.state === 'connected') return good('mcp', `${name} has ${count(now.tools.length, 'tool')}`)
  return { state: 'weak', what: 'mcp', detail: `${name} has not answered yet`, fix: `tool-hub mcp test ${name}` }
}

/** The first reference that leads nowhere. */
function missingIn(name: string, server: McpServer, secrets: NonNullable<HubOptions['secrets']>): string | undefined {
  const secret = (key: string) => (Object.hasOwn(secrets, key) ? secrets[key]?.value : undefined)
  try {
    for (const [place, text] of textsIn(server))
      fillReferences(text, { env: process.env, secret }, `${place} of the MCP server ${name}`)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function textsIn(value: unknown, path: readonly (string | number)[] = []): [place: string, text: string][] {
  if (typeof value === 'string') return [[formatPath(path), value]]
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]))
  return isPlainObject(value) ? Object.entries(value).flatMap(([name, item]) => textsIn(item, [...path, name])) : []
}

function skillsFinding(folder: string): Finding {
  if (!existsSync(folder))
    return {
      state: 'broken',
      what: 'skills',
      detail: `there is no folder ${folder}`,
      fix: 'Mend skills in the config.',
    }
  const found = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'SKILL.md'))).length
  if (found > 0) return good('skills', `${count(found, 'skill')} in ${folder}`)
  return {
    state: 'weak',
    what: 'skills',
    detail: `no skill is in ${folder}`,
    fix: 'A skill is a folder with a SKILL.md.',
  }
}

function filesIn(folder: string): number {
  return readdirSync(folder).filter((name) => /\.[cm]?js$/.test(name)).length
}

function good(what: string, detail: string): Finding {
  return { state: 'good', what, detail }
}
