import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type CliFolder, cliFolder, type Running } from '../../../../../test/support/cli.ts'

const folder = cliFolder()
afterAll(folder.remove)

const INBOX = `plugins: [./plugin.mjs]
sandbox: { root: . }
approvals: { inbox: true }
data: ./elsewhere
policy: [{ ask: test/note }]
`

const GRANT_ID = /^grant-[0-9a-f]{16}$/

describe('tool-hub approvals', () => {
  it('lets another process answer a call that waits, and remembers the answer', async () => {
    const waiting = note(folder, 'allowed.md')
    const id = await waitingId(waiting)
    const listed = await folder.run(['approvals'])
    expect(listed.stdout).toMatch(
      new RegExp(`^${id} {2}asked \\d+ seconds ago[\\s\\S]*target +write:fs .*allowed\\.md[\\s\\S]*read by a person`),
    )
    for (const answer of ['allow', 'deny']) expect(listed.stdout).toMatch(new RegExp(`approvals ${answer} ${id}`))
    const answer = await folder.run(['approvals', 'allow', id, '--remember', 'always', '--json'])
    expect(JSON.parse(answer.stdout)).toMatchObject({ id, decision: 'allow', by: expect.stringMatching(/^cli:/) })
    expect((await waiting.ended).code).toBe(0)
    expect(existsSync(join(folder.path, 'allowed.md'))).toBe(true)

    const grants = JSON.parse((await folder.run(['grants', '--json'])).stdout)
    expect(grants).toMatchObject([{ effect: 'allow', tool: 'test/note', covers: 'exact' }])
    expect((await folder.run(['grants'])).stdout).toContain(grants[0].id)
    expect(grants[0].id).toMatch(GRANT_ID)
    expect((await folder.run(['grants', 'revoke', grants[0].id])).code).toBe(0)
    expect((await folder.run(['grants', '--json'])).stdout).toBe('[]\n')
    expect((await folder.run(['grants', 'revoke', grants[0].id])).code).toBe(2)
  })

  it('tells the caller why a call was denied, and exits 3', async () => {
    const waiting = note(folder, 'denied.md')
    await folder.run(['approvals', 'deny', await waitingId(waiting), '--reason', 'not today'])
    const { code, stderr } = await waiting.ended
    expect(code).toBe(3)
    expect(stderr).toContain('not today')
    expect(existsSync(join(folder.path, 'denied.md'))).toBe(false)
  })

  it('lets a call happen with other arguments', async () => {
    const waiting = note(folder, 'meant.md')
    const id = await waitingId(waiting)
    const input = '{"path":"corrected.md","text":"better"}'
    expect((await folder.run(['approvals', 'allow', id, '--input', input])).stdout).toBe(
      `Allowed ${id} with other arguments.\n`,
    )
    expect((await waiting.ended).code).toBe(0)
    expect(existsSync(join(folder.path, 'corrected.md'))).toBe(true)
    expect(existsSync(join(folder.path, 'meant.md'))).toBe(false)
  })

  it('keeps what a killed process asked, and the same call made again uses the answer', async () => {
    const killed = note(folder, 'again.md')
    const id = await waitingId(killed)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect((await folder.run(['approvals'])).stdout).toContain('no call waits for it now')
    expect((await folder.run(['approvals', 'allow', id])).code).toBe(0)
    expect(existsSync(join(folder.path, 'again.md'))).toBe(false)
    const words = ['call', 'test/note', '--path', 'again.md', '--text', 'x']
    expect((await folder.run(words)).code).toBe(0)
    expect(existsSync(join(folder.path, 'again.md'))).toBe(true)
    expect((await folder.run(words)).code).toBe(4)
  })

  it('lists and answers what a tool asks the person', async () => {
    const waiting = folder.start(['call', 'core/ask.user', '--question', 'Where to?', '--wait', '20s'])
    const id = await waitingId(waiting, 'answer')
    expect((await folder.run(['approvals'])).stdout).toMatch(new RegExp(`^${id} .*\n[\\s\\S]*question +Where to\\?`))
    expect((await folder.run(['approvals', 'answer', id, 'staging'])).stdout).toBe(`Answered ${id}.\n`)
    expect((await folder.run(['approvals', 'answer', id, 'production'])).stderr).toContain('no longer waits')
    expect((await waiting.ended).stdout).toBe('staging\n')
  })

  it('shows what comes while it watches', async () => {
    const watching = folder.start(['approvals', '--watch', '--json'])
    await watching.says('Watching')
    const waiting = note(folder, 'watched.md')
    const id = await waitingId(waiting)
    await watching.says(id)
    watching.child.kill('SIGINT')
    expect((await watching.ended).code).toBe(130)
    await folder.run(['approvals', 'allow', id])
    expect((await waiting.ended).code).toBe(0)
  })

  it('shows ids in its help as they are', async () => {
    const [grants, approvals] = await Promise.all([
      folder.run(['grants', '--help']),
      folder.run(['approvals', '--help']),
    ])
    expect(/grants revoke (\S+)/.exec(grants.stdout)![1]).toMatch(GRANT_ID)
    expect(/approvals allow (\S+)/.exec(approvals.stdout)![1]).toMatch(/^approval-c\w{10}-\d+$/)
  })

  it.each(['approvals', 'grants', 'runs'])(
    'says in the help of %s that it lists, and with which options',
    async (name) => {
      const { stdout } = await folder.run([name, '--help'])
      expect(stdout).toMatch(/The default command is list, which takes .*--config.*--json/)
      if (name === 'approvals') expect(stdout).toContain('which takes --config, --watch')
    },
  )

  it('says how to answer also where the config lets asks wait, with that config', async () => {
    const file = folder.write('inbox.yaml', INBOX)
    const waiting = folder.start(['call', 'test/note', '--path', 'inbox.md', '--text', 'x', '--config', file])
    const id = await waitingId(waiting)
    const { stdout } = await folder.run(['approvals', '--config', file])
    expect(stdout).toContain(`approvals allow ${id} --config ${file}`)
    // The rule gives no reason of its own.
    expect(stdout).not.toMatch(/^ +reason/m)
    expect((await folder.run(['approvals', 'deny', id, '--config', file])).stdout).toBe(`Denied ${id}.\n`)
    expect((await waiting.ended).code).toBe(3)
  })

  it('exits 4 when nobody answers in time', async () => {
    const words = ['call', 'test/note', '--path', 'late.md', '--text', 'x', '--wait', '50ms', '--json']
    const { code, stdout } = await folder.run(words)
    expect(code).toBe(4)
    expect(JSON.parse(stdout).error.code).toBe('APPROVAL_TIMEOUT')
  })
})

describe('the calls of a script', () => {
  it('are listed together with the lines that wait, and answered together', async () => {
    const file = folder.write('scripts.yaml', `${INBOX}code: { suspendAfter: 1h }\n`)
    const code = `const write = (path) => tools.test.note({ path, text: 'x' })
await Promise.all([
  write('of-script-1.md'),
  write('of-script-2.md'),
])`
    const running = folder.start(['call', 'core/code.run', '--code', code, '--config', file, '--json'])
    await expect.poll(async () => (await listed(file)).length).toBe(2)
    const ids = (await listed(file)).map(({ request }) => request.id)
    const { stdout } = await folder.run(['approvals', '--config', file])
    expect(stdout).toMatch(/^script (\S+) {2}2 calls wait, run \S+\n {2}▶ 1 {2}const write = [\s\S]*\n {4}5 {2}\]\)\n/)
    expect(stdout.match(/script +line 1 of script/g)).toHaveLength(2)
    expect(stdout).toContain(`answer all `)
    expect(stdout).toContain(`approvals allow ${ids.join(' ')} --config ${file}`)
    const watching = folder.start(['approvals', '--watch', '--config', file])
    await watching.says('▶ 1  const write')
    watching.child.kill('SIGINT')
    await watching.ended
    const words = ['approvals', 'allow', 'approval-nowhere', ...ids, '--config', file]
    const answered = await folder.run(words)
    expect(answered).toMatchObject({ code: 2, stdout: ids.map((id) => `Allowed ${id}.\n`).join('') })
    expect(answered.stderr).toContain('Nothing waits under "approval-nowhere"')
    expect(JSON.parse((await running.ended).stdout).data.status).toBe('completed')
    for (const name of ['of-script-1.md', 'of-script-2.md']) expect(existsSync(join(folder.path, name))).toBe(true)
  })
})

describe.concurrent('bad input to approvals and grants', () => {
  it.each([
    [['approvals', 'allow', 'approval-nowhere']],
    [['approvals', 'allow', '../../etc']],
    [['approvals', 'allow', 'x', '--remember', 'forever']],
    [['approvals', 'allow', 'x', '--remember', 'until=yesterday']],
    [['approvals', 'allow', 'x', '--covers', 'everything']],
    [['approvals', 'allow', 'x', '--input', '{broken']],
    [['approvals', 'allow', 'x', 'y', '--input', '{}']],
    [['approvals', 'answer', 'question-nowhere', 'x']],
    [['approvals', 'alow', 'x']],
    [['grants', 'revoke', 'nothing']],
  ])('exits 2 for %j', async (words) => {
    const { code, stderr } = await folder.run(words)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: /)
  })
})

async function listed(config: string): Promise<{ request: { id: string } }[]> {
  return JSON.parse((await folder.run(['approvals', '--json', '--config', config])).stdout)
}

function note({ start }: CliFolder, path: string): Running {
  return start(['call', 'test/note', '--path', path, '--text', 'x', '--wait', '20s'])
}

/** The id of the request, once the call has said that it waits. */
async function waitingId(waiting: Running, how: 'allow' | 'answer' = 'allow'): Promise<string> {
  let said = ''
  waiting.child.stderr.on('data', (chunk: string) => {
    said += chunk
  })
  await waiting.says(how === 'allow' ? ' approvals deny ' : ' approvals answer ')
  return new RegExp(`approvals ${how} (\\S+)`).exec(said)![1]!
}
