import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, eventsOf, jsonLines, newRun, runsFolder, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

describe('a run on disk', () => {
  it('has the folders and files that people expect, readable by their owner only', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('c1'))
    records.append(ended('c1'))
    await records.close()
    expect((await readdir(records.folder)).sort()).toEqual([
      'archive',
      'artifacts',
      'deliverables',
      'events.jsonl',
      'head.json',
      'logs',
      'undo',
      'workspace',
    ])
    expect((await stat(records.folder)).mode & 0o777).toBe(process.geteuid?.() === 0 ? 0o711 : 0o700)
    for (const file of ['events.jsonl', 'head.json', 'logs/tools.jsonl', 'logs/errors.jsonl']) {
      expect((await stat(join(records.folder, file))).mode & 0o777).toBe(0o600)
    }
  })

  it('chains every event, with who, when, what, the deciding rule and the hashes', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('c1', { session: 's', purpose: 'test', parent: 'p', keyHash: 'k', sandbox: 'full' }))
    const { ref } = await records.putArtifact('kept')
    records.append(ended('c1', { approvedBy: 'ada', evidence: ['file:/a'], artifacts: [ref], attempts: 2 }))
    await records.close()
    const events = await eventsOf(records.folder)
    expect(events.map((event) => [event.seq, event.type])).toEqual([
      [1, 'run-opened'],
      [2, 'call-started'],
      [3, 'call-ended'],
      [4, 'run-closed'],
    ])
    expect(events[2]!.prev).toBe(events[1]!.hash)
    expect(events[1]).toMatchObject({
      caller: 'test',
      argsHash: 'ab',
      rule: 'allow notes.save',
      parent: 'p',
      sandbox: 'full',
    })
    expect(events[2]).toMatchObject({ resultHash: 'cd', approvedBy: 'ada', attempts: 2, durationMs: 1.5, bytes: 10 })
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, lines: 4, calls: 1, interrupted: 0 })
  })

  it('logs one line a call with both halves, and failures a second time with stack and details', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('good'))
    records.append(ended('good'))
    const error = { code: 'INTERNAL', message: 'broke', stack: 'at x', details: { secretless: true } } as const
    records.append(started('bad'))
    records.append(ended('bad', { status: 'error', error }))
    records.append(
      ended('refused', { status: 'denied', caller: 'test', error: { code: 'POLICY_DENIED', message: 'no' } }),
    )
    await records.close()
    const tools = await jsonLines(join(records.folder, 'logs/tools.jsonl'))
    expect(tools.map((line) => [line.callId, line.status, line.caller])).toEqual([
      ['good', 'ok', 'test'],
      ['bad', 'error', 'test'],
      ['refused', 'denied', 'test'],
    ])
    expect(tools[1]!.error).toEqual({ code: 'INTERNAL', message: 'broke' })
    const errors = await jsonLines(join(records.folder, 'logs/errors.jsonl'))
    expect(errors.map((line) => line.callId)).toEqual(['bad', 'refused'])
    expect(errors[0]!.error).toEqual(error)
  })

  it('leaves out arguments over 2 KB and says their size', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('big', { args: { text: 'x'.repeat(5_000) } }))
    records.append(started('fits', { args: { text: 'x'.repeat(1_900) }, purpose: 'y'.repeat(1_000) }))
    await records.close()
    const [, big, fits] = await eventsOf(records.folder)
    expect(big).toMatchObject({ argsBytes: 5_011 })
    expect(big).not.toHaveProperty('args')
    expect(fits).toHaveProperty('args.text')
  })

  it.each([
    ['', 'empty'],
    ['../up', 'a way up'],
    ['.hidden', 'a dot first'],
    ['a/b', 'a slash'],
    ['a\0b', 'a NUL'],
    ['x'.repeat(65), 'too long'],
  ])('refuses the run id %j (%s)', (run) => {
    expect(() => RunRecords.open(root, run, options)).toThrowError(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  it('keeps what became of commands, which changes nothing of their calls', async () => {
    const run = newRun()
    // Its time stands still, as that of a killed process: what it would have written later, it does not.
    const records = RunRecords.open(root, run, { ...options, clock: fakeClock() })
    const of = { callId: 'c1', tool: 'core/exec.run' }
    const [process, command] = ['calm-otter-3f2a', 'npm run dev']
    records.append(started('c1'))
    records.append({ type: 'command-connected', ...of, url: 'https://example.org', outcome: 'connected' })
    records.append({ type: 'process-started', ...of, process, command })
    records.append(ended('c1'))
    records.append({ type: 'process-ended', ...of, process, exitCode: 0, timedOut: false })
    await records.written()
    await rm(join(records.folder, 'lock'))
    const again = RunRecords.open(root, run, options)
    again.append({ type: 'process-lost', process, command })
    await again.close()
    expect(await verifyRun(again.folder)).toMatchObject({ ok: true, calls: 1, interrupted: 0, problems: [] })
    expect((await eventsOf(again.folder)).map(({ type }) => type)).toEqual([
      'run-opened',
      'call-started',
      'command-connected',
      'process-started',
      'call-ended',
      'process-ended',
      'run-opened',
      'process-lost',
      'run-closed',
    ])
    expect(await jsonLines(join(again.folder, 'logs/tools.jsonl'))).toHaveLength(1)
  })

  it('tells when its folder is gone, and recovers when it is back', async () => {
    const records = RunRecords.open(root, newRun(), options)
    await rename(records.folder, `${records.folder}-away`)
    await expect(records.synced()).rejects.toMatchObject({ code: 'CONFIG_INVALID', fix: { key: 'runs' } })
    await rename(`${records.folder}-away`, records.folder)
    await records.synced()
    await records.close()
  })

  it('says what to change when the folder cannot be used', async () => {
    const file = join(root, 'a-file')
    await writeFile(file, '')
    expect(() => RunRecords.open(join(file, 'runs'), 'r', options)).toThrowError(
      expect.objectContaining({ code: 'CONFIG_INVALID', fix: expect.objectContaining({ key: 'runs' }) }),
    )
  })
})
