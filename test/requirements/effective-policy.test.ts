import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ApprovalRequest } from '../../packages/library/src/index.ts'
import { startCli } from '../support/cli.ts'
import { configuredHub, skillText } from '../support/configured-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SANDBOX = 'sandbox: { root: ./project }\n'
const FILES = { 'project/a.txt': 'the old text' }

/** The tools that can delete a file, or replace one that the run has not read, with a call that would. */
const DESTRUCTIVE: Readonly<Record<string, object>> = {
  write_file: { path: 'a.txt', content: 'new' },
  apply_patch: { input: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch' },
  'core/fs.writeText': { path: 'a.txt', text: 'new', overwrite: true },
  'core/fs.deletePath': { path: 'a.txt', confirm: true },
}

describe('the effective permission policy', () => {
  it('consists of safe defaults, the config, the declarations of loaded skills, and the sandbox', async () => {
    const config = `${SANDBOX}skills: [./skills]\npolicy:\n  - { ask: exec, reason: "commands are looked at" }\n`
    const skill = skillText('git-help', 'Use git.', 'allowed-tools: Bash(git:*) Read\n')
    const { hub, call, folder } = await configuredHub(config, { ...FILES, 'skills/git-help/SKILL.md': skill })
    expect(await hub.explain('core/fs.deletePath', { path: 'a.txt', confirm: true })).toMatchObject({
      effect: 'deny',
      source: expect.stringMatching(/^shipped policy:\d+$/),
    })
    const command = { command: 'git status' }
    const byConfig = { effect: 'ask', source: 'tool-hub.yaml:4', reason: 'commands are looked at' }
    expect(await hub.explain('run_shell', command)).toMatchObject(byConfig)
    expect((await call('load_skill', { skill_id: 'git-help' })).ok).toBe(true)
    const explained = await hub.explain('run_shell', command)
    expect(explained).toMatchObject(byConfig)
    expect(explained.decision?.requests).toEqual([
      'skill git-help requests exec, read:fs: allowed-tools: Bash(git:*) Read',
    ])
    expect(explained.text).toContain('skill git-help requests exec')
    expect(await hub.explain('write_file', { path: '../out.txt', content: 'x' })).toMatchObject({
      effect: 'deny',
      error: { code: 'PATH_OUTSIDE_SANDBOX' },
    })
    const { code, stdout } = await startCli(folder, ['policy', 'show', '--json']).ended
    expect(code).toBe(0)
    const shown = JSON.parse(stdout)
    expect(shown.always.every((rule: object) => 'deny' in rule)).toBe(true)
    expect(shown.defaults).toContainEqual(expect.objectContaining({ deny: 'danger:destructive' }))
    expect(shown.owner).toEqual([{ ask: 'exec', reason: 'commands are looked at', source: 'tool-hub.yaml:4' }])
    expect(shown.requests).toEqual([
      { skill: 'git-help', wants: ['exec', 'read:fs'], reason: 'allowed-tools: Bash(git:*) Read' },
    ])
    expect(shown.requests).toEqual(hub.policyLayers().requests)
    expect(shown.sandbox.root).toBe(join(folder, 'project'))
    const exec = shown.tools.find(({ tool }: { tool: string }) => tool === 'core/exec.run')
    expect(exec.capabilities).toContainEqual(expect.objectContaining({ capability: 'exec', effect: 'ask' }))
  })

  it('a denial of the runtime wins over every rule of the config and over every approval', async () => {
    const config = `sandbox: { root: ./project, network: [169.254.169.254], privateRanges: [169.254.0.0/16] }
policy:
  - { allow: "*" }
  - { allow: network, on: [169.254.169.254] }
  - { allow: read_file, on: ["**/.env"] }
  - { allow: write_file, on: ["**/.git/**"] }
  - { allow: danger:destructive }
`
    const approve = () => ({ decision: 'allow' as const, by: 'ada' })
    const files = { ...FILES, 'project/.env': 'KEY=1234', 'project/keys/server.pem': 'KEY=1234' }
    const { call, folder, read } = await configuredHub(config, files, { approve })
    expect((await call('write_file', { path: 'a.txt', content: 'changed' })).ok).toBe(true)
    expect(read('project/a.txt')).toBe('changed')
    for (const path of ['.env', 'keys/server.pem']) {
      const denied = await call('read_file', { path })
      expect([path, denied.status, denied.error?.code]).toEqual([path, 'denied', 'PATH_DENIED'])
      expect(JSON.stringify(denied)).not.toContain('KEY=1234')
    }
    for (const path of ['.git/hooks/pre-commit', '.mcp.json', 'tool-hub.yaml']) {
      const denied = await call('write_file', { path, content: 'x' })
      expect([path, denied.status, denied.error?.code]).toEqual([path, 'denied', 'PATH_DENIED'])
      expect(existsSync(join(folder, 'project', path)), path).toBe(false)
    }
    const metadata = await call('core/http.fetchText', { url: 'http://169.254.169.254/latest/meta-data/' })
    expect(metadata).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' }, meta: { attempts: 0 } })
    expect(metadata.meta.rule).toMatch(/^deny network .*shipped policy:\d+/)
  })

  it('the paths of the sandbox win over every rule of the config and over every approval', async () => {
    const outside = temporaryFolder('outside')
    writeFileSync(join(outside, 'secret.txt'), 'outside')
    const config = `${SANDBOX}policy:
  - { allow: "*" }
  - { allow: read:fs, on: ["/**"] }
  - { allow: write:fs, on: ["/**"] }
`
    const approve = () => ({ decision: 'allow' as const, by: 'ada' })
    const { call, folder } = await configuredHub(config, FILES, { approve })
    symlinkSync(outside, join(folder, 'project/link'))
    for (const path of [join(outside, 'secret.txt'), '../tool-hub.yaml', 'link/secret.txt']) {
      for (const [tool, input] of [
        ['read_file', { path }],
        ['write_file', { path, content: 'x' }],
        ['list_files', { path: join(path, '..') }],
        ['grep_files', { pattern: 'outside', path }],
      ] as const) {
        const refused = await call(tool, input)
        expect([tool, path, refused.error?.code]).toEqual([tool, path, 'PATH_OUTSIDE_SANDBOX'])
      }
    }
    expect((await call('read_file', { path: 'a.txt' })).ok).toBe(true)
  })

  it('the config enables what is safe, for exactly what it names', async () => {
    const command = { command: 'ls project' }
    const closed = await configuredHub('sandbox: { root: . }\n', FILES)
    expect((await closed.call('run_shell', command)).error?.code).toBe('POLICY_DENIED')
    const web = { url: 'https://example.org/' }
    expect((await closed.hub.explain('web_fetch', web)).effect).toBe('deny')
    const config = `sandbox: { root: ., network: [example.org] }
policy:
  - { allow: exec, on: ["ls *"] }
  - { allow: danger:destructive, on: ["./project/**"] }
`
    const { call, hub, read } = await configuredHub(config, { ...FILES, 'other.txt': 'kept' })
    expect((await call('run_shell', command)).data).toMatchObject({ exitCode: 0, stdout: 'a.txt\n' })
    expect((await call('run_shell', { command: 'ls project; id' })).ok).toBe(false)
    expect((await hub.explain('web_fetch', web)).effect).toBe('allow')
    expect((await hub.explain('web_fetch', { url: 'https://example.com/' })).effect).toBe('deny')
    expect((await call('write_file', { path: 'project/a.txt', content: 'new' })).ok).toBe(true)
    expect((await call('write_file', { path: 'other.txt', content: 'new' })).ok).toBe(false)
    expect([read('project/a.txt'), read('other.txt')]).toEqual(['new', 'kept'])
  })

  it('a skill requests abilities, and never grants them', async () => {
    const greedy = skillText('greedy', 'Run anything.', 'allowed-tools: ["Bash", "Write", "*"]\n')
    const files = { ...FILES, 'skills/greedy/SKILL.md': greedy }
    const command = { command: 'touch made.txt' }
    const denied = await configuredHub(`${SANDBOX}skills: [./skills]\n`, files)
    expect((await denied.call('load_skill', { skill_id: 'greedy' })).data).toMatchObject({
      requests: expect.arrayContaining(['exec']),
    })
    expect((await denied.call('run_shell', command)).error?.code).toBe('POLICY_DENIED')
    expect((await denied.call('write_file', { path: 'a.txt', content: 'x' })).error?.code).toBe('POLICY_DENIED')
    expect(denied.read('project/a.txt')).toBe('the old text')
    // Where the config asks, the person sees the request and decides.
    const seen: ApprovalRequest[] = []
    const asking = await configuredHub(`${SANDBOX}skills: [./skills]\npolicy: [{ ask: exec }]\n`, files, {
      approve: (request) => {
        seen.push(request)
        return { decision: 'deny' }
      },
    })
    await asking.call('load_skill', { skill_id: 'greedy' })
    expect((await asking.call('run_shell', command)).error?.code).toBe('APPROVAL_DENIED')
    expect(seen.flatMap(({ requests }) => requests)).toEqual([expect.stringContaining('skill greedy requests')])
    expect(existsSync(join(asking.folder, 'project/made.txt'))).toBe(false)
  })

  it('what destroys needs a rule of the config, which may want an approval', async () => {
    const deletion = { path: 'a.txt', confirm: true }
    const enabled = await configuredHub(`${SANDBOX}policy: [{ allow: danger:destructive }]\n`, FILES)
    expect((await enabled.call('core/fs.deletePath', deletion)).ok).toBe(true)
    expect(existsSync(join(enabled.folder, 'project/a.txt'))).toBe(false)
    const unrelated = await configuredHub(`${SANDBOX}policy: [{ allow: write:fs }, { allow: exec }]\n`, FILES)
    expect((await unrelated.call('core/fs.deletePath', deletion)).error?.code).toBe('POLICY_DENIED')
    const config = `${SANDBOX}policy: [{ ask: danger:destructive }]\n`
    expect((await (await configuredHub(config, FILES)).call('core/fs.deletePath', deletion)).status).toBe(
      'approval_required',
    )
    for (const decision of ['deny', 'allow'] as const) {
      const { call, folder } = await configuredHub(config, FILES, { approve: () => ({ decision, by: 'ada' }) })
      const { ok } = await call('core/fs.deletePath', deletion)
      expect([decision, ok, existsSync(join(folder, 'project/a.txt'))]).toEqual(
        decision === 'allow' ? ['allow', true, false] : ['deny', false, true],
      )
    }
  })
})

describe('quality and governance', () => {
  it('what destroys is denied by default, by every tool that could', async () => {
    const { call, read, folder } = await configuredHub(SANDBOX, { ...FILES, 'project/b.txt': 'the other text' })
    for (const [tool, input] of Object.entries(DESTRUCTIVE)) {
      expect([tool, (await call(tool, input)).error?.code]).toEqual([tool, 'POLICY_DENIED'])
      expect([tool, read('project/a.txt')]).toEqual([tool, 'the old text'])
    }
    for (const tool of ['core/fs.move', 'core/fs.copy']) {
      expect([tool, (await call(tool, { from: 'b.txt', to: 'a.txt' })).ok]).toEqual([tool, false])
      expect([tool, read('project/a.txt'), read('project/b.txt')]).toEqual([tool, 'the old text', 'the other text'])
    }
    expect(readdirSync(join(folder, 'project')).sort()).toEqual(['a.txt', 'b.txt'])
    // The same calls work once they are enabled: nothing else is in their way.
    for (const [tool, input] of Object.entries(DESTRUCTIVE)) {
      const enabled = await configuredHub(`${SANDBOX}policy: [{ allow: danger:destructive }]\n`, FILES)
      expect([tool, (await enabled.call(tool, input)).error]).toEqual([tool, undefined])
    }
  })

  it('the shell is denied by default, under each of its names', async () => {
    const { call, folder } = await configuredHub(SANDBOX, FILES)
    for (const [tool, input] of [
      ['run_shell', { command: 'touch made.txt' }],
      ['bash', { command: 'touch made.txt' }],
      ['exec', { command: 'touch made.txt' }],
      ['core/exec.run', { argv: ['touch', 'made.txt'] }],
    ] as const) {
      const { status, error } = await call(tool, input)
      expect([tool, status, error?.code]).toEqual([tool, 'denied', 'POLICY_DENIED'])
    }
    expect(readdirSync(join(folder, 'project'))).toEqual(['a.txt'])
    const enabled = await configuredHub(`${SANDBOX}policy: [{ allow: exec }]\n`, FILES)
    expect((await enabled.call('run_shell', { command: 'touch made.txt' })).ok).toBe(true)
    expect(existsSync(join(enabled.folder, 'project/made.txt'))).toBe(true)
  })

  it('nothing is written outside the sandbox, whatever the path is made of', async () => {
    const outside = temporaryFolder('outside')
    const config = `${SANDBOX}policy: [{ allow: "*" }, { allow: danger:destructive }, { allow: exec }]\n`
    const { call, folder } = await configuredHub(config, FILES)
    symlinkSync(outside, join(folder, 'project/folder-link'))
    symlinkSync(join(outside, 'new.txt'), join(folder, 'project/file-link'))
    const paths = ['../new.txt', join(outside, 'new.txt'), 'x/../../new.txt', 'folder-link/new.txt', 'file-link']
    for (const path of paths) {
      for (const [tool, input] of [
        ['write_file', { path, content: 'x' }],
        ['apply_patch', { input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` }],
        ['core/fs.copy', { from: 'a.txt', to: path }],
        ['core/fs.move', { from: 'a.txt', to: path }],
      ] as const)
        expect([tool, path, (await call(tool, input)).error?.code]).toEqual([tool, path, 'PATH_OUTSIDE_SANDBOX'])
      await call('run_shell', { command: `echo x > ${path}` })
    }
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(join(folder, 'new.txt'))).toBe(false)
    expect((await call('write_file', { path: 'inside.txt', content: 'x' })).ok).toBe(true)
  })

  it('a rejection says what was refused, by which rule, and what would change it', async () => {
    const config = `${SANDBOX}policy:\n  - { deny: write_file, on: ["**/locked/**"], reason: "hands off" }\n`
    const { call, record, folder } = await configuredHub(config, FILES)
    const { status, error, content, meta } = await call('write_file', { path: 'locked/b.txt', content: 'x' })
    expect(status).toBe('denied')
    expect(error).toMatchObject({ code: 'POLICY_DENIED', message: expect.stringContaining('hands off') })
    expect(error?.fix.hint).toMatch(/\S/)
    expect(meta).toMatchObject({ attempts: 0, rule: expect.stringContaining('tool-hub.yaml:3') })
    expect(JSON.stringify(content)).toContain('hands off')
    const [line] = await record('logs/errors.jsonl')
    expect(line).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } })
    const denied = await startCli(folder, ['call', 'write_file', '{"path":"locked/b.txt","content":"x"}']).ended
    expect(denied.code).toBe(3)
    expect(denied.stderr + denied.stdout).toContain('hands off')
  })
})
