import { describe, expect, it } from 'vitest'
import { fillReferences } from './fill-references.ts'

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

  it('refuses kinds it does not know', () => {
    expect(() => fill('${input:key}')).toThrow(/cannot fill in/)
  })

  it('leaves other text alone', () => {
    expect(fill('$HOME ${} {x} $${')).toBe('$HOME ${} {x} $${')
  })
})
