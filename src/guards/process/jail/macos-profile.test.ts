import { describe, expect, it } from 'vitest'
import { jailSpec } from '../../../../test/support/jail-spec.ts'
import { buildJail } from './build-jail.ts'
import { macosProfile } from './macos-profile.ts'

const spec = jailSpec('/Users/me/w', {
  readable: ['/opt/data'],
  protect: ['/Users/me/w/.git/hooks'],
  hide: ['/Users/me/w/.env'],
})

describe('the profile for macOS', () => {
  const lines = macosProfile(spec, { temporary: ['/private/tmp/x'] }).split('\n')

  it('refuses what it does not name', () => {
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
    expect(lines.filter((line) => line.startsWith('(allow file-write*'))).toEqual([
      '(allow file-write* (subpath "/Users/me/w") (subpath "/private/tmp/x"))',
    ])
    expect(lines.find((line) => line.startsWith('(allow file-read* (literal "/")'))).toContain('(subpath "/opt/data")')
  })

  it('closes what is protected and hidden after it has opened the workspace', () => {
    const opened = lines.findIndex((line) => line.startsWith('(allow file-write*'))
    expect(lines.indexOf('(deny file-write* (subpath "/Users/me/w/.git/hooks"))')).toBeGreaterThan(opened)
    expect(lines).toContain('(deny file-write-unlink (literal "/Users/me/w/.git"))')
    expect(lines.indexOf('(deny file-read* file-write* (subpath "/Users/me/w/.env"))')).toBeGreaterThan(opened)
  })

  it('has no network', () => {
    expect(lines).toContain('(deny network*)')
    expect(lines.filter((line) => line.startsWith('(allow network'))).toEqual([])
  })

  it('keeps a path with quotes a path', () => {
    const text = macosProfile(jailSpec('/w/a") (allow default) ("\\'))
    expect(text).toContain('(subpath "/w/a\\") (allow default) (\\"\\\\")')
  })
})

it('is a program to start like the others', () => {
  const jail = buildJail({ ...spec, level: 'namespaces' }, 'darwin')
  expect(jail).toMatchObject({ level: 'namespaces', file: '/usr/bin/sandbox-exec' })
  expect(jail.args.slice(0, 1)).toEqual(['-p'])
  expect(jail.args.at(-5)).toBe('limits')
})
