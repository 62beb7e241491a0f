import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ended, started } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { linkLine } from './event-line.ts'
import { listRuns, lookAtRuns } from './list-runs.ts'
import { RunRecords } from './run-records.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

/** A closed run that was opened in one second and closed in the next. */
async function makeRun(root: string, run: string, second: number): Promise<string> {
  const clock = fakeClock(Date.UTC(2026, 0, 1, 0, 0, second))
  const records = RunRecords.open(root, run, { durability: 'effects', clock })
  records.append(started('a'))
  records.append(ended('a', { status: 'error' }))
  records.append(started('b'))
  await clock.advance(1_000)
  await records.close()
  return records.folder
}

describe('the list of runs', () => {
  it('has the oldest first, with what they did', async () => {
    const root = temporaryFolder('list-runs')
    for (const [run, second] of [
      ['b', 4],
      ['a', 6],
      ['c', 2],
      ['d', 4],
    ] as const)
      await makeRun(root, run, second)
    const counts = { state: 'closed', calls: 2, failures: 2 }
    expect(await listRuns(root)).toEqual([
      { id: 'c', started: at(2), ended: at(3), ...counts },
      { id: 'b', started: at(4), ended: at(5), ...counts },
      { id: 'd', started: at(4), ended: at(5), ...counts },
      { id: 'a', started: at(6), ended: at(7), ...counts },
    ])
  })

  it('counts the events of a run that has no head, or one that does not fit', async () => {
    const root = temporaryFolder('list-runs')
    const folder = await makeRun(root, 'r', 2)
    const head = join(folder, 'head.json')
    const whole = readFileSync(head, 'utf8')
    const crashed = { id: 'r', state: 'crashed', started: at(2), ended: at(3), calls: 2, failures: 2 }
    for (const text of ['broken', whole.replace(/"bytes":\d+/, '"bytes":9999999').replace('"calls":2', '"calls":7')]) {
      writeFileSync(head, text)
      expect(await listRuns(root)).toEqual([crashed])
    }
    rmSync(head)
    expect(await listRuns(root)).toEqual([crashed])
  })

  it('counts on behind the head, over lines that are no lines of ours', async () => {
    const root = temporaryFolder('list-runs')
    const folder = await makeRun(root, 'r', 2)
    const path = join(folder, 'events.jsonl')
    const last = JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1)!)
    const ok = linkLine(last, at(8), JSON.stringify(ended('c')))
    const failed = linkLine(ok, at(9), JSON.stringify(ended('d', { status: 'denied' })))
    appendFileSync(path, `${ok.line}noise\n${failed.line}`)
    expect(await listRuns(root)).toEqual([
      { id: 'r', state: 'crashed', started: at(2), ended: at(9), calls: 4, failures: 3 },
    ])
  })

  it('has no folders that are no runs', async () => {
    const root = temporaryFolder('list-runs')
    const folder = await makeRun(root, 'r', 2)
    mkdirSync(join(root, 'empty'))
    mkdirSync(join(root, 'linked'))
    symlinkSync(join(folder, 'events.jsonl'), join(root, 'linked/events.jsonl'))
    symlinkSync(folder, join(root, 'link'))
    mkdirSync(join(root, '.hidden'))
    writeFileSync(join(root, '.hidden/events.jsonl'), '')
    writeFileSync(join(root, 'file'), '')
    expect((await listRuns(root)).map(({ id }) => id)).toEqual(['r'])
  })

  it('says which run cannot be read', async () => {
    const root = temporaryFolder('list-runs')
    mkdirSync(join(root, 'r'))
    symlinkSync('events.jsonl', join(root, 'r/events.jsonl'))
    await expect(listRuns(root)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'Run r cannot be read: the folder cannot be used (ELOOP).',
      details: { path: join(root, 'r') },
    })
  })

  it('says why the folder cannot be listed', async () => {
    const root = temporaryFolder('list-runs')
    writeFileSync(join(root, 'file'), '')
    await expect(listRuns(join(root, 'file'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The run records cannot be listed: the folder cannot be used (ENOTDIR).',
    })
  })
})

it('gives other work its turn while it looks at many runs, and waits for a look that takes time', async () => {
  const seen: string[] = []
  const spin = () => {
    for (const start = performance.now(); performance.now() - start < 6; );
  }
  await lookAtRuns(['a', 'b', 'c'], (run) => {
    seen.push(run)
    if (run === 'b') return new Promise<void>((resolve) => setImmediate(resolve)).then(() => void seen.push('b read'))
    setImmediate(() => seen.push(`after ${run}`))
    spin()
    return undefined
  })
  expect(seen).toEqual(['a', 'after a', 'b', 'b read', 'c', 'after c'])
})
