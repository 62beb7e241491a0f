import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ToolEvent, toToolEvents } from '../../packages/library/src/index.ts'
import { startCli } from '../support/cli.ts'
import { configuredHub, skillText } from '../support/configured-hub.ts'
import { startJsonServer } from '../support/json-server.ts'

const FILES = {
  'skills/report/SKILL.md': skillText('report', 'Begin with a heading.', 'allowed-tools: Bash\n'),
}

describe('the tool system as a whole', () => {
  it('work is done by tools, in a sandbox, with memory, and can be audited', async () => {
    const config = `skills: [./skills]
memory: { enabled: true, provider: embedded, write_mode: candidate }
policy: [{ allow: exec, on: ["wc *"] }]
`
    const { hub, call, folder, read } = await configuredHub(config, FILES)
    // Memory-aware context: what a person has accepted of an earlier run is there in the next one.
    const earlier = { run: 'earlier' }
    await call('write_memory', { content: 'Reports are for Ada.', scope: 'agent', tags: ['report'] }, earlier)
    for (const { id } of await hub.memory.candidates()) await hub.memory.promote(id, { by: 'ada' })
    await hub.endRun('earlier')
    const recalled = await call('recall_memory', { query: 'reports', scope: 'agent', limit: 3 })
    expect(recalled.data).toMatchObject({ notes: [{ content: 'Reports are for Ada.' }] })
    // Action by tools, in the sandbox of the run.
    expect(JSON.stringify((await call('load_skill', { skill_id: 'report' })).content)).toContain(
      'Begin with a heading.',
    )
    expect((await call('write_file', { path: 'draft.md', content: '# For Ada\nAll is well.\n' })).ok).toBe(true)
    expect((await call('run_shell', { command: 'wc -l draft.md' })).data).toMatchObject({ stdout: '2 draft.md\n' })
    const handed = await call('core/fs.copy', { from: 'draft.md', to: '../deliverables/report.md' })
    expect(handed.ok).toBe(true)
    // Governance: nothing leaves the sandbox, and no other command runs.
    const escaped = await call('write_file', { path: join(folder, 'skills/report/SKILL.md'), content: 'x' })
    expect(escaped.ok).toBe(false)
    expect(read('skills/report/SKILL.md')).toBe(FILES['skills/report/SKILL.md'])
    expect((await call('run_shell', { command: 'wc -l draft.md; rm draft.md' })).ok).toBe(false)
    // An auditable delivery: the record names what was delivered, and proves that nobody has changed it.
    const { run } = hub
    await hub.close()
    expect(read(`runs/${run}/deliverables/report.md`)).toBe('# For Ada\nAll is well.\n')
    expect(read(`runs/${run}/workspace/draft.md`)).toBe('# For Ada\nAll is well.\n')
    expect(read(`runs/${run}/logs/tools.jsonl`)).toContain('../deliverables/report.md')
    const verified = await startCli(folder, ['audit', 'verify', run]).ended
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([0, expect.stringContaining('intact')])
  })

  it('every criterion of acceptance holds for a hub from a config, without a model', async () => {
    const kept: { content: string }[] = []
    const server = await startJsonServer((path, body: { id: string; content: string }) => {
      if (path === '/v1/recall') return { json: { notes: kept } }
      kept.push(body)
      return { json: { id: body.id } }
    })
    onTestFinished(() => server.close())
    const config = `sandbox: { root: ./project }
skills: [./skills]
memory: { enabled: true, provider: external, url: "${server.url}/v1" }
tools:
  allow: [read_file, write_file, list_files, grep_files, list_skills, load_skill, recall_memory, write_memory, run_shell]
policy:
  - { allow: exec, on: ["cat *"] }
`
    const long = 'one line of a long report\n'.repeat(9_000)
    const { hub, call, folder, record } = await configuredHub(config, { ...FILES, 'project/long.txt': long })
    const events: ToolEvent[] = []
    hub.onEvent((event) => events.push(...toToolEvents(event)))

    // The runtime builds toolsets from the config.
    expect(hub.list().map(({ name }) => name)).toEqual([
      'core/exec.run',
      ...['core/fs.listDir', 'core/fs.readText', 'core/fs.searchText', 'core/fs.writeText'],
      ...['core/memory.recall', 'core/memory.write', 'core/skill.list', 'core/skill.load'],
    ])
    // Filesystem tools enforce the boundaries of the sandbox.
    for (const [tool, input] of [
      ['read_file', { path: '../tool-hub.yaml' }],
      ['write_file', { path: '../out.txt', content: 'x' }],
      ['list_files', { path: '..' }],
      ['grep_files', { pattern: 'x', path: '..' }],
    ] as const)
      expect([tool, (await call(tool, input)).error?.code]).toEqual([tool, 'PATH_OUTSIDE_SANDBOX'])
    expect(existsSync(join(folder, 'out.txt'))).toBe(false)
    // Skill tools offer list and load.
    expect((await call('list_skills')).data).toMatchObject({ skills: [{ id: 'report' }] })
    expect((await call('load_skill', { skill_id: 'report' })).ok).toBe(true)
    // The mode of memory is explicit, candidate by default, and memory is reached by an external contract.
    expect(await hub.memory.status()).toMatchObject({ enabled: true, writeMode: 'candidate' })
    const note = { content: 'Ada reads reports.', scope: 'agent', tags: [] }
    expect((await call('write_memory', note)).data).toMatchObject({ state: 'candidate' })
    expect(kept).toEqual([])
    for (const { id } of await hub.memory.candidates()) await hub.memory.promote(id, { by: 'ada' })
    expect(kept).toMatchObject([{ content: note.content }])
    const recalled = await call('recall_memory', { query: 'reports', scope: 'agent', limit: 1 })
    expect(recalled.data).toMatchObject({ notes: [{ content: note.content }] })
    // Dangerous tools are off, and rejections are explicit; the effective policy is computed and can be asked.
    for (const [tool, input] of [
      ['run_shell', { command: 'rm long.txt' }],
      ['write_file', { path: 'long.txt', content: '' }],
    ] as const) {
      const { status, error } = await call(tool, input)
      const { effect, reason } = await hub.explain(tool, input)
      expect([tool, status === 'ok', effect === 'allow']).toEqual([tool, false, false])
      expect(error?.message.length).toBeGreaterThan(10)
      expect(error?.fix.hint).toMatch(/\w+/)
      expect(reason).toMatch(/\w+/)
    }
    expect(readdirSync(join(folder, 'project'))).toEqual(['long.txt'])
    // Large outputs are summarised.
    const { content, artifacts, summary } = await call('run_shell', { command: 'cat long.txt' })
    expect(JSON.stringify(content).length).toBeLessThan(35_000)
    expect([artifacts.length > 0, summary.length <= 200]).toEqual([true, true])
    // Calls are recorded with their duration and status.
    const logged = await record('logs/tools.jsonl')
    expect(logged).toHaveLength(11)
    for (const line of logged)
      expect(line).toMatchObject({ durationMs: expect.any(Number), status: expect.stringMatching(/^[a-z_]+$/) })
    const ends = events.filter(({ type }) => type !== 'tool.started')
    expect(logged.map(({ callId }) => callId)).toEqual(ends.map(({ callId }) => callId))
  })
})
