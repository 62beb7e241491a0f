import { isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codingTemplate, findConfig } from '@tool-hub/config'
import { didYouMean } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { ownModule } from '@tool-hub/sandbox/system'
import { UsageError } from '../exit.ts'
import { configOfRoot, readCliConfig } from '../hub/config.ts'
import { assertFile, assertFolder } from '../input/options.ts'
import { say } from '../output/print.ts'
import { type AgentProgram, agentPrograms } from './agent-programs.ts'
import { changeServer, serversIn } from './edit-servers.ts'
import { applyEdit, diffOf, type FileEdit, makeEdit, planEdit } from './file-edit.ts'
import { ownLauncher } from './own-launcher.ts'
import { planExclusive } from './own-tools.ts'

/** What the options of `mcp install` say. */
export interface InstallFlags {
  readonly user?: boolean
  readonly root?: string
  readonly config?: string
  readonly name: string
  /** Switches off the program's own tools for files and commands. */
  readonly exclusive?: boolean
  /** False: no config is written. */
  readonly starter?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Puts tool-hub into the config of another program. */
export async function installInto(client: string, flags: InstallFlags): Promise<void> {
  const program = agentPrograms().find(({ name }) => name === client)
  if (!program) throw unknown(client)
  const isForAll = Boolean(flags.user) || program.project === undefined
  const file = isForAll ? program.user : resolve(program.project!)
  const places = placesOf(program, flags, isForAll)
  const { file: url, flags: nodeFlags } = ownModule('tool-hub/cli/main')
  const main = { file: fileURLToPath(url), flags: nodeFlags }
  const folders = await writableFolders(places, isForAll)
  const launcher = ownLauncher(main, { folders, dryRun: Boolean(flags.dryRun) })
  const dialect = program.isForCode ? { dialect: 'coding' } : {}
  const found = isForAll || flags.config !== undefined ? undefined : await configOfProject(flags)
  const starter = program.isForCode && !isForAll && found === undefined ? starterConfig(flags) : undefined
  const ownConfig = spelledFor(program, { config: places.config, found: found ?? starter?.file, isForAll })
  const entry = ownEntry(program, { ...places, ...dialect, config: ownConfig, isForAll, launcher })
  const { key } = program
  let replaced = false
  let dropped: readonly string[] = []
  const change = (before: string) => {
    const present = serversIn(file, before, key)
    replaced = Object.hasOwn(present, flags.name)
    const { kept, dropped: left } = replaced ? keptOf(present[flags.name]) : { kept: {}, dropped: [] }
    dropped = left
    return changeServer(file, before, { key, name: flags.name, entry: { ...entry, ...kept } })
  }
  const edit = planEdit(file, change, isForAll ? {} : { within: process.cwd() })
  const exclusive = flags.exclusive ? planExclusive(program, isForAll) : undefined
  const config = starter && (await makeFurther(starter, flags, STARTER_NEXT))
  const settings = exclusive && (await makeFurther(exclusive, flags, [takeBack(program)]))
  await makeEdit(edit, { ...flags, more: { ...(config && { config }), ...(settings && { settings }) } }, [
    ...(replaced ? [`It takes the place of the entry ${flags.name} that was there; its env and other keys stay.`] : []),
    ...(dropped.length > 0 ? [`Left out of its env, because it decides which code runs: ${dropped.join(', ')}.`] : []),
    ...(exclusive ? [] : [`${program.ungoverned} ${program.switchOff}`]),
    'It starts this installation by its path on this machine; anyone who shares the file installs it for themselves.',
    (isForAll && program.nextForAll) || program.next,
  ])
  if (isForAll && flags.config === undefined && !flags.json)
    say('It uses the built-in policy and no config. For rules of yours: --config FILE.')
}

/** The config that counts in the project, or in the folder that tools are given. */
async function configOfProject({ root }: InstallFlags): Promise<string | undefined> {
  return (root === undefined ? undefined : await configOfRoot(root)) ?? findConfig(process.cwd())
}

/**
 * How the entry names the config. A program that starts servers in another folder than the project has to name it; one that
 * starts them in the project finds it there, or above.
 */
function spelledFor(
  { workspace }: AgentProgram,
  { config, found, isForAll }: { readonly config?: string; readonly found?: string; readonly isForAll: boolean },
): string | undefined {
  if (isForAll || workspace === '.' || (config !== undefined && isAbsolute(config))) return config
  const file = config ?? found
  return file === undefined ? undefined : `${workspace}/${relative(process.cwd(), resolve(file))}`
}

/** A first config for the project; none where one is named or not wanted. */
function starterConfig({ config, starter }: InstallFlags): FileEdit | undefined {
  if (config !== undefined || starter === false) return undefined
  return planEdit(resolve('tool-hub.yaml'), codingTemplate, { within: process.cwd() })
}

const STARTER_NEXT = ['It says what the agent may do here: read it, and change what you like.']

function takeBack({ title, permissions }: AgentProgram): string {
  return `${title} no longer uses its own ${permissions!.ownTools.join(', ')}. To get them back, remove them from permissions.deny there.`
}

/** Shows and makes a further change; with --json it is reported with the rest. */
async function makeFurther(edit: FileEdit, { dryRun, json }: InstallFlags, next: readonly string[]) {
  const changed = edit.before !== edit.after && !dryRun
  const diff = diffOf(edit)
  if (!json) await makeEdit(edit, { dryRun }, next)
  else if (changed) applyEdit(edit)
  return { file: edit.file, changed, diff }
}

/** Variables that decide which code a program loads; a file of the project could set them for tool-hub. */
const CODE_VARIABLE = /^(?:NODE_|LD_|DYLD_|BASH_ENV$|PATH$)/i

/** Of an entry that is there: what the person added, as the environment. What it starts is replaced. */
function keptOf(entry: unknown): { readonly kept: Record<string, unknown>; readonly dropped: readonly string[] } {
  if (!isPlainObject(entry)) return { kept: {}, dropped: [] }
  const { type: _type, command: _command, args: _args, url: _url, headers: _headers, ...kept } = entry
  if (!isPlainObject(kept.env)) return { kept, dropped: [] }
  const variables = Object.entries(kept.env)
  const env = Object.fromEntries(variables.filter(([name]) => !CODE_VARIABLE.test(name)))
  const dropped = variables.map(([name]) => name).filter((name) => CODE_VARIABLE.test(name))
  return { kept: { ...kept, env }, dropped }
}

/** Where tools and commands can write: the project, and the roots of the config that will be used there. */
async function writableFolders(
  { root, config }: { readonly root?: string; readonly config?: string },
  isForAll: boolean,
): Promise<readonly string[]> {
  const own = [...(root === undefined ? [] : [root]), ...(isForAll ? [] : [process.cwd()])]
  if (config === undefined && isForAll) return own
  const { options } = await readCliConfig({ config, plugins: false })
  const { root: sandbox, workspaces, roots = [] } = options.sandbox ?? {}
  const shared = roots.filter(({ mode }) => mode === 'write').map(({ path }) => path)
  const named = [sandbox, workspaces, ...shared]
  return [...own, ...named.filter((folder) => folder !== undefined)]
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
    `Unknown client ${JSON.stringify(client)}.`,
    didYouMean(client, names) ||
      `There are: ${names.join(', ')}. For others, docs/reference/mcp.md has the lines to paste.`,
  )
}

/** What the entry should make tool-hub do. */
interface OwnEntryOptions {
  /** The folder that tools may use. Default: that of the project. */
  readonly root?: string
  readonly config?: string
  /** Names and arguments of tools as coding agents know them. */
  readonly dialect?: string
  /** It may be started in any folder, so nothing is read from that folder. */
  readonly isForAll: boolean
  /** What starts this installation. */
  readonly launcher: readonly [command: string, ...words: string[]]
}

/** The lines that put tool-hub into another program; for all projects with a config that is spelt out, or none. */
function ownEntry(
  { workspace, isTyped }: AgentProgram,
  { root = workspace, config, dialect, isForAll, launcher: [command, ...words] }: OwnEntryOptions,
) {
  return {
    ...(isTyped && { type: 'stdio' }),
    command,
    args: [
      ...words,
      'mcp',
      '--root',
      root,
      ...(dialect === undefined ? [] : ['--dialect', dialect]),
      ...configWords(config, isForAll),
    ],
  }
}

function configWords(config: string | undefined, isForAll: boolean): string[] {
  if (config !== undefined) return ['--config', config]
  return isForAll ? ['--no-config'] : []
}
