import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../core/tool.ts'
import { createToolHub } from '../create-tool-hub.ts'
import { RunMarks, TaintSources } from './run-marks.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-run-marks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const nothing = defineTool({
  name: 'test.nothing',
  description: 'Does nothing.',
  input: z.strictObject({}),
  execute: () => 'done',
})

function newHub(root = mkdtempSync(join(folder, 'hub-'))) {
  const runs = join(root, 'runs')
  const hub = createToolHub({ tools: [nothing], runs, data: join(root, 'data') })
  const call = async (who: string) => (await hub.as({ name: who }).callDynamic('test.nothing', {}, { run: 'named' })).ok
  return { hub, root, call, run: join(runs, 'named') }
}

describe('the owner of a run', () => {
  it.each([
    ['is empty', (mark: string) => writeFileSync(mark, '')],
    ['is gone', (mark: string) => rmSync(mark)],
  ])('is known by its record when the mark %s, as a loss of power may leave it', async (_, damage) => {
    const first = newHub()
    expect(await first.call('ada')).toBe(true)
    await first.hub.close()
    damage(join(first.run, 'principal'))
    const { hub, call } = newHub(first.root)
    expect(await call('bob')).toBe(false)
    expect(await call('ada')).toBe(true)
    await hub.close()
  })

  it('is still the hub itself when its own run has no mark', async () => {
    const first = newHub()
    expect((await first.hub.call(nothing, {}, { run: 'named' })).ok).toBe(true)
    await first.hub.close()
    const { hub, call } = newHub(first.root)
    expect(await call('ada')).toBe(false)
    await hub.close()
  })

  it.each([
    ['nothing in it', () => {}],
    ['an empty record', (run: string) => writeFileSync(join(run, 'events.jsonl'), '')],
    [
      'an empty record and an empty mark',
      (run: string) => {
        writeFileSync(join(run, 'events.jsonl'), '')
        writeFileSync(join(run, 'principal'), '')
      },
    ],
  ])('is whoever comes first to a folder with %s, and nobody else afterwards', async (_, fill) => {
    const { hub, call, run } = newHub()
    mkdirSync(run, { recursive: true, mode: 0o700 })
    fill(run)
    expect(await call('ada')).toBe(true)
    expect(await call('bob')).toBe(false)
    expect(readFileSync(join(run, 'principal'), 'utf8')).toBe('ada')
    await hub.close()
  })
})

describe('the marks of a run', () => {
  const sources = new TaintSources((text) => text)

  it('are synced once, and again only for a new one', async () => {
    const run = mkdtempSync(join(folder, 'marks-'))
    const marks = new RunMarks(run)
    expect(marks.synced()).toBeUndefined()
    marks.setOwner('ada')
    const syncing = marks.synced()
    expect(syncing).toBeInstanceOf(Promise)
    marks.setTainted(sources, { isChanged: false })
    expect(marks.synced()).toBe(syncing)
    await syncing
    expect(marks.synced()).toBeUndefined()
    marks.setTainted(sources, { isChanged: false })
    expect(marks.synced()).toBeUndefined()
    expect(new RunMarks(run).isTainted).toBe(true)
  })

  it('that cannot be synced are told, and tried again', async () => {
    const run = mkdtempSync(join(folder, 'marks-'))
    const marks = new RunMarks(run)
    marks.setTainted(sources, { isChanged: false })
    rmSync(join(run, 'tainted'))
    await expect(marks.synced()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    writeFileSync(join(run, 'tainted'), '')
    await marks.synced()
    expect(marks.synced()).toBeUndefined()
    expect(existsSync(join(run, 'tainted'))).toBe(true)
  })
})
