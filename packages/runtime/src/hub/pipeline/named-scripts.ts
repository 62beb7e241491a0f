import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { type ReadFiles, ToolError } from '@tool-hub/core'
import { hashJson, isPlainObject, parseJson } from '@tool-hub/core/lib'
import type { CodePlaces, CommandPart } from '@tool-hub/shell'
import type { NamedScript } from '../../approvals/index.ts'
import type { RunState } from '../run-state.ts'
import type { ValidCall } from './call.ts'

/** Words that name no file mean something else. */
const NO_FILE: ReadonlySet<string> = new Set(['NOT_FOUND', 'INPUT_SCHEMA_INVALID'])
const UNKNOWN = 'unknown '
const MAX_SCRIPT_BYTES = 16_000_000
const MAX_PACKAGE_BYTES = 1_000_000

/** What npm runs for these words is called otherwise in package.json. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  t: ['test'],
  tst: ['test'],
  restart: ['stop', 'start'],
}

/** Scripts of package.json with these words run those of other packages. */
const WORKSPACES = /\b(?:npm|pnpm|yarn)\b.*\s(?:--?(?:workspaces?|ws|w|r|recursive|filter|F)|workspaces?)(?![\w-])/
/** Names that a text about building holds and that are likely to be code. */
const CODE_FILE = /\.(?:[cm]?[jt]sx?|sh|bash|zsh|py|rb|pl|php|lua|mk|make|mak|yml|yaml|just)$/i
const MAX_MENTIONED = 200

/**
 * Reads the content of the scripts that commands name, by part, with the files that their texts mention: a remembered answer
 * covers them only as they were. What those load or run in turn is not followed.
 */
export async function readNamedScripts(
  run: RunState,
  valid: ValidCall,
): Promise<ReadonlyMap<CommandPart, readonly NamedScript[]>> {
  const scripts = new Map<CommandPart, readonly NamedScript[]>()
  const parts = [...valid.readings.values()]
    .flatMap((reading) => reading.parts)
    .filter(({ code }) => code !== undefined)
  if (parts.length === 0) return scripts
  const files = run.sandbox.files().handle({
    canRead: true,
    canWrite: false,
    canOverwrite: false,
    signal: () => valid.call.signal,
  }) as ReadFiles
  for (const part of parts) scripts.set(part, await scriptsOf(files, part, part.code!))
  return scripts
}

/** The scripts that the commands of a call name. */
export function scriptsOfCall({ scripts }: ValidCall): readonly NamedScript[] {
  return [...scripts.values()].flat()
}

/** Says whether all that a part of a command runs was found and can be compared later. */
export function isAllFound({ code }: CommandPart, scripts: readonly NamedScript[] = []): boolean {
  if (code === undefined) return true
  const isFound = ({ word, files }: CodePlaces['hidden'][number]) =>
    scripts.some(({ name }) => files.includes(name) || name.startsWith(`script ${JSON.stringify(word)} of `))
  return code.hidden.every(isFound) && !scripts.some(({ hash }) => hash.startsWith(UNKNOWN))
}

async function scriptsOf(files: ReadFiles, part: CommandPart, places: CodePlaces): Promise<NamedScript[]> {
  const found = new Map<string, NamedScript>()
  const add = (script: NamedScript | undefined) => script && found.set(script.name, script)
  if (places.isElsewhere) add(unknown(part.text))
  for (const path of new Set(places.files)) add(await hashed(files, path))
  for (const folder of places.projectFiles.length === 0 ? [] : places.folders)
    for (const name of places.projectFiles) {
      const path = join(folder, name)
      const { script, mentioned } = await projectScripts(files, path, part)
      add(script)
      for (const each of mentioned) if (!found.has(each)) add(await hashed(files, each))
    }
  return [...found.values()]
}

interface ProjectScripts {
  readonly script: NamedScript | undefined
  /** Files that its text mentions, if they are there. */
  readonly mentioned: readonly string[]
}

async function projectScripts(files: ReadFiles, path: string, part: CommandPart): Promise<ProjectScripts> {
  const whole = await hashed(files, path)
  if (whole === undefined) return { script: undefined, mentioned: [] }
  const text = await textOf(files, path)
  if (basename(path) === 'package.json') return packageScripts(whole, text, part)
  return { script: whole, mentioned: mentionedIn(path, text).filter((name) => CODE_FILE.test(name)) }
}

/** The files that a text may mean, next to the file that it is in. */
function mentionedIn(path: string, text: string): string[] {
  const words = new Set(text.split(/[\s'"`;&|()<>=,:@]+/).filter((word) => /^[\w./+-]*\w$/.test(word)))
  return [...words].slice(0, MAX_MENTIONED).map((word) => join(dirname(path), word))
}

async function hashed(files: ReadFiles, path: string): Promise<NamedScript | undefined> {
  try {
    const { bytes } = await files.stat(path)
    return bytes > MAX_SCRIPT_BYTES ? unknown(path) : { name: path, hash: (await files.sha256(path)).sha256 }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    if (NO_FILE.has(error.code)) return undefined
    // A link that leads outside may lead elsewhere tomorrow.
    return unknown(path)
  }
}

/** What cannot be compared is never the script that was approved. */
function unknown(name: string): NamedScript {
  return { name, hash: `${UNKNOWN}${randomUUID()}` }
}

/** The scripts of package.json that the words name, or all of it: `npm install` runs what it says in other places. */
function packageScripts(whole: NamedScript, text: string, { words }: CommandPart): ProjectScripts {
  const path = whole.name
  const parsed = parseJson(text)
  const scripts = isPlainObject(parsed) && isPlainObject(parsed.scripts) ? parsed.scripts : {}
  const named = words.flatMap((word = '') => [word, ...(Object.hasOwn(ALIASES, word) ? ALIASES[word]! : [])])
  const first = named.find((name) => Object.hasOwn(scripts, name))
  if (first === undefined) return { script: whole, mentioned: [] }
  const used = withUsed(scripts, named)
  const lines = used.map((name) => String(scripts[name])).join('\n')
  const name = `script ${JSON.stringify(first)} of ${path}`
  if (WORKSPACES.test(lines)) return { script: unknown(name), mentioned: [] }
  const hash = hashJson(used.map((each) => [each, scripts[each]]))
  const mentioned = mentionedIn(path, lines)
  return { script: { name, hash }, mentioned: mentioned.flatMap((each) => [each, join(each, 'package.json')]) }
}

async function textOf(files: ReadFiles, path: string): Promise<string> {
  try {
    return await files.readText(path, { maxBytes: MAX_PACKAGE_BYTES })
  } catch {
    // A file that is too large or has no text counts as a whole.
    return ''
  }
}

/** The names of scripts, with those that run before and after them and those that their texts mention. */
function withUsed(scripts: Record<string, unknown>, named: readonly string[]): string[] {
  const used = new Set<string>()
  const open = [...named]
  // `run-s build:*` names scripts by a pattern.
  const all = Object.keys(scripts)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (used.has(name)) continue
    const around = [`pre${name}`, name, `post${name}`].filter((each) => Object.hasOwn(scripts, each))
    for (const each of around) {
      used.add(each)
      const text = scripts[each]
      if (typeof text !== 'string') continue
      if (/[*$`]/.test(text)) open.push(...all)
      else open.push(...text.split(/[^\w:.@/-]+/).filter((word) => Object.hasOwn(scripts, word)))
    }
  }
  return [...used].sort()
}
