import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { useCliHere } from '../../../../test/support/cli-here.ts'
import { commandKit } from '../../../tool-hub/src/cli/command-kit.ts'
import { withHub } from '../../../tool-hub/src/cli/hub/with-hub.ts'
import { reviewEach } from './commands.ts'
import type { MemoryCandidate } from './types.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-cli-memory-'))
const config = join(folder, 'tool-hub.yaml')
writeFileSync(config, 'sandbox: { root: . }\nruns: ./runs\ndata: ./kept\npolicy: [{ allow: memory }]\n')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a command line in this process. */
const { run, heard } = useCliHere('memory', config)

/** What an agent writes down. */
const write = (content: string, more = {}) =>
  withHub({ config }, async (hub) => {
    const { ok, data } = await hub.callDynamic('core/memory.write', { content, ...more })
    if (!ok) throw new Error(content)
    return (data as { id: string }).id
  })

describe('tool-hub memory', () => {
  it('lists what waits with where it comes from, and promotes it into what can be searched, shown and forgotten', async () => {
    const id = await write('The staging server is\u001b[31m blue.', { scope: 'shared', tags: ['infra'] })
    const listed = await run('review', '--list')
    expect(listed.stdout).toMatch(new RegExp(`^${id}\n {2}scope +shared\n {2}tags +infra\n {2}by .*call c`))
    expect(listed.stdout).toContain('  | The staging server is\\u{1b}[31m blue.')
    expect(JSON.parse((await run('review', '--json')).stdout)).toMatchObject([{ id, state: 'waiting' }])
    const promoted = await run('review', '--promote', id)
    const [note] = /note-[0-9a-f]{16}/.exec(promoted.stdout)!
    expect(promoted).toMatchObject({ code: 0, stdout: `Promoted ${id} to ${note} (shared).\n` })
    expect((await run('review')).stderr).toBe('No notes wait for review.\n')
    expect((await run('review', '--list', '--state', 'all')).stdout).toContain('state     promoted by cli:')

    expect((await run('search', 'staging', 'server')).stdout).toMatch(new RegExp(`^${note} {2}shared .*infra.*staging`))
    expect(JSON.parse((await run('search', 'staging', '--tag', 'other', '--json')).stdout)).toEqual([])
    expect((await run('list')).stdout).toContain(note)
    expect((await run('show', note)).stdout).toMatch(/promoted +by cli:[\s\S]*The staging server is\\u\{1b\}/)
    expect((await run('forget', note)).stdout).toBe(`Forgot ${note}.\n`)
    expect(await run('forget', note)).toMatchObject({ code: 2, stderr: expect.stringMatching(/Note .* not found/) })
  })

  it('rejects what is not to be remembered, once', async () => {
    const id = await write('Nobody reads this.')
    expect((await run('review', '--reject', id, '--reason', 'stale')).stdout).toBe(`Rejected ${id}.\n`)
    expect(await run('review', '--promote', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('rejected by cli:'),
    })
    expect(await run('review', '--promote', 'nothing')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No note waits'),
    })
  })

  it('takes out and brings back notes, and tells bad lines by their number', async () => {
    const file = join(folder, 'notes.jsonl')
    const line = (n: number) => JSON.stringify({ id: `m${n}`, key: 'agent:x', content: `moon ${n}`, createdAt: n })
    writeFileSync(file, `${line(1)}\n\n{broken\n${line(2)}\n{"id":"m3"}\n`)
    const imported = await run('import', file, '--trusted')
    expect(imported).toMatchObject({ code: 1 })
    expect(imported.stdout).toBe('Imported 2 notes; 0 existed already; 2 lines are invalid.\n')
    expect(imported.stderr).toMatch(/notes\.jsonl:3 is not JSON\n.*notes\.jsonl:5 key/)
    const exported = await run('export', '--scope', 'agent')
    const back = join(folder, 'back.jsonl')
    writeFileSync(back, exported.stdout)
    process.exitCode = undefined
    expect(await run('import', back, '--json')).toMatchObject({ code: 0 })
    expect((await readFile(back, 'utf8')).split('\n').filter((each) => each.includes('moon'))).toHaveLength(2)
  })

  it.each([
    [['search'], 'words'],
    [['list', '--limit', '0'], 'from 1 to 500'],
    [['list', '--scope', 'all'], 'scope'],
    [['review', '--promote', 'a', '--reject', 'b'], 'cannot be used together'],
    [['show', 'note-nothing'], 'Note "note-nothing" not found'],
    [['import', '/nowhere/x'], 'cannot be read'],
    [['serch'], 'Did you mean search?'],
  ])('exits 2 for %j', async (words, hint) => {
    const { code, stderr } = await run(...words)
    expect(code).toBe(2)
    expect(stderr).toContain(hint)
  })
})

describe('reviewing one after another', () => {
  const candidate = (id: string) =>
    ({
      id,
      key: 'shared',
      content: id,
      tags: [],
      origin: { at: 0, tainted: true },
      state: 'waiting',
    }) as unknown as MemoryCandidate

  it('shows nothing of a note that could be taken for a fact about it', async () => {
    const forged = { ...candidate('x'), tags: ['a\n  label     none'], content: 'y\n  label     none' }
    const shown: string[] = []
    await reviewEach(commandKit, {} as never, [forged], async (_, text) => {
      shown.push(text)
      return 'stop'
    })
    expect(shown[0]).toMatch(/^ {2}label +untrusted/m)
    expect(shown[0]).not.toMatch(/^ {2}label +none/m)
  })

  it('does what the person says of each, continues when somebody else was faster, and stops on request', async () => {
    const done: string[] = []
    const memory = {
      async promote(id: string, { content }: { content?: string }) {
        if (id === 'late') throw new Error('late was promoted by bob before.')
        done.push(`promote ${id} ${content ?? ''}`)
        return {} as never
      },
      async reject(id: string) {
        done.push(`reject ${id}`)
        return {} as never
      },
    }
    const verdicts = new Map<string, unknown>([
      ['yes', { promote: true }],
      ['edit', { promote: true, content: 'better' }],
      ['late', { promote: true }],
      ['no', { promote: false }],
      ['stop', 'stop'],
    ])
    const shown: string[] = []
    const all = ['yes', 'edit', 'skip', 'late', 'no', 'stop', 'never'].map(candidate)
    await reviewEach(commandKit, memory, all, async ({ id }, text) => {
      shown.push(text)
      return verdicts.get(id) as never
    })
    expect(done).toEqual(['promote yes ', 'promote edit better', 'reject no'])
    expect(shown).toHaveLength(6)
    expect(shown[0]).toContain('untrusted: its run had read untrusted content')
    expect(heard().stderr).toContain('late was promoted by bob before.')
    expect(heard().stderr).toContain('Decided on 3 of 7.')
  })
})
