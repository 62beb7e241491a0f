import { mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { ended, eventsOf, started } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { ArtifactWriter } from '../artifact-writer.ts'
import { Artifacts } from '../artifacts.ts'
import { readChangeHistory, readKept } from '../undo/read-history.ts'
import { UndoFolder } from '../undo/undo-folder.ts'
import { checkRecords } from './disk-error.ts'
import { readHead, readHeadSync, writeHead } from './head.ts'
import { listRuns } from './list-runs.ts'
import { appendValue, readValues } from './run-archives.ts'
import { RunRecords } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
let folder: string
let ref: string
beforeEach(async () => {
  root = temporaryFolder('open-files')
  const records = RunRecords.open(root, 'r', { durability: 'effects', clock: systemClock })
  folder = records.folder
  ref = (await records.putArtifact('content')).ref
  records.append(started('a'))
  records.append(ended('a', { status: 'error', artifacts: [ref] }))
  await records.close()
})

/** The files below the folder of the test that this process holds open. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(root) ? [path] : []
    } catch {
      // The descriptor that listed them.
      return []
    }
  })
}

async function drain(pieces: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pieces);
}

const state = (text: string) => ({ sha256: sha256(text), bytes: text.length, mode: 0o600 })
const source = (text: string) => {
  writeFileSync(join(root, 'source'), text)
  return join(root, 'source')
}
const artifacts = () => new Artifacts(join(folder, 'artifacts'), { isDurable: true })

const WORK: Record<string, () => Promise<unknown>> = {
  'a run': () => RunRecords.open(root, 'r', { durability: 'effects', clock: systemClock }).close(),
  'a run that is verified': () => verifyRun(folder),
  'a broken run that is verified': () => {
    writeFileSync(join(folder, 'events.jsonl'), 'noise\n')
    return verifyRun(folder)
  },
  'the events of a run': () => eventsOf(folder),
  'the list of runs': () => {
    rmSync(join(folder, 'head.json'))
    return listRuns(root)
  },
  'the history of a run': () => readChangeHistory(folder),
  'a head': async () => {
    await writeHead(folder, (await readHead(folder)) as never)
    return readHeadSync(folder)
  },
  'an artifact': async () => {
    await artifacts().read(ref)
    await artifacts().put('more')
    await drain((await artifacts().find(ref)).whole())
  },
  'an artifact that is written and read': async () => {
    const file = new ArtifactWriter(join(folder, 'artifacts'), { isDurable: true })
    file.write(Buffer.from('pieces'))
    await file.read(0, 3)
    await file.finish({ name: 'n', mediaType: 'm' })
    await file.read(0, 3)
  },
  'an artifact that is discarded': async () => {
    const file = new ArtifactWriter(join(folder, 'artifacts'), { isDurable: false })
    file.write(Buffer.from('pieces'))
    await file.read(0, 3)
    await file.discard()
  },
  'an artifact that is read in part': async () => {
    for await (const _ of (await artifacts().find(ref)).part({ start: 0, end: 3 })) break
  },
  'an archive': async () => {
    await appendValue(join(folder, 'archive/notes.jsonl'), { n: 1 })
    await readValues(join(folder, 'archive/notes.jsonl'), z.unknown())
  },
  'an archive that is refused': async () => {
    mkdirSync(join(folder, 'archive/folder.jsonl'))
    await expect(readValues(join(folder, 'archive/folder.jsonl'), z.unknown())).rejects.toThrow()
  },
  'the check of a folder': () => checkRecords(root),
  'a kept file': async () => {
    const undo = new UndoFolder(join(folder, 'undo'))
    await undo.keepFile(source('old'), state('old'), 100)
    await undo.keepFile(source('old'), state('old'), 100)
    await undo.secure(sha256('old'))
    await drain(readKept(folder, state('old')))
  },
  'a kept file that was changed': async () => {
    writeFileSync(join(folder, 'undo', sha256('old')), 'new')
    await expect(drain(readKept(folder, state('old')))).rejects.toThrow('was changed since')
    await new UndoFolder(join(folder, 'undo')).keepFile(source('old'), state('old'), 100)
  },
}

it.skipIf(process.platform !== 'linux').each(Object.keys(WORK))('leaves no file open: %s', async (name) => {
  await WORK[name]!()
  expect(openFiles()).toEqual([])
})
