import { closeSync, constants, fstatSync } from 'node:fs'
import { ToolError } from '../../../core/index.ts'
import type { FileTarget } from '../files-root.ts'
import { inParent, openAt, openFolder, statAt, typesAt } from '../walk.ts'

import { FileReport, type RgMessage, readRgMessages } from './file-report.ts'
import type { MatchCollector, SearchFolder } from './found-files.ts'
import { type RgEnd, runRipgrep } from './rg-process.ts'
import { type FileChoice, findCommand, type SearchJob, searchCommand } from './search-job.ts'

/** Reading the names in a folder with their types takes as long as looking at one file for so many bytes of the folder. */
const BYTES_PER_LOOK = 256
/** A larger folder would keep other work waiting while its names are read. */
const MAX_FOLDER_BYTES = 262_144

const READ = constants.O_RDONLY | constants.O_NONBLOCK

/** One use of ripgrep: the binary, the folder, who collects the matches, and what stops it. */
interface RipgrepUse {
  readonly rgPath: string
  readonly place: SearchFolder
  readonly matches: MatchCollector
  readonly signal: AbortSignal
}

/** Searches the content of files; every line that ripgrep reports is found again by descriptors before it is collected. */
export async function searchContent({ rgPath, place, matches, signal }: RipgrepUse, job: SearchJob): Promise<void> {
  const linkFree = new LinkFree()
  const open = (file: string) => linkFree.open(place.targetOf(file))
  const reader = new ReportReader(job, matches, open)
  try {
    const onData = (chunk: Buffer) => reader.take(chunk)
    const command = searchCommand(place, job)
    const end = await runRipgrep({ rgPath, command, folder: place.descriptor, signal, onData })
    if (end.exitCode === 2 && !reader.isSummed) throw refused(end)
    matches.skip(end.complaints)
  } finally {
    reader.close()
    linkFree.close()
  }
}

/** Collects each chosen file as one without matches; only regular files that no link leads to. */
export async function findNames({ rgPath, place, matches, signal }: RipgrepUse, choice: FileChoice): Promise<void> {
  const linkFree = new LinkFree()
  const reader = new NameReader(matches, (file) => linkFree.isFile(place.targetOf(file)))
  try {
    const onData = (chunk: Buffer) => reader.take(chunk)
    const command = findCommand(place, choice)
    const end = await runRipgrep({ rgPath, command, folder: place.descriptor, signal, onData })
    matches.skip(end.complaints)
  } finally {
    linkFree.close()
  }
}

/** ripgrep refused its arguments; all but the pattern were checked before. */
function refused({ stderr }: RgEnd): ToolError {
  const reason = stderr
    .replace(/^rg: /, '')
    .split(/\n\n(?=Consider )/)[0]!
    .trim()
  return new ToolError('INPUT_SCHEMA_INVALID', `The pattern cannot be used: ${reason}`, {
    hint: 'Use a regular expression without look-around and backreferences, or plain text.',
  })
}

/** Reads the names that `rg --files --null` writes, and collects those of regular files. */
export class NameReader {
  private rest: Uint8Array = new Uint8Array()
  private readonly matches: MatchCollector
  private readonly isFile: (file: string) => boolean

  constructor(matches: MatchCollector, isFile: (file: string) => boolean) {
    this.matches = matches
    this.isFile = isFile
  }

  /** Splits at NUL characters, which no name contains; false if the collector wants no more. */
  take(chunk: Buffer): boolean {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk
    let from = 0
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, from)) {
      if (!this.collect(bytes.subarray(from, end))) return false
      from = end + 1
    }
    this.rest = bytes.subarray(from)
    return true
  }

  private collect(name: Buffer): boolean {
    const text = name.toString()
    const file = text.startsWith('./') ? text.slice(2) : text
    // A name that is not UTF-8 can neither be returned nor requested; it is decoded with this character.
    const isText = !text.includes('\ufffd') || Buffer.from(text).equals(name)
    if (isText && !this.matches.accepts(file)) return true
    if (isText && this.isFile(file)) return this.matches.add({ file, matches: 0, lines: [] })
    this.matches.skip(1)
    return true
  }
}

/**
 * Opens files without following any link. ripgrep walks by names, and another process may swap a folder for a link
 * meanwhile: everything it reports is opened again by descriptors.
 */
export class LinkFree {
  // ripgrep reports files folder by folder, so the last folder is usually the next one.
  private path: string | undefined
  private descriptor: number | undefined
  /** Files of this folder that were looked at one by one. */
  private looks = 0
  /** The folder's own size, not that of what is in it. */
  private bytes = 0
  /** Its regular files, once so many were looked at that reading all types was cheaper. */
  private files: ReadonlySet<string> | undefined

  /** Opens a file for reading; undefined if it does not exist or a link leads to it. */
  open(target: FileTarget): number | undefined {
    return this.at(target, (parent, name) => openAt(parent, name, READ))
  }

  /** Whether it is a regular file that no link leads to. */
  isFile(target: FileTarget): boolean {
    return this.at(target, (parent, name) => this.isFileIn(parent, name)) ?? false
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    this.path = undefined
    this.looks = 0
    this.files = undefined
  }

  private isFileIn(folder: number, name: string): boolean | undefined {
    if (this.files !== undefined) return this.files.has(name)
    this.looks += 1
    if (this.looks === 1) this.bytes = fstatSync(folder).size
    // Some file systems do not tell the size.
    const isWorthIt = this.bytes > 0 && this.bytes <= Math.min(MAX_FOLDER_BYTES, this.looks * BYTES_PER_LOOK)
    if (!isWorthIt) return statAt(folder, name)?.isFile()
    this.files = new Set(typesAt(folder).flatMap((child) => (child.type === 'file' ? [child.name] : [])))
    return this.files.has(name)
  }

  private at<T>(target: FileTarget, use: (parent: number, name: string) => T): T | undefined {
    try {
      const parent = this.parentOf(target)
      return parent === undefined ? undefined : use(parent, target.names.at(-1)!)
    } catch {
      // Removed, replaced by a link, or not readable: nothing of it is returned.
      return undefined
    }
  }

  private parentOf(target: FileTarget): number | undefined {
    const path = target.path.slice(0, target.path.lastIndexOf('/'))
    if (path === this.path) return this.descriptor
    this.close()
    const opened = inParent(target, (parent) => openFolder(parent, '.'))
    if (typeof opened !== 'number') return undefined
    this.path = path
    this.descriptor = opened
    return opened
  }
}

/** Reads the output of `rg --json` file by file, and collects what the files confirm. */
export class ReportReader {
  /** ripgrep has written its summary; without one it did not even start searching. */
  isSummed = false
  /** Takes a piece of output; false if the collector wants no more. */
  readonly take: (chunk: Buffer) => boolean
  private report: FileReport | undefined
  private readonly job: SearchJob
  private readonly matches: MatchCollector
  private readonly open: (file: string) => number | undefined

  constructor(job: SearchJob, matches: MatchCollector, open: (file: string) => number | undefined) {
    this.job = job
    this.matches = matches
    this.open = open
    this.take = readRgMessages((message) => this.read(message))
  }

  close(): void {
    this.report?.finish()
    this.report = undefined
  }

  private read(message: RgMessage): boolean {
    switch (message.type) {
      case 'begin':
        this.report = this.begin(message.path)
        return true
      case 'match':
      case 'context':
        this.report?.add(message.block, message.type === 'match')
        return !this.hasEnough() || this.finish()
      case 'too-long':
        this.report?.doubt()
        return true
      case 'end':
        if (message.isBinary) this.report?.drop()
        return this.finish()
      case 'summary':
        this.isSummed = true
        return true
    }
  }

  private begin(path: string | undefined): FileReport | undefined {
    // A name that is not UTF-8 can neither be returned nor requested.
    if (path === undefined) this.matches.skip(1)
    const file = path?.replace(/^\.\//, '')
    if (file === undefined || !this.matches.accepts(file)) return undefined
    return new FileReport(file, this.job.output === 'lines', () => this.open(file))
  }

  private hasEnough(): boolean {
    return this.job.output === 'lines' && (this.report?.matches ?? 0) > this.job.maxMatches
  }

  private finish(): boolean {
    const found = this.report?.finish()
    this.report = undefined
    if (found === 'unsure') this.matches.skip(1)
    return typeof found !== 'object' || this.matches.add(found)
  }
}
