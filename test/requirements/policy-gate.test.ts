import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '@tool-hub/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type ApprovalRequest,
  type CallView,
  createExecutor,
  createToolHub,
  type HubOptions,
  type Rule,
} from '../../packages/library/src/index.ts'
import { eventually } from '../support/eventually.ts'
import { POLICY_YAML } from '../support/policy-yaml.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/**
 * A hub of the document's policy.yaml in a folder with these files; `asked` has the commands and tools that it asks about.
 * Its /tmp is a folder of its own: a hub surveys every root before a command, and the real one has the files of all tests.
 */
function withCommands(files: Readonly<Record<string, string>>) {
  return underPolicyYaml(files, POLICY_YAML.replace('/tmp/', `${temporaryFolder('instead-of-tmp')}/`))
}

async function underPolicyYaml(files: Readonly<Record<string, string>>, text = POLICY_YAML) {
  const folder = temporaryFolder('policy')
  for (const [file, content] of Object.entries({ ...files, 'policy.yaml': text }))
    writeFileSync(join(folder, file), content)
  const { options } = await loadConfig({ file: join(folder, 'policy.yaml'), home: temporaryFolder('home') })
  const asked: ApprovalRequest[] = []
  const approve: HubOptions['approve'] = (request) => {
    asked.push(request)
    return { decision: 'deny', reason: 'not now' }
  }
  const hub = createToolHub({ ...options, approve })
  onTestFinished(() => hub.close({ abort: true }))
  const codeOf = async (tool: string, input: object) => (await hub.callDynamic(tool, input)).error?.code ?? 'ok'
  return { hub, folder, asked, codeOf, run: (command: string) => codeOf('run_shell', { command }) }
}

describe('the policy gate of a tool module', () => {
  it('it allows, asks or denies a call of a real tool, and nothing happens unless it allows', async () => {
    const write = async (rules: readonly Rule[], decision?: 'allow' | 'deny') => {
      const approve: HubOptions['approve'] = decision && (() => ({ decision }))
      const { call, root } = realHub({ policy: rules, ...(approve && { approve }) })
      const { status, error } = await call('write_file', { path: 'new.txt', content: 'x' })
      return [status, error?.code, existsSync(join(root, 'new.txt'))]
    }
    expect(await write([{ allow: 'write_file' }])).toEqual(['ok', undefined, true])
    expect(await write([{ ask: 'write_file' }], 'allow')).toEqual(['ok', undefined, true])
    expect(await write([{ ask: 'write_file' }], 'deny')).toEqual(['denied', 'APPROVAL_DENIED', false])
    expect(await write([{ ask: 'write_file' }])).toEqual(['approval_required', expect.any(String), false])
    expect(await write([{ deny: 'write_file' }], 'allow')).toEqual(['denied', 'POLICY_DENIED', false])
    expect(await write([{ deny: 'write_file' }, { allow: 'write_file' }])).toEqual(['denied', 'POLICY_DENIED', false])
  })

  it('Check says action, reason and timeout, and RequestApproval waits for a yes or a no', async () => {
    const policy: Rule[] = [
      { allow: 'read_file', limit: { timeoutMs: 2_500 } },
      { ask: 'write_file', reason: 'a person reads what is written' },
      { deny: 'run_shell', reason: 'no commands here' },
    ]
    const { hub, call, read } = realHub({ policy }, { 'a.txt': 'a' })
    const check = async (tool: string, input: object) => {
      const { effect, reason, decision } = await hub.explain(tool, input)
      return { action: effect, reason, timeout: decision?.constraints.timeoutMs }
    }
    expect(await check('read_file', { path: 'a.txt' })).toMatchObject({ action: 'allow', timeout: 2_500 })
    expect(await check('write_file', { path: 'b.txt', content: 'b' })).toMatchObject({
      action: 'ask',
      reason: 'a person reads what is written',
    })
    expect(await check('run_shell', { command: 'ls' })).toMatchObject({ action: 'deny', reason: 'no commands here' })
    const answers: ('allow' | 'deny')[] = ['allow', 'deny']
    const requests: ApprovalRequest[] = []
    hub.approvals.watch((request) => void requests.push(request))
    for (const decision of answers) {
      const waiting = call('write_file', { path: `${decision}.txt`, content: decision })
      await eventually(() => expect(hub.approvals.list()).toHaveLength(1))
      expect(hub.approvals.reply(hub.approvals.list()[0]!.id, { decision })).toBe(true)
      expect((await waiting).ok).toBe(decision === 'allow')
    }
    expect(requests.map(({ reason }) => reason)).toEqual(Array(2).fill('a person reads what is written'))
    expect(read('allow.txt')).toBe('allow')
    expect(() => read('deny.txt')).toThrow('ENOENT')
  })

  it('a ToolRequest has the tool, its arguments, the id of the call and the goal, for gate and record', async () => {
    const asked: ApprovalRequest[] = []
    const viewed: CallView[] = []
    const { hub, record } = realHub({
      policy: [{ ask: 'write_file' }],
      approve: (request) => {
        asked.push(request)
        return { decision: 'allow' }
      },
      hooks: [{ decide: (call) => void viewed.push(call) }],
    })
    const input = { path: 'a.txt', content: 'x' }
    const call = { id: 'call_7', name: 'write_file', arguments: JSON.stringify(input) }
    expect(await createExecutor(hub, { goalId: 'goal_1' }).execute(call)).toMatchObject({ tool_call_id: 'call_7' })
    const request = { tool: 'core/fs.writeText', requestId: 'call_7', goalId: 'goal_1' }
    expect(asked).toMatchObject([{ ...request, input: { path: 'a.txt', text: 'x' } }])
    expect(viewed).toMatchObject([request])
    const lines = (await record('events.jsonl')).filter(({ requestId }) => requestId === 'call_7')
    expect(lines).toMatchObject([{ ...request, args: { path: 'a.txt', text: 'x' } }])
  })

  it('the policy.yaml of the document holds letter for letter', async () => {
    const many = 'match\n'.repeat(120)
    // The document names /tmp, where the folders of tests need not lie.
    const elsewhere = mkdtempSync('/tmp/policy-')
    onTestFinished(() => rmSync(elsewhere, { recursive: true }))
    writeFileSync(join(elsewhere, 'b.txt'), 'elsewhere')
    const files = { 'a.txt': 'here', 'x.pem': 'pem', 'x.key': 'key', many }
    const literal = await underPolicyYaml(files)
    const read = (path: string) => literal.codeOf('read_file', { path })
    expect(await read('a.txt')).toBe('ok')
    expect(await read(join(elsewhere, 'b.txt'))).toBe('ok')
    expect(await read('/etc/hostname')).toBe('PATH_OUTSIDE_SANDBOX')
    for (const path of ['x.pem', 'x.key', '~/.ssh/id_rsa']) expect(await read(path), path).not.toBe('ok')
    // Keys are closed in any case, so that another name shows that the list itself holds.
    const named = await underPolicyYaml({ 'x.secret': 's', 'x.txt': 't' }, POLICY_YAML.replace('*.pem', '*.secret'))
    expect(await named.codeOf('read_file', { path: 'x.secret' })).toBe('POLICY_DENIED')
    expect(await named.codeOf('read_file', { path: 'x.txt' })).toBe('ok')
    const { decision } = await literal.hub.explain('read_file', { path: 'a.txt' })
    expect(decision?.constraints.maxBytes).toBe(10_000_000)
    const smaller = await underPolicyYaml(
      { 'b.txt': 'b\n'.repeat(1_500) },
      POLICY_YAML.replace('max_size: 10MB', 'max_size: 2KB'),
    )
    expect(await smaller.codeOf('core/fs.readText', { path: 'b.txt' })).toBe('FILE_TOO_LARGE')
    // The limit is about the file: no page of a larger one is read either.
    const page = await smaller.hub.callDynamic('read_file', { path: 'b.txt', start_line: 1_400 })
    expect(page.error?.code).toBe('FILE_TOO_LARGE')
    const found = await literal.hub.callDynamic('search_files', { pattern: 'match' })
    expect((found.data as { matches: unknown[] }).matches).toHaveLength(100)
    expect(literal.asked).toEqual([])
    const { hub, asked, codeOf, run } = await withCommands(files)
    for (const command of ['ls -la', 'cat a.txt', 'grep here a.txt']) expect(await run(command), command).toBe('ok')
    for (const command of ['git status', 'git diff a.txt', 'go build ./...', 'go test ./...'])
      expect((await hub.explain('run_shell', { command })).effect, command).toBe('allow')
    expect(asked).toEqual([])
    for (const command of ['rm -rf /', 'sudo id', 'chmod 777 a.txt'])
      expect(await run(command), command).toBe('POLICY_DENIED')
    expect(asked).toEqual([])
    for (const command of ['git push', 'rm a.txt', 'chmod 600 a.txt'])
      expect(await run(command), command).toBe('APPROVAL_DENIED')
    expect(await codeOf('write_file', { path: 'new.txt', content: 'x' })).toBe('APPROVAL_DENIED')
    expect(asked.map(({ tool }) => tool)).toEqual([...Array(3).fill('core/exec.run'), 'core/fs.writeText'])
  })

  it('the whole command is judged, not only how it begins', async () => {
    const { folder, run, asked } = await withCommands({ 'a.txt': 'a' })
    mkdirSync(join(folder, 'sub'))
    expect(await run('ls && cat a.txt | grep a')).toBe('ok')
    expect(asked).toEqual([])
    const hidden = ['ls; rm -rf sub', 'ls && rm -rf sub', 'ls | sudo tee a.txt', 'ls $(rm -rf sub)', 'ls `rm -rf sub`']
    const spelled = ["ls; 'r'm -rf sub", 'ls; rm -r -f sub', 'cat a.txt; env rm -rf sub', 'ls; bash -c "rm -rf sub"']
    for (const command of [...hidden, ...spelled]) expect(await run(command), command).toBe('POLICY_DENIED')
    expect(asked).toEqual([])
    for (const command of ['ls; touch new.txt', 'cat a.txt > new.txt', 'ls\ntouch new.txt', 'lsx', 'git status --x'])
      expect(await run(command), command).toBe('APPROVAL_DENIED')
    expect([existsSync(join(folder, 'sub')), existsSync(join(folder, 'new.txt'))]).toEqual([true, false])
  })
})
