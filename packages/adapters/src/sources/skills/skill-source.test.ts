import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import { skillRoots } from './skill-registry.ts'
import { createSkillSource } from './skill-source.ts'

let folder: string
let warnings: string[]
const hubs: TestHub[] = []

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'tool-hub-skills-')))
  warnings = []
  vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)))
})

afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close({ abort: true })
  vi.restoreAllMocks()
  await rm(folder, { recursive: true, force: true })
})

async function write(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

const skill = (name: string, { more = '', body = 'Do it well.', description = `How to do ${name}.` } = {}) =>
  write(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n${body}\n`)

async function hubOf({ folders = [folder], ...options }: HubOptions & { folders?: readonly string[] } = {}) {
  const sandbox = { ...options.sandbox, roots: skillRoots(folders) }
  const hub = testHub({ sources: [createSkillSource(folders)], ...options, sandbox }) as unknown as TestHub
  hubs.push(hub)
  await hub.ready()
  return hub
}

const list = async (hub: TestHub) => (await hub.callDynamic('list_skills', {})).data as { skills: { id: string }[] }
const ids = async (hub: TestHub) => (await list(hub)).skills.map(({ id }) => id)

describe('the list of skills', () => {
  it('has names and descriptions, and nothing of what is in them', async () => {
    await skill('pdf-forms')
    await skill('brand-voice', { body: 'secret body' })
    const hub = await hubOf()
    const result = await hub.callDynamic('core/skill.list', {})
    const location = (name: string) => `${folder.split('/').at(-1)}/${name}`
    expect(result.data).toEqual({
      skills: [
        {
          id: 'brand-voice',
          name: 'brand-voice',
          description: 'How to do brand-voice.',
          location: location('brand-voice'),
        },
        { id: 'pdf-forms', name: 'pdf-forms', description: 'How to do pdf-forms.', location: location('pdf-forms') },
      ],
    })
    expect(result.content).toEqual([
      { type: 'text', text: '- brand-voice: How to do brand-voice.\n- pdf-forms: How to do pdf-forms.' },
    ])
    expect(warnings).toEqual([])
  })

  it('sees what was added, changed and removed since', async () => {
    await skill('one')
    const hub = await hubOf()
    await skill('two')
    expect(await ids(hub)).toEqual(['one', 'two'])
    await skill('one', { description: 'Another one.' })
    await rm(join(folder, 'two'), { recursive: true })
    expect(await list(hub)).toMatchObject({ skills: [{ id: 'one', description: 'Another one.' }] })
  })

  it('has one folder once, by whichever ways it is found, and the first of two skills of one name', async () => {
    await skill('a/one')
    await write('a/one/SKILL.md', '---\nname: one\ndescription: First.\n---\n')
    await write('b/one/SKILL.md', '---\nname: one\ndescription: Second.\n---\n')
    await symlink('../a/one', join(folder, 'b', 'link'))
    const hub = await hubOf({ folders: ['a', 'b', 'a/one'].map((name) => join(folder, name)) })
    expect(await list(hub)).toMatchObject({ skills: [{ id: 'one', description: 'First.' }] })
    expect(warnings).toEqual([expect.stringMatching(/b\/one\/SKILL\.md: there is a skill one in .*\/a\/one already/)])
    await list(hub)
    expect(warnings.length).toBe(1)
  })

  it('leaves out a link that leads out of the folders, and says so', async () => {
    await skill('elsewhere/far')
    await mkdir(join(folder, 'skills'))
    await symlink('../elsewhere/far', join(folder, 'skills', 'far'))
    const hub = await hubOf({ folders: [join(folder, 'skills')] })
    expect(await ids(hub)).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('is a link out of the folders of skills')])
  })

  it.each([
    ['no frontmatter', '# Title', /:1:1 it does not begin with a line of ---/],
    ['no end of it', `---\nname: bad\n${'x: y\n'.repeat(20_000)}---\n`, /:1:1 its frontmatter does not end/],
    ['no description', '---\nname: bad\n---\n', /:1:1 description: is missing/],
    ['a description of blanks', '---\nname: bad\ndescription: "  \\u200b "\n---\n', /:3:\d+ description: is empty/],
    ['a long description', `---\nname: bad\ndescription: ${'x'.repeat(1_025)}\n---\n`, /at most 1,024 characters/],
    ['another name', '---\nname: good\ndescription: x\n---\n', /its name is good, but its folder is bad/],
    ['a bad name', '---\nname: Bad_Name\ndescription: x\n---\n', /:2:7 name: lowercase letters and digits/],
    ['a tag', '---\nname: bad\ndescription: !!js/function "x"\n---\n', /:3:\d+ .*tag/i],
    ['two names', '---\nname: bad\nname: bad\ndescription: x\n---\n', /the key name is there twice/],
    [
      'an alias bomb',
      `---\nname: bad\ndescription: x\nmetadata:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdefgh'
        .split('')
        .map((key, index) => `  ${key}: &${key} [${Array(10).fill(`*${'abcdefgh'[index]}`).join(', ')}]`)
        .join('\n')}\n---\n`,
      /alias/i,
    ],
    ['a list of numbers as wishes', '---\nname: bad\ndescription: x\nallowed-tools: [1]\n---\n', /allowed-tools/],
  ])('leaves out a skill with %s, and says where', async (_, text, message) => {
    await write('bad/SKILL.md', text)
    await skill('good')
    const hub = await hubOf()
    expect(await ids(hub)).toEqual(['good'])
    expect(warnings).toEqual([expect.stringMatching(message)])
    expect(warnings[0]).toContain(join(folder, 'bad', 'SKILL.md:'))
    expect(warnings[0]).toMatch(/[.:!?] It is left out\.$/)
  })

  it('shows no character that nobody sees', async () => {
    await skill('odd', { description: 'Fine\u{e0041}\u{e0042} \u202edrow\u202c 👩‍💻 می‌روم\u200b.' })
    expect((await list(await hubOf())).skills).toMatchObject([{ description: 'Fine drow 👩‍💻 می‌روم.' }])
  })

  it('of a folder in the home is there when the folder is, and nothing is reported when it is not', async () => {
    vi.stubEnv('HOME', folder)
    await skill('.skills/one')
    await write('.skills/one/SKILL.md', '---\nname: one\ndescription: x\n---\n')
    const hub = await hubOf({ folders: ['~/.skills', '~/missing'] })
    vi.unstubAllEnvs()
    expect(await ids(hub)).toEqual(['one'])
    expect(warnings).toEqual([])
  })

  it('of a folder that is not there is empty, and of one that others can write counts as from outside', async () => {
    await skill('one')
    await chmod(folder, 0o777)
    const hub = await hubOf({ folders: [join(folder, 'missing'), folder] })
    const listed = await hub.callDynamic('list_skills', {})
    expect(listed).toMatchObject({ data: { skills: [{ id: 'one' }] }, meta: { labels: ['untrusted'] } })
    expect(warnings.length).toBe(2)
    expect((await hub.callDynamic('load_skill', { skill_id: 'one' })).meta.labels).toEqual(['untrusted'])
  })
})

it('the list of skills leaves out what the policy does not let the call read', async () => {
  await skill('one')
  await skill('two')
  const hub = await hubOf({ policy: [{ deny: 'read:fs', on: join(folder, 'two/**') }] })
  expect(await ids(hub)).toEqual(['one'])
})

describe('loading a skill', () => {
  it('gives its text, where it lies and which files it has, in every dialect', async () => {
    await skill('pdf', {
      more: 'license: MIT\ncompatibility: Needs python3.\nmetadata: { author: me }\n',
      body: '# PDF',
    })
    await write('pdf/references/fields.md', 'fields')
    await write('pdf/scripts/fill.py', 'print()')
    const hub = await hubOf()
    const loaded = await hub.callDynamic('core/skill.load', { name: 'pdf' })
    expect(loaded.data).toMatchObject({
      name: 'pdf',
      folder: join(folder, 'pdf'),
      license: 'MIT',
      compatibility: 'Needs python3.',
      text: '\n# PDF',
      files: [
        { path: 'references/fields.md', bytes: 6 },
        { path: 'scripts/fill.py', bytes: 7 },
      ],
    })
    expect(loaded.content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(
          /^Skill pdf, in the folder .*\n\n\n# PDF\n\n\[Its files.*Run scripts with core\/exec\.run/,
        ),
      },
    ])
    expect(loaded.meta.labels).toBeUndefined()
    for (const [name, input] of [
      ['load_skill', { skill_id: 'pdf' }],
      ['skill', { name: 'pdf' }],
    ] as const)
      expect((await hub.callDynamic(name, input)).data).toEqual(loaded.data)
  })

  it('reads one of its files, a page at a time, or an image', async () => {
    await skill('big')
    await write('big/references/long.md', Array.from({ length: 2_500 }, (_, index) => `line ${index + 1}`).join('\n'))
    const gif = Buffer.from('GIF89a\x05\x00\x07\x00\x00\x00\x00;', 'latin1')
    await write('big/assets/logo.gif', gif)
    const hub = await hubOf()
    const load = (input: object) => hub.callDynamic('skill', { name: 'big', ...input })
    const first = await load({ resource: 'references/long.md' })
    expect(first.data).toMatchObject({ page: { from: 1, to: 2_000, next: 2_001 } })
    expect(first.content).toEqual([
      { type: 'text', text: expect.stringMatching(/line 2000\n\n\[Showing lines 1-2000 of 2500\. Use offset=2001/) },
    ])
    expect((await load({ resource: 'references/long.md', offset: 2_500 })).data).toMatchObject({ text: 'line 2500' })
    expect((await load({ resource: 'assets/logo.gif' })).content).toEqual([
      { type: 'text', text: 'big/assets/logo.gif: image/gif, 5 x 7 pixels, 14 bytes' },
      { type: 'image', data: gif.toString('base64'), mediaType: 'image/gif' },
    ])
  })

  it('pages a long text from where it was', async () => {
    await skill('long', { body: Array.from({ length: 3_000 }, (_, index) => `step ${index + 1}`).join('\n') })
    const hub = await hubOf()
    const { page } = (await hub.callDynamic('skill', { name: 'long' })).data as { page: { next: number } }
    const next = await hub.callDynamic('skill', { name: 'long', offset: page.next })
    expect(next.data).toMatchObject({ text: expect.stringMatching(/^step 2000\n(.*\n)+step 3000$/) })
  })

  it.each(['../other/SKILL.md', '/etc/passwd', 'a/../../x', 'link.md', '.env', 'nothing.md'])(
    'does not read %s',
    async (resource) => {
      await skill('here')
      await write('here/.env', 'SECRET=1')
      await symlink('/etc/hostname', join(folder, 'here', 'link.md'))
      const hub = await hubOf()
      const result = await hub.callDynamic('skill', { name: 'here', resource })
      expect(result.ok).toBe(false)
      expect(JSON.stringify(result)).not.toContain('SECRET=1')
    },
  )

  it('finds one that came since, and names the nearest of one that is not there', async () => {
    const hub = await hubOf()
    await skill('report-writer')
    expect((await hub.callDynamic('skill', { name: 'report-writer' })).ok).toBe(true)
    expect((await hub.callDynamic('skill', { name: 'report-write' })).error).toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'Did you mean report-writer?' },
    })
    await rm(join(folder, 'report-writer'), { recursive: true })
    expect((await hub.callDynamic('skill', { name: 'report-writer' })).error?.code).toBe('NOT_FOUND')
  })

  it('leaves out what nobody sees in a text, and says so', async () => {
    await skill('odd', { body: 'Do\u{e0041}\u{e0042} it' })
    const result = await (await hubOf()).callDynamic('skill', { name: 'odd' })
    expect(result.data).toMatchObject({ text: '\nDo it' })
    expect(result.meta.notices).toEqual([expect.stringContaining('2 invisible characters')])
  })

  it('ends when its caller stops', async () => {
    await skill('any')
    const hub = await hubOf()
    const signal = AbortSignal.abort()
    expect((await hub.callDynamic('skill', { name: 'any' }, { signal })).status).toBe('aborted')
    expect((await hub.callDynamic('list_skills', {}, { signal })).status).toBe('aborted')
  })

  it('is judged by policy like any read, and changes nothing on disk', async () => {
    await skill('shut')
    const hub = await hubOf({ policy: [{ deny: 'read:fs', on: [`${folder}/shut/**`] }] })
    expect((await hub.callDynamic('skill', { name: 'shut' })).error?.code).toBe('POLICY_DENIED')
    const written = await hub.callDynamic('write', { path: join(folder, 'shut/evil.md'), content: 'x' })
    expect(written.ok).toBe(false)
  })
})

describe('what a skill asks for', () => {
  const wish =
    'skill git-help requests exec, read:fs, mcp/github.create_issue, Odd(x): allowed-tools: Bash(git:*) Read mcp__github__create_issue Odd(x)'
  const more = 'allowed-tools: Bash(git:*), Read mcp__github__create_issue Odd(x)\n'
  const command = { argv: ['git', 'status'] }

  it('is shown to the approver and by explain, and changes no decision', async () => {
    await skill('git-help', { more })
    const asked: ApprovalRequest[] = []
    const hub = await hubOf({
      policy: [{ ask: 'exec' }],
      approve: (request) => {
        asked.push(request)
        return { decision: 'deny' }
      },
    })
    const before = await hub.explain('core/exec.run', command)
    expect(before.decision?.requests).toEqual([`${wish} once it is loaded`])
    expect(before.text).toContain(wish)
    await hub.callDynamic('core/exec.run', command)
    expect((await hub.callDynamic('skill', { name: 'git-help' })).data).toMatchObject({
      requests: ['exec', 'read:fs', 'mcp/github.create_issue', 'Odd(x)'],
    })
    const after = await hub.explain('core/exec.run', command)
    expect(after.decision?.requests).toEqual([wish])
    expect([after.effect, after.rule, after.source]).toEqual([before.effect, before.rule, before.source])
    expect((await hub.callDynamic('core/exec.run', command)).error?.code).toBe('APPROVAL_DENIED')
    expect(asked.map(({ requests }) => requests)).toEqual([[], [wish]])
  })

  it('does not open what is off', async () => {
    await skill('git-help', { more: 'allowed-tools: ["Bash", "*"]\n' })
    const hub = await hubOf()
    await hub.callDynamic('skill', { name: 'git-help' })
    expect((await hub.callDynamic('core/exec.run', command)).error?.code).toBe('POLICY_DENIED')
  })
})
