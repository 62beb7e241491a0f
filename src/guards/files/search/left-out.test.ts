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
      '.set-aside-0123abcd',
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

const LEFT_OUT = [
  ...['.ssh', '.gnupg', '.aws', '.env', '.env.local', '.envrc', 'a.pem', 'a.key', 'a.p12', 'a.pfx', 'a.jks'],
  ...['a.keystore', 'a.kdbx', '.pem', 'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk'],
  ...['id_rsa_sk', 'id_dsa_sk', '.netrc', '.pgpass', '.git-credentials', '.pypirc', '.htpasswd'],
  ...['.aws.set-aside-0123abcd', 'a.pem.set-aside-0123abcd'],
]

it.each(LEFT_OUT)('%s is left out, in any case', (name) => {
  expect([isLeftOut(name), isLeftOut(name.toUpperCase())]).toEqual([true, true])
  expect(SECRET_GLOBS.some((glob) => compileGlob(glob)(name))).toBe(true)
})

it.each(['.git', '.tool-hub-1.tmp', '.tool-hub-\n.tmp'])('%j is left out, in this case only', (name) => {
  expect([isLeftOut(name), isLeftOut(name.toUpperCase())]).toEqual([true, false])
  expect(OWN_GLOBS.some((glob) => compileGlob(glob)(name))).toBe(true)
})

it.each([
  ...['x.ssh', '.sshx', 'x.env', 'a.pem.md', 'apem', 'xid_rsa', 'id_rsa.pub', 'id_rsa_skx', '.netrc2', 'x.netrc'],
  ...['.gitx', 'x.git', '.gitignore', 'x.tool-hub-1.tmp', '.tool-hub-1.tmpx', '.tool-hub.tmp', 'src', ''],
])('%j is not left out', (name) => {
  expect(isLeftOut(name)).toBe(false)
})
