import { describe, expect, it } from 'vitest'
import { isMap, LineCounter, parseDocument } from 'yaml'
import { POLICY_YAML } from '../../../test/support/policy-yaml.ts'
import type { Capability } from '../../core/src/tool.ts'
import { readCommandLine } from '../../shell/src/reader/read-command-line.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide/decide.ts'
import { fromPolicyYaml } from './from-policy-yaml.ts'

const PLACE = { cwd: '/srv', roots: ['/srv'] }
const AGREES = () => ({ hasError: false, names: [] })

function read(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  return fromPolicyYaml(document.toJS(), {
    file: 'policy.yaml',
    base: '/srv',
    lineOf(path) {
      const map = document.getIn(path.slice(0, -1), true) ?? document.contents
      const key = isMap(map) ? map.items.find((item) => String(item.key) === path.at(-1))?.key : undefined
      const range = (key as { range?: [number] } | undefined)?.range
      return range && lines.linePos(range[0]).line
    },
    parseSize(value) {
      const [, number, unit] = /^(\d+)(MB)?$/.exec(String(value)) ?? []
      if (number === undefined) throw new Error('no size')
      return Number(number) * (unit ? 1_000_000 : 1)
    },
  })
}

function judge(text: string, tool: string, capability?: Capability, value?: string) {
  const policy = compilePolicy({ owner: read(text), home: '/home/ann' })
  return decide(policy, {
    tool,
    names: [tool],
    groups: [],
    capabilities: capability ? [capability] : [],
    targets: capability && value !== undefined ? [{ capability, value }] : [],
    caller: 'direct',
    tainted: false,
    readings: new Map([[value ?? '', readCommandLine(value ?? '', PLACE, AGREES)]]),
  })
}

describe('the policy.yaml of S2, verbatim', () => {
  it.each<[string, Capability | undefined, string | undefined, string, number]>([
    ['read_file', 'read:fs', '/srv/a.md', 'allow', 8],
    ['read_file', 'read:fs', '/tmp/a.md', 'allow', 8],
    ['read_file', 'read:fs', '/etc/passwd', 'deny', 11],
    ['read_file', 'read:fs', '/workshop/a.md', 'deny', 11],
    ['read_file', 'read:fs', '/srv/server.pem', 'deny', 14],
    ['read_file', 'read:fs', '/tmp/deep/er.key', 'deny', 14],
    ['read_file', 'read:fs', '/home/ann/.ssh/id_rsa', 'deny', 11],
    ['read_file', 'read:fs', undefined, 'deny', 11],
    ['run_shell', 'exec', 'ls -la', 'allow', 21],
    ['run_shell', 'exec', 'git status', 'allow', 21],
    ['run_shell', 'exec', 'git status --short', 'ask', 20],
    ['run_shell', 'exec', 'make', 'ask', 20],
    ['run_shell', 'exec', 'ls; make', 'ask', 20],
    ['run_shell', 'exec', 'ls; rm -rf /', 'deny', 29],
    ['run_shell', 'exec', 'rm -rf /', 'deny', 29],
    ['run_shell', 'exec', 'sudo ls', 'deny', 29],
    ['search_files', 'read:fs', '/anywhere', 'allow', 35],
    ['other', 'network', 'https://x.org/', 'ask', 4],
    ['pure', undefined, undefined, 'ask', 4],
  ])('%s with %s on %s: %s by line %i', (tool, capability, value, effect, line) => {
    expect(judge(POLICY_YAML, tool, capability, value)).toMatchObject({ effect, source: `policy.yaml:${line}` })
  })

  it('holds calls to its sizes and counts', () => {
    expect(judge(POLICY_YAML, 'read_file', 'read:fs', '/srv/a').constraints).toEqual({
      maxBytes: 10_000_000,
      maxFileBytes: 10_000_000,
    })
    expect(judge(POLICY_YAML, 'search_files', 'read:fs', '/srv').constraints).toEqual({ maxResults: 100 })
  })

  it('holds only paths to allowed_paths', () => {
    expect(judge(POLICY_YAML, 'read_file', 'network', 'https://x.org/').effect).toBe('allow')
  })
})

describe('tools.default', () => {
  const text = (standard: string) =>
    `tools:\n  default: ${standard}\n  a: { action: allow }\n  b: { action: deny }\n  c: { whitelist: [ls] }\n`

  it.each([
    ['allow', 'allow'],
    ['ask', 'ask'],
    ['deny', 'deny'],
  ])('%s decides for tools without an entry only', (standard, effect) => {
    expect(judge(text(standard), 'z', 'exec', 'ls').effect).toBe(effect)
    expect(judge(text(standard), 'z').effect).toBe(effect)
    expect(judge(text(standard), 'a', 'exec', 'ls').effect).toBe('allow')
    expect(judge(text(standard), 'b', 'exec', 'ls').effect).toBe('deny')
  })

  it('decides what an entry without an action leaves open', () => {
    expect(judge(text('deny'), 'c', 'exec', 'ls').effect).toBe('allow')
    expect(judge(text('deny'), 'c', 'exec', 'cat').effect).toBe('deny')
    expect(judge(text('ask'), 'c', 'exec', 'cat').effect).toBe('ask')
  })

  it('is for the shipped rules to decide when it is absent', () => {
    expect(read('tools:\n  a: { action: allow }\n')).toHaveLength(1)
    expect(judge('tools:\n  a: {}\n', 'a', 'exec', 'ls').effect).toBe('ask')
  })
})

it('a denied tool still runs what its whitelist names, and nothing else', () => {
  const text = 'tools:\n  sh: { action: deny, whitelist: ["ls *"] }\n'
  expect(judge(text, 'sh', 'exec', 'ls -la').effect).toBe('allow')
  expect(judge(text, 'sh', 'exec', 'make').effect).toBe('deny')
  expect(judge(text, 'sh', 'exec', 'ls; make').effect).toBe('deny')
  expect(judge(text, 'sh', 'exec', 'ls > out').effect).toBe('deny')
  expect(judge(text, 'sh', 'exec', 'ls /etc').effect).toBe('deny')
  expect(judge(text, 'sh').effect).toBe('deny')
})

it('a limit may be nothing at all', () => {
  const [rule] = read('tools:\n  a: { action: allow, constraints: { max_results: 0 } }\n')
  expect(rule?.rule).toEqual({ allow: 'a', limit: { maxResults: 0 } })
})

describe('a document that cannot be meant', () => {
  it.each<[string, string, string]>([
    ['tool:\n  a: {}\n', 'policy.yaml:1: "tool" is not known', 'Did you mean tools'],
    ['tools:\n  a: { acton: allow }\n', 'policy.yaml:2: "acton" is not known', 'Did you mean action'],
    [
      'tools:\n  a:\n    constraints:\n      max_sise: 1\n',
      'policy.yaml:4: "max_sise" is not known',
      'Did you mean max_size',
    ],
    ['tools:\n  a: { action: alow }\n', 'tools.a.action is "alow"', 'Did you mean allow'],
    ['tools:\n  default: no\n', 'tools.default is "no"', ''],
    ['tools:\n  default: true\n', 'tools.default is true', ''],
    ['tools: [a]\n', 'policy.yaml:1: tools must be a map', ''],
    ['tools:\n', 'tools must be a map', ''],
    ['just text\n', 'the document must be a map', ''],
    ['tools:\n  a: allow\n', 'tools.a must be a map', ''],
    ['tools:\n  a: { whitelist: ls }\n', 'tools.a.whitelist must be a list', ''],
    ['tools:\n  a: { blacklist: [5] }\n', 'tools.a.blacklist must be a list', ''],
    ['tools:\n  a: { constraints: { allowed_paths: [] } }\n', 'allowed_paths must be a list', ''],
    ['tools:\n  a: { constraints: { max_size: huge } }\n', 'max_size is "huge"', '10MB'],
    ['tools:\n  a: { constraints: { max_size: [1] } }\n', 'max_size must be a size', ''],
    ['tools:\n  a: { constraints: { max_results: 1.5 } }\n', 'max_results is 1.5, but must be a whole number', ''],
    ['tools:\n  a: { constraints: { max_results: -1 } }\n', 'max_results is -1', ''],
    ['tools:\n  a: { constraints: { max_results: x } }\n', 'max_results is "x"', ''],
    ['tools:\n  a: { whitelist: [""] }\n', 'tools.a.whitelist must be a list of texts, at least one', ''],
  ])('%j is refused', (text, message, hint) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(message),
        fix: { hint: expect.stringContaining(hint) },
      }),
    )
  })

  it('and neither is a blacklist that could not be matched', () => {
    expect(() => compilePolicy({ owner: read('tools:\n  sh: { blacklist: ["curl * | sh"] }\n') })).toThrow(
      /policy.yaml:2.*not a plain word/,
    )
  })
})
