import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { ApprovalReply, ApprovalRequest } from '../../../../core/src/events.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import type { Rule } from '../../../../core/src/principal.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

function start(answer: Partial<ApprovalReply>, rules: Rule[] = [], more: HubOptions = {}) {
  const asked: ApprovalRequest[] = []
  const root = temporaryFolder()
  const hub = testHub({
    sandbox: { root },
    policy: [{ ask: 'exec' }, { ask: 'write:fs' }, { allow: 'exec', on: 'group:read-only' }, ...rules],
    approve: (request) => {
      asked.push(request)
      return { decision: 'allow', by: 'anna', ...answer }
    },
    ...more,
  }) as TestHub
  hubs.push(hub)
  const patterns = () => asked.map(({ coverage }) => coverage.pattern)
  const run = async (command: string) => {
    const before = asked.length
    const result = await hub.callDynamic('core/exec.run', { command })
    return { wasAsked: asked.length > before, result }
  }
  return { hub, root, asked, patterns, run }
}

describe('a pattern that is offered with an approval', () => {
  it.each([
    ['mkdir -p docs', 'mkdir -p <any files in the roots>'],
    ['mkdir -p docs && ls -la', 'mkdir -p <any files in the roots>'],
    ['npm test 2>&1 | tail -20', 'npm test'],
    ['npm run build', 'npm run build'],
    ['git add src && git commit -m "a b"', 'git add <any files in the roots>, git commit -m <any text>'],
    ['touch a.txt; mkdir b', 'touch <any files in the roots>, mkdir <any files in the roots>'],
    ['git add .', 'git add .'],
    ['gh pr list', 'gh pr list'],
  ])('of %s is %s', async (command, pattern) => {
    const { patterns, run } = start({ decision: 'deny' })
    await run(command)
    expect(patterns()).toEqual([`${pattern} (these words and no others)`])
  })

  it.each([
    ['aws s3 ls', 'aws iam create-access-key', 'aws s3 rm --recursive', 'aws s3 ls s3://x'],
    ['gh pr list', 'gh pr merge', 'gh pr list --web'],
    ['git switch main', 'git switch --discard-changes main', 'git switch -C main', 'git switch other'],
    ['git fetch origin', "git fetch origin '+refs/*:refs/*'", 'git fetch evil'],
    ['npm install', 'npm install evil', 'npm install --ignore-scripts=false'],
    ['make test', 'make deploy', 'make test deploy', 'make test CC=./x'],
    ['kubectl get pods', 'kubectl get secrets', 'kubectl get pods -o yaml'],
    ['code .', 'code --install-extension evil', 'code src'],
    ['mv a b', 'mv -f a b', 'mv a ../b', 'mv a .git/config'],
    ['git add a', 'git add -f a', 'git add .', 'git add :/', "git add '*'"],
    ['git commit -m x', 'git commit --amend -m x', 'git commit -m x --no-verify', 'git commit -am x'],
  ])('of %s covers nothing else', async (seen, ...others) => {
    const { run } = start({ remember: 'session', covers: 'pattern' })
    await run(seen)
    expect((await run(seen)).wasAsked).toBe(false)
    for (const other of others) expect([other, (await run(other)).wasAsked]).toEqual([other, true])
  })

  it('ends when a script that the command names changes, and says so', async () => {
    const { root, run, asked, patterns } = start({ remember: 'session', covers: 'pattern' })
    const scripts = (dev: string, lint = 'true') =>
      writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { dev, lint, other: 'a' } }))
    scripts('npm run lint')
    writeFileSync(join(root, 'build.js'), '1')
    await run('npm run dev')
    expect(patterns().at(-1)).toMatch(/^npm run dev .*until script "dev" of .*package\.json changes$/)
    expect((await run('npm run dev')).wasAsked).toBe(false)
    scripts('npm run lint', 'evil')
    expect((await run('npm run dev')).wasAsked).toBe(true)
    expect(asked.at(-1)!.reason).toContain('package.json changed since this was allowed.')
    scripts('evil')
    expect((await run('npm run dev')).wasAsked).toBe(true)
    expect((await run('npm run dev')).wasAsked).toBe(false)
    await run('node build.js')
    expect((await run('node build.js')).wasAsked).toBe(false)
    writeFileSync(join(root, 'build.js'), '2')
    expect((await run('node build.js')).wasAsked).toBe(true)
    expect(asked.at(-1)!.reason).toContain('build.js changed since this was allowed.')
  })

  it('of a call that is remembered as it is ends with its script too, and a no does not', async () => {
    const allowing = start({ remember: 'session' })
    const write = (root: string, text: string) => writeFileSync(join(root, 'x.sh'), text)
    write(allowing.root, 'true')
    await allowing.run('bash x.sh')
    expect(allowing.asked.at(-1)!.coverage.exact).toMatch(/, with the same arguments, until \S*x\.sh changes$/)
    expect((await allowing.run('bash x.sh')).wasAsked).toBe(false)
    write(allowing.root, 'false')
    expect((await allowing.run('bash x.sh')).wasAsked).toBe(true)
    const refusing = start({ decision: 'deny', remember: 'session' })
    write(refusing.root, 'true')
    await refusing.run('bash x.sh')
    write(refusing.root, 'false')
    expect((await refusing.run('bash x.sh')).wasAsked).toBe(false)
  })

  it.each([
    'rm -rf docs',
    'mkdir docs && rm -rf src',
    'git push',
    'npm publish',
    'node -e 1',
    'mkdir $NAME',
    'mkdir docs > out.txt',
    'mkdir ../outside',
    '$TOOL docs',
    './build.sh',
    'bash -c "mkdir docs"',
    'curl https://example.com',
    'npx left-pad',
    'npm test; $(echo evil)',
  ])('is none for %s', async (command) => {
    const { asked, patterns, run } = start({ decision: 'deny' })
    await run(command)
    expect(asked.length).toBeLessThanOrEqual(1)
    expect(patterns().filter((pattern) => pattern !== undefined)).toEqual([])
  })

  it('holds for the session, for commands that match it and for nothing more', async () => {
    const { hub, run, asked } = start({ remember: 'session', covers: 'pattern' })
    expect((await run('mkdir -p a')).wasAsked).toBe(true)
    expect(await run('mkdir -p b')).toMatchObject({ wasAsked: false, result: { ok: true } })
    expect((await run('mkdir -p b/c && ls -la | head -3')).wasAsked).toBe(false)
    for (const command of [
      'mkdir -p ../x',
      'mkdir -p d > out',
      'mkdir d',
      'mkdir d && touch e',
      'mkdir "$X"',
      'mkdir d; rm -rf a',
    ])
      expect([command, (await run(command)).wasAsked]).toEqual([command, true])
    expect((await hub.grants.list()).filter(({ covers }) => covers === 'pattern')[0]).toMatchObject({
      tool: 'core/exec.run',
      pattern: { on: ['= mkdir -p <files>'], shown: asked[0]!.coverage.pattern },
    })
  })

  it('is saved for the project, listed and revocable', async () => {
    const store = createMemoryStore()
    const first = start({ remember: 'always', covers: 'pattern' }, [], { store })
    await first.run('mkdir -p a')
    const second = start({ decision: 'deny' }, [], { store })
    expect((await second.run('mkdir -p b')).wasAsked).toBe(false)
    const [grant] = await second.hub.grants.list()
    expect(grant).toMatchObject({ covers: 'pattern', effect: 'allow', by: 'anna' })
    expect(await second.hub.grants.revoke(grant!.id)).toBe(true)
    expect((await second.run('mkdir -p c')).wasAsked).toBe(true)
  })

  it('never outweighs a deny, and a no is remembered for the call alone', async () => {
    const denying = start({ remember: 'session', covers: 'pattern' }, [{ deny: 'exec', on: 'mkdir secret *' }])
    await denying.run('mkdir -p a')
    expect((await denying.run('mkdir secret')).result.error?.code).toBe('POLICY_DENIED')
    const refusing = start({ decision: 'deny', remember: 'session', covers: 'pattern' })
    await refusing.run('mkdir a')
    expect((await refusing.run('mkdir b')).wasAsked).toBe(true)
    expect((await refusing.run('mkdir a')).wasAsked).toBe(false)
  })

  it('yields to a hook that wants a person', async () => {
    const { run } = start({ remember: 'session', covers: 'pattern' }, [], {
      hooks: [{ decide: ({ input }) => (JSON.stringify(input).includes('-p b') ? 'ask' : undefined) }],
    })
    await run('mkdir -p a')
    expect((await run('mkdir -p c')).wasAsked).toBe(false)
    expect((await run('mkdir -p b')).wasAsked).toBe(true)
  })

  it('is the host of an address that is only fetched, and of nothing that sends', async () => {
    const rules: Rule[] = [
      { ask: 'network' },
      { ask: 'send' },
      { deny: 'network', on: 'https://api.example.org/admin/**' },
    ]
    const { hub, asked, patterns } = start({ remember: 'session', covers: 'pattern' }, rules, {
      sandbox: { root: temporaryFolder(), network: ['*.example.org'] },
    })
    const fetchText = async (url: string, more = {}) => {
      const before = asked.length
      const { error } = await hub.callDynamic('core/http.fetchText', { url, ...more })
      return [asked.length > before, error?.code]
    }
    expect((await fetchText('https://api.example.org/a'))[0]).toBe(true)
    expect(patterns()).toEqual(['core/http.fetchText on https://api.example.org/'])
    expect((await fetchText('https://api.example.org/b/c?d=1'))[0]).toBe(false)
    expect(await fetchText('https://api.example.org/admin/x')).toEqual([false, 'POLICY_DENIED'])
    expect((await fetchText('https://api.example.org/a', { method: 'POST', body: 'x' }))[0]).toBe(true)
    expect(patterns().at(-1)).toBeUndefined()
    for (const url of ['http://api.example.org/a', 'https://api.example.org:8443/'])
      expect([url, (await fetchText(url))[0]]).toEqual([url, true])
  })

  it('is the folder of a file, where the call spells one out', async () => {
    const { hub, patterns, root, asked } = start({ remember: 'session', covers: 'pattern' })
    const write = (path: string) => hub.callDynamic('core/fs.writeText', { path, text: 'x', mkdirp: true })
    expect((await write('docs/a.md')).error).toBeUndefined()
    expect(patterns()).toEqual(['core/fs.writeText in docs/'])
    await write('docs/b.md')
    await write('docs/deep/c.md')
    expect(asked).toHaveLength(1)
    await write('src/a.md')
    await write('top.md')
    expect(patterns()).toEqual(['core/fs.writeText in docs/', 'core/fs.writeText in src/', undefined])
    expect(asked[0]!.targets.join()).toContain(join(root, 'docs/a.md'))
  })

  it('is the MCP server of a tool, and covers no other server', async () => {
    const tools = ['every.echo', 'every.sum', 'other.echo'].map((name) =>
      defineTool({
        name: `mcp/${name}`,
        description: 'Answers.',
        input: z.strictObject({}),
        capabilities: ['remote'],
        targets: () => ({ remote: `mcp:${name.replace('.', '/')}` }),
        execute: () => 'done',
      }),
    )
    const store = createMemoryStore()
    const { hub, patterns } = start({ remember: 'always', covers: 'pattern' }, [{ ask: 'remote' }], { tools, store })
    for (const name of ['every.echo', 'every.sum', 'every.echo', 'other.echo'])
      expect((await hub.callDynamic(`mcp/${name}`, {})).ok).toBe(true)
    expect(patterns()).toEqual(['mcp:every/*', 'mcp:other/*'])
  })
})
