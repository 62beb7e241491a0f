import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

const ROOT = '/usr/lib/postgresql'
const SETTINGS = '/etc/postgresql-common'

/** A machine whose PostgreSQL, settings of it and programs are what a test says; nothing of the real one is changed. */
function machine({ aptGet, versions = {} }: { readonly aptGet?: string; readonly versions?: Record<string, string> }) {
  const folder = temporaryFolder('programs')
  const [bin, postgres, settings] = ['bin', 'postgresql', 'postgresql-common'].map((name) => {
    mkdirSync(join(folder, name))
    return join(folder, name)
  }) as [string, string, string]
  const program = (path: string, script: string) => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
  }
  for (const name of ['bwrap', 'chromium']) program(join(bin, name), 'exit 0')
  if (aptGet !== undefined) program(join(bin, 'apt-get'), `echo "$@" >> ${folder}/apt; ${aptGet}`)
  for (const [version, name] of Object.entries(versions)) program(join(postgres, version, 'bin', name), 'exit 0')
  const places = ['--bind', postgres, ROOT, '--bind', settings, SETTINGS]
  return {
    ensure({ user = 0 } = {}) {
      const as = ['--unshare-user', '--uid', String(user), '--setenv', 'PATH', bin]
      const words = ['--dev-bind', '/', '/', ...places, ...as, process.execPath, resolve('scripts/ensure-programs.mjs')]
      const ended = spawnSync('bwrap', words, { encoding: 'utf8' })
      return { code: ended.status, said: ended.stdout + ended.stderr }
    },
    asked: () =>
      existsSync(join(folder, 'apt')) ? readFileSync(join(folder, 'apt'), 'utf8').split('\n').slice(0, -1) : [],
    settings: () => readFileSync(join(settings, 'createcluster.conf'), 'utf8'),
  }
}

/** Installs a server of a version, as the package does. */
const installing = (version: number) =>
  `[ "$1" != install ] || { /bin/mkdir -p ${ROOT}/${version}/bin; echo '#!/bin/sh' > ${ROOT}/${version}/bin/initdb; }`

// Elsewhere, the folders that are hidden here would have to be made first.
describe.skipIf(![ROOT, SETTINGS].every((path) => existsSync(path)))('a machine without PostgreSQL', () => {
  it('gets it from the packages of the distribution, without a server for the whole machine', () => {
    const { ensure, asked, settings } = machine({ aptGet: installing(15) })
    expect(ensure()).toEqual({ code: 0, said: expect.stringContaining('Installing postgresql') })
    expect(asked()).toEqual(['--version', 'install -y --no-install-recommends postgresql'])
    expect(settings()).toBe('create_main_cluster = false\n')
    expect(ensure()).toEqual({ code: 0, said: '' })
  })

  it('gets it although the programs of clients are there', () => {
    const { ensure, asked } = machine({ aptGet: installing(15), versions: { 17: 'psql' } })
    expect(ensure()).toMatchObject({ code: 0 })
    expect(asked()).toContain('install -y --no-install-recommends postgresql')
  })

  it('gets it after the lists of packages are read again', () => {
    const isListed = `[ "$1" = --version ] || /bin/grep -q update "$(/usr/bin/dirname "$0")/../apt" || exit 100`
    const { ensure, asked } = machine({ aptGet: `${isListed}; ${installing(15)}` })
    expect(ensure()).toMatchObject({ code: 0 })
    expect(
      asked()
        .slice(1)
        .map((words) => words.split(' ')[0]),
    ).toEqual(['install', 'update', 'install'])
  })

  it('prints why it cannot be installed, and what to do', () => {
    const aptGet = `[ "$1" = --version ] || { echo 'E: Unable to locate package postgresql' >&2; exit 100; }`
    expect(machine({ aptGet }).ensure()).toEqual({
      code: 1,
      said: expect.stringMatching(
        /could not be installed: E: Unable to locate package postgresql\nMake apt-get install postgresql work/,
      ),
    })
  })

  it.each([
    ['apt-get is missing', {}, 0],
    ['the user may not', { aptGet: 'exit 0' }, 1_000],
  ])('prints what to install if %s', (_, programs, user) => {
    const { ensure } = machine(programs)
    expect(ensure({ user })).toEqual({
      code: 1,
      said: expect.stringMatching(
        /^postgresql is missing, and the tests need it\. Install it as root: apt-get install postgresql\./,
      ),
    })
  })

  it('prints that its version is too old', () => {
    const { ensure } = machine({ aptGet: installing(11) })
    expect(ensure()).toEqual({ code: 1, said: expect.stringMatching(/not in version 13 or later/) })
  })
})
