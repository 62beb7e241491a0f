import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { compileUrlPattern, parseTargetUrl } from './match-target.ts'

function matches(pattern: string, url: string): boolean {
  const compiled = compileUrlPattern(pattern)
  if ('broken' in compiled) throw new Error(compiled.broken)
  const target = parseTargetUrl(url)
  const answer = compiled.matches(target, false)
  if (answer) expect(target.keys, `${pattern} is filed where ${url} looks`).toContain(compiled.key)
  return answer
}

describe('a URL pattern', () => {
  it.each([
    ['https://api.github.com/**', 'https://api.github.com/repos/a?b=/c'],
    ['https://api.github.com/**', 'https://api.github.com/'],
    ['https://api.github.com', 'https://api.github.com/x/y'],
    ['https://api.github.com/', 'https://api.github.com/x/y'],
    ['https://api.github.com/repos/**', 'https://api.github.com/repos/a/b'],
    ['https://api.github.com/repos/**', 'https://api.github.com/repos'],
    ['https://api.github.com/repos/', 'https://api.github.com/repos/a'],
    ['https://x.org/a/*/c', 'https://x.org/a/b/c'],
    ['https://x.org/**/c', 'https://x.org/c'],
    ['https://x.org/a', 'https://x.org/a?secret=1#part'],
    ['https://x.org/a?q=1', 'https://x.org/a?q=1'],
    ['https://x.org/a?q=*', 'https://x.org/a?q=anything'],
    ['HTTPS://X.org/a', 'https://x.org/a'],
    ['https://x.org:443/a', 'https://x.org/a'],
    ['https://x.org:8443/a', 'https://x.org:8443/a'],
    ['https://x.org/admin/**', 'https://x.org/%61dmin/users'],
    ['https://x.org/m\u00fcnchen', 'https://x.org/m%C3%BCnchen'],
    ['https://*.github.com/**', 'https://api.github.com/x'],
    ['*://x.org/**', 'http://x.org/x'],
    ['api.github.com', 'https://api.github.com/x'],
    ['api.github.com', 'http://api.github.com:8080/x'],
    ['api.github.com', 'https://api.github.com./x'],
    ['api.github.com:8443', 'https://api.github.com:8443/x'],
    ['*.github.com', 'https://a.b.github.com/x'],
    ['*', 'https://anything.org/x'],
    ['m\u00fcnchen.example', 'https://xn--mnchen-3ya.example/'],
    ['169.254.169.254', 'http://169.254.169.254/latest/meta-data'],
    ['[fd00:ec2::254]', 'http://[fd00:ec2::254]/latest'],
    ['evil.com', 'https://api.github.com@evil.com/'],
  ])('%s matches %s', (pattern, url) => expect(matches(pattern, url)).toBe(true))

  it.each([
    ['api.github.com', 'https://evilapi.github.com/'],
    ['api.github.com', 'https://api.github.com.evil.com/'],
    ['api.github.com', 'https://evil.com/api.github.com'],
    ['api.github.com', 'https://evil.com/?api.github.com'],
    ['api.github.com', 'https://api.github.com@evil.com/'],
    ['*.github.com', 'https://github.com/'],
    ['*.github.com', 'https://evilgithub.com/'],
    ['*.github.com', 'https://api.github.com.evil.com/'],
    ['*.github.com', 'https://evil.com/x.github.com'],
    ['https://*.github.com/**', 'https://evil.com/?x=.github.com/'],
    ['https://api.github.com/**', 'http://api.github.com/'],
    ['https://api.github.com/**', 'https://api.github.com:8443/'],
    ['api.github.com:8443', 'https://api.github.com/'],
    ['https://x.org/a/*', 'https://x.org/a/b/c'],
    ['https://x.org/a', 'https://x.org/ab'],
    ['https://x.org/a/**', 'https://x.org/A/b'],
    ['https://x.org/a?q=1', 'https://x.org/a?q=2'],
    ['x.org', 'not a url'],
  ])('%s does not match %s', (pattern, url) => expect(matches(pattern, url)).toBe(false))

  it('patterns that mean nothing are refused', () => {
    checkEach(
      [
        '',
        '~/.ssh/**',
        '**/*.pem',
        './x',
        '/tmp/',
        'src/**',
        'rm -rf *',
        'api-*.x.org',
        '*.*.org',
        'https://',
        'https://x.org/[a',
        'https://u@x.org/',
        '..',
      ],
      (pattern) => expect(compileUrlPattern(pattern)).toHaveProperty('broken'),
    )
  })
})
