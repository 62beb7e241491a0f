import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type DoctorFinding, formatPath, type HubOptions, type McpServer, messageOf, ToolError } from '@tool-hub/core'
import { fillReferences } from '@tool-hub/core/config'
import { isPlainObject } from '@tool-hub/core/lib'
import { features } from '@tool-hub/library/generated/list'
import { openStoreOf, storeVersion } from '@tool-hub/library/stores'
import { type McpServerStatus, signsIn } from '@tool-hub/mcp'
import { loadSecondParser, protectedCode } from '@tool-hub/runtime/hub'
import { storePlace } from '@tool-hub/runtime/store'
import { openProvider } from '@tool-hub/runtime/tools'
import { sandboxUser } from '@tool-hub/sandbox/exec'
import { probeSandbox } from '@tool-hub/sandbox/exec/start'
import { matchHost, parseHosts } from '@tool-hub/sandbox/network'
import { countNoun } from '../output/layout.ts'

/**
 * The MCP servers: what the config of each refers to and is not set, which did not answer, and whether people can sign in
 * to them.
 */
export function examineServers(
  { mcpServers = {}, secrets = {}, database }: HubOptions,
  status: readonly McpServerStatus[],
): DoctorFinding[] {
  const findings = Object.entries(mcpServers).map(([name, server]) => {
    const now = status.find((each) => each.name === name)
    return serverFinding(name, server, { now, missing: missingIn(name, server, secrets) })
  })
  const mayNeedKey = Object.values(mcpServers).some((server) => 'url' in server && !server.disabled && signsIn(server))
  return database && mayNeedKey && !process.env.TOOL_HUB_KEY ? [...findings, NO_KEY] : findings
}

const NO_KEY: DoctorFinding = {
  state: 'weak',
  what: 'mcp',
  detail: 'TOOL_HUB_KEY is not set: nobody can sign in to MCP servers, because several machines share the store',
  fix: 'If one of the servers needs a sign-in, set TOOL_HUB_KEY to the same key on all machines: openssl rand -base64 32.',
}

/** Where other tools come from, plugins and skills, and whether their code lies where tools write. */
export function examineSources(options: HubOptions): DoctorFinding[] {
  const { plugins = [], skills = [] } = options
  const names = plugins.map(({ name }) => name).join(', ')
  return [
    ...(plugins.length > 0 ? [good('plugins', `${countNoun(plugins.length, 'plugin')}: ${names}`)] : []),
    ...skills.map(skillsFinding),
    ...codeInRoots(options),
  ]
}

const MAX_NAMED = 5
/** Files that are closed to tools like code, but run nothing themselves. */
const SETTINGS = /\.(?:ya?ml|json[c5]?)$/

/** Tools and commands cannot change code that the hub runs, but what it reads at run time nobody knows. */
function codeInRoots(options: HubOptions): DoctorFinding[] {
  const { root, roots = [] } = options.sandbox ?? {}
  const writable = [
    ...(root === undefined ? [] : [root]),
    ...roots.filter(({ mode }) => mode === 'write').map(({ path }) => path),
  ]
    .map((path) => resolve(path))
    .map((path) => `${path}/`)
  const files = protectedCode(options, features).filter(
    (path) => writable.some((folder) => path.startsWith(folder)) && existsSync(path) && !SETTINGS.test(path),
  )
  if (files.length === 0) return []
  const named = files.slice(0, MAX_NAMED).join(', ')
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : ''
  return [
    {
      state: 'weak',
      what: 'own code',
      detail: `code that the hub runs lies in a root that tools write to: ${named}${more}. It is closed to them, but not the data it reads.`,
      fix: 'Keep plugins, MCP servers and the installation of tool-hub outside of sandbox.root, or make the root read-only.',
    },
  ]
}

function serverFinding(
  name: string,
  server: McpServer,
  { now, missing }: { readonly now: McpServerStatus | undefined; readonly missing: string | undefined },
): DoctorFinding {
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
      detail: `${name} changed or added ${countNoun(now.changed.length, 'tool')} since it was first seen`,
      fix: `Look at it with: tool-hub mcp test ${name}; accept it with: tool-hub mcp pin ${name}.`,
    }
  if (now?.state === 'connected') return good('mcp', `${name} has ${countNoun(now.tools.length, 'tool')}`)
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

function skillsFinding(folder: string): DoctorFinding {
  if (!existsSync(folder))
    return {
      state: 'broken',
      what: 'skills',
      detail: `the folder ${folder} does not exist`,
      fix: 'Correct skills in the config.',
    }
  const found = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'SKILL.md'))).length
  if (found > 0) return good('skills', `${countNoun(found, 'skill')} in ${folder}`)
  return {
    state: 'weak',
    what: 'skills',
    detail: `no skill is in ${folder}`,
    fix: 'A skill is a folder with a SKILL.md.',
  }
}

/**
 * Whether the store can be used, and whether a hub would change nothing by opening it. Nothing is created: a file that is
 * missing is made at the first use.
 */
export async function examineStore(
  options: HubOptions,
): Promise<{ readonly findings: readonly DoctorFinding[]; readonly isCurrent: boolean }> {
  const place = storePlace(options)
  try {
    const { from, to } = await storeVersion(options)
    const shared = options.database ? [SHARED_STORE] : []
    if (from === 0)
      return { findings: [good('store', `${place} is created at its first use`), ...shared], isCurrent: false }
    if (options.database) await checkDatabase(options)
    const isCurrent = from === to
    const next = isCurrent ? '' : `, and is migrated to ${to} at its next use`
    return { findings: [good('store', `${place} has version ${from}${next}`), ...shared], isCurrent }
  } catch (error) {
    const fix = ToolError.is(error) ? error.fix.hint : undefined
    const finding: DoctorFinding = { state: 'broken', what: 'store', detail: messageOf(error), ...(fix && { fix }) }
    return { findings: [finding], isCurrent: false }
  }
}

const SHARED_STORE: DoctorFinding = {
  state: 'weak',
  what: 'store',
  detail:
    'rows of the database are not signed: anyone with the database user of the services can create tokens with all scopes',
  fix: 'Give this user to services only. Workers get a user of their own: deploy/worker-role.sql.',
}

async function checkDatabase(options: HubOptions): Promise<void> {
  const store = openStoreOf(options)
  try {
    await store.check()
  } finally {
    await store.close()
  }
}

function good(what: string, detail: string): DoctorFinding {
  return { state: 'good', what, detail }
}

/** Probes how strongly commands are sandboxed here, and whether the second parser of command lines is available. */
export async function examineSandbox({ sandbox }: Pick<HubOptions, 'sandbox'>): Promise<DoctorFinding[]> {
  const { level, engine, weaknesses, cgroups } = await probeSandbox({ force: sandbox?.commands?.level })
  const bounds = cgroups === 'none' ? 'bounded by prlimit' : `bounded by prlimit and cgroups ${cgroups}`
  const isChosen = sandbox?.commands?.level === level && level !== 'full'
  const isFree = level === 'none' && sandbox?.required === false
  const atNone = isFree
    ? ' Your rules decide all the same: sandbox.required is false.'
    : ' Every command asks, whatever the rules say.'
  const detail = `level ${level} (${engine})${level === 'none' ? '' : userText(sandbox?.root)}, ${bounds}.${level === 'none' ? atNone : ''}`
  const strength: DoctorFinding =
    weaknesses.length === 0
      ? { state: 'good', what: 'commands', detail }
      : { state: 'weak', what: 'commands', detail, fix: isChosen ? CHOSEN : weaknesses.join(' ') }
  return (await loadSecondParser()) ? [strength] : [strength, ONE_PARSER]
}

/** Whom commands run as, where that may surprise. */
function userText(root: string | undefined): string {
  const roots = root === undefined ? [] : [{ path: resolve(root), mode: 'write' as const }]
  const { uid, isOther } = sandboxUser({ roots })
  if (uid === 0) return ', as root without capabilities'
  return isOther ? `, as user ${uid}` : ''
}

const CHOSEN =
  'Your config chose this level: remove sandbox.commands.level to get the strongest that this machine supports.'

const ONE_PARSER: DoctorFinding = {
  state: 'weak',
  what: 'commands',
  detail: 'the second parser of command lines cannot be loaded: every line asks',
  fix: 'Install the package anew: npm install tool-hub.',
}

/** Whether the web can be searched as the config means it: the service's host is open and its key is there. */
export function examineSearch({ web, sandbox, secrets = {} }: HubOptions): DoctorFinding[] {
  if (!web?.search) return []
  const provider = openProvider(web.search)
  const { url, headers } = provider.request({ query: 'x', count: 1 })
  const host = new URL(url).hostname
  const { name, secret, keyVariable } = provider
  if (!matchHost(host, parseHosts(sandbox?.network ?? [])))
    return [
      broken(`${name} answers at ${host}, which sandbox.network does not name`, `Add ${host} to sandbox.network.`),
    ]
  const needsKey = Object.values(headers).some((value) => value.includes(`\${secret:${secret}}`))
  if (!needsKey) return [{ state: 'good', what: 'web search', detail: `${name} at ${host}, without a key` }]
  const key = Object.hasOwn(secrets, secret) ? secrets[secret] : undefined
  if (!key)
    return [
      broken(
        `${name} needs a key, and the secret ${secret} is missing`,
        `Name it under secrets.${secret}, with hosts: [${host}], and set its variable (${keyVariable} by custom).`,
      ),
    ]
  if (!matchHost(host, parseHosts(key.hosts)))
    return [broken(`the secret ${secret} may not be sent to ${host}`, `Add ${host} to secrets.${secret}.hosts.`)]
  return [{ state: 'good', what: 'web search', detail: `${name} at ${host}, with the secret ${secret}` }]
}

function broken(detail: string, fix: string): DoctorFinding {
  return { state: 'broken', what: 'web search', detail, fix }
}
