import { type FileChange, type ReadContext, ToolError } from '@tool-hub/core'
import { findNearest } from '../edit/edit-errors.ts'
import { findRuns, stripEnd } from '../edit/lines.ts'
import { quote, readSource } from '../file-arguments.ts'
import type { PatchChunk, PatchSection } from './parse-patch.ts'

/** Result for one file. */
export interface PatchedFile {
  readonly path: string
  readonly change: 'added' | 'updated' | 'deleted' | 'moved'
  /** Where it was moved. */
  readonly to?: string
  /** Added and removed lines. */
  readonly added: number
  readonly removed: number
}

/** What a patch will do: the changes for the guard, and the report. */
export interface PatchPlan {
  readonly changes: readonly FileChange[]
  readonly files: readonly PatchedFile[]
}

/** Reads the files of a patch and computes all changes; changes nothing yet. */
export async function planPatch(sections: readonly PatchSection[], ctx: ReadContext): Promise<PatchPlan> {
  const changes: FileChange[] = []
  const files: PatchedFile[] = []
  const seen = new Set<string>()
  for (const section of sections) {
    ctx.signal.throwIfAborted()
    const planned = await planSection(section, seen, ctx)
    changes.push(...planned.changes)
    files.push(planned.file)
  }
  return { changes, files }
}

interface PlannedSection {
  readonly changes: readonly FileChange[]
  readonly file: PatchedFile
}

async function planSection(section: PatchSection, seen: Set<string>, ctx: ReadContext): Promise<PlannedSection> {
  const { path } = section
  if (section.type === 'add') {
    const content = section.lines.map((line) => `${line}\n`).join('')
    const file = { path, change: 'added', added: section.lines.length, removed: 0 } as const
    return { changes: [{ type: 'create', path, content }], file }
  }
  if (section.type === 'delete') {
    const { sha256, path: realPath } = await ctx.fs.sha256(path)
    checkOnce(seen, realPath, path)
    const file = { path, change: 'deleted', added: 0, removed: 0 } as const
    return { changes: [{ type: 'remove', path, replaces: sha256 }], file }
  }

  const source = await readSource(path, ctx)
  checkOnce(seen, source.path, path)
  const { text, added, removed } = updateText(source.text, section.chunks, path)
  const content = source.mark + text
  const replaces = source.sha256
  const { to } = section
  if (to === undefined) {
    return {
      changes: [{ type: 'replace', path, content, replaces }],
      file: { path, change: 'updated', added, removed },
    }
  }
  const { mode } = await ctx.fs.stat(path)
  const changes: FileChange[] = [
    { type: 'create', path: to, content, mode },
    { type: 'remove', path, replaces, movedTo: to },
  ]
  return { changes, file: { path, change: 'moved', to, added, removed } }
}

/** Two spellings, a link, or an absolute and a relative path may lead to the same file. */
function checkOnce(seen: Set<string>, realPath: string, path: string): void {
  if (seen.has(realPath)) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quote(path)} is a file that the patch names already.`, {
      fix: { key: 'input', hint: 'Put all changes of a file into one section.' },
    })
  }
  seen.add(realPath)
}

/** A text after its chunks were applied, and how many lines were added and removed. */
interface UpdatedText {
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** A line and its line end, which is empty for the last line of a text without one. */
interface FileLine {
  readonly text: string
  readonly end: string
}

/** Applies the chunks of a patch. Unchanged lines, including context, keep every byte. */
export function updateText(text: string, chunks: readonly PatchChunk[], path: string): UpdatedText {
  const lines = splitLines(text)
  const places = placeChunks(
    lines.map((line) => line.text),
    chunks,
    path,
  )
  const result: FileLine[] = []
  let [from, added, removed] = [0, 0, 0]
  for (const [index, chunk] of chunks.entries()) {
    for (; from < places[index]!; from++) result.push(lines[from]!)
    for (const { sign, text: own } of chunk.lines) {
      if (sign === '+') result.push({ text: own, end: lines[from - 1]?.end || lines[from]?.end || '\n' })
      if (sign === ' ') result.push(lines[from]!)
      if (sign === '+') added++
      else from++
      if (sign === '-') removed++
    }
  }
  for (; from < lines.length; from++) result.push(lines[from]!)
  return { text: joinLines(result, lines.at(-1)?.end !== ''), added, removed }
}

function splitLines(text: string): FileLine[] {
  const parts = text.split('\n')
  const last = parts.pop()!
  const lines = parts.map((part) =>
    part.endsWith('\r') ? { text: part.slice(0, -1), end: '\r\n' } : { text: part, end: '\n' },
  )
  return last === '' ? lines : [...lines, { text: last, end: '' }]
}

/** A text without a final line end stays that way. */
function joinLines(lines: readonly FileLine[], isClosed: boolean): string {
  const parts = lines.map(({ text, end }, index) => {
    if (index === lines.length - 1) return isClosed ? text + (end || '\n') : text
    return text + (end || lines[index - 1]?.end || '\n')
  })
  return parts.join('')
}

/** The lines of a file as they are, and in the forms that are compared next. */
interface ComparedLines {
  readonly exact: readonly string[]
  readonly stripped: readonly string[]
}

/** The index where each chunk begins; chunks follow each other. */
function placeChunks(lines: readonly string[], chunks: readonly PatchChunk[], path: string): number[] {
  const compared = { exact: lines, stripped: lines.map(stripEnd) }
  let free = 0
  return chunks.map((chunk) => {
    const place = placeChunk(compared, chunk, free, path)
    free = place + wantedLines(chunk).length
    return place
  })
}

function placeChunk(compared: ComparedLines, chunk: PatchChunk, free: number, path: string): number {
  const from = passAnchors(compared, chunk, free, path)
  const wanted = wantedLines(chunk)
  const isAnchored = chunk.anchors.length > 0
  if (wanted.length === 0) return isAnchored && !chunk.isAtEnd ? from : compared.exact.length

  // The line of the last anchor may be repeated as context.
  const start = isAnchored ? Math.max(free, from - 1) : free
  const places = findLines(compared, wanted, start)
  if (chunk.isAtEnd) {
    const last = compared.exact.length - wanted.length
    if (places.includes(last)) return last
    throw notFound(compared, chunk, wanted, path)
  }
  const [place, other] = places
  if (place === undefined) throw notFound(compared, chunk, wanted, path)
  if (other !== undefined && !isAnchored) throw notUnique(chunk, places, path)
  return place
}

/** The index after the line of the last anchor. */
function passAnchors(compared: ComparedLines, { anchors, line }: PatchChunk, free: number, path: string): number {
  let from = free
  for (const anchor of anchors) {
    const [place] = findLines(compared, [anchor], from, 1)
    const at = place ?? findTrimmed(compared.stripped, anchor, from)
    if (at === undefined) {
      throw new ToolError(
        'NOT_FOUND',
        `Line ${line} of the patch: ${quote(path)} has no line ${quote(anchor)} ${after(from)}.`,
        {
          hint: 'Name a line of the file after @@, as it is. Nothing was changed.',
        },
      )
    }
    from = at + 1
  }
  return from
}

function findTrimmed(lines: readonly string[], anchor: string, from: number): number | undefined {
  const wanted = anchor.trim()
  for (let index = from; index < lines.length; index++) if (lines[index]!.trim() === wanted) return index
  return undefined
}

function findLines(
  { exact, stripped }: ComparedLines,
  wanted: readonly string[],
  from: number,
  most?: number,
): number[] {
  const places = findRuns(exact, wanted, { from, most })
  return places.length > 0 ? places : findRuns(stripped, wanted.map(stripEnd), { from, most })
}

function wantedLines({ lines }: PatchChunk): string[] {
  return lines.filter(({ sign }) => sign !== '+').map(({ text }) => text)
}

function notFound({ exact }: ComparedLines, chunk: PatchChunk, wanted: readonly string[], path: string): ToolError {
  const [near] = findNearest(exact.join('\n'), wanted.join('\n'))
  const where = near
    ? ` Nearest: line ${near.line}; line ${near.differs.line} differs: the file has ${quote(near.differs.has ?? '', 120)}, the patch ${quote(near.differs.wanted, 120)}.`
    : ''
  const end = chunk.isAtEnd ? ' at its end' : ''
  return new ToolError(
    'NOT_FOUND',
    `Line ${chunk.line} of the patch: its lines are not in ${quote(path)}${end}.${where}`,
    {
      hint: 'Read the file and copy its lines exactly; changes go from top to bottom. Nothing was changed.',
    },
  )
}

function notUnique(chunk: PatchChunk, places: readonly number[], path: string): ToolError {
  const lines = places.slice(0, 10).map((place) => place + 1)
  const message = `Line ${chunk.line} of the patch: its lines stand ${places.length} times in ${quote(path)}, at lines ${lines.join(', ')}.`
  return new ToolError('CONFLICT', message, {
    hint: 'Show more lines around the change, or name a line before it with @@. Nothing was changed.',
  })
}

function after(index: number): string {
  return index === 0 ? 'in it' : `after line ${index}`
}
