import { expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { secretVariables } from './variables.ts'

it.each([
  ['STRIPE_KEY=abcdefghij', 'abcdefghij'],
  ['export DB_PASSWORD="correct horse battery"', 'correct horse battery'],
  ["API_TOKEN='tok-123456' # of the test account", 'tok-123456'],
  ['  SESSION_SALT = pepper-and-salt  # note', 'pepper-and-salt'],
  ['webhook_secret: whatever-it-is', 'whatever-it-is'],
  ['ACCOUNT=4f9a0c77be1d42aa9c0e', '4f9a0c77be1d42aa9c0e'],
  ['DATABASE_URL=postgres://app:hunter2hunter2@db:5432/app', 'hunter2hunter2'],
])('%s has a secret', (line, value) => {
  expect(secretVariables(`# head\n${line}\nOTHER=1\n`)).toEqual([value])
})

it('other lines have none', () => {
  checkEach(
    [
      ...[
        'NODE_ENV=development',
        'DEBUG=true',
        'PORT=30003000',
        'HOST=localhost',
        'API_URL=https://api.example.org/v1',
      ],
      ...[
        'APP_NAME=customer-portal',
        'TOKEN=short',
        'PASSWORD=changeme',
        'API_KEY=your-key-here',
        'SECRET_KEY=${OTHER_KEY}',
      ],
      ...[
        'LOG_LEVEL=information',
        '# TOKEN=abcdefgh12345',
        'VERSION=1.2.3',
        'DATA_FOLDER=/var/lib/customer/data',
        'EMPTY_TOKEN=',
      ],
    ],
    (line) => {
      expect(secretVariables(line)).toEqual([])
    },
  )
})

it('takes time in proportion to a hostile text', () => {
  const text = `${'A'.repeat(200_000)}\n${' '.repeat(200_000)}\nTOKEN=${'a1 '.repeat(60_000)}`
  const begun = performance.now()
  expect(secretVariables(text)).toEqual([])
  expect(performance.now() - begun).toBeLessThan(5_000)
})
