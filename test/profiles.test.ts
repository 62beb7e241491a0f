import { describe, expect, it, onTestFinished } from 'vitest'
import type { HubOptions } from '../packages/core/src/options.ts'
import type { Rule } from '../packages/core/src/principal.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'

type Profile = 'minimal' | 'coding' | 'messaging' | 'full'

/** S3's tables: what each profile and each group has, by the names that models know. */
const PROFILES: Readonly<Record<Exclude<Profile, 'full'>, readonly string[]>> = {
  minimal: ['session_status'],
  coding: [
    ...['read', 'write', 'edit', 'apply_patch'],
    ...['exec', 'process'],
    ...['sessions_list', 'sessions_send', 'sessions_spawn'],
  ],
  messaging: ['message', 'session_status', 'sessions_history', 'sessions_list'],
}
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'group:fs': ['read', 'write', 'edit', 'apply_patch'],
  'group:runtime': ['exec', 'process'],
  'group:web': ['web_search', 'web_fetch'],
  'group:sessions': ['sessions_list', 'sessions_send', 'sessions_spawn'],
  'group:messaging': ['message'],
}
/** The document's profile says "file system"; here that is every tool for files. */
const isFurtherFileTool = (name: string) => /^(core_fs_|find$|ls$|grep$)/.test(name)

interface Visibility {
  profile?: Profile
  allow?: string[]
  deny?: string[]
}

function hubWith(visibility: Visibility) {
  const hub = testHub({ visibility })
  onTestFinished(() => hub.close())
  return hub
}

function wireNames(visibility: Visibility): string[] {
  return hubWith(visibility)
    .cards({ dialect: 'coding' })
    .map(({ name }) => name)
}

describe('the profiles of S3', () => {
  it.each(Object.entries(PROFILES))('%s shows the tools of its table', (profile, tools) => {
    const names = wireNames({ profile: profile as Profile })
    expect(names.filter((name) => !isFurtherFileTool(name)).sort()).toEqual([...tools].sort())
  })

  it('full shows every tool, and no profile names one that is not there', () => {
    const names = wireNames({ profile: 'full' })
    const all = ['browser', 'canvas', 'clarify', 'cron', 'memory_search', ...Object.values(PROFILES).flat()]
    expect(all.filter((name) => !names.includes(name))).toEqual([])
  })

  it('show models the names of the tables', () => {
    for (const profile of ['minimal', 'messaging', 'coding'] as const) {
      const shown = hubWith({ profile }).cards()
      expect(shown.map(({ name }) => name).filter((name) => name.includes('session_'))).not.toContain(
        'core_session_status',
      )
    }
    expect(
      hubWith({ profile: 'minimal' })
        .cards()
        .map(({ name }) => name),
    ).toEqual(['session_status'])
  })
})

describe('the groups of S3', () => {
  it.each(Object.entries(GROUPS))('%s holds the tools of its table, in allow and in deny', (group, tools) => {
    expect(wireNames({ allow: [group] }).sort()).toEqual([...tools].sort())
    const left = wireNames({ deny: [group] })
    const all = wireNames({})
    expect(left).toEqual(all.filter((name) => !tools.includes(name)))
  })

  it('group:files holds every tool for files, and a deny of group:fs alone says what it leaves open', () => {
    const files = hubWith({ allow: ['group:files'] })
    const names = files.list().map(({ name }) => name)
    expect(names).toEqual(files.registry.list().flatMap(({ name }) => (name.startsWith('core/fs.') ? [name] : [])))
    expect(names).toHaveLength(13)
    const warnings = (visibility: Visibility, policy: readonly Rule[] = []) => {
      const hub = testHub({ visibility, policy })
      onTestFinished(() => hub.close())
      return hub.check().map(({ message, source }) => [source, message])
    }
    const left = expect.stringMatching(/group:fs is read, write, edit and apply_patch only.*group:files/)
    expect(warnings({ deny: ['Group:fs'] })).toEqual([['tools.deny', left]])
    expect(warnings({}, [{ deny: 'group:fs' }])).toEqual([[expect.any(String), left]])
    expect(warnings({}, [{ ask: 'group:fs' }])).toEqual([[expect.any(String), left]])
    expect(warnings({ deny: ['group:fs', 'group:files'] })).toEqual([])
    expect(warnings({ allow: ['group:fs'] }, [{ allow: 'group:fs' }])).toEqual([])
  })

  it('a tool that begins what only a hidden tool continues is reported, and its group shows both', () => {
    const check = (visibility: NonNullable<HubOptions['visibility']>) => {
      const hub = testHub({ visibility })
      onTestFinished(() => hub.close())
      return hub.check().map(({ source, message }) => `${source}: ${message}`)
    }
    expect(check({ profile: 'coding', also: ['core/code.run'] })).toEqual([
      'tools: core/code.run is visible and core/code.wait is not: an agent can begin a script that waits for an approval, but not continue it.',
    ])
    expect(check({ allow: ['exec'] })).toEqual([
      expect.stringContaining('core/exec.run is visible and core/exec.process is not'),
    ])
    expect(check({ profile: 'coding', also: ['group:code'] })).toEqual([])
    expect(check({ allow: ['group:runtime'] })).toEqual([])
    expect(check({ deny: ['core/code.run', 'exec'] })).toEqual([])
  })
})
