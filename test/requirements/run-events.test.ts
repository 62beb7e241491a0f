import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToolHub, type Hub, type ToolEvent, toToolEvents } from '../../packages/library/src/index.ts'
import { jsonLines } from '../support/cli.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the tool system of toolsets', () => {
  it('a call is permitted, then tool.started, then tool.completed or tool.failed with a summary', async () => {
    const { hub, call, record } = realHub({}, { 'a.txt': 'hello' })
    const live: ToolEvent[] = []
    hub.onEvent((event) => live.push(...toToolEvents(event)))
    const written = await call('write_file', { path: 'b.txt', content: 'x' })
    await call('read_file', { path: 'a.txt' })
    await call('read_file', { path: 'missing.txt' })
    // Not permitted, so never started.
    await call('run_shell', { command: 'ls' })
    const names = (events: readonly ToolEvent[]) => events.map(({ type, tool }) => `${type} ${tool}`)
    expect(names(live)).toEqual([
      'tool.started core/fs.writeText',
      'tool.completed core/fs.writeText',
      'tool.started core/fs.readText',
      'tool.completed core/fs.readText',
      'tool.started core/fs.readText',
      'tool.failed core/fs.readText',
      'tool.failed core/exec.run',
    ])
    expect(live[1]).toMatchObject({ callId: written.callId, status: 'ok', summary: written.summary })
    expect(live[5]).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' } })
    expect(live[6]).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } })
    const recorded = (await record('events.jsonl')).flatMap((line) => toToolEvents(line as never))
    expect(names(recorded)).toEqual(names(live))
  })

  it('a run has its logs, its events, and the folders workspace, deliverables and archive', async () => {
    const folder = temporaryFolder('run-files')
    const runs = join(folder, 'runs')
    const hub: Hub = createToolHub({ runs, data: join(folder, 'data'), run: 'run-1' })
    onTestFinished(() => hub.close({ abort: true }))
    const write = (path: string, content: string) => hub.callDynamic('write_file', { path, content })
    expect(await write('draft.md', 'a draft')).toMatchObject({ ok: true })
    expect(await write('../deliverables/report.md', 'the report')).toMatchObject({ ok: true })
    expect(await write(join(runs, 'run-1', 'deliverables', 'parts', 'a.md'), 'a part')).toMatchObject({ ok: true })
    expect(await hub.callDynamic('core/fs.copy', { from: 'draft.md', to: '../deliverables/draft.md' })).toMatchObject({
      ok: true,
    })
    expect((await hub.callDynamic('read_file', { path: '../deliverables/report.md' })).data).toMatchObject({
      text: 'the report',
    })
    const explained = await hub.explain('write_file', { path: '../deliverables/new.md', content: '' }, { run: 'run-2' })
    expect(explained).toMatchObject({ effect: 'allow', targets: [{ value: join(runs, 'run-2/deliverables/new.md') }] })
    // Nothing else beside the workspace, and no other run.
    for (const path of ['../archive/x', '../deliverables/../logs/x', '../x', '../../run-2/deliverables/x'])
      expect((await write(path, 'x')).error?.code, path).toBe('PATH_OUTSIDE_SANDBOX')
    await hub.callDynamic('write_memory', { content: 'a note', scope: 'run', tags: [] })
    await hub.endRun('run-1')
    const file = (name: string) => readFileSync(join(runs, 'run-1', name), 'utf8')
    expect(file('workspace/draft.md')).toBe('a draft')
    expect(readdirSync(join(runs, 'run-1', 'deliverables')).sort()).toEqual(['draft.md', 'parts', 'report.md'])
    expect(file('deliverables/report.md')).toBe('the report')
    expect(readdirSync(join(runs, 'run-1'))).toEqual(expect.arrayContaining(['archive', 'deliverables', 'workspace']))
    expect(jsonLines(file('logs/tools.jsonl'))).toHaveLength(10)
    expect(jsonLines(file('logs/errors.jsonl')).length).toBeGreaterThanOrEqual(4)
    expect(jsonLines(file('events.jsonl')).at(-1)).toMatchObject({ type: 'run-closed' })
  })

  it('deliverables of a run can be written also where the owner names a root', async () => {
    const folder = realpathSync(temporaryFolder('run-files'))
    const root = join(folder, 'project')
    mkdirSync(join(folder, 'deliverables'), { recursive: true })
    mkdirSync(root)
    // The records may lie in the root, as they do from the command line.
    for (const runs of [join(folder, 'runs'), join(root, 'runs')]) {
      const hub: Hub = createToolHub({ runs, data: join(folder, 'data'), run: 'run-1', sandbox: { root } })
      onTestFinished(() => hub.close({ abort: true }))
      const results = join(runs, 'run-1/deliverables')
      const write = (path: string, content: string, run = 'run-1') =>
        hub.callDynamic('write_file', { path, content }, { run })
      const report = join(results, 'parts/report.md')
      expect(await hub.explain('write_file', { path: report, content: '' })).toMatchObject({
        effect: 'allow',
        targets: [{ value: report }],
      })
      expect((await write('draft.md', 'a draft')).ok).toBe(true)
      expect((await write(report, 'the report')).ok).toBe(true)
      expect((await hub.callDynamic('read_file', { path: report })).data).toMatchObject({ text: 'the report' })
      const copied = await hub.callDynamic('core/fs.copy', { from: 'draft.md', to: join(results, 'draft.md') })
      expect(copied.ok).toBe(true)
      expect(readFileSync(report, 'utf8')).toBe('the report')
      expect(readdirSync(results).sort()).toEqual(['draft.md', 'parts'])
      // No other run has them, nothing else of the run can be reached, and a folder beside the root is not meant.
      expect((await write(join(results, 'other.md'), 'x', 'run-2')).ok).toBe(false)
      for (const path of [
        join(results, '../logs/x'),
        join(runs, 'run-1/archive/x'),
        join(runs, 'run-2/deliverables/x'),
      ])
        expect((await write(path, 'x')).ok, path).toBe(false)
      const beside = await write('../deliverables/x.md', 'x')
      expect(beside.error).toMatchObject({
        code: 'PATH_OUTSIDE_SANDBOX',
        fix: { hint: expect.stringContaining(results) },
      })
      expect(readdirSync(join(folder, 'deliverables'))).toEqual([])
      expect(await hub.undo({ call: copied.callId })).toMatchObject({ ok: true })
      expect(readdirSync(results)).toEqual(['parts'])
      rmSync(join(root, 'draft.md'))
      await hub.close()
    }
  })
})
