import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import type { CommandRequest } from '../../../../core/src/commands.ts'
import { checkCommandRequest, checkVariables } from './command-request.ts'

const request = (parts: object) => ({ timeoutMs: 1_000, ...parts }) as CommandRequest

describe('the check of a request', () => {
  it.each([
    ['no command at all', {}, /either argv/],
    ['both forms', { argv: ['ls'], command: 'ls' }, /either argv/],
    ['no words', { argv: [] }, /at least one word/],
    ['words that are none', { argv: 'ls' }, /list of at least one word/],
    ['a word that is not a text', { argv: ['ls', 7] }, /Word 2 of argv is not a text/],
    ['an empty program', { argv: ['', 'x'] }, /first word of argv is empty/],
    ['NUL in a word', { argv: ['ls', 'a\0b'] }, /Word 2 of argv contains a NUL/],
    ['NUL in a line', { command: 'ls\0rm' }, /The command contains a NUL/],
    ['NUL in a variable', { command: 'ls', env: { A: 'x\0' } }, /The variable "A" contains a NUL/],
    ['half a character', { argv: ['ls', '\ud800'] }, /half a character/],
    ['an empty line', { command: ' \n' }, /The command is empty/],
    ['a word that is too long', { argv: ['ls', 'x'.repeat(131_072)] }, /131072 bytes, the limit is 131071/],
    ['a line that is too long', { command: 'ä'.repeat(70_000) }, /140000 bytes, the limit is 131071/],
    ['too much in all', { argv: Array(20).fill('x'.repeat(100_000)) }, /the limit is 1048576/],
    ['stdin that is not a text', { command: 'cat', stdin: 7 }, /stdin must be a text/],
    ['no time', { command: 'ls', timeoutMs: 0 }, /timeoutMs must be greater than 0/],
    ['a time that is none', { command: 'ls', timeoutMs: Number.NaN }, /timeoutMs must be greater than 0/],
  ])('refuses %s', (_, parts, message) => {
    expect(() => checkCommandRequest(request(parts))).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringMatching(message) }),
    )
  })

  it('counts words and variables together, up to 1 MiB', () => {
    const words = Array(7).fill('x'.repeat(131_071))
    const ofBytes = (bytes: number) =>
      request({ argv: [...words, 'x'.repeat(bytes - 7 * 131_072 - 1 - 5)], env: { AB: 'c' } })
    expect(() => checkCommandRequest(ofBytes(1_048_576))).not.toThrow()
    expect(() => checkCommandRequest(ofBytes(1_048_577))).toThrow(
      'Words and variables have 1048577 bytes, the limit is 1048576.',
    )
    const line = (bytes: number) => request({ command: 'ls', env: Object.fromEntries(big(bytes - 3)) })
    expect(() => checkCommandRequest(line(1_048_576))).not.toThrow()
    expect(() => checkCommandRequest(line(1_048_577))).toThrow(/have 1048577 bytes/)
  })

  it('says what to do with a long text, and shortens a long name', () => {
    expect(() => checkCommandRequest(request({ argv: ['ls', 'x'.repeat(131_072)] }))).toThrow(
      expect.objectContaining({
        fix: expect.objectContaining({ hint: 'Write long text to a file, or pass it as stdin.' }),
      }),
    )
    const name = 'n'.repeat(101)
    expect(() => checkCommandRequest(request({ command: 'ls', env: { [name]: '\0' } }))).toThrow(
      `The variable "${'n'.repeat(100)}" contains a NUL character`,
    )
    expect(() => checkCommandRequest(request({ command: 'ls', timeoutMs: -1 }))).toThrow('(got -1)')
  })

  it('takes what a system can start', () => {
    checkCommandRequest(request({ argv: ['ls', '', 'a\nb', '\u202e', 'x'.repeat(131_071)] }))
    checkCommandRequest(request({ command: 'echo "a\nb"', env: { A: '' }, stdin: '\0' }))
  })
})

/** Variables that take so many bytes in all, each with its sign and its end. */
function big(bytes: number): [string, string][] {
  const whole = Array.from({ length: 10 }, (_, at): [string, string] => [`V${at}`, 'x'.repeat(99_996)])
  return [...whole, ['V', 'x'.repeat(bytes - 10 * 100_000 - 3)]]
}

const refused = expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' })

describe('what a call may add to the environment', () => {
  it('may be names of the program that it runs', () => {
    expect(() =>
      checkVariables({ DEBUG: '1', NODE_ENV: 'test', CI: 'true', MY_VAR: 'a=b\n', LOG_LEVEL: '' }),
    ).not.toThrow()
  })

  it('does not change how programs are found, loaded and started', () => {
    checkEach(
      'PATH LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND IFS GIT_SSH_COMMAND GIT_CONFIG_COUNT PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS HTTP_PROXY https_proxy NO_PROXY HOME GOFLAGS CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER RUSTC_WRAPPER npm_config_script_shell NPM_CONFIG_CACHE GCONV_PATH LOCPATH MALLOC_CHECK_ TMPDIR BASH_FUNC_ls EDITOR LESSOPEN MAKEFLAGS CC TERMINFO XDG_CONFIG_HOME ld_preload'.split(
        ' ',
      ),
      (name) => {
        expect(() => checkVariables({ [name]: 'x' })).toThrow(refused)
      },
    )
  })

  it('has only plain names', () => {
    checkEach(['', 'A=B', 'A\0', 'A B', '1A', 'BASH_FUNC_ls%%', 'Ä', 'A\n', 'x'.repeat(200)], (name) => {
      expect(() => checkVariables({ [name]: 'x' })).toThrow(refused)
    })
  })

  it('is not __proto__', () => {
    expect(() => checkVariables(JSON.parse('{"__proto__":"x"}'))).toThrow(refused)
  })

  it('has up to 64 names, of up to 128 characters, with up to 32 KiB in all', () => {
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`A${i}`, '']))
    const cases = [
      { most: names(64), more: names(65) },
      { most: { ['x'.repeat(128)]: '' }, more: { ['x'.repeat(129)]: '' } },
      // A name and its value are joined by a sign and ended by another one.
      { most: { A: 'x'.repeat(32_765) }, more: { A: 'x'.repeat(32_766) } },
      { most: { A: 'ä'.repeat(16_380), B: 'x' }, more: { A: 'ä'.repeat(16_380), B: 'xxx' } },
    ]
    for (const { most, more } of cases) {
      expect(() => checkVariables(most)).not.toThrow()
      expect(() => checkVariables(more)).toThrow(refused)
    }
  })

  it('has values without NUL, of a bounded size and number, and does not repeat them', () => {
    expect(() => checkVariables({ A: 'hunter2\0' })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    )
    expect(() => checkVariables({ A: 'x'.repeat(40_000) })).toThrow(/40003 bytes, the limit is 32768/)
    expect(() => checkVariables(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`A${i}`, ''])))).toThrow(
      /65 names/,
    )
  })

  it('says for every refused name why it is refused', () => {
    for (const [why, names] of REASONS) {
      for (const name of names.split(' ')) {
        expect(() => checkVariables({ [name]: 'x' }), name).toThrow(`A call may not set ${name}: it ${why}.`)
      }
    }
  })

  it('may be names that only contain a refused one', () => {
    for (const name of CLOSE_TO_REFUSED.split(/\s+/)) expect(() => checkVariables({ [name]: 'x' }), name).not.toThrow()
  })

  it('is refused with what to do about it, and a long name is shortened', () => {
    const messageOf = (name: string) => {
      try {
        checkVariables({ [name]: 'x' })
      } catch (error) {
        return (error as Error).message
      }
      return undefined
    }
    expect(messageOf('1'.repeat(60))).toBe(`Invalid name of a variable: "${'1'.repeat(60)}".`)
    expect(messageOf('1'.repeat(61))).toBe(`Invalid name of a variable: "${'1'.repeat(60)}…".`)
    expect(() => checkVariables({ PATH: 'x' })).toThrow(
      expect.objectContaining({
        fix: expect.objectContaining({
          hint: 'Leave it out of env. The owner can name variables for all commands in sandbox.commands.env.',
        }),
      }),
    )
    expect(() => checkVariables({ A: 1 as unknown as string })).toThrow('The value of A is not text without NUL.')
  })
})

const REASONS: ReadonlyArray<readonly [why: string, names: string]> = [
  ['is set by the sandbox', 'PATH SHELL USER LOGNAME PWD OLDPWD CDPATH TERMINFO_DIRS TERMCAP'],
  ['changes what every program loads', 'LD_PRELOAD GLIBC_TUNABLES NLSPATH HOSTALIASES RES_OPTIONS LOCALDOMAIN'],
  ['runs code in every shell', 'BASH_ENV ENV PS0 PS4 BASH_XTRACEFD ZDOTDIR FPATH BASH_FUNC_x'],
  ['loads code into node', 'NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE ELECTRON_RUN_AS_NODE'],
  ['changes what package managers run', 'NPM_CONFIG_X YARN_X PNPM_HOME COREPACK_ROOT BUN_X DENO_DIR'],
  [
    'names a program that others run',
    'GIT_SSH GIT_AUTHOR_NAME_X SSH_ASKPASS GPG_TTY EDITOR VISUAL BROWSER LESS MANOPT',
  ],
  ['loads code into an interpreter', 'PYTHONPATH PIP_INDEX_URL VIRTUAL_ENV PERL5LIB PHPRC LUA_PATH TCLLIBPATH'],
  ['loads code into a runtime', '_JAVA_OPTIONS JAVA_OPTIONS CLASSPATH MAVEN_ARGS DOTNET_ROOT CORECLR_X COMPLUS_X'],
  ['names a program that builds run', 'GOFLAGS GOPATH CGO_CFLAGS CARGO_HOME RUSTFLAGS CC LD CMAKE_X PKG_CONFIG_PATH'],
  ['changes how the network is reached', 'ALL_PROXY CURL_HOME SSL_CERT_FILE OPENSSL_CONF AWS_CA_BUNDLE'],
  ['are options of programs, some of which run others', 'TAR_OPTIONS RSYNC_RSH XZ_OPT VIMINIT MAKE SED GH_TOKEN'],
  ['leads to services or settings outside', 'DOCKER_HOST KUBECONFIG XDG_X DBUS_X DISPLAY WAYLAND_DISPLAY TOOL_HUB_X'],
]

/** Each begins or ends like a refused name. */
const CLOSE_TO_REFUSED = `MY_PATH PATHS WORLD_SIZE MY_LOCPATH LOCPATHS ENVIRONMENT APP_ENV PS5 MY_NODE_OPTIONS NODE_OPTIONS_X
  MY_YARN_CACHE MY_GIT_REPO LESSON MY_PAGER GIT_AUTHOR_NAME GIT_COMMITTER_DATE MY_PYTHON VIRTUAL_ENVS MY_JAVA_OPTS CLASSPATHS
  MY_GOPATH GOPATHS GOLD MY_CC CC_NAME MY_CURL_URL A_PROXY_NAME MY_MAKE MAKER MY_DOCKER_TAG DISPLAYS`
