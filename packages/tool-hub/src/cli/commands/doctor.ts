import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { type LoadedConfig, loadConfig } from '@tool-hub/config'
import { type DoctorFinding, type FeatureDefinition, type FilesLevel, type HubOptions, ToolError } from '@tool-hub/core'
import { errnoOf, escapeText } from '@tool-hub/core/lib'
import { features } from '@tool-hub/library/generated/list'
import { createMemoryStore } from '@tool-hub/library/stores'
import type { Hub } from '@tool-hub/runtime/hub'
import { fileAccess } from '@tool-hub/sandbox/files'
import type { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { allReady, watchServers } from '../hub/sources.ts'
import { withHubOf } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/options.ts'
import { examineOwnTools } from '../mcp/own-tools.ts'
import { wrapText } from '../output/layout.ts'
import { print, printJson, style } from '../output/print.ts'
import { examineSandbox, examineSearch, examineServers, examineSources, examineStore } from './doctor-checks.ts'

const EXAMPLES = `
Exit code: 1 if something is broken, else 0; weak points are only reported.

Examples:
  tool-hub doctor
  tool-hub doctor --json`

const COLOURS = { good: 'green', weak: 'yellow', broken: 'red' } as const

/** `doctor`: what is missing or weak here. */
export function describeDoctor(command: Command): void {
  addConfigOption(command)
    .description('Show what is missing or weak on this machine and in this config, and how to fix it.')
    .addHelpText('after', EXAMPLES)
    .action(doctor)
}

async function doctor(flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const findings = await examine(flags)
  if (findings.some(({ state }) => state === 'broken')) process.exitCode = EXIT.failed
  await (flags.json ? printJson(findings) : print(findings.map(describeFinding).join('\n')))
}

function describeFinding({ state, what, detail, fix }: DoctorFinding): string {
  const line = `${style(COLOURS[state], state.padEnd(6))}  ${what.padEnd(10)}  ${escapeText(detail)}`
  return wrapText(fix ? `${line}\n${' '.repeat(20)}fix: ${escapeText(fix)}` : line, 20)
}

const OLDEST_NODE = [20, 19] as const
const LITTLE_SPACE = 200_000_000

/** Looks at everything that a hub stands on here; never throws for what it finds. */
async function examine({ config: file }: { readonly config?: string }): Promise<DoctorFinding[]> {
  const machine = [node(), fileGuard(fileAccess.level, process.platform), await search()]
  try {
    const config = await loadConfig({ file })
    const { options } = config
    const store = await examineStore(options)
    return [
      ...machine,
      configFound(config),
      ...(await examineSandbox(options)),
      ...(await policy(config, store)),
      ...examineSources(options),
      ...examineSearch(options),
      ...(await examineFeatures(options)),
      ...examineOwnTools(),
      ...store.findings,
      ...records(options.runs),
    ]
  } catch (error) {
    return [...machine, ...(await examineSandbox({})), configBroken(error)]
  }
}

async function examineFeatures(options: HubOptions): Promise<DoctorFinding[]> {
  const findings = features.map(({ name, examine }: FeatureDefinition) => examine?.(options[name] ?? {}))
  return (await Promise.all(findings)).filter((finding) => finding !== undefined)
}

function node(): DoctorFinding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
  const detail = `${process.version} on ${process.platform} ${release()} (${process.arch})`
  if (isEnough) return { state: 'good', what: 'node', detail }
  return { state: 'broken', what: 'node', detail, fix: `Install Node.js ${OLDEST_NODE.join('.')} or newer.` }
}

/** How the file guard reaches files here, and what that does not rule out. */
export function fileGuard(level: FilesLevel, platform: string): DoctorFinding {
  if (platform === 'win32')
    return {
      state: 'broken',
      what: 'files',
      detail: 'the file guard does not know the paths of Windows: calls that use files end with SANDBOX_UNAVAILABLE',
      fix: 'Run tool-hub in the Windows Subsystem for Linux (WSL 2).',
    }
  if (level === 'descriptors')
    return {
      state: 'good',
      what: 'files',
      detail: 'level descriptors: the file guard walks by descriptors; links cannot lead it out',
    }
  return {
    state: 'weak',
    what: 'files',
    detail:
      'level paths: without /proc the file guard compares each path before and after a step, and refuses what was exchanged meanwhile. A process of this user that exchanges a folder for a link at the very moment of a change can still lead that step elsewhere.',
    fix: 'Let nothing that you do not trust write to the roots; for the stronger level run tool-hub on Linux with /proc.',
  }
}

/** Without ripgrep, core/fs.searchText fails. */
async function search(): Promise<DoctorFinding> {
  const { checkRipgrep, RIPGREP_HINT } = await import('@tool-hub/sandbox/files')
  const { isAvailable, detail } = await checkRipgrep()
  if (isAvailable) return { state: 'good', what: 'search', detail }
  return { state: 'broken', what: 'search', detail, fix: RIPGREP_HINT }
}

function configFound({ file, warnings }: LoadedConfig): DoctorFinding {
  if (file === undefined)
    return {
      state: 'weak',
      what: 'config',
      detail: 'there is none; the built-in defaults apply',
      fix: 'Write one: tool-hub init.',
    }
  const detail = relative(process.cwd(), file) || file
  if (warnings.length === 0) return { state: 'good', what: 'config', detail }
  return {
    state: 'weak',
    what: 'config',
    detail: `${detail}: ${warnings.join('; ')}`,
    fix: 'Correct the named lines.',
  }
}

function configBroken(error: unknown): DoctorFinding {
  const fix = ToolError.is(error) ? error.fix.hint : 'Repair the file.'
  return { state: 'broken', what: 'config', detail: (error as Error).message, fix }
}

async function policy(
  { options }: LoadedConfig,
  { isCurrent }: { readonly isCurrent: boolean },
): Promise<DoctorFinding[]> {
  try {
    const { options: watched, status } = await watchServers(options)
    // The pins of MCP servers and the sign-ins to them are in the database; without it, the rest can still be looked at.
    const own = options.database && !isCurrent ? { store: createMemoryStore() } : {}
    return await withHubOf({ ...watched, ...own }, async (hub) => {
      await allReady(hub)
      return [...rules(hub.check()), ...examineServers(options, status())]
    })
  } catch (error) {
    return [{ ...configBroken(error), what: 'policy' }]
  }
}

function rules(doubts: ReturnType<Hub['check']>): DoctorFinding[] {
  if (doubts.length === 0) return [{ state: 'good', what: 'policy', detail: 'no rule is in doubt' }]
  return doubts.map(({ level, source, message, hint }) => {
    return {
      state: level === 'error' ? 'broken' : 'weak',
      what: 'policy',
      detail: `${source}: ${message}`,
      ...(hint && { fix: hint }),
    }
  })
}

function records(runs: string | false | undefined): DoctorFinding[] {
  if (runs === false) {
    return [
      { state: 'weak', what: 'records', detail: 'runs is false: nothing is recorded', fix: 'Set runs to a folder.' },
    ]
  }
  const folder = resolve(runs ?? 'runs')
  try {
    const present = nearestFolder(folder)
    accessSync(present, constants.W_OK | constants.X_OK)
    return [{ state: 'good', what: 'records', detail: `${folder} can be written` }, space(present)]
  } catch (error) {
    return [
      {
        state: 'broken',
        what: 'records',
        detail: `${folder} cannot be written (${errnoOf(error)})`,
        fix: 'Fix the folder, or set runs to another one.',
      },
    ]
  }
}

function space(folder: string): DoctorFinding {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${(free / 1e9).toFixed(1)} GB free for the records`
  if (free >= LITTLE_SPACE) return { state: 'good', what: 'disk', detail }
  return {
    state: 'weak',
    what: 'disk',
    detail,
    fix: 'Free some space: on a full disk every call with side effects is refused.',
  }
}

/** The folder itself, or the one it would be made in. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearestFolder(dirname(folder))
}
