import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../test/support/check-each.ts'
import { openReferences } from './resolve-server.ts'

/** What is hidden when a text is filled in from these variables. */
function open(env: Record<string, string> = {}, secrets: Record<string, string> = {}) {
  const hidden: (readonly string[])[] = []
  const host = {
    secret: (name: string) => secrets[name],
    hide: (values: readonly string[]) => void hidden.push(values),
  }
  return { ...openReferences('x', { host, env }), hidden }
}

function isHidden(name: string, value: string): boolean {
  const { fill, hidden } = open({ [name]: value })
  expect(fill(`\${${name}}`, 'url')).toBe(value)
  return hidden.length > 0
}

describe('what a configuration refers to', () => {
  it('is shown where everybody knows it', () => {
    checkEach(
      `HOME PATH USER USERNAME LOGNAME PWD OLDPWD SHELL LANG LANGUAGE TERM TZ TMPDIR TMP TEMP HOSTNAME EDITOR DISPLAY CI
    NODE_ENV user Path`.split(/\s+/),
      (name) => {
        expect(isHidden(name, 'something')).toBe(false)
      },
    )
  })

  it('is shown where the variable names a folder, and hidden where it holds something else', () => {
    checkEach(
      ['DIR', 'A_DIR', 'A_DIRECTORY', 'A_FOLDER', 'A_PATH', 'A_ROOT', 'A_HOME', 'A_WORKSPACE', 'A_CWD', 'a_dir'],
      (name) => {
        for (const place of ['/srv/project', '~/project', './project', '../project', 'C:\\project', 'c:\\project']) {
          expect(isHidden(name, place)).toBe(false)
        }
        for (const other of ['s3cret-word', 'sk/secret', '.hidden', '.../secret', 'CD:\\secret'])
          expect(isHidden(name, other)).toBe(true)
      },
    )
  })

  it('is hidden where the variable names no folder', () => {
    checkEach(['A_DIRS', 'MYDIR', 'DIR_KEY', 'USERS', 'MYHOME'], (name) => {
      expect(isHidden(name, '/srv/project')).toBe(true)
    })
  })

  it('is hidden from six characters on, with and without the word before it', () => {
    expect(isHidden('A', '12345')).toBe(false)
    expect(isHidden('A', '123456')).toBe(true)
    const { fill, hidden } = open({ A: 'Bearer 123456', B: 'Bearer 12345' })
    fill('${A}', 'url')
    fill('${B}', 'url')
    expect(hidden).toEqual([['Bearer 123456', '123456'], ['Bearer 12345']])
  })

  it('is hidden where it is a secret, whatever its name', () => {
    const { fill, hidden } = open({}, { HOME: '/home/me' })
    expect(fill('${secret:HOME}', 'url')).toBe('/home/me')
    expect(hidden).toEqual([['/home/me']])
  })

  it('is hidden where the key says that it is secret, also when it stands there as it is', () => {
    const { fillAll, hidden } = open()
    const texts = { Authorization: 'Basic abcdef', 'X-Trace': 'trace-me-now' }
    expect(fillAll(texts, 'headers')).toEqual(texts)
    expect(hidden).toEqual([['Basic abcdef', 'abcdef']])
    expect(fillAll(undefined, 'env')).toEqual({})
    expect(hidden).toHaveLength(1)
  })

  it('is named with its key and server where it is missing', () => {
    const { fill, fillAll } = open()
    expect(() => fill('${NONE}', 'command')).toThrow(
      'command of the MCP server x needs the environment variable NONE, which is not set.',
    )
    expect(() => fillAll({ KEY: '${NONE}' }, 'env')).toThrow(/^env\.KEY of the MCP server x needs/)
  })
})
