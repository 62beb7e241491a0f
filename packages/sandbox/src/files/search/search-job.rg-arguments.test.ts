import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { closedToFileTools, foldName } from '../../protected/names/protected-names.ts'
import { SECRET_NAMES } from '../../protected/names/secret-names.ts'
import type { SearchFolder } from './found-files.ts'
import { compileIgnoreGlob } from './ignore-rules.ts'
import { isNeverSearched, OWN_GLOBS, SECRET_GLOBS, type SearchJob, searchCommand } from './search-job.ts'

const PLACE = { rulesAbove: '' } as SearchFolder
const JOB: SearchJob = {
  pattern: '-x',
  isRegex: true,
  ignoreCase: false,
  multiline: false,
  contextLines: 0,
  output: 'lines',
  maxMatches: 7,
  maxFiles: 9,
  globRules: '',
  includeHidden: true,
  includeIgnored: true,
}
const LEFT_OUT = [
  ...['.git', '.tool-hub-*.tmp'].map((glob) => `--glob=!${glob}`),
  ...SECRET_NAMES.map((glob) => `--iglob=!${glob}`),
  '--iglob=!*.set-aside-????????',
]

const argsOf = (job: Partial<SearchJob>, place: Partial<SearchFolder> = {}, paths: string[] = []) =>
  searchCommand({ ...PLACE, ...place }, { ...JOB, ...job }).args(paths)

describe('the arguments of ripgrep', () => {
  it('keep it from settings, links and ignore files of others, and end with the place', () => {
    expect(argsOf({})).toEqual([
      ...['--no-config', '--no-follow', '--color=never', '--hidden', '--no-ignore', '--no-ignore-global'],
      ...['--no-ignore-parent', '--no-ignore-messages', ...LEFT_OUT],
      ...['--json', '--crlf', '--no-mmap', '--max-count=8', '--case-sensitive', '--regexp=-x', '--', '.'],
    ])
  })

  it.each<[string, Partial<SearchJob>, string[], string[]]>([
    ['the names of files', { output: 'files' }, ['--max-count=1'], ['--max-count=8']],
    ['counts', { output: 'counts' }, [], ['--max-count=8']],
    ['plain text', { isRegex: false }, ['--fixed-strings'], []],
    ['any case', { ignoreCase: true }, ['--ignore-case'], ['--case-sensitive']],
    ['several lines', { multiline: true }, ['--multiline'], []],
    ['lines around a match', { contextLines: 1 }, ['--context=1'], []],
    ['no hidden files', { includeHidden: false }, ['--glob=!.*'], []],
    ['a type of files', { type: 'ts' }, ['--type=ts'], []],
    [
      'ignore files of the tree',
      { includeIgnored: false },
      ['--no-require-git', '--no-ignore-dot', '--no-ignore-exclude'],
      ['--no-ignore'],
    ],
  ])('change for %s', (_, job, added, removed) => {
    const [usual, changed] = [argsOf({}), argsOf(job)]
    expect(changed.filter((arg) => !usual.includes(arg))).toEqual(added)
    expect(usual.filter((arg) => !changed.includes(arg))).toEqual(removed)
  })

  it('name one file so that its name is never an option', () => {
    expect(argsOf({}, { file: '-r' }).slice(-2)).toEqual(['--', './-r'])
  })

  it('name the ignore files, the globs of the caller before the rules above, which are stronger', () => {
    const place = { ...PLACE, rulesAbove: 'above' }
    const files = (job: Partial<SearchJob>, at = place) => searchCommand(at, { ...JOB, ...job }).ignoreFiles
    expect(files({ globRules: 'globs', includeIgnored: false })).toEqual(['globs', 'above'])
    expect(files({ globRules: 'globs', includeIgnored: true })).toEqual(['globs'])
    expect(files({ includeIgnored: false })).toEqual(['above'])
    expect(files({ includeIgnored: false }, PLACE)).toEqual([])
    expect(argsOf({}, {}, ['/1', '/2'])).toEqual(expect.arrayContaining(['--ignore-file=/1', '--ignore-file=/2']))
  })
})

const secret = SECRET_GLOBS.map(compileIgnoreGlob)
const own = OWN_GLOBS.map(compileIgnoreGlob)

/** Whether ripgrep leaves out a name: SECRET_GLOBS ignore case. */
function isLeftOut(name: string): boolean {
  return secret.some((test) => test(name.toLowerCase())) || own.some((test) => test(name))
}

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

it('leaves out every name that looks like a secret to the guard, which also knows other spellings', () => {
  fc.assert(
    fc.property(names, (name) => {
      const isSecret = foldName(name) === name.toLowerCase() && closedToFileTools([name], 'read') !== undefined
      expect(isLeftOut(name) || !isSecret).toBe(true)
      expect(isLeftOut(name.toUpperCase()) || !isSecret).toBe(true)
    }),
  )
})

it('leaves out the same names in a search by name as in ripgrep', () => {
  const parts = fc.constantFrom(...SECRET_GLOBS, ...OWN_GLOBS).map((glob) => glob.replaceAll('?', 'a'))
  const likely = fc
    .tuple(fc.constantFrom('', 'a', '.'), parts, fc.constantFrom('', 'b', '.md'))
    .map(([before, glob, after]) => before + glob.replaceAll('*', 'x') + after)
  fc.assert(
    fc.property(fc.oneof(names, likely), (name) => {
      expect(isNeverSearched(name)).toBe(isLeftOut(name))
      expect(isNeverSearched(name.toUpperCase())).toBe(isLeftOut(name.toUpperCase()))
    }),
  )
})

const LEFT_OUT_NAMES = [
  ...['.ssh', '.gnupg', '.aws', '.env', '.env.local', '.envrc', 'a.pem', 'a.key', 'a.p12', 'a.pfx', 'a.jks'],
  ...['a.keystore', 'a.kdbx', '.pem', 'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk'],
  ...['id_rsa_sk', 'id_dsa_sk', '.netrc', '.pgpass', '.git-credentials', '.pypirc', '.htpasswd'],
  ...['prod.env', 'a.p8', 'a.ppk', 'a.tfstate', '.azure', 'x-firebase-adminsdk-y.json', 'service-account.json'],
  ...['.aws.set-aside-0123abcd', 'a.pem.set-aside-0123abcd'],
]

it('secrets are left out, in any case', () => {
  checkEach(LEFT_OUT_NAMES, (name) => {
    expect([isLeftOut(name), isLeftOut(name.toUpperCase())]).toEqual([true, true])
  })
})

it('own files are left out, in this case only', () => {
  checkEach(['.git', '.tool-hub-1.tmp', '.tool-hub-\n.tmp'], (name) => {
    expect([isLeftOut(name), isLeftOut(name.toUpperCase())]).toEqual([true, false])
  })
})

it('other names are not left out', () => {
  checkEach(
    [
      ...['x.ssh', '.sshx', 'x.envs', 'a.pem.md', 'apem', 'xid_rsa', 'id_rsa.pub', 'id_rsa_skx', '.netrc2', 'x.netrc'],
      ...['.gitx', 'x.git', '.gitignore', 'x.tool-hub-1.tmp', '.tool-hub-1.tmpx', '.tool-hub.tmp', 'src', ''],
    ],
    (name) => {
      expect(isLeftOut(name)).toBe(false)
    },
  )
})
