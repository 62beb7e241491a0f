import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createToolHub } from '../create-tool-hub.ts'
import { verifyRun } from '../record/verify-run.ts'

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
