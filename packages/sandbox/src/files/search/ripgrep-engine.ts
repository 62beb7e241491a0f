import { closeSync, constants } from 'node:fs'
import { ToolError } from '@tool-hub/core'
import type { FileTarget } from '../roots.ts'
import { inParent, openAt, openFolder } from '../walk.ts'

import { FileReport, type RgMessage, readRgMessages } from './file-report.ts'
import type { MatchCollector, SearchFolder } from './found-files.ts'
import { type RgEnd, runRipgrep } from './rg-process.ts'
import { type SearchJob, searchCommand } from './search-job.ts'

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

/**
 * Opens files without following any link. ripgrep walks by names, and another process may swap a folder for a link
 * meanwhile: everything it reports is opened again by descriptors.
 */
export class LinkFree {
  // ripgrep reports files folder by folder, so the last folder is usually the next one.
  private path: string | undefined
  private descriptor: number | undefined

  /** Opens a file for reading; undefined if it does not exist or a link leads to it. */
  open(target: FileTarget): number | undefined {
    return this.at(target, (parent, name) => openAt(parent, name, READ))
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    this.path = undefined
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
