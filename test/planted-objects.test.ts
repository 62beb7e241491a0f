import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

let root: string

beforeEach(() => {
  root = temporaryFolder('planted-objects')
  git('init', '-q', '-b', 'main')
  write('.gitignore', '/runs\n/.tool-hub\n/planted*\n')
  write('a', 'a\n')
  git('add', '.')
  git('commit', '-qm', 'a')
})

function write(path: string, content: string | Buffer = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

/** Runs git as the owner, outside of the sandbox. */
function git(...words: readonly string[]): string {
  const { stdout, stderr } = spawnSync('git', ['-C', root, ...IDENTITY, ...words], { encoding: 'utf8' })
  return stdout + stderr
}

/** A hub on the root, whose commands run unasked. Returns what their results report. */
function hubHere() {
  const hub = createToolHub({
    sandbox: { root },
    data: join(root, '.tool-hub'),
    runs: join(root, 'runs'),
    policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }],
  })
  onTestFinished(() => hub.close())
  return async (command: string) => {
    const { ok, data, error, meta } = await hub.call('core/exec.run', { command })
    expect([error, ok && data]).toEqual([undefined, expect.objectContaining({ exitCode: 0 })])
    return meta.notices?.join(' ')
  }
}

const looseObject = (content: string) =>
  deflateSync(Buffer.concat([Buffer.from(`blob ${content.length}\0`), Buffer.from(content)]))
const pathOf = (hash: string) => `.git/objects/${hash.slice(0, 2)}/${hash.slice(2)}`

/** A pack with one blob, and an index that gives it another hash. */
function forgedPack(hash: string, content: string): { readonly pack: Buffer; readonly index: Buffer } {
  const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest()
  const header = Buffer.from([...Buffer.from('PACK'), 0, 0, 0, 2, 0, 0, 0, 1, 0x30 | content.length])
  const body = Buffer.concat([header, deflateSync(content)])
  const pack = Buffer.concat([body, sha1(body)])
  const bytes = Buffer.from(hash, 'hex')
  const tables = Buffer.alloc(8 + 1024)
  tables.writeUInt32BE(0xff744f63, 0)
  tables.writeUInt32BE(2, 4)
  for (let first = bytes[0]!; first < 256; first++) tables.writeUInt32BE(1, 8 + first * 4)
  const entry = Buffer.concat([bytes, Buffer.alloc(4), Buffer.from([0, 0, 0, 12])])
  const rest = Buffer.concat([tables, entry, pack.subarray(-20)])
  return { pack, index: Buffer.concat([rest, sha1(rest)]) }
}

describe('the content of git objects', () => {
  it.each([
    ['in place', (path: string) => `chmod u+w ${path} && cat planted > ${path}`],
    ['by another file', (path: string) => `cp -f planted ${path}`],
    ['by a file that seems old', (path: string) => `touch -r ${path} planted && mv -f planted ${path}`],
  ])('is not another one after a command replaced it %s', async (_, replace) => {
    const exec = hubHere()
    const path = pathOf(git('rev-parse', 'HEAD:a').trim())
    write('planted', looseObject('EVIL\n'))
    expect(await exec(replace(path))).toContain(`${path}, which does not contain what its name says`)
    git('worktree', 'add', '-q', join(root, 'tree'))
    const copy = existsSync(join(root, 'tree/a')) ? readFileSync(join(root, 'tree/a'), 'utf8') : ''
    expect(copy).not.toContain('EVIL')
    // The work tree still has it.
    git('hash-object', '-w', 'a')
    expect(git('fsck')).not.toMatch(/error|fatal|missing/)
  })

  it.each([
    ['no compressed bytes', Buffer.from('blob 2\0a\n')],
    ['what inflates to far more', deflateSync(Buffer.alloc(40 * 1024 ** 2))],
    ['nothing', Buffer.alloc(0)],
  ])('is not %s', async (_, bytes) => {
    const exec = hubHere()
    const path = pathOf('ab'.repeat(20))
    write('planted', bytes)
    expect(await exec(`mkdir -p $(dirname ${path}) && cp planted ${path}`)).toContain(path)
    expect(existsSync(join(root, path))).toBe(false)
  })

  it('is not another one in a pack whose checksums are right', async () => {
    const exec = hubHere()
    const { pack, index } = forgedPack(git('rev-parse', 'HEAD:a').trim(), 'EVIL\n')
    write('planted.pack', pack)
    write('planted.idx', index)
    const name = `.git/objects/pack/pack-${pack.subarray(-20).toString('hex')}`
    const planted = await exec(`cp planted.pack ${name}.pack && cp planted.idx ${name}.idx`)
    expect(planted).toContain(`${name}.idx, which does not contain what its name says`)
    expect(git('show', 'HEAD:a')).toBe('a\n')
  })

  it('is not another one in a pack that a command changed', async () => {
    git('gc', '-q')
    const exec = hubHere()
    const packs = readdirSync(join(root, '.git/objects/pack'))
    const name = join('.git/objects/pack', packs.find((each) => each.endsWith('.pack'))!)
    const bytes = readFileSync(join(root, name))
    const at = bytes.indexOf(deflateSync('a\n'))
    expect(at).toBeGreaterThan(0)
    deflateSync('E\n').copy(bytes, at)
    write('planted', bytes)
    chmodSync(join(root, 'planted'), 0o644)
    expect(await exec(`cp -f planted ${name}`)).toContain('.idx, which does not contain what its name says')
    expect(git('show', 'HEAD:a')).not.toBe('E\n')
  })

  it('is checked in one pass over thousands of objects and deltas, large files and copies', async () => {
    const exec = hubHere()
    const commands = [
      `for i in $(seq 2000); do echo $i > many-$i; done`,
      'head -c 3000000 /dev/urandom > random && seq 700000 > numbers',
      `git add . && git ${IDENTITY.join(' ')} commit -qm many`,
      `seq 700001 > numbers && git ${IDENTITY.join(' ')} commit -qam more`,
      // More than is held in memory at one time.
      `seq 4500000 > large && git add large && git ${IDENTITY.join(' ')} commit -qm large`,
    ]
    expect(await exec(commands.join(' && '))).toBeUndefined()
    expect(await exec('git clone -q . copy && git gc -q && git clone -q --no-local . other')).toBeUndefined()
    expect(
      await exec('git init -q --object-format=sha256 s && cd s && cp ../many-* . && git add . && git repack -adq'),
    ).toBeUndefined()
    expect(git('fsck')).not.toMatch(/error|fatal|missing/)
  })
})

/** Writes the state of `a` as the work tree has it now into its entry, and the hash that it had. */
const FORGE = [
  "const fs = require('fs'), { createHash } = require('crypto')",
  "const index = '.git/index', bytes = fs.readFileSync(index).subarray(0, -20)",
  // The length of a path comes before it; an inode can end in an a, too.
  "const at = bytes.indexOf('\\0\\x01a\\0', 12 + 62 + 10) - 60, s = fs.lstatSync('a')",
  'const put = (i, n) => bytes.writeUInt32BE(n % 2 ** 32, at + i)',
  'put(0, Math.floor(s.ctimeMs / 1000)); put(8, Math.floor(s.mtimeMs / 1000)); put(20, s.ino); put(36, s.size)',
  "for (const i of [4, 12]) put(i, Number(fs.lstatSync('a', { bigint: true })[i === 4 ? 'ctimeNs' : 'mtimeNs'] % 1000000000n))",
  // In one step, as git does: a check that runs meanwhile would find half of it.
  "fs.writeFileSync(index + '.lock', Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]))",
  "fs.renameSync(index + '.lock', index)",
].join('\n')

describe('the state of files in the index', () => {
  it('hides no change from git status', async () => {
    write('planted.cjs', FORGE)
    const exec = hubHere()
    const forge = `echo EVIL > a && touch -d '2020-01-01' a && node planted.cjs`
    expect(await exec(forge)).toMatch(/hid changes to these files from git status and git diff in \S+: a\./)
    expect([git('diff'), git('status', '--short')]).toEqual(['', ''])
    git('update-index', '--refresh')
    expect(await exec('true')).toBeUndefined()
  })

  it('hides none in two commands either, and ordinary work is not reported', async () => {
    write('planted.cjs', FORGE)
    git('worktree', 'add', '-q', join(root, 'planted-tree'))
    const exec = hubHere()
    const inTree = `cd planted-tree && echo EVIL > a && touch -d '2020-01-01' a && sed 's#.git/index#../.git/worktrees/planted-tree/index#' ../planted.cjs > ../planted-tree.cjs && node ../planted-tree.cjs`
    expect(await exec(inTree)).toMatch(/in \S+planted-tree: a\./)
    expect(await exec(`echo EVIL > a && touch -d '2020-01-01' a && git status --short`)).toBeUndefined()
    expect(await exec('node planted.cjs')).toContain('hid changes to these files')
    const identity = IDENTITY.join(' ')
    const work = [
      'git checkout -q . && git rm -q --cached a && git add a && echo b > b && git add b && echo c > b',
      `git ${identity} commit -qam b && git checkout -q HEAD~1 && git switch -q main && touch -d 2020-01-01 b`,
      "git status && printf 'x\\r\\n' > crlf && git -c core.autocrlf=true add crlf",
      'touch -d 2020-01-01 crlf && git -c core.autocrlf=true status && ln -s a link && git add link && git status',
    ]
    expect(await exec(work.join(' && '))).toBeUndefined()
  })
})

describe('what the owner’s git obeys without showing it', () => {
  const AS_A = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b'
  /** A stash that brings a hook: `git commit` would apply it. */
  const STASH = [
    `HOOK=$(echo 'touch ran' | git hash-object -w --stdin)`,
    `FOLDER=$(printf "100755 blob $HOOK\\tpre-commit\\n" | git mktree)`,
    `TREE=$( (git ls-tree HEAD; printf "040000 tree $FOLDER\\t.husky\\n") | git mktree)`,
    `STASH=$(git commit-tree -p HEAD -p $(git commit-tree -p HEAD -m index HEAD^{tree}) -m wip $TREE)`,
  ].join('; ')

  it.each([
    ['stashed changes that git commit applies', `${STASH}; echo $STASH > .git/MERGE_AUTOSTASH`, 'MERGE_AUTOSTASH'],
    [
      'stashed changes that git rebase applies',
      'mkdir .git/rebase-merge && git rev-parse HEAD > .git/rebase-merge/autostash',
      'rebase-merge/autostash',
    ],
    ['names of new files', 'echo planted >> .git/info/exclude', 'info/exclude'],
    ['an end of the history', 'git rev-parse HEAD > .git/shallow', 'shallow'],
    ['an untracked cache', 'git update-index --force-untracked-cache', 'untracked cache'],
    ['a cache of fsmonitor', 'git update-index --fsmonitor', 'fsmonitor'],
  ])('is reported once: %s', async (_, command, name) => {
    const exec = hubHere()
    expect(await exec(`${AS_A}; ${command}`)).toContain(name)
    expect(await exec('git status; echo b > b; git add b')).toBeUndefined()
  })

  it.each([
    ['the folder of a repository', 'git init -q .github'],
    ['the work tree of a repository', 'mkdir .github; git init -q x && git -C x config core.worktree ../../.github'],
  ])('is reported where the index of %s has what other programs run in it', async (_, make) => {
    const exec = hubHere()
    const folder = make.includes('x') ? 'x' : '.github'
    const stage = `git update-index --add --cacheinfo 100644,$(git hash-object -w ../a),hooks/evil.json`
    expect(await exec(`${make} && cd ${folder} && ${stage}`)).toContain('staged hooks/evil.json in')
  })

  it('hides no change in the work tree that a config names', async () => {
    write('planted.cjs', FORGE)
    const exec = hubHere()
    const made = [
      'mkdir planted-work && cp a .gitignore planted-work && git init -q planted-lib',
      'git -C planted-lib config core.worktree ../../planted-work',
      'cd planted-work && git --git-dir=../planted-lib/.git add -f a .gitignore',
      "echo EVIL > a && touch -d 2020-01-01 a && sed 's#.git/index#../planted-lib/.git/index#' ../planted.cjs > ../planted2.cjs",
      'node ../planted2.cjs',
    ]
    expect(await exec(made.join(' && '))).toMatch(/hid changes to these files .*planted-lib\S*: a\./)
  })

  it('has only the hash of a commit where git passes it on', async () => {
    const exec = hubHere()
    const planted = 'mkdir .git/rebase-merge && echo --index > .git/rebase-merge/autostash'
    expect(await exec(planted)).toContain('.git/rebase-merge/autostash, which has content that git would not write')
  })

  it('is not reported if it was there before', async () => {
    write('.git/info/exclude', '/planted\n')
    git('update-index', '--force-untracked-cache')
    expect(await hubHere()('git status; echo b > b; git add b')).toBeUndefined()
  })
})
