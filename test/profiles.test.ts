import { describe, expect, it, onTestFinished } from 'vitest'
import { testHub } from '../src/testing/test-hub.ts'

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
/** The document has no further tools for files; ours are in its group by their folder. */
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
    const allowed = wireNames({ allow: [group] })
    expect(allowed.filter((name) => !isFurtherFileTool(name)).sort()).toEqual([...tools].sort())
    const left = wireNames({ deny: [group] })
    expect(tools.filter((name) => left.includes(name))).toEqual([])
  })
})
