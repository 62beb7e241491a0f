import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../../names.ts'
import { ownModule } from '../../own-file.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { assertFile, assertFolder } from '../input/assert-path.ts'
import { say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'
import { type AgentProgram, agentPrograms } from './agent-programs.ts'
import { changeServer, serversIn } from './edit-servers.ts'
import { planEdit } from './file-edit.ts'
import { makeEdit } from './make-edit.ts'
import { ownEntry } from './own-entry.ts'

/** What the options of `mcp install` say. */
export interface InstallFlags {
  readonly user?: boolean
  readonly root?: string
  readonly config?: string
  readonly name: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Puts tool-hub into the config of another program. */
export async function installInto(client: string, flags: InstallFlags): Promise<void> {
  const program = agentPrograms().find(({ name }) => name === client)
  if (!program) throw unknown(client)
  const isForAll = Boolean(flags.user) || program.project === undefined
  const file = isForAll ? program.user : resolve(program.project!)
  const { file: url, flags: nodeFlags } = ownModule('cli/main')
  const main = { file: fileURLToPath(url), flags: nodeFlags }
  const entry = ownEntry(program, { ...placesOf(program, flags, isForAll), isForAll, main })
  const { key } = program
  let replaced = false
  const change = (before: string) => {
    const present = serversIn(file, before, key)
    replaced = Object.hasOwn(present, flags.name)
    const kept = replaced ? keptOf(present[flags.name]) : {}
    return changeServer(file, before, { key, name: flags.name, entry: { ...entry, ...kept } })
  }
  const edit = planEdit(file, change, isForAll ? {} : { within: process.cwd() })
  await makeEdit(edit, flags, [
    ...(replaced ? [`It takes the place of the entry ${flags.name} that was there; its env and other keys stay.`] : []),
    (isForAll && program.nextForAll) || program.next,
  ])
  if (isForAll && flags.config === undefined && !flags.json)
    say('It uses the built-in policy and no config. For rules of yours: --config FILE.')
}

/** Of an entry that is there: what the person added, as the environment. What it starts is replaced. */
function keptOf(entry: unknown): Record<string, unknown> {
  if (!isPlainObject(entry)) return {}
  const { type: _type, command: _command, args: _args, url: _url, headers: _headers, ...kept } = entry
  return kept
}

/** Of all projects, only a folder that is spelt out is the same for each. */
function placesOf({ title }: AgentProgram, { root, config }: InstallFlags, isForAll: boolean) {
  if (isForAll && root === undefined)
    throw new UsageError(`${title} would start tool-hub in any folder.`, 'Say which one tools may use: --root DIR.')
  if (root !== undefined) assertFolder('--root', root)
  if (config !== undefined) assertFile('--config', config)
  return {
    ...(root !== undefined && { root: resolve(root) }),
    ...(config !== undefined && { config: isAbsolute(config) || isForAll ? resolve(config) : config }),
  }
}

function unknown(client: string): UsageError {
  const names = agentPrograms().map(({ name }) => name)
  return new UsageError(
    `${JSON.stringify(client)} is no program that tool-hub can be put into.`,
    didYouMean(client, names) || `There are: ${names.join(', ')}. For others, docs/mcp.md has the lines to paste.`,
  )
}
