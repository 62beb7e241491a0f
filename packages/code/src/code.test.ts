import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import type { ScriptResult } from './types.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** The result of a script. The call of one that failed has it, too; any other failure has none. */
function shown({ ok, error, script }: { ok: boolean; error?: unknown; script?: ScriptResult }): ScriptResult {
  if (script === undefined || (!ok && script.status !== 'failed')) throw error
  return script
}

/** A hub on a folder; several hubs on one folder are like several processes. */
function open(options: HubOptions = {}, folder = temporaryFolder('code')) {
  const done: string[] = []
  const act = defineTool({
    name: 'test.act',
    description: 'Does something that cannot be undone.',
    input: z.strictObject({ what: z.string(), fails: z.boolean().optional() }),
    output: z.strictObject({ did: z.string(), padding: z.string() }),
    capabilities: ['remote'],
    targets: ({ what }) => ({ remote: `act:${what}` }),
    results: 'own',
    execute: ({ what, fails }) => {
      if (fails) throw new Error('It is broken.')
      done.push(what)
      return { did: what, padding: what.startsWith('long') ? 'x'.repeat(5_000) : '' }
    },
  })
  const hub = createToolHub({
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    store: openStore(join(folder, 'store')),
    tools: [act],
    policy: [{ allow: 'remote' }, { ask: 'remote', on: 'act:ask*' }, { deny: 'remote', on: 'act:deny*' }],
    approvals: { inbox: true },
    code: { suspendAfterMs: 0 },
    ...options,
  })
  closing.push(() => hub.close())
  const call = async (tool: string, input: object, more: object = {}) => {
    const result = await hub.callDynamic(tool, input, { run: 'r1', caller: 'agent', ...more })
    return { ...result, script: result.data as ScriptResult }
  }
  const run = async (code: string, input: unknown = null, more: object = {}) =>
    (await call('core/code.run', { code, input, ...more })).script
  const wait = async (script: string, timeoutMs = 60_000) => shown(await call('core/code.wait', { script, timeoutMs }))
  const answer = async (approvals: readonly string[] = [], decision: 'allow' | 'deny' = 'allow') => {
    for (const id of approvals) await hub.approvals.answer(id, { decision, by: 'ada' })
  }
  const lines = () =>
    readFileSync(join(folder, 'runs', 'r1', 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  return { hub, folder, done, call, run, wait, answer, lines }
}

describe('a script', () => {
  it('gets the values of its calls, and returns its own', async () => {
    const { run, done } = open()
    const result = await run(
      `const all = await Promise.all(input.map((what) => tools.test.act({ what })))
       console.log('made', all.length)
       all.map(({ did }) => did.toUpperCase())`,
      ['a', 'b'],
    )
    expect(result).toMatchObject({ status: 'completed', value: ['A', 'B'], logs: ['made 2'], usage: { calls: 2 } })
    expect(result.calls.map(({ seq, tool, status, line }) => [seq, tool, status, line])).toEqual([
      [1, 'test.act', 'ok', 1],
      [2, 'test.act', 'ok', 1],
    ])
    expect(done).toEqual(['a', 'b'])
  })

  it('is summarised for people by what became of it', async () => {
    const { call } = open()
    const summaryOf = async (tool: string, input: object) => (await call(tool, input)).summary
    expect(await summaryOf('core/code.run', { code: "await tools.test.act({ what: 'a' })" })).toBe(
      'Run a script: completed after 1 call',
    )
    expect(await summaryOf('core/code.run', { code: '\nthrow 1' })).toMatch(/^The script failed with SCRIPT_ERROR/)
    const suspended = await call('core/code.run', { code: "await tools.test.act({ what: 'ask a' })" })
    expect(suspended).toMatchObject({ ok: true, status: 'pending' })
    const { script } = suspended
    expect(await summaryOf('core/code.wait', { script: script.script, timeoutMs: 0 })).toBe(
      `Wait for a script: ${script.script}, suspended, 1 call to approve`,
    )
    expect(await summaryOf('core/code.cancel', { script: script.script })).toMatch(/, cancelled after 0 calls$/)
  })

  it('may be TypeScript, and return', async () => {
    const { run } = open()
    const code = 'const add = (a: number, b: number): number => a + b\nreturn add(1, 2)'
    expect(await run(code)).toMatchObject({ status: 'completed', value: 3 })
  })

  it('is recorded with its calls, which name it, their place in it and their caller', async () => {
    const { call, lines, hub } = open()
    const { script } = await call('core/code.run', { code: "\nawait tools.test.act({ what: 'a' })" })
    await hub.endRun('r1')
    const ended = lines().filter(({ type }) => type === 'call-started' || type === 'call-ended')
    const inner = ended.find(({ tool, caller }) => tool === 'test.act' && caller)
    expect(inner).toMatchObject({
      callId: `${script.script}.1`,
      parent: script.script,
      via: 'script',
      caller: 'agent',
      script: { id: script.script, seq: 1, line: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  it('catches the failures of its calls, with code and hint', async () => {
    const { run } = open()
    const result = await run(
      `const codes = []
       for (const input of [{ what: 'deny' }, { what: 'x', fails: true }, { wrong: 1 }])
         await tools.test.act(input).catch(({ code, message, hint }) => codes.push([code, typeof message, typeof hint]))
       codes`,
    )
    expect(result.value).toEqual([
      ['POLICY_DENIED', 'string', 'string'],
      ['TOOL_FAILED', 'string', 'string'],
      ['INPUT_SCHEMA_INVALID', 'string', 'string'],
    ])
  })

  it.each([
    [
      'an uncaught denial',
      "await tools.test.act({ what: 'a' })\nawait tools.test.act({ what: 'deny' })",
      'POLICY_DENIED',
      2,
    ],
    ['an invented denial', "throw Object.assign(new Error('no'), { code: 'POLICY_DENIED' })", 'SCRIPT_ERROR', 1],
    ['a syntax error', 'const a = 1\nconst = 2', 'SYNTAX', 2],
    ['an unknown tool', '\n\nawait tools.test.akt({})', 'SCRIPT_ERROR', 3],
    ['something that is not JSON', 'return { f() {} }', 'SCRIPT_ERROR', undefined],
    ['something thrown that is not an error', 'throw 5', 'SCRIPT_ERROR', undefined],
  ])('says what failed, and which calls were made, after %s', async (_, code, kind, line) => {
    const { call } = open()
    const { script, content } = await call('core/code.run', { code })
    expect(script).toMatchObject({ status: 'failed', kind, ...(line !== undefined && { line }) })
    expect(script.message).not.toMatch(/src\/features|node_modules|worker/)
    expect(content[0]).toMatchObject({ text: expect.stringContaining(`failed with ${kind}`) })
    expect(script.calls.filter(({ status }) => status === 'ok')).toHaveLength(kind === 'POLICY_DENIED' ? 1 : 0)
  })

  it('that fails is a failed call, whose data is what became of it', async () => {
    const { call, lines, hub } = open()
    const thrown = await call('core/code.run', { code: "await tools.test.act({ what: 'a' })\nthrow new Error('no')" })
    expect(thrown).toMatchObject({ ok: false, status: 'error', error: { code: 'TOOL_FAILED', retryable: false } })
    expect(thrown.error?.message).toContain('SCRIPT_ERROR (line 2, column')
    expect(thrown.data).toMatchObject({ status: 'failed', calls: [{ tool: 'test.act', status: 'ok' }] })
    const denied = await call('core/code.run', { code: "await tools.test.act({ what: 'deny' })" })
    expect(denied).toMatchObject({ ok: false, status: 'denied', error: { code: 'POLICY_DENIED' } })
    const slow = await call('core/code.run', { code: 'for (;;) {}', timeoutMs: 100 })
    expect(slow).toMatchObject({ ok: false, status: 'timeout', error: { code: 'TIMEOUT', retryable: false } })
    await hub.endRun('r1')
    const ended = lines().filter(({ type, tool }) => type === 'call-ended' && tool === 'core/code.run')
    expect(ended.map(({ status }) => status)).toEqual(['error', 'denied', 'timeout'])
  })

  it('refers to its calls as evidence', async () => {
    const { call } = open()
    const result = await call('core/code.run', {
      code: "for (const what of ['a', 'b']) await tools.test.act({ what })",
    })
    const { callId } = result
    expect(result.evidence).toEqual([
      { type: 'tool', ref: callId, summary: 'completed after 2 calls' },
      { type: 'tool', ref: `${callId}.1`, summary: 'test.act in line 1: ok' },
      { type: 'tool', ref: `${callId}.2`, summary: 'test.act in line 1: ok' },
    ])
  })

  it('reads the output of a command that fails, in the error and in its message', async () => {
    const folder = temporaryFolder('code-command')
    const { call } = open({ sandbox: { root: folder }, policy: [{ allow: 'exec' }] })
    const command = "seq 1 5000; echo 'what went wrong' >&2; exit 7"
    const caught = await call('core/code.run', {
      code: `try { await tools.core.exec.run(input) } catch ({ code, data, message }) { [code, data.exitCode, data.stderr, message] }`,
      input: { command },
    })
    const [code, exitCode, stderr, message] = caught.script.value as [string, number, string, string]
    expect([code, exitCode, stderr]).toEqual(['EXEC_FAILED', 7, 'what went wrong\n'])
    expect(message).toMatch(/exit code 7[\s\S]*\n1\n2\n[\s\S]*characters cut[\s\S]*what went wrong/)
    expect(message.length).toBeLessThan(4_000)
    const uncaught = await call('core/code.run', { code: 'await tools.bash(input)', input: { command } })
    expect(uncaught).toMatchObject({ ok: false, script: { calls: [{ tool: 'core/exec.run', status: 'error' }] } })
    expect(uncaught.error?.message).toContain('what went wrong')
  })

  it('calls tools by the names of their dialects, with the arguments of those', async () => {
    const folder = temporaryFolder('code-dialects')
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n')
    const { call, hub } = open({ sandbox: { root: folder }, policy: [{ allow: 'exec' }] })
    const code = `const { matches } = await tools.grep({ pattern: 'tw.', path: '.' })
      const { text } = await tools.read({ file_path: 'a.txt' })
      const { stdout } = await tools.bash({ command: 'cat a.txt' })
      return [matches.length, text, stdout]`
    const { script } = await call('core/code.run', { code })
    expect(script).toMatchObject({ status: 'completed', value: [1, 'one\ntwo', 'one\ntwo\n'] })
    expect(script.calls.map(({ tool }) => tool)).toEqual(['core/fs.searchText', 'core/fs.readText', 'core/exec.run'])
    const wrong = await call('core/code.run', { code: 'tools.grpe' })
    expect(wrong.error?.message).toContain('tools.grep')
    const declarations = await hub.code.declarations()
    expect(declarations).toMatch(/^ {2}grep\(input: \{.*pattern: string/m)
    expect(declarations).toMatch(/^ {2}bash\(input: \{.*command: string/m)
    const few = open({ visibility: { allow: ['core/fs.readText', 'core/code.run'] } })
    expect((await few.run('Object.keys(tools)')).value).not.toContain('grep')
  })

  it('sees only the tools that its caller sees, and runs no scripts itself', async () => {
    const { run } = open({ visibility: { allow: ['test.act', 'core/code.run'] } })
    expect((await run('[Object.keys(tools), Object.keys(tools.test)]')).value).toEqual([['test'], ['act']])
  })

  it('has its own limits, within those of the owner', async () => {
    const { run } = open({ code: { maxCalls: 2 } })
    const code = "for (const what of ['a', 'b', 'c']) await tools.test.act({ what })"
    expect(await run(code)).toMatchObject({ status: 'failed', kind: 'CALL_BUDGET' })
    expect(await run(code, null, { maxCalls: 100 })).toMatchObject({ kind: 'CALL_BUDGET' })
    expect(await run('for (;;) {}', null, { timeoutMs: 100 })).toMatchObject({ kind: 'TIMEOUT' })
  })

  it('ends with its call', async () => {
    const { call, done } = open()
    const stop = new AbortController()
    const code = "await tools.test.act({ what: 'a' }); for (;;) {}"
    const events: string[] = []
    const onEvent = ({ type }: { type: string }) => events.push(type)
    const running = call('core/code.run', { code: `console.log('on')\n${code}` }, { signal: stop.signal, onEvent })
    await expect.poll(() => events.includes('call-progressed') && done.length === 1).toBe(true)
    stop.abort()
    expect(await running).toMatchObject({ ok: false, error: { code: 'ABORTED' } })
  })

  it('is not run if the owner has turned scripts off', async () => {
    const { call } = open({ code: { enabled: false } })
    expect((await call('core/code.run', { code: '1' })).error).toMatchObject({ code: 'TOOL_DISABLED' })
  })
})

const THREE = `const first = await tools.test.act({ what: 'long first' })
const [second, third] = await Promise.all([tools.test.act({ what: 'ask second' }), tools.test.act({ what: 'third' })])
console.log('on')
const random = Math.random()
const fourth = await tools.test.act({ what: \`fourth \${random} \${Date.now()} \${first.padding.length}\` })
return [first.did, second.did, third.did, fourth.did]`

describe('a script whose calls need approval', () => {
  it('is suspended, and continues where it was in another process when somebody has answered', async () => {
    const { hub, folder, run, done } = open()
    const result = await run(THREE)
    expect(result).toMatchObject({ status: 'suspended', approvals: [`approval-${result.script}.2`] })
    expect(result.calls.map(({ status }) => status)).toEqual(['ok', 'waiting for an approval', 'ok'])
    expect(done).toEqual(['long first', 'third'])
    await hub.close()
    const other = open({}, folder)
    await other.answer(result.approvals)
    const ended = await other.wait(result.script)
    expect(ended).toMatchObject({
      status: 'completed',
      value: ['long first', 'ask second', 'third', expect.any(String)],
    })
    expect(ended.logs).toEqual(['on'])
    expect(ended.value).toMatchObject({ 3: expect.stringMatching(/^fourth 0\.\d+ \d+ 5000$/) })
    expect(other.done).toEqual(['ask second', expect.stringMatching(/^fourth/)])
    expect(ended.calls.map(({ seq, status }) => [seq, status])).toEqual([1, 2, 3, 4].map((seq) => [seq, 'ok']))
  })

  it('waits in place for a moment first', async () => {
    const { hub, run } = open({ code: { suspendAfterMs: 60_000 } })
    hub.approvals.watch(({ id }) => void hub.approvals.reply(id, { decision: 'allow', by: 'ada' }))
    expect(await run(THREE)).toMatchObject({ status: 'completed' })
  })

  it('asks once for everything that it waits for, and says where in the script', async () => {
    const { hub, run, wait, answer } = open()
    const result = await run(
      "await Promise.all([tools.test.act({ what: 'ask a' }),\ntools.test.act({ what: 'ask b' })])",
    )
    expect(result.approvals).toHaveLength(2)
    const pending = await hub.approvals.list()
    expect(pending.map(({ script }) => [script?.id, script?.seq, script?.line])).toEqual([
      [result.script, 1, 1],
      [result.script, 2, 2],
    ])
    expect(await wait(result.script, 0)).toMatchObject({ status: 'suspended', approvals: result.approvals })
    await answer(result.approvals)
    expect(await wait(result.script)).toMatchObject({ status: 'completed' })
  })

  it('is stored for the approvers before they are asked, once for all of its calls', async () => {
    const { hub, call } = open({ code: { suspendAfterMs: 60_000 } })
    const code = "await Promise.all(['ask a', 'ask b'].map((what) => tools.test.act({ what })))"
    const seen: string[] = []
    hub.approvals.watch(async ({ id, script }) => {
      seen.push(Buffer.from(await hub.artifact(script!.source!, { run: 'r1' })).toString())
      await hub.approvals.reply(id, { decision: 'allow', by: 'ada' })
    })
    const { script, artifacts } = await call('core/code.run', { code })
    expect(script.status).toBe('completed')
    expect(seen).toEqual([code, code])
    expect(artifacts.map(({ name }) => name)).toEqual(['script.ts'])
  })

  it('is shown to approvers without its secrets', async () => {
    const { hub, run } = open({ secrets: { key: { value: 'hunter2-hunter2', hosts: ['example.org'] } } })
    const seen: string[] = []
    hub.approvals.watch(async ({ id, script }) => {
      seen.push(Buffer.from(await hub.artifact(script!.source!, { run: 'r1' })).toString())
      await hub.approvals.reply(id, { decision: 'deny', by: 'ada' })
    })
    await run("await tools.test.act({ what: 'ask a' })\n// hunter2-hunter2")
    expect(seen).toEqual([expect.stringMatching(/^await tools.*\n\/\/ (?!hunter2)/)])
  })

  it('asks without its source if it cannot be stored', async () => {
    const { hub, run } = open({ runs: false })
    const seen: unknown[] = []
    hub.approvals.watch(({ id, script }) => {
      seen.push(script)
      void hub.approvals.reply(id, { decision: 'allow', by: 'ada' })
    })
    expect(await run("await tools.test.act({ what: 'ask a' })")).toMatchObject({ status: 'completed' })
    expect(seen).toEqual([{ id: expect.any(String), sha256: expect.any(String), seq: 1, line: 1 }])
  })

  it('is suspended again for the next approval, and its result is kept', async () => {
    const { run, wait, answer, done } = open()
    const code = `for (const what of ['ask a', 'ask b', 'ask c']) await tools.test.act({ what })\n'end'`
    let result = await run(code)
    for (let rounds = 0; result.status === 'suspended' && rounds < 5; rounds++) {
      await answer(result.approvals)
      result = await wait(result.script)
    }
    expect(result).toMatchObject({ status: 'completed', value: 'end' })
    expect(done).toEqual(['ask a', 'ask b', 'ask c'])
    expect(await wait(result.script)).toEqual(result)
  })

  it('gets a refusal as an error of the call', async () => {
    const { run, wait, answer, done } = open()
    const caught = await run("return tools.test.act({ what: 'ask a' }).catch(({ code }) => code)")
    await answer(caught.approvals, 'deny')
    expect(await wait(caught.script)).toMatchObject({ status: 'completed', value: 'APPROVAL_DENIED' })
    const thrown = await run("await tools.test.act({ what: 'ask b' })")
    await answer(thrown.approvals, 'deny')
    expect(await wait(thrown.script)).toMatchObject({ status: 'failed', kind: 'APPROVAL_DENIED' })
    expect(done).toEqual([])
  })

  it('is suspended immediately where calls do not wait for answers', async () => {
    const { call, wait, answer } = open({ code: { suspendAfterMs: 60_000 } })
    const code = "return (await tools.test.act({ what: 'ask a' })).did"
    const { script } = await call('core/code.run', { code }, { onAsk: 'return' })
    expect(script.status).toBe('suspended')
    await answer(script.approvals)
    expect(await wait(script.script)).toMatchObject({ value: 'ask a' })
  })

  it('gets an error if nobody can be asked', async () => {
    const { run } = open({ approvals: { inbox: false } })
    expect(await run("return tools.test.act({ what: 'ask a' }).catch(({ code }) => code)")).toMatchObject({
      status: 'completed',
      value: 'APPROVAL_UNAVAILABLE',
    })
  })

  it('can be cancelled, and is then over for everybody', async () => {
    const { call, run, wait, answer, done } = open()
    const { script, approvals } = await run("await tools.test.act({ what: 'ask a' })")
    expect((await call('core/code.cancel', { script })).script).toMatchObject({ script, status: 'cancelled' })
    await answer(approvals).catch(() => {})
    expect(await wait(script)).toMatchObject({ status: 'cancelled' })
    expect(done).toEqual([])
  })

  it('belongs to its run and its principal', async () => {
    const { call, run } = open()
    const { script } = await run("await tools.test.act({ what: 'ask a' })")
    for (const tool of ['core/code.wait', 'core/code.cancel']) {
      const elsewhere = await call(tool, { script }, { run: 'r2' })
      expect(elsewhere.error).toMatchObject({ code: 'NOT_FOUND' })
    }
    expect((await call('core/code.wait', { script: 'nothing' })).error).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is continued by one of those that wait', async () => {
    const { run, wait, answer, done } = open()
    const { script, approvals } = await run("return (await tools.test.act({ what: 'ask a' })).did")
    const waiting = [wait(script), wait(script), wait(script)]
    await answer(approvals)
    for (const result of await Promise.all(waiting))
      expect(result).toMatchObject({ status: 'completed', value: 'ask a' })
    expect(done).toEqual(['ask a'])
  })

  it('waits in place if it holds a secret, which is not stored', async () => {
    const { hub, run, done } = open({ secrets: { key: { value: 'hunter2-hunter2', hosts: ['example.org'] } } })
    hub.approvals.watch(({ id }) => void hub.approvals.reply(id, { decision: 'allow', by: 'ada' }))
    const result = await run("await tools.test.act({ what: 'ask a' })\n// hunter2-hunter2")
    expect(result.status).toBe('completed')
    expect(done).toEqual(['ask a'])
    expect(await hub.code.list()).toEqual([])
  })
})
