import { execFileSync } from 'node:child_process'
import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing } from '../../../../../test/support/changing.ts'
import type { FileChange } from '../../../../core/src/handles.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

type Workspace = ReturnType<typeof changing>

let ws: Workspace

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'b.txt', 'tree/c.txt']) ws.put(name)
})
afterEach(() => ws.close())

interface Said {
  readonly code: string
  readonly message: string | RegExp
  readonly fix?: object
  readonly details?: object
}

const DESTRUCTIVE = { key: 'capabilities', value: 'danger:destructive' }
const cautious = { canOverwrite: false }

describe('a change that is refused says why, and what to do', () => {
  it.each<[string, (ws: Workspace) => Promise<unknown>, Said]>([
    [
      'a name in use',
      ({ handle }) => handle().writeText('a.txt', 'x'),
      {
        code: 'CONFLICT',
        message: '"a.txt" exists already.',
        fix: { key: 'overwrite', value: true, hint: 'Choose another name, or overwrite on purpose.' },
      },
    ],
    [
      'a content that nobody has read',
      ({ handle }) => handle(cautious).writeText('a.txt', 'x', { overwrite: true }),
      {
        code: 'POLICY_DENIED',
        message: '"a.txt" exists, and this run has not read what it holds now; it may not be overwritten.',
        fix: {
          ...DESTRUCTIVE,
          hint: 'Read the whole file first, then write; or have a rule allow danger:destructive.',
        },
      },
    ],
    [
      'a removal by a tool that may not destroy',
      ({ handle }) => handle(cautious).remove('a.txt'),
      {
        code: 'POLICY_DENIED',
        message: '"a.txt" may not be removed by this tool.',
        fix: { ...DESTRUCTIVE, hint: 'The tool has to declare danger:destructive and a rule has to allow it.' },
      },
    ],
    [
      'a content that is another by now',
      ({ handle }) => handle().writeText('a.txt', 'x', { replaces: sha256('other') }),
      {
        code: 'CONFLICT',
        message: '"a.txt" changed since it was read.',
        fix: { hint: 'Read it again, then decide.' },
      },
    ],
    [
      'a content that is gone',
      ({ handle }) => handle().writeText('gone.txt', 'x', { replaces: sha256('x') }),
      {
        code: 'CONFLICT',
        message: '"gone.txt" is not there any more.',
        fix: { hint: 'Write it without replaces, or leave it.' },
      },
    ],
    [
      'a folder that is missing',
      ({ handle }) => handle().writeText('p/q.txt', 'x', { mkdirp: false }),
      {
        code: 'NOT_FOUND',
        message: /^The folder above "p\/q.txt" does not exist/,
        fix: {
          key: 'mkdirp',
          value: true,
          hint: 'Check the path; a change that makes something can make folders with mkdirp.',
        },
      },
    ],
    [
      'more bytes than a rule allows',
      ({ handle }) => handle({ maxBytes: 3 }).writeText('n.txt', 'abcd'),
      {
        code: 'FILE_TOO_LARGE',
        message: 'The content has 4 bytes, the limit is 3.',
        fix: { hint: 'Write less, or have the owner raise the limit of the rule.' },
        details: { limit: 3 },
      },
    ],
    [
      'more bytes than are asked for, as they come',
      ({ handle }) =>
        handle({ maxBytes: 9 }).writeBytes(
          'n.txt',
          (async function* () {
            yield Buffer.from('ab')
            yield Buffer.from('cd')
          })(),
          { maxBytes: 3 },
        ),
      { code: 'FILE_TOO_LARGE', message: 'The content has more than 3 bytes, the limit is 3.', details: { limit: 3 } },
    ],
    [
      'half a character',
      ({ handle }) => handle().writeText('n.txt', 'é\ud800'),
      {
        code: 'INPUT_SCHEMA_INVALID',
        message: 'The text has half a character (a lone surrogate), which UTF-8 cannot hold.',
      },
    ],
    [
      'a folder in the place of a file',
      ({ handle }) => handle().writeText('tree/', 'x'),
      { code: 'INPUT_SCHEMA_INVALID', message: /is a folder, not a file\.$/ },
    ],
    [
      'a folder that is to be replaced',
      ({ handle }) => handle().writeText('tree', 'x', { overwrite: true }),
      { code: 'INPUT_SCHEMA_INVALID', message: '"tree" is a folder, not a file.' },
    ],
    [
      'a pipe that is to be replaced',
      ({ at, handle }) => {
        execFileSync('mkfifo', [at('pipe')])
        return handle().writeText('pipe', 'x', { overwrite: true })
      },
      { code: 'PATH_DENIED', message: '"pipe" is a pipe, a socket or a device, not a regular file.' },
    ],
    [
      'a root that is moved',
      ({ handle }) => handle().move('.', 'x'),
      { code: 'PATH_DENIED', message: '"." is a root of the sandbox; it stays where it is.' },
    ],
    [
      'a folder that is moved into itself',
      ({ handle }) => handle().move('tree', 'tree/x'),
      {
        code: 'INPUT_SCHEMA_INVALID',
        message: /is inside of /,
        fix: { hint: 'Choose a place outside of the folder.' },
      },
    ],
    [
      'a file that is moved as a folder',
      ({ handle }) => handle().move('a.txt/', 'x'),
      { code: 'NOT_FOUND', message: /is not a folder\.$/ },
    ],
    [
      'a secret that is moved to where it can be read',
      ({ put, handle }) => {
        put('.env')
        return handle().move('.env', 'env')
      },
      {
        code: 'PATH_DENIED',
        message: '".env" may not be read, so it may not be moved to where it could be.',
        fix: { hint: 'Leave it where it is, or have the owner move it.' },
      },
    ],
    [
      'a copy that is too large',
      ({ handle }) => handle({ maxBytes: 4 }).copy('a.txt', 'x'),
      {
        code: 'FILE_TOO_LARGE',
        message: /has 5 bytes to copy, the limit is 4\.$/,
        fix: { hint: 'Copy its parts, or leave it where it is.' },
        details: { size: 5, limit: 4 },
      },
    ],
    [
      'a copy of a tree that is too large',
      ({ handle }) => handle({ maxBytes: 9 }).copy('tree', 'x'),
      {
        code: 'FILE_TOO_LARGE',
        message: 'What is to be copied has more than 9 bytes.',
        fix: { hint: 'Copy its parts.' },
      },
    ],
    [
      'a folder over a file',
      ({ handle }) => handle().makeFolder('a.txt'),
      {
        code: 'CONFLICT',
        message: '"a.txt" exists already and is not a folder.',
        fix: { hint: 'Choose another name.' },
      },
    ],
    [
      'a folder that is not empty',
      ({ handle }) => handle().remove('tree'),
      {
        code: 'CONFLICT',
        message: '"tree" is a folder that is not empty.',
        fix: {
          key: 'recursive',
          value: true,
          hint: 'Look what is in it; remove it with recursive when all of it may go.',
        },
      },
    ],
    [
      'a removal of nothing',
      ({ handle }) => handle().remove('none'),
      { code: 'NOT_FOUND', message: /^"none" does not exist in / },
    ],
  ])('%s', async (_, work, { message, ...said }) => {
    const error = await work(ws).then(
      () => expect.fail('It was not refused.'),
      (thrown) => thrown,
    )
    expect(error).toMatchObject(said)
    if (typeof message === 'string') expect(error.message).toBe(message)
    else expect(error.message).toMatch(message)
    expect(ws.names()).toEqual(expect.arrayContaining(['a.txt', 'b.txt', 'tree', 'tree/c.txt']))
    expect(ws.text('a.txt')).toBe('a.txt')
  })
})

describe('a limit that is just met', () => {
  it('lets a content, a stream and copies pass', async () => {
    await ws.handle({ maxBytes: 3 }).writeText('n.txt', 'abc')
    async function* pieces() {
      yield Buffer.from('ab')
      yield Buffer.from('c')
    }
    await ws.handle().writeBytes('m.txt', pieces(), { maxBytes: 3 })
    await ws.handle({ maxBytes: 5 }).copy('a.txt', 'copy.txt')
    await ws.handle({ maxBytes: 10 }).copy('tree', 'copy')
    expect(['n.txt', 'm.txt', 'copy.txt', 'copy/c.txt'].map(ws.text)).toEqual(['abc', 'abc', 'a.txt', 'tree/c.txt'])
  })

  it('lets five hundred changes pass, and no more', async () => {
    // The last one is refused for another reason, before any is prepared.
    const changes = (count: number): FileChange[] =>
      Array.from({ length: count }, (_, index) => ({
        type: 'create',
        path: index === 0 ? '.git/config' : `n${index}`,
        content: '',
      }))
    await expect(ws.handle().changeAll(changes(501))).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: '501 changes in one call, the limit is 500.',
    })
    await expect(ws.handle().changeAll(changes(500))).rejects.toMatchObject({ code: 'PATH_DENIED' })
  })

  it('keeps no content of more than a gibibyte, and says so', async () => {
    writeFileSync(ws.at('huge.bin'), '')
    truncateSync(ws.at('huge.bin'), 1_073_741_825)
    await ws.handle().remove('huge.bin')
    expect(ws.notices).toEqual([
      `The change of "${ws.at('huge.bin')}" cannot be undone: its 1073741825 bytes are over the 1073741824 that are kept.`,
    ])
    expect(ws.journal.changes).toMatchObject([{ op: 'remove', before: { sha256: '', bytes: 1_073_741_825 } }])
  })
})

describe('the permissions of a file', () => {
  it.each([
    [undefined, 0o644, 0o644],
    [0o4755, 0o600, 0o755],
    [0o640, 0o600, 0o640],
  ])('with the mode %j are closed until it is whole', async (mode, during, after) => {
    const mask = process.umask(0o022)
    try {
      let seen: number | undefined
      async function* looking() {
        yield Buffer.from('x')
        const draft = ws.names().find((name) => name.startsWith('.tool-hub-'))!
        seen = statSync(ws.at(draft)).mode & 0o7777
      }
      await ws.handle().writeBytes('n.txt', looking(), { mode })
      expect([seen, statSync(ws.at('n.txt')).mode & 0o7777]).toEqual([during, after])
    } finally {
      process.umask(mask)
    }
  })
})

describe('what a removal tells', () => {
  it.each<[string, (ws: Workspace) => void, object]>([
    ['a.txt', () => {}, { type: 'file', files: 1, bytes: 5 }],
    ['l', ({ at }) => symlinkSync('a.txt', at('l')), { type: 'symlink', files: 1, bytes: 0 }],
    ['p', ({ at }) => execFileSync('mkfifo', [at('p')]), { type: 'other', files: 1, bytes: 0 }],
    ['d', ({ at }) => mkdirSync(at('d')), { type: 'directory', files: 0, bytes: 0 }],
    ['tree', ({ at }) => symlinkSync('x', at('tree/l')), { type: 'directory', files: 2, bytes: 10 }],
  ])('%s', async (path, make, expected) => {
    make(ws)
    expect(await ws.handle().remove(path, { recursive: true })).toEqual({ path: ws.at(path), ...expected })
  })

  it('has the reason why it cannot be undone', async () => {
    execFileSync('mkfifo', [ws.at('p')])
    symlinkSync('a.txt', ws.at('l'))
    await ws.handle().remove('p')
    await ws.handle().remove('l')
    const quiet = ws.handle({ journal: undefined })
    await quiet.remove('a.txt')
    await quiet.remove('b.txt')
    await ws.handle({ journal: undefined }).remove('tree', { recursive: true })
    expect(ws.notices).toEqual([
      `The change of "${ws.at('p')}" cannot be undone: it is not a regular file.`,
      `The change of "${ws.at('l')}" cannot be undone: it is a link, to "a.txt".`,
      'This change cannot be undone: nothing is kept of changes here.',
      'This change cannot be undone: nothing is kept of changes here.',
    ])
    expect(ws.journal.changes.map((change) => ('before' in change ? change.before.sha256 : ''))).toEqual([
      sha256(''),
      sha256('a.txt'),
    ])
  })
})
