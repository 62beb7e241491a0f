import { execFileSync } from 'node:child_process'
import { chmod, chown, link, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { newRun, runsFolder, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { listRuns } from './list-runs.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

/** A closed run. */
async function closedRun(): Promise<{ readonly run: string; readonly folder: string }> {
  const records = RunRecords.open(root, newRun(), options)
  records.append(started('c1'))
  await records.close()
  return records
}

function refusal(message: RegExp) {
  return expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) })
}

const PARTS = [
  '',
  'logs',
  'archive',
  'artifacts',
  'undo',
  'events.jsonl',
  'head.json',
  'logs/tools.jsonl',
  'logs/errors.jsonl',
]

describe('a run folder that others may have prepared', () => {
  it.each(PARTS)('is refused when %j is a link', async (part) => {
    const { run, folder } = await closedRun()
    const path = join(folder, part)
    execFileSync('mv', [path, `${root}/away`])
    await symlink(`${root}/away`, path)
    expect(() => RunRecords.open(root, run, options)).toThrow(refusal(/ is (a symbolic link|not a folder, but a link)/))
    await rm(path)
    await rm(`${root}/away`, { recursive: true })
  })

  it.each(PARTS)('is refused when others may write to %j', async (part) => {
    const { run, folder } = await closedRun()
    await chmod(join(folder, part), 0o777)
    expect(() => RunRecords.open(root, run, options)).toThrow(refusal(/can be written by other users \(mode 777\)/))
  })

  it.skipIf(process.getuid?.() !== 0).each(PARTS)('is refused when another user owns %j', async (part) => {
    const { run, folder } = await closedRun()
    await chown(join(folder, part), 12_345, 12_345)
    expect(() => RunRecords.open(root, run, options)).toThrow(refusal(/belongs to user 12345/))
  })

  it.each(['lock', 'events.jsonl', 'head.json', 'logs/tools.jsonl'])('is refused when %s is a pipe', async (part) => {
    const { run, folder } = await closedRun()
    await rm(join(folder, part), { force: true })
    execFileSync('mkfifo', [join(folder, part)])
    expect(() => RunRecords.open(root, run, options)).toThrow(refusal(/is not a regular file/))
    await listRuns(root)
    await verifyRun(folder)
  })

  it('is refused when its events have a second name', async () => {
    const { run, folder } = await closedRun()
    await link(join(folder, 'events.jsonl'), `${root}/second-name`)
    const before = await readFile(`${root}/second-name`)
    expect(() => RunRecords.open(root, run, options)).toThrow(refusal(/events\.jsonl has 2 names \(hard links\)/))
    expect(await readFile(`${root}/second-name`)).toEqual(before)
  })

  it('is not written through a link that waits for the head or for a torn line', async () => {
    const run = newRun()
    await mkdir(join(root, run, 'archive'), { recursive: true })
    await writeFile(join(root, 'precious'), 'precious')
    for (const name of ['head.json.draft', 'archive/torn-1.txt'])
      await symlink(join(root, 'precious'), join(root, run, name))
    await writeFile(join(root, run, 'events.jsonl'), '{"torn')
    await RunRecords.open(root, run, options).close()
    expect(await readFile(join(root, 'precious'), 'utf8')).toBe('precious')
    expect(await verifyRun(join(root, run))).toMatchObject({ ok: true })
  })

  it('holds no lock and no open file after it was refused', async () => {
    const { run, folder } = await closedRun()
    await chmod(join(folder, 'logs/errors.jsonl'), 0o666)
    const before = process.platform === 'linux' ? countOpenFiles() : 0
    for (let index = 0; index < 5; index++) expect(() => RunRecords.open(root, run, options)).toThrow()
    if (process.platform === 'linux') expect(countOpenFiles()).toBe(before)
    await chmod(join(folder, 'logs/errors.jsonl'), 0o600)
    await RunRecords.open(root, run, options).close()
  })
})
