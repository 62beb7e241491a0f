import { describe, expect, it } from 'vitest'
import { readPolicyPart, replacePolicyPart } from './policy-file.ts'

const CONFIG = `version: 1
# what may happen
policy:
  # first
  - { ask: exec } # always
  - allow: network
    on: ["https://api.example.org/**"]
  # - { deny: "*" }

# where
sandbox: { root: . }   # here
`

describe('the policy part of a config', () => {
  it('is read as it is written, with its comments', () => {
    expect(readPolicyPart(CONFIG, 'x.yaml')).toBe(CONFIG.slice(CONFIG.indexOf('policy:'), CONFIG.indexOf('\n# where')))
  })

  it('is replaced, and everything around stays to the letter', () => {
    const part = 'policy:\n  - { deny: exec } # no\n'
    expect(replacePolicyPart(CONFIG, part, 'x.yaml')).toBe(`version: 1
# what may happen
policy:
  - { deny: exec } # no

# where
sandbox: { root: . }   # here
`)
  })

  it('comes back the same when nothing is changed', () => {
    expect(replacePolicyPart(CONFIG, readPolicyPart(CONFIG, 'x.yaml'), 'x.yaml')).toBe(CONFIG)
  })

  it.each(['', 'version: 1', 'version: 1\npolicy:\n', 'version: 1\npolicy: []\nruns: ./r\n'])(
    'is put into %j',
    (text) => {
      const changed = replacePolicyPart(text, 'policy:\n- { ask: exec }\n', 'x.yaml')
      expect(readPolicyPart(changed, 'x.yaml')).toBe('policy:\n- { ask: exec }\n')
    },
  )

  it('says nothing where there is none', () => {
    expect(readPolicyPart('version: 1\n', 'x.yaml')).toBe('policy: []\n')
  })

  it('is replaced in a config in braces, too', () => {
    const changed = replacePolicyPart(
      '{ version: 1, policy: [ { ask: exec } ] }',
      'policy: [{ deny: exec }]\n',
      'x.yaml',
    )
    expect(readPolicyPart(changed, 'x.yaml')).toBe('policy:\n  - deny: exec\n')
    expect(changed).toContain('version: 1')
  })

  it('is not replaced where other parts refer to it', () => {
    const text = 'policy:\n  - &rule { ask: exec }\nnote: *rule\n'
    expect(() => replacePolicyPart(text, 'policy: []\n', 'x.yaml')).toThrow()
  })

  it.each(['- a', 'policy: [', 'a: 1\n---\nb: 2\n'])('is not looked for in %j', (text) => {
    expect(() => replacePolicyPart(text, 'policy: []\n', 'x.yaml')).toThrow(/x\.yaml/)
  })
})
