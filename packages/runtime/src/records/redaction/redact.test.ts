import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { createRedactor, REDACTION_MARK } from './redact.ts'

const redactor = createRedactor()
const random = (length: number) => 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD'.repeat(10).slice(0, length)
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${random(64)}\n${random(64)}\n-----END RSA PRIVATE KEY-----`
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${random(43)}`

describe('secrets by key', () => {
  it('hides the values of keys that name secrets', () => {
    checkEach(
      [
        'authorization',
        'Authorization',
        'Proxy-Authorization',
        'cookie',
        'Set-Cookie',
        'x-api-key',
        'X_API_KEY',
        'apiKey',
        'api_key',
        'apikey',
        'OPENAI_API_KEY',
        'access_token',
        'accessToken',
        'refresh-token',
        'id_token',
        'token',
        'GITHUB_TOKEN',
        'secret',
        'client_secret',
        'clientSecret',
        'AWS_SECRET_ACCESS_KEY',
        'password',
        'DB_PASSWORD',
        'passwd',
        'passphrase',
        'private_key',
        'privateKey',
      ],
      (key) => {
        expect(redactor.value({ [key]: 'plain words' })).toEqual({ [key]: '[redacted:key]' })
        expect(redactor.value({ deep: [{ [key]: 12345 }] })).toEqual({ deep: [{ [key]: '[redacted:key]' }] })
      },
    )
  })

  it('leaves other keys alone', () => {
    checkEach(
      [
        'tokens',
        'token_count',
        'maxTokens',
        'nextPageToken',
        'tokenizer',
        'key',
        'keys',
        'secretary',
        'author',
        'cookies',
        'pass',
        '__proto__',
      ],
      (key) => {
        const value = JSON.parse(`{${JSON.stringify(key)}: "plain words"}`)
        expect(redactor.value(value)).toBe(value)
      },
    )
  })

  it('hides only what can be a secret, and lists of it', () => {
    const value = { token: '', password: null, secret: true, cookie: [], tokens: { used: 5 }, token_count: [5] }
    expect(redactor.value(value)).toBe(value)
    expect(redactor.value({ 'set-cookie': ['a=b', 'c=d'] })).toEqual({
      'set-cookie': ['[redacted:key]', '[redacted:key]'],
    })
  })

  it('hides all that lies below a secret key', () => {
    const value = { password: { value: 'zz' }, secret: [['a'], { b: 1 }, null, 7n], cookie: new Map([['a', 'b']]) }
    const mark = '[redacted:key]'
    expect(redactor.value(value)).toEqual({ password: mark, secret: [mark, mark, null, mark], cookie: mark })
    const hidden = redactor.value(value)
    expect(redactor.value(hidden)).toBe(hidden)
  })

  it('hides further keys that the owner names', () => {
    expect(createRedactor({ keys: ['Iban-Number'] }).value({ iban_number: 'DE02' })).toEqual({
      iban_number: '[redacted:key]',
    })
  })
})

describe('secrets by value', () => {
  it('hides a known value wherever it stands, also encoded for URLs, JSON and headers', () => {
    const secret = 'hunter2"&/(x)'
    const { text } = createRedactor({ values: [secret, 'short'] })
    expect(text(`a ${secret} b`)).toBe('a [redacted:secret] b')
    expect(text(encodeURIComponent(secret))).toBe('[redacted:secret]')
    expect(text(JSON.stringify({ x: secret }))).toBe('{"x":"[redacted:secret]"}')
    expect(text(Buffer.from(secret).toString('base64'))).toBe('[redacted:secret]')
    expect(text('short')).toBe('short')
  })
})

describe('secrets by shape', () => {
  it.each([
    ['aws-key', `AKIA${'ABCDEFGH23456789'}`],
    ['github-token', `ghp_${random(36)}`],
    ['github-token', `gho_${random(36)}`],
    ['github-token', `github_pat_${random(22)}_${random(59)}`],
    ['gitlab-token', `glpat-${random(20)}`],
    ['openai-key', `sk-${random(48)}`],
    ['openai-key', `sk-proj-${random(40)}_-${random(40)}`],
    ['anthropic-key', `sk-ant-api03-${random(90)}`],
    ['slack-token', `xoxb-123456789012-${random(24)}`],
    ['google-key', `AIza${random(35)}`],
    ['npm-token', `npm_${random(36)}`],
    ['stripe-key', `sk_live_${random(24)}`],
    ['jwt', JWT],
    ['tool-hub-token', 'th_-9Jk_2mN5pQ-8sT1vW4xY7zA0cDaB3dE6gH9jK2mN5p'],
    ['private-key', PEM],
    ['private-key', PEM.slice(0, 90)],
  ])('hides a %s: %s', (kind, secret) => {
    expect(redactor.text(secret)).toBe(`[redacted:${kind}]`)
    expect(redactor.text(`before "${secret.replaceAll('\n', ' ')}`)).toBe(`before "[redacted:${kind}]`)
    expect(redactor.value({ list: [secret] })).toEqual({ list: [`[redacted:${kind}]`] })
  })

  it('keeps what is around credentials', () => {
    expect(redactor.text('Authorization: Bearer abc123def')).toBe('Authorization: Bearer [redacted:bearer]')
    expect(redactor.text('Authorization: Bearer Bearer abc123def')).toBe(
      'Authorization: Bearer Bearer [redacted:bearer]',
    )
    expect(redactor.text('Basic dXNlcjpwYXNz')).toBe('Basic [redacted:basic]')
    expect(redactor.text('see https://ada:s3cret@example.org/x')).toBe(
      'see https://[redacted:url-credentials]@example.org/x',
    )
    expect(redactor.text(`${PEM}\nafter`)).toBe('[redacted:private-key]\nafter')
  })

  it('leaves ordinary text alone', () => {
    checkEach(
      [
        'the bearer of good news',
        'Bearer authentication is described here',
        'Basic authentication, basic understanding',
        'https://example.org:8080/a@b and http://host/path:x@y',
        'task-force-of-several-people-and-more-words',
        'sk-learn-is-a-library-for-learning',
        'the path_of_a_function_with_a_long_name_that_goes_on_and_on and WIDTH_th_OF_ALL_THAT_IS_WRITTEN_IN_CAPITAL_LETTERS',
        'a key begins with -----BEGIN PRIVATE KEY----- and then come lines of letters and digits until it ends',
        'echo hi; x="-----BEGIN PRIVATE KEY-----"; id > smuggled2; cat smuggled2',
        '# -----BEGIN PRIVATE KEY-----\nid > pwned\nsh /tmp/evil',
        'x="-----BEGIN PRIVATE KEY-----"; id; y="-----END PRIVATE KEY-----"',
        'curl http://me:$(touch${IFS}pwned)@h/ http://me:`id`@h http://me:x;id;@h http://me:a|sh;@h',
        "printf 'x://a:\\nrm\\t-rf\\t~\\n@'|sh",
        'eyJ is how they begin: eyJhbGci.x.y',
        '-----BEGIN CERTIFICATE-----',
        'sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        'user@example.org',
      ],
      (text) => {
        expect(redactor.text(text)).toBe(text)
      },
    )
  })

  it.each([
    ['a line of JSON', PEM.replaceAll('\n', '\\n')],
    ['JSON within JSON', PEM.replaceAll('\n', '\\\\n')],
    ['Windows', PEM.replaceAll('\n', '\r\n')],
    ['YAML', PEM.replaceAll('\n', '\n    ')],
    ['a diff', PEM.replaceAll('\n', '\n-')],
    ['a quotation', PEM.replaceAll('\n', '\n> ')],
    ['a listing with numbers', PEM.replaceAll('\n', '\n    12\t')],
    ['a script', PEM.replaceAll('\n', "\\n' +\n  '")],
    ['a key with a password', PEM.replace('\n', '\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n')],
    ['a short last line', PEM.replace('\n-----END', '\nAb3=\n-----END')],
  ])('hides a private key as it stands in %s, and nothing behind it', (_, key) => {
    expect(redactor.text(`a ${key}; id`)).toBe('a [redacted:private-key]; id')
    const cut = key.slice(0, -40)
    expect(redactor.text(`a ${cut}; id`)).toMatch(/^a \[redacted:private-key\][^A-Z]{0,20}; id$/)
  })

  it('finds every secret of a longer text', () => {
    const text = `ghp_${random(36)} and AKIA${'ABCDEFGH23456789'}, ghp_${random(40)}`
    expect(redactor.text(text)).toBe('[redacted:github-token] and [redacted:aws-key], [redacted:github-token]')
  })
})

describe('a redactor', () => {
  it('returns the same value when there is nothing to hide, and never changes its input', () => {
    const value = { a: [1, { b: 'text' }], c: new Date(0), d: null, e: undefined }
    expect(redactor.value(value)).toBe(value)
    const secret = Object.freeze({
      keep: Object.freeze({ x: 1 }),
      list: Object.freeze([Object.freeze({ token: 't' })]),
    })
    const output = redactor.value(secret)
    expect(output).toEqual({ keep: { x: 1 }, list: [{ token: '[redacted:key]' }] })
    expect(output.keep).toBe(secret.keep)
  })

  it('keeps an own __proto__ key what it is', () => {
    const output = redactor.value(JSON.parse('{"__proto__":{"token":"x"}}'))
    expect(JSON.stringify(output)).toBe('{"__proto__":{"token":"[redacted:key]"}}')
  })

  it('ends on cycles, shared parts and any depth, and hides what it did not look at', () => {
    const cycle: Record<string, unknown> = { token: 'x' }
    cycle.a = cycle
    cycle.b = cycle
    expect(JSON.stringify(redactor.value(cycle))).not.toContain('"x"')
    let shared: unknown = { token: 'x' }
    for (let level = 0; level < 60; level++) shared = [shared, shared]
    expect(() => redactor.value(shared)).not.toThrow()
    let deep: unknown = 'ghp_deep'
    for (let level = 0; level < 5_000; level++) deep = { deep }
    expect(JSON.stringify(redactor.value(deep))).toContain('[redacted:too-deep]')
  })

  it('knows its own marks, and only those', () => {
    expect(redactor.isMark(redactor.text(`key = ghp_${random(36)}`))).toBe(true)
    expect(redactor.isMark('[redacted] and [redacted: x]')).toBe(false)
    expect('[redacted:key]').toMatch(REDACTION_MARK)
  })

  it('does not redact twice', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(JWT, PEM, `ghp_${random(36)}`, 'Bearer abc123456', ' ', 'x', '://a:b1@c')),
        (parts) => {
          const once = redactor.text(parts.join(''))
          expect(redactor.text(once)).toBe(once)
        },
      ),
    )
  })

  it('needs time in proportion to the text, whatever the text', () => {
    const pieces = [
      'eyJ',
      'eyJaaaaaaaaa.',
      'eyJ-',
      '-',
      '-----BEGIN ',
      '-----BEGIN PRIVATE KEY-----',
      '-----END ',
      `-----BEGIN PRIVATE KEY-----${random(16)}`,
      random(16),
      '\\\\n',
      '\n-',
      '12:',
      'Comment: ',
      'th_',
      'sk-',
      'sk-ant-',
      'xoxb-',
      '://',
      '://a:',
      '://a:b',
      'Bearer ',
      'bearer   ',
      'ghp_',
      'github_pat_',
      'AKIA',
      'AIza',
      'a',
      '.',
      '_',
      ' ',
      'Basic ',
      'A',
    ]
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...pieces),
        (parts, last) => {
          const hostile = parts.join('').repeat(300_000 / parts.join('').length) + last
          // Linear needs some milliseconds; quadratic would need minutes, which the test does not have.
          redactor.text(hostile)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('hides what is left of a known value where a text was cut', () => {
    const redactor = createRedactor({ values: ['S3CRETVALUE-abcdef-123456'] })
    expect(redactor.text('hello S3CRETVALUE-ab')).toBe('hello [redacted:secret]')
    expect(redactor.text('abcdef-123456 end')).toBe('[redacted:secret] end')
    expect(redactor.text('CRETVALUE-abcdef-12345')).toBe('CRETVALUE-abcdef-12345')
    expect(redactor.text('hello S3CRET')).toBe('hello S3CRET')
  })

  it.each([
    ['https://x.example/a?api_key=S1&b=2', 'https://x.example/a?api_key=[redacted:url-secret]&b=2'],
    [
      'see https://x.example/?x=1&X-Amz-Signature=ab12, ok',
      'see https://x.example/?x=1&X-Amz-Signature=[redacted:url-secret] ok',
    ],
    ['http://x/#access_token=abc&type=1', 'http://x/#access_token=[redacted:url-secret]&type=1'],
    ['/cb?code=4/0AbCdEf123&state=s', '/cb?code=[redacted:url-secret]&state=s'],
    ['https://0123456789abcdef01234567@x.example', 'https://[redacted:url-credentials]@x.example'],
    ['https://x/?password=hunter2\nnext', 'https://x/?password=[redacted:url-secret]\nnext'],
  ])('hides secrets by their name in the query of a URL: %s', (text, expected) => {
    const redactor = createRedactor()
    expect(redactor.text(text)).toBe(expected)
    expect(redactor.text(expected)).toBe(expected)
  })

  it('leaves other queries alone', () => {
    checkEach(
      [
        'https://x/?code=US&key=name&session=morning',
        'https://x/?pageToken=CAUQAA&nextPageToken=abcd1234',
        'ssh://git@github.com/a/b',
        'a=1&b=2#c=3',
        'https://x/?q=token',
      ],
      (text) => {
        expect(createRedactor().text(text)).toBe(text)
      },
    )
  })
})
