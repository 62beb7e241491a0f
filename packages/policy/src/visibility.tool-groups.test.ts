import { describe, expect, it } from 'vitest'
import {
  compileVisibility,
  dialectOf,
  doubtNarrowGroup,
  expandToolGroups,
  groupsOf,
  unknownVisibilityEntries,
} from './visibility.ts'

describe('groups and profiles', () => {
  it.each([
    ['group:fs', ['read', 'write', 'edit', 'apply_patch']],
    [
      'group:files',
      [
        'read',
        'write',
        'edit',
        'apply_patch',
        'find',
        'ls',
        'grep',
        'read_file',
        'write_file',
        'list_files',
        'search_files',
        'grep_files',
      ],
    ],
    ['group:runtime', ['exec', 'process']],
    ['group:web', ['web_search', 'web_fetch']],
    ['group:sessions', ['sessions_list', 'sessions_send', 'sessions_spawn']],
    ['group:messaging', ['message']],
    ['group:util', ['group:util']],
    [' Group:WEB ', ['web_search', 'web_fetch']],
    ['x', ['x']],
  ])('%s has %j', (group, members) => {
    expect(expandToolGroups([group, group])).toEqual(members)
  })

  it('are those of the area, and those that list a name', () => {
    expect(groupsOf({ name: 'core/Notes.save', names: [] })).toEqual(['group:notes'])
    expect(groupsOf({ name: 'x', names: ['READ'], group: 'Mine' })).toEqual(['group:mine', 'group:fs', 'group:files'])
  })

  it.each([
    ['minimal', 'session_status'],
    ['coding', 'group:files, group:runtime, group:sessions, group:skill'],
    ['messaging', 'group:messaging, sessions_list, sessions_history, session_status'],
  ] as const)('%s shows only %s', (profile, shown) => {
    expect(compileVisibility({ profile })({ name: 'core/x.y', names: [], group: 'x' })).toEqual({
      visible: false,
      why: expect.stringContaining(`profile ${profile} shows only ${shown}; tools.also: [`),
    })
    expect(compileVisibility({ profile })({ name: 'mine.y', names: [] })).toEqual({ visible: true })
    expect(dialectOf({ profile })).toBe('coding')
  })

  it('full shows all by their own names', () => {
    expect(compileVisibility({})({ name: 'core/x.y', names: [] })).toEqual({ visible: true })
    expect([dialectOf({}), dialectOf({ profile: 'full' })]).toEqual([undefined, undefined])
  })

  it('warn of a group that is narrower than it sounds', () => {
    expect(doubtNarrowGroup([' GROUP:fs'])).toMatch(/^group:fs is read, write, edit and apply_patch only/)
    expect(doubtNarrowGroup(['group:fs', 'Group:Files'])).toBeUndefined()
    expect(doubtNarrowGroup(['group:fs', '*'])).toBeUndefined()
    expect(doubtNarrowGroup(['x'])).toBeUndefined()
  })

  it('tell which entries nothing answers to', () => {
    const known = { names: ['notes.save'], groups: ['group:notes'], arriving: ['web__'] }
    const find = (allow: string[], deny: string[] = []) => unknownVisibilityEntries({ allow, deny }, known)
    expect(find(['*', 'Notes.Save ', 'group:notes', 'group:fs', 'web__x'])).toEqual([])
    expect(find(['xyzzy'], ['notes.sav'])).toEqual([
      {
        list: 'allow',
        entry: 'xyzzy',
        level: 'error',
        message: 'tools.allow has "xyzzy", which no tool or group is called: it shows nothing.',
      },
      {
        list: 'deny',
        entry: 'notes.sav',
        level: 'warning',
        message: expect.stringMatching(
          /^tools\.deny has "notes\.sav", which no tool or group is called: it hides nothing\. Did you mean notes\.save/,
        ),
      },
    ])
  })
})
