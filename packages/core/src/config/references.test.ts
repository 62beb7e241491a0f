import { describe, expect, it } from 'vitest'
import { fillReferences } from './index.ts'

const references = {
  env: { TOKEN: 't0ken', EMPTY: '' },
  secret: (name: string) => (name === 'github' ? 'gh' : undefined),
}
const fill = (text: string) => fillReferences(text, references, 'headers.Authorization of x')

describe('references in the configuration of a server', () => {
  it('are filled in wherever they stand', () => {
    expect(fill('Bearer ${env:TOKEN}, ${secret:github} and ${TOKEN}')).toBe('Bearer t0ken, gh and t0ken')
  })

  it('may have a default, also an empty one', () => {
    expect(fill('${NONE:-here}/${env:NONE:-there}/${NONE:-}/${EMPTY:-x}')).toBe('here/there//')
  })

  it('name what is missing and where', () => {
    expect(() => fill('${env:NONE}')).toThrow(/headers\.Authorization of x needs the environment variable NONE/)
    expect(() => fill('${secret:none}')).toThrow(/the secret none/)
    expect(() => fill('${constructor}')).toThrow(/environment variable constructor/)
  })

  it('say what to do about what is missing', () => {
    const failure = (text: string) => {
      try {
        return fill(text)
      } catch (error) {
        return error
      }
    }
    const message = 'headers.Authorization of x needs'
    expect(failure('${NONE}')).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${message} the environment variable NONE, which is not set.`,
      fix: { hint: 'Set it, or give a default: ${env:NAME:-default}.' },
    })
    expect(failure('${secret:none}')).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${message} the secret none, which is not set.`,
      fix: { hint: 'Add it to secrets in tool-hub.yaml.' },
    })
    expect(failure('a ${input:key} b')).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'headers.Authorization of x holds ${input:key}, which tool-hub cannot fill in.',
      fix: {
        hint: 'Use ${env:NAME} for a variable of the environment or ${secret:name} for a secret of tool-hub.yaml.',
      },
    })
  })

  it('tell of every value that was taken, and of no default', () => {
    const taken: unknown[] = []
    const onValue = (...value: unknown[]) => void taken.push(value)
    const text = '${TOKEN} ${env:TOKEN} ${secret:github} ${NONE:-x} ${secret:none:-y} ${EMPTY}'
    expect(fillReferences(text, { ...references, onValue }, 'x')).toBe('t0ken t0ken gh x y ')
    expect(taken).toEqual([
      ['env', 'TOKEN', 't0ken'],
      ['env', 'TOKEN', 't0ken'],
      ['secret', 'github', 'gh'],
      ['env', 'EMPTY', ''],
    ])
  })

  it('refuses kinds it does not know', () => {
    expect(() => fill('${input:key}')).toThrow(/cannot fill in/)
  })

  it('leaves other text alone', () => {
    expect(fill('$HOME ${} {x} $${')).toBe('$HOME ${} {x} $${')
  })
})
