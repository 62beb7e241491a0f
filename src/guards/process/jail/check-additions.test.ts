import { describe, expect, it } from 'vitest'
import { checkAdditions } from './check-additions.ts'

const refused = expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' })

describe('what a call may add to the environment', () => {
  it('may be names of the program that it runs', () => {
    expect(() =>
      checkAdditions({ DEBUG: '1', NODE_ENV: 'test', CI: 'true', MY_VAR: 'a=b\n', LOG_LEVEL: '' }),
    ).not.toThrow()
  })

  it.each(
    'PATH LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND IFS GIT_SSH_COMMAND GIT_CONFIG_COUNT PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS HTTP_PROXY https_proxy NO_PROXY HOME GOFLAGS CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER RUSTC_WRAPPER npm_config_script_shell NPM_CONFIG_CACHE GCONV_PATH LOCPATH MALLOC_CHECK_ TMPDIR BASH_FUNC_ls EDITOR LESSOPEN MAKEFLAGS CC TERMINFO XDG_CONFIG_HOME ld_preload'.split(
      ' ',
    ),
  )('is not %s', (name) => {
    expect(() => checkAdditions({ [name]: 'x' })).toThrow(refused)
  })

  it.each(['', 'A=B', 'A\0', 'A B', '1A', 'BASH_FUNC_ls%%', 'Ä', 'A\n', 'x'.repeat(200)])(
    'has no name like %j',
    (name) => {
      expect(() => checkAdditions({ [name]: 'x' })).toThrow(refused)
    },
  )

  it('is not __proto__', () => {
    expect(() => checkAdditions(JSON.parse('{"__proto__":"x"}'))).toThrow(refused)
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
      expect(() => checkAdditions(most)).not.toThrow()
      expect(() => checkAdditions(more)).toThrow(refused)
    }
  })

  it('has values without NUL, of a bounded size and number, and does not repeat them', () => {
    expect(() => checkAdditions({ A: 'hunter2\0' })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    )
    expect(() => checkAdditions({ A: 'x'.repeat(40_000) })).toThrow(/40003 bytes, the limit is 32768/)
    expect(() => checkAdditions(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`A${i}`, ''])))).toThrow(
      /65 names/,
    )
  })
})
