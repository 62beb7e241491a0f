import { describe, expect, it } from 'vitest'
import type { Visibility } from '../../core/src/principal.ts'
import {
  compileVisibility,
  expandToolGroups,
  groupsOf,
  isToolAllowedByPolicy,
  unknownVisibilityEntries,
} from './visibility.ts'

const read = { name: 'core/fs.readText', names: ['core_fs_readText', 'read', 'read_file'], group: 'files' }
const exec = { name: 'core/exec.run', names: ['exec', 'bash', 'run_shell'], group: 'exec' }
const status = { name: 'core/session.status', names: ['session_status'], group: 'session' }
const spawn = { name: 'core/session.spawn', names: ['sessions_spawn'], group: 'session' }
const message = { name: 'core/message.send', names: ['message'], group: 'message' }
const now = { name: 'core/util.time.now', names: [], group: 'util' }
const save = { name: 'notes.save', names: ['notes_save'], group: 'notes' }
const tools = { read, exec, status, spawn, message, now, save }

function seen(visibility: Visibility): string[] {
  const sees = compileVisibility(visibility)
  return Object.entries(tools)
    .filter(([, tool]) => sees(tool).visible)
    .map(([key]) => key)
}

describe('profiles', () => {
  it.each<[Visibility['profile'], string[]]>([
    ['minimal', ['status', 'save']],
    ['coding', ['read', 'exec', 'spawn', 'save']],
    ['messaging', ['status', 'message', 'save']],
    ['full', Object.keys(tools)],
    [undefined, Object.keys(tools)],
  ])('%s shows %j: built-in tools by the profile, others always', (profile, expected) => {
    expect(seen({ profile })).toEqual(expected)
  })

  it('refuses one that does not exist', () => {
    expect(() => compileVisibility({ profile: 'codding' as never })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        fix: { hint: 'Did you mean coding? Profiles: minimal, coding, messaging, full.' },
      }),
    )
    expect(() => compileVisibility({ profile: 'constructor' as never })).toThrow(/Unknown profile "constructor"/)
  })
})

describe('allow and deny', () => {
  it.each<[string, Visibility, string[]]>([
    ['the example of S3', { profile: 'coding', allow: ['group:fs', 'group:runtime'], deny: ['exec'] }, ['read']],
    ['allow is exclusive', { allow: ['read'] }, ['read']],
    ['an empty allow is none', { allow: [] }, Object.keys(tools)],
    [
      'allow and profile must agree for built-in tools',
      { profile: 'minimal', allow: ['group:fs', 'session_status'] },
      ['status'],
    ],
    ['tools from elsewhere need only the allow', { profile: 'minimal', allow: ['notes.save'] }, ['save']],
    ['a group is also the tool\u2019s own', { allow: ['group:util', 'group:notes'] }, ['now', 'save']],
    ['also adds to a profile', { profile: 'minimal', also: ['read', 'group:util'] }, ['read', 'status', 'now', 'save']],
    ['also adds to an allow', { profile: 'coding', allow: ['read'], also: ['message'] }, ['read', 'message']],
    [
      'deny wins over also',
      { profile: 'coding', also: ['message', 'core/util.time.now'], deny: ['message'] },
      ['read', 'exec', 'spawn', 'now', 'save'],
    ],
    ['deny wins over allow', { allow: ['read', 'exec'], deny: ['READ '] }, ['exec']],
    [
      'deny expands groups',
      { deny: ['group:runtime', 'group:fs', 'group:sessions', 'group:messaging'] },
      ['status', 'now', 'save'],
    ],
    [
      'deny by any name of a tool',
      { deny: ['run_shell', 'core/fs.readText'] },
      ['status', 'spawn', 'message', 'now', 'save'],
    ],
    ['* is everything', { deny: ['*'] }, []],
    ['an unknown allow shows nothing', { allow: ['raed'] }, []],
  ])('%s', (_, visibility, expected) => expect(seen(visibility)).toEqual(expected))

  it('says what hides a tool', () => {
    const why = (visibility: Visibility, tool = exec) => compileVisibility(visibility)(tool)
    expect(why({ deny: ['group:runtime'] })).toEqual({ visible: false, why: 'tools.deny has group:runtime.' })
    expect(why({ allow: ['read'] })).toMatchObject({ why: expect.stringContaining('tools.allow') })
    expect(why({ profile: 'minimal' })).toMatchObject({
      why: 'profile minimal shows only session_status; tools.also: [core/exec.run] adds it.',
    })
  })
})

describe('isToolAllowedByPolicy, as S3 writes it', () => {
  it.each<[string, Pick<Visibility, 'allow' | 'deny'>, boolean]>([
    ['exec', {}, true],
    ['exec', { deny: ['exec'] }, false],
    [' Exec ', { deny: ['exec'] }, false],
    ['exec', { deny: ['group:runtime'] }, false],
    ['read', { allow: ['group:fs'] }, true],
    ['exec', { allow: ['group:fs'] }, false],
    ['grep', { allow: ['group:fs'] }, false],
    ['grep', { allow: ['group:files'] }, true],
    ['exec', { allow: ['group:runtime'], deny: ['exec'] }, false],
    ['process', { allow: ['group:runtime'], deny: ['exec'] }, true],
    ['core/util.time.now', { allow: ['group:util'] }, true],
    ['constructor', { allow: ['group:fs'] }, false],
  ])('%j under %j: %s', (name, policy, expected) => expect(isToolAllowedByPolicy(name, policy)).toBe(expected))
})

it('groups are expanded to the names in them, once each', () => {
  expect(expandToolGroups([' Group:FS', 'exec', 'read', 'group:util', 'constructor'])).toEqual([
    ...['read', 'write', 'edit', 'apply_patch', 'exec', 'group:util', 'constructor'],
  ])
})

it('a tool is in its own group and in those that list one of its names', () => {
  expect(groupsOf(read)).toEqual(['group:files', 'group:fs'])
  expect(groupsOf(exec)).toEqual(['group:exec', 'group:runtime'])
  expect(groupsOf({ name: 'notes.save', names: [] })).toEqual(['group:notes'])
})

it('lists entries that no tool answers to: an error in allow, a warning in deny', () => {
  const known = { names: ['read', 'exec'], groups: ['group:notes'] }
  const visibility = { allow: ['raed', 'group:fs', ' EXEC', '*'], deny: ['browser', 'group:notes'] }
  expect(unknownVisibilityEntries(visibility, known)).toEqual([
    { list: 'allow', entry: 'raed', level: 'error', message: expect.stringContaining('Did you mean read') },
    { list: 'deny', entry: 'browser', level: 'warning', message: expect.stringContaining('hides nothing') },
  ])
})
