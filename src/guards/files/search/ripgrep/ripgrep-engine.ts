import { ToolError } from '../../../../errors.ts'
import type { Roots } from '../../open-roots.ts'
import type { Engine } from '../engine.ts'
import { fileTarget } from '../found-files.ts'
import { LinkFree } from './link-free.ts'
import { NameReader } from './name-reader.ts'
import { ReportReader } from './report-reader.ts'
import { findCommand, searchCommand } from './rg-arguments.ts'
import { type RgEnd, runRipgrep } from './rg-process.ts'

/** Searches with the ripgrep binary at `rgPath`; what it reports is checked by descriptors before it is given out. */
export function ripgrepEngine(roots: Roots, rgPath: string): Engine {
  return {
    name: 'ripgrep',
    async search(place, job, sink, signal) {
      const linkFree = new LinkFree()
      const open = (file: string) => linkFree.open(fileTarget(roots, place.folder, file))
      const reader = new ReportReader(job, sink, open)
      try {
        const onData = (chunk: Buffer) => reader.take(chunk)
        const command = searchCommand(place, job)
        const end = await runRipgrep({ rgPath, command, folder: place.descriptor, signal, onData })
        if (end.exitCode === 2 && !reader.isSummed) throw refused(end)
        sink.skip(end.complaints)
      } finally {
        reader.close()
        linkFree.close()
      }
    },
    async find(place, choice, sink, signal) {
      const linkFree = new LinkFree()
      const reader = new NameReader(sink, (file) => linkFree.isFile(fileTarget(roots, place.folder, file)))
      try {
        const onData = (chunk: Buffer) => reader.take(chunk)
        const command = findCommand(place, choice)
        const end = await runRipgrep({ rgPath, command, folder: place.descriptor, signal, onData })
        sink.skip(end.complaints)
      } finally {
        linkFree.close()
      }
    },
  }
}

/** Arguments that ripgrep does not take; all but the pattern were checked before. */
function refused({ stderr }: RgEnd): ToolError {
  const reason = stderr
    .replace(/^rg: /, '')
    .split(/\n\n(?=Consider )/)[0]!
    .trim()
  return new ToolError('INPUT_SCHEMA_INVALID', `The pattern cannot be used: ${reason}`, {
    hint: 'Use a regular expression without look-around and backreferences, or plain text.',
  })
}
