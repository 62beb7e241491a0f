import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createTwoFilesPatch } from 'diff'

/** A change of a file that somebody else owns: shown before it is made, and kept for taking it back. */
export interface FileEdit {
  readonly file: string
  /** Absent when there is no such file yet. */
  readonly before?: string
  readonly after: string
}

/** What a file would be after a change. */
export function planEdit(path: string, change: (before: string) => string): FileEdit {
  if (!existsSync(path)) return { file: path, after: change('') }
  // Of a link, what it leads to is changed.
  const file = realpathSync(path)
  const before = readFileSync(file, 'utf8')
  return { file, before, after: change(before) }
}

/** The change as a unified diff. */
export function diffOf({ file, before, after }: FileEdit): string {
  const name = before === undefined ? 'no such file' : file
  return createTwoFilesPatch(name, file, before ?? '', after, undefined, undefined, { context: 2 })
    .split('\n')
    .slice(1)
    .join('\n')
    .trimEnd()
}

/** Makes the change, whole or not at all. Gives back where the file as it was is kept. */
export function applyEdit({ file, before, after }: FileEdit): string | undefined {
  mkdirSync(dirname(file), { recursive: true })
  const backup = before === undefined ? undefined : freeName(file)
  if (backup !== undefined) copyFileSync(file, backup)
  const draft = `${file}.tool-hub-new`
  writeFileSync(draft, after, { flag: 'w', mode: 0o600 })
  chmodSync(draft, before === undefined ? 0o644 : statSync(file).mode & 0o777)
  renameSync(draft, file)
  return backup
}

function freeName(file: string): string {
  for (let count = 1; ; count++) {
    const name = `${file}.backup${count === 1 ? '' : `-${count}`}`
    if (!existsSync(name)) return name
  }
}
