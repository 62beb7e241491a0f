import fc from 'fast-check'
import { expect, it } from 'vitest'
import { closedToFileTools } from '../../protected/protected-names.ts'
import { compileGlob } from './glob.ts'
import { isLeftOut, OWN_GLOBS, SECRET_GLOBS } from './left-out.ts'

const names = fc
  .array(
    fc.constantFrom(
      '.env',
      '.pem',
      '.key',
      '.ssh',
      '.gnupg',
      '.aws',
      '.netrc',
      '.git',
      '.tool-hub-',
      '.tmp',
      '.',
      'a',
      'K',
      '\n',
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((parts) => parts.join(''))

it('leaves out every name that looks like a secret to the guard', () => {
  fc.assert(
    fc.property(names, (name) => {
      const isSecret = closedToFileTools([name], 'read') !== undefined
      expect(isLeftOut(name) || !isSecret).toBe(true)
      expect(isLeftOut(name.toUpperCase()) || !isSecret).toBe(true)
    }),
  )
})

it('says the same of a name as the globs that ripgrep gets', () => {
  const secret = SECRET_GLOBS.map(compileGlob)
  const own = OWN_GLOBS.map(compileGlob)
  fc.assert(
    fc.property(names, (name) => {
      const isGlobbed = secret.some((test) => test(name.toLowerCase())) || own.some((test) => test(name))
      expect(isLeftOut(name)).toBe(isGlobbed)
    }),
  )
})
