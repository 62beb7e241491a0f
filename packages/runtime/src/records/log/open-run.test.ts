import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, eventsOf, jsonLines, newRun, runsFolder, started } from '../../../../../test/support/record-run.ts'
import { bundleModule } from '../../../../../test/support/run-module.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { LineTorn } from './run-events.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
let module: string
beforeAll(async () => {
  root = await runsFolder()
  module = await bundleModule(join(import.meta.dirname, 'run-records.ts'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }
const CLOCK =
  '{ now: Date.now, after(ms, run) { const t = setTimeout(run, ms); t.unref(); return () => clearTimeout(t) } }'

/** Runs a script in another process, with `RunRecords`, the root and a run id at hand. */
function child(script: string, run: string) {
  const source = `
    import { RunRecords } from ${JSON.stringify(module)}
    const [root, run] = ${JSON.stringify([root, run])}
    const options = { durability: 'effects', clock: ${CLOCK} }
    ${script}`
  return spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
}

/** Leaves a run behind as a crash does: calls without an end, no head, a lock of a process that is gone. */
async function crash(run: string): Promise<void> {
  const script = `
    const records = RunRecords.open(root, run, options)
    for (const id of ['done', 'lost-1', 'lost-2']) records.append({ type: 'call-started', callId: id, tool: 'notes.save', caller: 'child' })
    records.append({ type: 'call-ended', callId: 'done', tool: 'notes.save', status: 'ok', durationMs: 1, bytes: 1 })
    await records.written()
    process.kill(process.pid, 'SIGKILL')`
  await once(child(script, run), 'exit')
}

describe('a run after a crash', () => {
  it('has every event that was acknowledged before kill -9, twenty times', async () => {
    const run = newRun()
    const script = `
      const records = RunRecords.open(root, run, options)
      let open = 0
      async function one(id) {
        records.append({ type: 'call-started', callId: id, tool: 'notes.save', caller: 'child', purpose: 'x'.repeat(open++ % 2000) })
        records.append({ type: 'call-ended', callId: id, tool: 'notes.save', status: 'ok', durationMs: 1, bytes: 1 })
        await records.written()
        process.stdout.write(id + '\\n')
      }
      for (let n = 0; ; n++) {
        await Promise.all(Array.from({ length: 1 + (n % 40) }, (_, k) => one(process.pid + '-' + n + '-' + k)))
        if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
      }`
    const acknowledged = new Set<string>()
    for (let round = 0; round < 20; round++) {
      const process = child(script, run)
      const exited = once(process, 'exit')
      let count = 0
      for await (const id of createInterface({ input: process.stdout })) {
        acknowledged.add(id)
        if (++count === 50 + round * 37) process.kill('SIGKILL')
      }
      await exited
    }
    const records = RunRecords.open(root, run, options)
    await records.close()
    const written = new Set<string>()
    for (const event of await eventsOf(records.folder)) if (event.type === 'call-ended') written.add(event.callId)
    expect([...acknowledged].filter((id) => !written.has(id))).toEqual([])
    expect(acknowledged.size).toBeGreaterThan(1_000)
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true })
    const logged = await jsonLines(join(records.folder, 'logs/tools.jsonl'))
    expect(logged.filter((line) => line.status === 'ok')).toHaveLength(written.size)
  })

  it('marks calls that never ended, and says which', async () => {
    const run = newRun()
    await crash(run)
    const records = RunRecords.open(root, run, options)
    await records.close()
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, calls: 3, interrupted: 2 })
    const errors = await jsonLines(join(records.folder, 'logs/errors.jsonl'))
    expect(errors).toMatchObject([
      { callId: 'lost-1', status: 'interrupted', caller: 'child' },
      { callId: 'lost-2', status: 'interrupted', caller: 'child' },
    ])
    await RunRecords.open(root, run, options).close()
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, interrupted: 2 })
  })

  it.each([
    ['half a line', '{"seq":6,"time":"2026-01-01T00:00:00.000Z","type":"call-st'],
    ['half a character', Buffer.from('{"seq":6,"x":"é').subarray(0, -1)],
    ['blocks that were never written', Buffer.concat([Buffer.alloc(5_000), Buffer.from('x\n'), Buffer.alloc(10)])],
  ])('sets %s aside and continues', async (_name, torn) => {
    const run = newRun()
    await crash(run)
    const path = join(root, run, 'events.jsonl')
    await appendFile(path, torn)
    const records = RunRecords.open(root, run, options)
    await records.close()
    const event = (await eventsOf(records.folder)).find((one) => one.type === 'line-torn')
    expect(event).toMatchObject({
      bytes: Buffer.byteLength(torn),
      file: expect.stringMatching(/^archive\/torn-6-[0-9a-f]{8}\.txt$/),
    })
    expect(await readFile(join(records.folder, (event as LineTorn).file))).toEqual(Buffer.from(torn))
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, interrupted: 2 })
  })

  it('repairs logs that are torn, behind or gone', async () => {
    const records = RunRecords.open(root, newRun(), options)
    for (let index = 0; index < 50; index++) {
      records.append(started(`c${index}`))
      records.append(
        ended(`c${index}`, index % 5 === 0 ? { status: 'error', error: { code: 'TIMEOUT', message: 'slow' } } : {}),
      )
    }
    await records.close()
    const tools = join(records.folder, 'logs/tools.jsonl')
    const errors = join(records.folder, 'logs/errors.jsonl')
    const [wholeTools, wholeErrors] = [await readFile(tools, 'utf8'), await readFile(errors, 'utf8')]
    await truncate(tools, 1_234)
    await rm(errors)
    await RunRecords.open(root, records.run, options).close()
    expect(await readFile(tools, 'utf8')).toBe(wholeTools)
    expect(await readFile(errors, 'utf8')).toBe(wholeErrors)
  })

  it('does not read a run that was closed in good order, however long it is', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('c1'))
    await records.close()
    const path = join(records.folder, 'events.jsonl')
    const text = await readFile(path, 'utf8')
    // A change that only reading would notice.
    await writeFile(path, text.replace('"callId":"c1"', '"callId":"c2"'))
    const again = RunRecords.open(root, records.run, options)
    again.append(ended('c3'))
    await again.close()
    const events = await eventsOf(records.folder)
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect((await verifyRun(records.folder)).problems).toMatchObject([{ line: 2 }])
  })
})

describe('two processes on one run', () => {
  it('are kept apart: the second gets CONFLICT and a way out, also in the same process', async () => {
    const records = RunRecords.open(root, newRun(), options)
    const conflict = expect.objectContaining({ code: 'CONFLICT', fix: expect.objectContaining({ key: 'run' }) })
    expect(() => RunRecords.open(root, records.run, options)).toThrowError(conflict)
    const other = child(
      'try { RunRecords.open(root, run, options) } catch (error) { console.log(error.code) }',
      records.run,
    )
    expect(String(await once(other.stdout, 'data'))).toContain('CONFLICT')
    await records.close()
    await RunRecords.open(root, records.run, options).close()
  })

  it('race for the run of a dead process: exactly one gets it', async () => {
    const script = `
      process.stdin.once('data', () => {
        try { globalThis.records = RunRecords.open(root, run, options); console.log('held') } catch (error) { console.log(error.code) }
        process.stdin.once('data', () => process.exit(0))
      })
      console.log('ready')`
    for (let round = 0; round < 3; round++) {
      const run = newRun()
      await crash(run)
      const processes = Array.from({ length: 8 }, () => child(script, run))
      await Promise.all(processes.map((one) => once(one.stdout, 'data')))
      const answers = processes.map(async (one) => {
        one.stdin.write('go\n')
        return String((await once(one.stdout, 'data'))[0]).trim()
      })
      expect((await Promise.all(answers)).sort()).toEqual([...Array(7).fill('CONFLICT'), 'held'])
      await Promise.all(
        processes.map((one) => {
          one.stdin.write('end\n')
          return once(one, 'exit')
        }),
      )
      const left = (await readdir(join(root, run))).filter((name) => name.startsWith('lock'))
      expect(left).toEqual(['lock'])
      await RunRecords.open(root, run, options).close()
    }
  })

  it('respects a lock of another machine, because nobody here can tell whether it is dead', async () => {
    const records = RunRecords.open(root, newRun(), options)
    await records.close()
    await writeFile(join(records.folder, 'lock'), JSON.stringify({ pid: 1, space: 'elsewhere', token: 'x' }))
    expect(() => RunRecords.open(root, records.run, options)).toThrowError(/elsewhere/)
    await writeFile(join(records.folder, 'lock'), '')
    await RunRecords.open(root, records.run, options).close()
  })
})
