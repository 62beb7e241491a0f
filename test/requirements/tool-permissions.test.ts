import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  expandToolGroups,
  type HistoryEntry,
  type Hub,
  isToolAllowedByPolicy,
  normalizeToolName,
  type SessionWork,
  TOOL_GROUPS,
  type ToolResult,
} from '../../packages/library/src/index.ts'
import { startCli } from '../support/cli.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The groups of the document. */
const GROUPS = {
  'group:fs': ['read', 'write', 'edit', 'apply_patch'],
  'group:runtime': ['exec', 'process'],
  'group:web': ['web_search', 'web_fetch'],
  'group:sessions': ['sessions_list', 'sessions_send', 'sessions_spawn'],
  'group:messaging': ['message'],
}

/** The configuration of the document, word for word. */
const CONFIG = `{
  tools: {
    profile: "coding",  // minimal, coding, messaging, full
    allow: ["group:fs", "group:runtime"],
    deny: ["exec"]
  }
}
`

const namesOf = (hub: Hub) => hub.cards({ dialect: 'coding' }).map(({ name }) => name)

describe('the tool policy of an abstraction layer', () => {
  it('the five groups stand for the tools of the table, in allow and in deny', () => {
    expect(TOOL_GROUPS).toMatchObject(GROUPS)
    const all = namesOf(realHub().hub)
    for (const [group, tools] of Object.entries(GROUPS)) {
      expect(expandToolGroups([group])).toEqual(tools)
      expect(namesOf(realHub({ visibility: { allow: [group] } }).hub).sort()).toEqual([...tools].sort())
      const left = namesOf(realHub({ visibility: { deny: [group] } }).hub)
      expect(left).toEqual(all.filter((name) => !tools.includes(name)))
    }
  })

  it('the configuration with profile, allow and deny is read as JSON5 and holds for every call', async () => {
    const folder = temporaryFolder('tool-policy')
    writeFileSync(join(folder, 'tool-hub.json5'), CONFIG)
    writeFileSync(join(folder, 'a.txt'), 'the text')
    const cli = async (...words: string[]) => {
      const { child, ended } = startCli(folder, words)
      child.stdin.end()
      return ended
    }
    const listed = await cli('list', '--json')
    const shown = JSON.parse(listed.stdout) as { dialectNames: string[] }[]
    expect(shown.map(({ dialectNames }) => dialectNames[0])).toEqual([
      'process',
      'apply_patch',
      'edit',
      'read',
      'write',
    ])
    const read = await cli('call', 'read', '{"path":"a.txt"}', '--root', folder)
    expect([read.code, read.stdout]).toEqual([0, expect.stringContaining('the text')])
    for (const [tool, input] of [
      ['exec', '{"command":"touch made"}'],
      ['web_fetch', '{"url":"http://example.org/"}'],
    ] as const) {
      const refused = await cli('call', tool, input, '--json', '--root', folder)
      expect(refused.code).not.toBe(0)
      expect(JSON.parse(refused.stdout).error.code).toBe('TOOL_DISABLED')
    }
    expect(existsSync(join(folder, 'made'))).toBe(false)
  })

  it('the profiles show the tools of the table', async () => {
    const hubOf = (profile: 'minimal' | 'coding' | 'messaging' | 'full') => realHub({ visibility: { profile } }).hub
    expect(namesOf(hubOf('minimal'))).toEqual(['session_status'])
    const coding = hubOf('coding')
    const documented = [...GROUPS['group:fs'], ...GROUPS['group:runtime'], ...GROUPS['group:sessions']]
    expect(namesOf(coding)).toEqual(expect.arrayContaining(documented))
    const areas = coding.list().map(({ name }) => name.split('.')[0])
    expect([...new Set(areas)].sort()).toEqual(['core/exec', 'core/fs', 'core/session'])
    const queries = ['sessions_list', 'sessions_history', 'session_status']
    expect(namesOf(hubOf('messaging')).sort()).toEqual([...GROUPS['group:messaging'], ...queries].sort())
    const full = hubOf('full')
    expect(full.list().map(({ name }) => name)).toEqual(full.registry.list().map(({ name }) => name))
    expect(namesOf(full)).toEqual(expect.arrayContaining([...Object.values(GROUPS).flat(), ...queries]))
    const message = { channel: 'console', text: 'Done.' }
    expect((await coding.callDynamic('message', message)).error?.code).toBe('TOOL_DISABLED')
    expect((await hubOf('messaging').callDynamic('message', message)).ok).toBe(true)
  })

  it('isToolAllowedByPolicy: normalised names, deny first, then an exclusive allow, else allowed', async () => {
    const policy = { allow: ['group:fs', 'group:runtime'], deny: ['exec'] }
    const verdicts = { read: true, apply_patch: true, process: true, exec: false, message: false, web_fetch: false }
    for (const [tool, verdict] of Object.entries(verdicts))
      expect([tool, isToolAllowedByPolicy(tool, policy)]).toEqual([tool, verdict])
    expect(normalizeToolName(' Exec ')).toBe('exec')
    expect(isToolAllowedByPolicy(' EXEC ', policy)).toBe(false)
    expect(isToolAllowedByPolicy(' Read ', policy)).toBe(true)
    for (const open of [{}, { allow: [] }, { deny: ['exec'] }])
      expect(isToolAllowedByPolicy('my_tool', open)).toBe(true)
    // The document expands groups in allow only; a deny that names a group and hides nothing would be a trap.
    expect(isToolAllowedByPolicy('exec', { allow: ['exec'], deny: ['group:runtime'] })).toBe(false)
    const { call } = realHub({ visibility: policy, policy: [{ allow: 'exec' }] }, { 'a.txt': 'a' })
    expect((await call('read', { path: 'a.txt' })).ok).toBe(true)
    for (const [tool, input] of [
      ['exec', { command: 'true' }],
      ['message', { channel: 'console', text: 'x' }],
    ] as const)
      expect((await call(tool, input)).error?.code, tool).toBe('TOOL_DISABLED')
  })

  it('permission, then parameters, then execution, then the session history has the call', async () => {
    const results: ToolResult[] = []
    const run = async ({ call }: SessionWork) => {
      // The parameters of the first call are wrong, too: permission comes before them.
      results.push(await call('exec', { cmd: 'touch made' }))
      results.push(await call('write', { path: 'new.txt', content: 'x', mode: 7 }))
      results.push(await call('read', { path: 'a.txt' }))
      results.push(await call('read', { path: 'missing.txt' }))
      return 'done'
    }
    const { data, root } = realHub(
      { visibility: { deny: ['exec'] }, sessions: { runners: { default: { run } } }, policy: [{ allow: 'session' }] },
      { 'a.txt': 'the text' },
    )
    await data('sessions_spawn', { task: 'Look around.', label: 'worker', waitMs: 60_000 })
    const outcomes = results.map(({ ok, error }) => (ok ? 'ok' : error?.code))
    expect(outcomes).toEqual(['TOOL_DISABLED', 'INPUT_SCHEMA_INVALID', 'ok', 'NOT_FOUND'])
    expect(existsSync(join(root, 'new.txt'))).toBe(false)
    const { entries } = (await data('sessions_history', { session: 'worker' })) as { entries: HistoryEntry[] }
    const calls = entries.flatMap((entry) => (entry.type === 'call' ? [entry] : []))
    expect(calls.map(({ callId, tool }) => [callId, tool])).toEqual(results.map(({ callId, tool }) => [callId, tool]))
    expect(calls.map(({ status }) => status)).toEqual(results.map(({ status }) => status))
    expect(calls[2]).toMatchObject({ tool: 'core/fs.readText', summary: results[2]!.summary })
  })

  it('each tool has permissions of its own, and a call without one does nothing', async () => {
    const asked: string[] = []
    const { call, root } = realHub(
      {
        policy: [
          { allow: 'exec', on: ['echo *'] },
          { deny: 'edit', reason: 'Files are written whole.' },
          { ask: 'write' },
        ],
        approve: ({ tool, input }) => {
          asked.push(tool)
          const { path } = input as { path: string }
          return path === 'good.txt' ? { decision: 'allow' } : { decision: 'deny', reason: 'not this one' }
        },
      },
      { 'a.txt': 'one' },
    )
    expect((await call('read', { path: 'a.txt' })).ok).toBe(true)
    expect((await call('exec', { command: 'echo hi' })).ok).toBe(true)
    expect((await call('exec', { command: 'touch made' })).error?.code).toBe('POLICY_DENIED')
    const edited = await call('edit', { path: 'a.txt', oldString: 'one', newString: 'two' })
    expect(edited.error).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining('Files are written whole.'),
    })
    expect((await call('write', { path: 'good.txt', content: 'x' })).ok).toBe(true)
    expect((await call('write', { path: 'bad.txt', content: 'x' })).error?.code).toBe('APPROVAL_DENIED')
    expect(asked).toEqual(['core/fs.writeText', 'core/fs.writeText'])
    const files = ['made', 'good.txt', 'bad.txt'].map((name) => existsSync(join(root, name)))
    expect(files).toEqual([false, true, false])
  })
})
