import { posix } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { quote } from '../file-arguments.ts'

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const END_OF_FILE = '*** End of File'
const MOVE = '*** Move to: '
const MAX_SECTIONS = 400
const MAX_CHUNKS = 500
const MAX_ANCHORS = 20
/** The header of a hunk in a unified diff; its numbers are not used, and a function name may follow. */
const UNIFIED = /^-\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@ ?/

/** Parses a patch in the `*** Begin Patch` format. Throws with the number of the wrong line. Pure. */
export function parsePatch(input: string): PatchSection[] {
  const reader = new PatchReader(input)
  reader.skipBlank()
  if (reader.peek()?.trim() !== BEGIN) throw reader.expected(`"${BEGIN}"`)
  reader.next()

  const sections: PatchSection[] = []
  for (;;) {
    reader.skipBlank()
    if (reader.peek()?.trim() === END) break
    if (sections.length === MAX_SECTIONS) throw tooMany(`${MAX_SECTIONS} files`)
    sections.push(readSection(reader))
  }
  reader.next()
  reader.skipBlank()
  if (reader.peek() !== undefined) throw reader.expected(`nothing after "${END}"`)
  if (sections.length === 0) throw reader.expected('at least one file between the first line and the last')
  checkPaths(sections)
  return sections
}

function readSection(reader: PatchReader): PatchSection {
  const added = reader.take('*** Add File: ')
  if (added !== undefined) return { type: 'add', path: added, lines: readAdded(reader) }
  const deleted = reader.take('*** Delete File: ')
  if (deleted !== undefined) return { type: 'delete', path: deleted }
  const updated = reader.take('*** Update File: ')
  if (updated !== undefined) return readUpdate(reader, updated)
  throw reader.expected(`"*** Add File: …", "*** Update File: …", "*** Delete File: …" or "${END}"`)
}

function readAdded(reader: PatchReader): string[] {
  const lines: string[] = []
  for (let line = reader.peek(); line?.startsWith('+'); line = reader.peek()) {
    lines.push(line.slice(1))
    reader.next()
  }
  return lines
}

function readUpdate(reader: PatchReader, path: string): PatchSection {
  const to = reader.take(MOVE)
  const chunks: PatchChunk[] = []
  for (;;) {
    reader.skipEmpty()
    const line = reader.peek()
    if (line === undefined || (line.startsWith('*** ') && line.trimEnd() !== END_OF_FILE)) break
    if (chunks.length === MAX_CHUNKS) throw tooMany(`${MAX_CHUNKS} changes in ${quote(path)}`)
    chunks.push(readChunk(reader))
  }
  if (chunks.length === 0 && to === undefined) throw reader.expected(`changes of ${quote(path)}`)
  return { type: 'update', path, to, chunks }
}

function readChunk(reader: PatchReader): PatchChunk {
  const line = reader.line
  const anchors: string[] = []
  for (let anchor = reader.takeAnchor(); anchor !== undefined; anchor = reader.takeAnchor()) {
    const text = anchor.replace(UNIFIED, '')
    if (text.trim() !== '') anchors.push(text)
    if (anchors.length > MAX_ANCHORS) throw tooMany(`${MAX_ANCHORS} @@ lines before one change (line ${line})`)
  }
  const lines: (PatchLine & { readonly isBare: boolean })[] = []
  for (let text = reader.peek(); text !== undefined; text = reader.peek()) {
    const sign = text === '' ? ' ' : text[0]
    if (sign !== ' ' && sign !== '+' && sign !== '-') break
    lines.push({ sign, text: text.slice(1), isBare: text === '' })
    reader.next()
  }
  // An empty line before the next part of the patch is a separator, not a line of the file.
  while (lines.at(-1)?.isBare) lines.pop()
  const isAtEnd = reader.peek()?.trimEnd() === END_OF_FILE
  if (isAtEnd) reader.next()
  if (lines.every(({ sign }) => sign === ' ')) throw reader.expected('a line that begins with + or -')
  return { anchors, lines: lines.map(({ sign, text }) => ({ sign, text })), isAtEnd, line }
}

function tooMany(what: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `The patch has more than ${what}.`, {
    fix: { key: 'input', hint: 'Split it into several patches.' },
  })
}

/** Reads the lines of a patch once, and knows the position for errors. */
class PatchReader {
  readonly #lines: readonly string[]
  #at = 0

  constructor(input: string) {
    this.#lines = input.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  }

  /** 1-based number of the next line. */
  get line(): number {
    return this.#at + 1
  }

  peek(): string | undefined {
    return this.#lines[this.#at]
  }

  next(): void {
    this.#at++
  }

  skipBlank(): void {
    while (this.peek()?.trim() === '') this.next()
  }

  /** Skips only completely empty lines: a single space is an empty line of the file. */
  skipEmpty(): void {
    while (this.peek() === '') this.next()
  }

  /** The text after a marker, if the next line has it. */
  take(mark: string): string | undefined {
    const line = this.peek()
    if (!line?.startsWith(mark)) return undefined
    const rest = line.slice(mark.length).trim()
    if (rest === '') throw this.expected(`a path after "${mark.trim()}"`)
    this.next()
    return rest
  }

  /** The text after `@@`, if the next line begins with it. */
  takeAnchor(): string | undefined {
    const line = this.peek()
    if (line !== '@@' && !line?.startsWith('@@ ')) return undefined
    this.next()
    return line.slice(3)
  }

  expected(what: string): ToolError {
    const line = this.peek()
    const found = line === undefined ? 'the patch ends' : `it has ${quote(line, 80)}`
    return new ToolError('INPUT_SCHEMA_INVALID', `Line ${this.line} of the patch: expected ${what}, but ${found}.`, {
      fix: {
        key: 'input',
        hint: 'Each line of a change begins with a blank, + or -; see the description of the tool.',
      },
    })
  }
}

/** One line of a chunk: context, removed or added. */
interface PatchLine {
  readonly sign: ' ' | '+' | '-'
  readonly text: string
}

/** Adjacent lines of a file, and how they change. */
export interface PatchChunk {
  /** Lines to find first, one after the other: `@@ class A`, `@@ method()`. */
  readonly anchors: readonly string[]
  readonly lines: readonly PatchLine[]
  /** The chunk is at the end of the file. */
  readonly isAtEnd: boolean
  /** 1-based line of the patch where it begins. */
  readonly line: number
}

/** What a patch does to one file. */
export type PatchSection =
  | { readonly type: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'update'; readonly path: string; readonly to?: string; readonly chunks: readonly PatchChunk[] }

/** Throws if a patch names a file twice: the result would depend on the order. */
export function checkPaths(sections: readonly PatchSection[]): void {
  const seen = new Set<string>()
  for (const path of sections.flatMap(pathsOf)) {
    const plain = posix.normalize(path)
    if (seen.has(plain)) {
      throw new ToolError('INPUT_SCHEMA_INVALID', `The patch names ${quote(path)} twice.`, {
        fix: { key: 'input', hint: 'Put all changes of a file into one section.' },
      })
    }
    seen.add(plain)
  }
}

/** The files that a section reads, changes or creates. */
export function pathsOf(section: PatchSection): string[] {
  return section.type === 'update' && section.to !== undefined ? [section.path, section.to] : [section.path]
}
