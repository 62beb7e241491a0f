import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterAll, describe, expect, it } from 'vitest'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { verifyRun } from '../records/log/verify-run.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-recover-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A run with one call that ended, closed; `name` is its folder below the runs. */
async function closedRun(runs: string, name: string): Promise<string> {
  const hub = createToolHub({ runs, data: join(folder, 'data') })
  await hub.call('core/util.time.now', {}, { run: name })
  await hub.close()
  return join(runs, name)
}

describe('hub.recoverRuns', () => {
  it('ends what a killed process left open, and leaves alone what is whole', async () => {
    const runs = mkdtempSync(join(folder, 'runs-'))
    const [whole, killed] = [await closedRun(runs, 'whole'), await closedRun(runs, 'killed')]
    // As a process leaves it that was killed before it closed: no head, no last line.
    const lines = readFileSync(join(killed, 'events.jsonl'), 'utf8').trimEnd().split('\n')
    writeFileSync(join(killed, 'events.jsonl'), `${lines.slice(0, -1).join('\n')}\n`)
    rmSync(join(killed, 'head.json'))
    rmSync(join(runs, 'last-head.json'))
    const before = readFileSync(join(whole, 'events.jsonl'), 'utf8')

    const hub = createToolHub({ runs, data: join(folder, 'data') })
    expect(await hub.recoverRuns()).toBe(1)
    expect(await hub.recoverRuns()).toBe(0)
    await hub.close()
    expect(readFileSync(join(whole, 'events.jsonl'), 'utf8')).toBe(before)
    expect(await verifyRun(killed)).toMatchObject({ ok: true })
    expect(readFileSync(join(killed, 'events.jsonl'), 'utf8')).toMatch(/"type":"run-closed"[^\n]*\n$/)
  })

  it('writes the head of a run whose process was killed between its last line and its head', async () => {
    const runs = mkdtempSync(join(folder, 'runs-'))
    const script = `
      import { RunRecords } from ${JSON.stringify(await bundleModule('packages/runtime/src/records/log/run-records.ts'))}
      const clock = { now: Date.now, after: () => () => {} }
      // The store takes the head when the last line is on the disk, and before head.json is written.
      const heads = { put: () => new Promise(() => { process.send('closing'); setInterval(() => {}, 1000) }) }
      await RunRecords.open(${JSON.stringify(runs)}, 'a', { durability: 'effects', clock, heads }).close()`
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: [...stdio] })
    const exited = once(child, 'exit')
    expect(await Promise.race([once(child, 'message'), exited])).toEqual(['closing', undefined])
    child.kill('SIGKILL')
    await exited
    const run = join(runs, 'a')
    expect(readFileSync(join(run, 'events.jsonl'), 'utf8')).toMatch(/"type":"run-closed"[^\n]*\n$/)
    expect(await verifyRun(run)).toMatchObject({
      ok: false,
      state: 'unproven',
      problems: [],
      remarks: [{ problem: expect.stringContaining('before head.json was written') }],
    })

    const hub = createToolHub({ runs, data: join(folder, 'data') })
    expect(await hub.recoverRuns()).toBe(1)
    await hub.close()
    expect(await verifyRun(run)).toMatchObject({ ok: true, state: 'intact', problems: [] })
  })

  it('does not touch a record that is shorter than it was: that is evidence', async () => {
    const runs = mkdtempSync(join(folder, 'runs-'))
    const run = await closedRun(runs, 'cut')
    const file = join(run, 'events.jsonl')
    truncateSync(file, readFileSync(file).length - 200)
    appendFileSync(file, '\n')
    const before = readFileSync(file, 'utf8')
    const hub = createToolHub({ runs, data: join(folder, 'data') })
    expect(await hub.recoverRuns()).toBe(0)
    await hub.close()
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect((await verifyRun(run)).ok).toBe(false)
  })
})
