import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { gitIndexBytes } from '../../../../../test/support/git-index-bytes.ts'
import { type GitEntry, judgeGitChanges } from './judge.ts'

const context = {
  gitFolder: '/r/.git',
  isStrict: true,
  hashBytes: 20,
  isKnown: (folder: string) => folder === '/r/.git' || folder === '/r/lib/.git',
  mayBeWorkTree: (path: string) => path.startsWith('/r/'),
  isSurveyed: (path: string) => path !== 'hidden/lib',
} as const

const file = (path: string, content: string | Buffer = ''): GitEntry => ({
  path,
  kind: 'file',
  read: () => Buffer.from(content),
})
const judge = (...entries: readonly GitEntry[]) => judgeGitChanges(entries, context).map((verdict) => verdict.is)

describe('what a command may leave in a git folder', () => {
  it('is files of known names, but no link and no pipe of those names', () => {
    checkEach(
      [
        ...[
          'HEAD',
          'ORIG_HEAD',
          'FETCH_HEAD',
          'CHERRY_PICK_HEAD',
          'COMMIT_EDITMSG',
          'SQUASH_MSG',
          'MERGE_MODE',
          'AUTO_MERGE',
        ],
        ...['BISECT_LOG', 'description', 'shallow', 'gc.log', 'gc.pid', 'index.lock', 'config.lock', 'index.stash.12'],
        ...[
          'objects/ab/cdef',
          'objects/pack/pack-1.pack',
          'objects/info/packs',
          'refs/heads/a/b',
          'refs/stash',
          'logs/HEAD',
        ],
        ...[
          'rebase-merge/done',
          'rebase-apply/patch',
          'sequencer/head',
          'rr-cache/1/postimage',
          'info/exclude',
          'info/refs',
        ],
        ...['info/sparse-checkout', 'lfs/objects/1', '.COMMIT_EDITMSG.swp', 'packed-refs'],
      ],
      (path) => {
        expect(judge(file(path), { path, kind: 'link' }, { path, kind: 'other' })).toEqual([
          'fine',
          'refused',
          'refused',
        ])
      },
    )
  })

  it('is nothing of another name', () => {
    checkEach(
      [
        ...[
          'main',
          'origin/main/x',
          'remotes',
          'gitweb',
          'Index',
          'Rebase-merge',
          'info/attributes',
          'info/grafts',
          'info/x',
        ],
        ...['branches/origin', 'objects/info/http-alternates', 'hooks'],
      ],
      (path) => {
        const [top] = path.split('/')
        const isBelowUnknown = top === 'origin'
        expect(judge(isBelowUnknown ? { path: top!, kind: 'folder' } : file(path))).toEqual(['refused'])
      },
    )
  })

  it('is what was set aside, whatever it is, but no ref that leads there or out of the refs', () => {
    const kinds = ['file', 'folder', 'link', 'other'] as const
    const aside = kinds.map((kind) => ({ path: 'refs/heads/x.set-aside-0a1b2c3d', kind }))
    expect(judge(...aside)).toEqual(['fine', 'fine', 'fine', 'fine'])
    const ref = (text: string) => judge(file('HEAD', text), file('refs/heads/a', text))
    for (const text of ['ref: refs/heads/main\n', 'ref:refs/heads/.invalid', `${'a'.repeat(40)}\n`])
      expect(ref(text)).toEqual(['fine', 'fine'])
    for (const name of ['refs/heads/../../../x', 'refs//x', 'refs/./x', '/x', 'config', 'refs/x.set-aside-0a1b2c3d'])
      expect(ref(`ref: ${name}\n`)).toEqual(['refused', 'refused'])
  })

  it.each(['BISECT_EXPECTED_REV', 'AUTO_MERGE', 'NOTES_MERGE_REF', 'NOTES_MERGE_PARTIAL'])(
    'is %s, which git writes as a ref, only if it leads to a ref',
    (path) => {
      expect(judge(file(path, `${'a'.repeat(40)}\n`), file(path, 'ref: refs/notes/commits\n'))).toEqual([
        'fine',
        'fine',
      ])
      expect(judge(file(path, 'ref: refs/heads/../../../../x\n'))).toEqual(['refused'])
    },
  )

  it('is judged in a moment, whatever its size and the blanks in it', () => {
    const blanks = ' '.repeat(4 * 1024 ** 2)
    const lines = '\n'.repeat(60_000)
    expect(judge(file('refs/heads/a', `ref: refs/heads/a${blanks}b`), file('FETCH_HEAD', blanks))).toEqual([
      'refused',
      'fine',
    ])
    expect(judge(file('config', lines), file('config', `${'\r'.repeat(60_000)}[a.b]`))).toEqual(['fine', 'refused'])
    const hash = 'b'.repeat(40)
    const packed = file('packed-refs', `x refs/replace/${hash}\n`.repeat(500_000))
    const table = file('reftable/1.ref', `/${hash}`.repeat(500_000))
    const found = { is: 'reported', reports: [{ about: 'replace', name: hash }] }
    expect(judgeGitChanges([packed, table], context)).toEqual([found, found])
  })

  it('is objects elsewhere only if they are those of a known git folder', () => {
    const alternates = (text: string) => judge(file('objects/info/alternates', text))
    expect(alternates('/r/lib/.git/objects\n../../lib/.git/objects\n')).toEqual(['fine'])
    for (const text of ['/elsewhere/objects\n', '"/r/lib/.git/objects"\n', '/r/lib/.git/objects/pack\n'])
      expect(alternates(text)).toEqual(['refused'])
  })

  it('is an index whose submodules are checked, and is reported where it hides changes', () => {
    const index = gitIndexBytes([
      { path: 'a', flags: 0x8000 },
      { path: 'lib', mode: 0o160000 },
    ])
    expect(judgeGitChanges([file('index', index)], context)).toEqual([
      {
        is: 'reported',
        reports: [
          { about: 'assume-unchanged', name: 'a' },
          { about: 'submodule', name: 'lib' },
        ],
      },
    ])
    expect(judge(file('index', gitIndexBytes([{ path: 'hidden/lib', mode: 0o160000 }])))).toEqual(['refused'])
    expect(judge({ path: 'index', kind: 'file' }, file('sharedindex.'.padEnd(52, 'a'), 'x'))).toEqual([
      'refused',
      'refused',
    ])
  })

  it('is reported where git shows one commit in the place of another', () => {
    const hash = 'a'.repeat(40)
    const found = { is: 'reported', reports: [{ about: 'replace', name: hash }] }
    const packed = file('packed-refs', `# pack-refs\n${hash} refs/heads/main\n${hash} refs/replace/${hash}\n`)
    expect(judgeGitChanges([file(`refs/replace/${hash}`), packed], context)).toEqual([found, found])
    expect(judge(file('refs/main'), file('reftable/1.ref', `x/${hash}`))).toEqual(['reported', 'reported'])
  })

  it('is reported where git obeys it without showing it, unless it says nothing', () => {
    const hash = 'a'.repeat(40)
    const silent = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'Rebase-apply/autostash', 'info/exclude', 'shallow']
    expect(judge(...silent.map((path) => file(path, `${hash}\n`)))).toEqual(silent.map(() => 'reported'))
    expect(judge(file('info/exclude', '# nothing\n\n'), file('shallow', ''))).toEqual(['fine', 'fine'])
    expect(judge(file('MERGE_AUTOSTASH', 'ref: ../x'), file('rebase-merge/autostash', '-x\n'))).toEqual([
      'refused',
      'refused',
    ])
    const keys = ['a', 'b'].map((text) => judgeGitChanges([file('info/exclude', text)], context))
    expect(keys[0]).not.toEqual(keys[1])
  })

  it('is reported in any spelling that is the same on some disks', () => {
    expect(judge(file(`refs/Replace/${'a'.repeat(40)}`), file('refs/\u017ftash'))).toEqual(['reported', 'fine'])
  })

  it('may be anything where a folder only looks like one of git, except for what git obeys', () => {
    const loose = { ...context, isStrict: false }
    const entries = [
      file('package.json'),
      { path: 'src', kind: 'link' },
      { path: 'logs', kind: 'link' },
      file('index', 'x'),
    ]
    const verdicts = judgeGitChanges(entries as GitEntry[], loose).map((verdict) => verdict.is)
    expect(verdicts).toEqual(['fine', 'fine', 'refused', 'refused'])
  })
})
