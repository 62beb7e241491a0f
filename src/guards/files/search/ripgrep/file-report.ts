import type { FileMatches, MatchedLine } from '../engine.ts'
import { excerpt, LONGEST_EXCERPT } from '../excerpt.ts'
import { type CheckedFile, checkedFile } from './checked-file.ts'
import type { RgBlock } from './rg-messages.ts'

/** What ripgrep reports of one file, believed only as far as the same bytes are found again in the file. */
export class FileReport {
  matches = 0
  private readonly lines: MatchedLine[] = []
  private state: 'good' | 'unsure' | 'dropped' = 'good'
  private opened: CheckedFile | undefined
  private readonly file: string
  private readonly keepsLines: boolean
  private readonly open: () => number | undefined

  /** `open` reaches the file through no link; it is called when the first lines come. */
  constructor(file: string, keepsLines: boolean, open: () => number | undefined) {
    this.file = file
    this.keepsLines = keepsLines
    this.open = open
  }

  add(block: RgBlock, isMatch: boolean): void {
    if (this.state !== 'good') return
    if (!this.isThere(block)) {
      this.doubt()
      return
    }
    let count = 0
    for (const line of cutLines(block, isMatch)) {
      if (this.keepsLines) this.lines.push(line)
      count += 1
    }
    if (isMatch) this.matches += count
  }

  /** Something of the file could not be checked: nothing of it is given out. */
  doubt(): void {
    if (this.state === 'good') this.state = 'unsure'
  }

  /** The file turned out to be none that is searched. */
  drop(): void {
    this.state = 'dropped'
  }

  /** Closes the file and says what is known of it. */
  finish(): FileMatches | 'unsure' | undefined {
    this.opened?.close()
    this.opened = undefined
    if (this.state === 'unsure') return 'unsure'
    if (this.state === 'dropped' || this.matches === 0) return undefined
    return { file: this.file, matches: this.matches, lines: this.lines }
  }

  private isThere({ offset, bytes }: RgBlock): boolean {
    const descriptor = this.opened ? undefined : this.open()
    if (descriptor !== undefined) this.opened = checkedFile(descriptor)
    return this.opened?.holds(offset, bytes) ?? false
  }
}

function* cutLines({ bytes, line, spans }: RgBlock, isMatch: boolean): Generator<MatchedLine> {
  let number = line
  let next = 0
  for (let from = 0; from < bytes.length || number === line; number += 1) {
    const found = bytes.indexOf(10, from)
    const end = found === -1 ? bytes.length : found
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next += 1
    const text = bytes.toString('utf8', from, end).replace(/\r$/, '')
    const start = Math.min(end, Math.max(from, spans[next]?.start ?? from))
    const matchStart = text.length > LONGEST_EXCERPT ? bytes.toString('utf8', from, start).length : 0
    yield { line: number, text: excerpt(text, matchStart), isMatch }
    from = end + 1
  }
}
