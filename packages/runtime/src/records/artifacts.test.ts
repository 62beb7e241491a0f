import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun, runsFolder } from '../../../../test/support/record-run.ts'
import { systemClock } from '../../../core/src/context.ts'
import { RunRecords, type RunRecordsOptions } from './log/run-records.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

describe('artifacts', () => {
  it('are stored once under their hash and read back unchanged', async () => {
    const records = RunRecords.open(root, newRun(), { ...options, durability: 'full' })
    const [first, second] = await Promise.all([
      records.putArtifact('héllo', { name: 'a.txt' }),
      records.putArtifact('héllo'),
    ])
    expect(first).toMatchObject({
      name: 'a.txt',
      bytes: 6,
      ref: `artifact:${first.sha256}`,
      mediaType: 'text/plain; charset=utf-8',
    })
    expect(second.ref).toBe(first.ref)
    expect(await readdir(join(records.folder, 'artifacts'))).toEqual([first.sha256])
    expect(Buffer.from(await records.readArtifact(first.ref)).toString()).toBe('héllo')
    const bytes = await records.putArtifact(new Uint8Array([0, 255]))
    expect([...(await records.readArtifact(bytes.ref))]).toEqual([0, 255])
    await records.close()
  })

  it('refuses references that are none, are unknown, or whose content was changed', async () => {
    const records = RunRecords.open(root, newRun(), options)
    await expect(records.readArtifact('artifact:../../head.json')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(records.readArtifact(`artifact:${'0'.repeat(64)}`)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { ref, sha256 } = await records.putArtifact('true')
    await writeFile(join(records.folder, 'artifacts', sha256), 'fake')
    await expect(records.readArtifact(ref)).rejects.toMatchObject({ code: 'CONFLICT' })
    await records.close()
  })
})
