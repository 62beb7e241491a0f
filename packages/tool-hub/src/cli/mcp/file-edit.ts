import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { UsageError } from '../exit.ts'
import { print, printJson, say } from '../output/print.ts'
import { isBelow } from './own-launcher.ts'
import { hideInText } from './secrets.ts'

/** A change of a file that somebody else owns: shown before it is made, and kept for taking it back. */
export interface FileEdit {
  readonly file: string
  /** Absent if the file does not exist yet. */
  readonly before?: string
  readonly after: string
  /** Keeps only the latest state before a change. Default: each one of them. */
  readonly keepsOne?: boolean
}

/** How a change is planned. */
interface PlanOptions {
  /** The folder that no link may lead out of. Default: anywhere. */
  readonly within?: string
  readonly keepsOne?: boolean
}

/** What a file would be after a change. */
export function planEdit(
  path: string,
  change: (before: string) => string,
  { within, keepsOne = false }: PlanOptions = {},
): FileEdit {
  const file = realPlace(path)
  if (within !== undefined && !isBelow(file, realpathSync(within)))
    throw new UsageError(
      `${path} is a link that leads out of the folder, to ${file}.`,
      'Look at who put it there. To change that file, name it itself.',
    )
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined
  const before = isThere ? readFileSync(file, 'utf8') : undefined
  return { file, ...(before !== undefined && { before }), after: change(before ?? ''), keepsOne }
}

/** The change as a unified diff, without the secrets that stand around it. */
export function diffOf({ file, before, after }: FileEdit): string {
  const name = before === undefined ? 'no such file' : file
  const options = { context: 2, headerOptions: FILE_HEADERS_ONLY }
  return hideInText(createTwoFilesPatch(name, file, before ?? '', after, undefined, undefined, options).trimEnd())
}

/** Makes the change, whole or not at all. Returns where the file as it was is kept. */
export function applyEdit({ file, before, after, keepsOne = false }: FileEdit): string | undefined {
  mkdirSync(dirname(file), { recursive: true })
  const backup = before === undefined ? undefined : keep(file, keepsOne)
  const mode = before === undefined ? 0o644 : statSync(file).mode & 0o777
  const draft = draftOf(file)
  try {
    writeNew(draft, after, mode)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  return backup
}

/** Where a path leads: also of what is not there yet, by the folder that it would be made in. */
function realPlace(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new UsageError(`${path} is a link that leads nowhere.`, 'Remove it first.')
  return path === dirname(path) ? path : join(realPlace(dirname(path)), basename(path))
}

/** Nobody can have laid a link where it goes: the name is not known before, and must be free. */
function writeNew(file: string, text: string, mode: number): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const descriptor = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    writeFileSync(descriptor, text)
    fchmodSync(descriptor, mode)
  } finally {
    closeSync(descriptor)
  }
}

function keep(file: string, keepsOne: boolean): string {
  if (!keepsOne) {
    const name = freeName(file)
    copyFileSync(file, name, constants.COPYFILE_EXCL)
    return name
  }
  const draft = draftOf(file)
  copyFileSync(file, draft, constants.COPYFILE_EXCL)
  // A link of that name is replaced, not followed.
  renameSync(draft, `${file}.backup`)
  return `${file}.backup`
}

function freeName(file: string): string {
  for (let count = 1; ; count++) {
    const name = `${file}.backup${count === 1 ? '' : `-${count}`}`
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name
  }
}

function draftOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.${randomUUID()}`)
}

/** Shows a change and makes it, unless it is only to be shown. */
export async function makeEdit(
  edit: FileEdit,
  { dryRun, json, more }: { readonly dryRun?: boolean; readonly json?: boolean; readonly more?: object },
  next: readonly string[],
): Promise<void> {
  const { before, after } = edit
  const isSame = before === after
  const diff = diffOf(edit)
  const backup = isSame || dryRun ? undefined : applyEdit(edit)
  if (json) return printJson({ file: edit.file, changed: !isSame && !dryRun, ...(backup && { backup }), diff, ...more })
  const file = escapeLine(edit.file)
  if (isSame) return say(`${file} says so already.`)
  await print(escapeText(diff))
  if (dryRun) return say(`Nothing was changed; without --dry-run ${file} would be.`)
  say(`Changed ${file}${backup === undefined ? '' : `; as it was: ${escapeLine(backup)}`}.`)
  for (const line of next) say(escapeLine(line))
}
