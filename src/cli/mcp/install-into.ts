import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../../names.ts'
import { ownModule } from '../../own-file.ts'
import { UsageError } from '../usage-error.ts'
import { type AgentProgram, agentPrograms } from './agent-programs.ts'
import { changeServer } from './edit-servers.ts'
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
  const file = fileOf(program, flags)
  const entry = ownEntry(program, {
    ...placesOf(program, flags, file),
    main: fileURLToPath(ownModule('cli/main').file),
  })
  const edit = planEdit(file, (before) => changeServer(file, before, { key: program.key, name: flags.name, entry }))
  await makeEdit(edit, flags, [program.next])
}

function fileOf({ project, user }: AgentProgram, flags: InstallFlags): string {
  return flags.user || project === undefined ? user : resolve(project)
}

/** Of all projects, only a folder that is spelt out is the same for each. */
function placesOf({ title }: AgentProgram, { root, config }: InstallFlags, file: string) {
  const isForAll = !file.startsWith(join(process.cwd(), ''))
  if (isForAll && root === undefined)
    throw new UsageError(`${title} would start tool-hub in any folder.`, 'Say which one tools may use: --root DIR.')
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
