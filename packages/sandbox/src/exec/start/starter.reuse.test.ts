import { existsSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { reusableSandbox, workspace } from '../../../../../test/support/made-sandboxes.ts'
import { SUPERVISOR } from './shell-scripts.ts'
import { createStarter, type StartRequest } from './starter.ts'

const starter = createStarter()
afterAll(() => starter.close())
const never = new AbortController().signal

/** Runs shell lines of one run in a folder of its own, one after another. */
async function openRun(run = 'a run') {
  const cwd = await workspace()
  const sandbox = reusableSandbox(cwd)
  const start = (line: string, parts: Partial<StartRequest> = {}) =>
    starter.start({ sandbox, words: ['sh', '-c', line], cwd, env: {}, pty: false, run, ...parts }, never)
  return {
    cwd,
    start,
    async run(line: string, parts: Partial<StartRequest> = {}): Promise<string> {
      const started = await start(line, parts)
      started.stdin.end()
      const [out] = await Promise.all([text(started.stdout), text(started.stderr), started.exited])
      return out.trim()
    },
  }
}

/** Names the sandbox that a command runs in, with the start of its supervisor: the kernel uses the number again. */
const WHERE = 'echo "$(readlink /proc/self/ns/mnt) $(cut -d " " -f 22 /proc/2/stat)"'
const sleeping = (line: string) => `${line} sleep 1000 >/dev/null 2>&1 </dev/null &`

describe('a sandbox', () => {
  it('runs the commands of one run one after another, and no command of another run', async () => {
    const { run } = await openRun()
    const first = await run(WHERE)
    expect([await run(WHERE), await run(WHERE)]).toEqual([first, first])
    expect(await run(WHERE, { run: 'another run' })).not.toBe(first)
    expect(await run(WHERE, { run: undefined })).not.toBe(first)
    expect(await run(WHERE)).toBe(first)
  })

  it('runs one command at a time', async () => {
    const { run } = await openRun()
    const places = await Promise.all(Array.from({ length: 4 }, () => run(`${WHERE}; sleep 0.1`)))
    expect(new Set(places).size).toBe(4)
    const later = await Promise.all(Array.from({ length: 4 }, () => run(`${WHERE}; sleep 0.1`)))
    expect(later.toSorted()).toEqual(places.toSorted())
  })

  it('is not used again after its command was stopped', async () => {
    const { run, start } = await openRun()
    const first = await run(WHERE)
    const started = await start('exec sleep 1000')
    await started.stop()
    expect(await run(WHERE)).not.toBe(first)
  })

  it('is not used again if a folder that it shows was replaced, and the next one is', async () => {
    const { cwd, run } = await openRun()
    const first = await run(WHERE)
    for (let turn = 0; turn < 3; turn++) {
      await rename(cwd, `${cwd}-old`)
      await mkdir(cwd)
      await writeFile(`${cwd}/turn`, String(turn))
      await rm(`${cwd}-old`, { recursive: true })
      expect(await run('cat turn')).toBe(String(turn))
      const place = await run(WHERE)
      expect(place).not.toBe(first)
      expect(await run(WHERE)).toBe(place)
    }
  })

  it('is used again after a command that fails, and not after one that could not be started', async () => {
    const { run, start } = await openRun()
    const first = await run(WHERE)
    expect(await run(`${WHERE}; exit 7`)).toBe(first)
    expect(await run(`${WHERE}; kill -9 $$`)).toBe(first)
    expect(await run(WHERE)).toBe(first)
    await expect(start('', { words: ['no-such-program'] })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await run(WHERE)).not.toBe(first)
  })

  it('runs nothing of the text of a command that could not be started', async () => {
    const { cwd, run, start } = await openRun()
    await run(WHERE)
    const words = ['/no/such/program', `touch ${cwd}/executed\n`.repeat(500)]
    await expect(start('', { words })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const pipes = 'exec 3<<E 4<<E 5<<E 7<<E; echo piped >&6; timeout 2 cat'
    const text = `\n${pipes} >${cwd}/stolen; exit\n${'.\nE\n'.repeat(4)}`
    const reading = ['/no/such/program', '#'.repeat(9_000), text.repeat(40)]
    await expect(start('', { words: reading })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await run('ls; echo works', { env: { SECRET: 'of the next one' } })).toBe('works')
  })
})

it('the text of a command whose shell dies while it reads it is not run by the next shell', async () => {
  const { cwd, run, start } = await openRun()
  const { args, file, ...rest } = reusableSandbox(cwd)
  const limited = ['--as=8000000', file, ...args]
  const sandbox = { ...rest, key: `limited ${cwd}`, file: '/usr/bin/prlimit', args: limited }
  expect(await run('echo works', { sandbox })).toBe('works')
  const words = ['true', `touch ${cwd}/executed\n`.repeat(100_000)]
  // In a sandbox of its own, the shell says that it starts the command before it reads its words.
  const { exited } = await start('', { sandbox, words })
  await exited
  expect(await run('ls')).toBe('')
})

/** Opens a connection to itself and closes it; the side that closes first keeps its port for a minute. */
const CONNECT = `
  my $listener = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;
  my $one = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $listener->sockport) or die;
  my $other = $listener->accept; close $one; close $other; close $listener`

describe('a command does not see what the one before it left', () => {
  const PROCESSES = 'cat /proc/[0-9]*/cmdline | tr "\\0" " "'

  it.each([
    ['a child', sleeping('')],
    ['a child in another session', sleeping('setsid')],
    ['an orphan', `( ${sleeping('setsid')} );`],
    ['a child that ignores signals', `trap "" TERM HUP INT; ${sleeping('')}`],
    ['a child that is stopped', `${sleeping('')} kill -STOP $!;`],
    ['many children', `for n in 1 2 3 4 5 6 7 8; do ( ${sleeping('setsid')} ); done;`],
  ])('of processes: %s', async (_, line) => {
    const { run } = await openRun()
    const first = await run(`${line} ${WHERE}`)
    expect(first).toMatch(/^mnt:/)
    expect(await run(PROCESSES)).not.toContain('sleep')
    expect(await run(WHERE)).toBe(first)
  })

  it.each([
    ['a file', 'echo secret >/tmp/left', 'cat /tmp/left'],
    ['a hidden file', 'echo secret >/tmp/.left', 'cat /tmp/.left'],
    ['a file in memory that is shared', 'echo secret >/dev/shm/left', 'cat /dev/shm/left'],
    ['a file in /run', 'echo secret >/run/left', 'cat /run/left'],
    ['the mode of a folder', 'chmod 700 /tmp', 'stat -c %a /tmp'],
    ['the time of a folder', 'touch -d @1 /tmp', 'test $(stat -c %Y /tmp) = 1 && echo left'],
    ['a file that was removed again', 'echo secret >/tmp/x; rm /tmp/x', 'true'],
    ['shared memory', "perl -e 'print shmget(7, 4096, 01600)'", 'cat /proc/sysvipc/shm | wc -l'],
    ['a semaphore', "perl -e 'print semget(7, 1, 01600)'", 'cat /proc/sysvipc/sem | wc -l'],
    ['a queue', "perl -e 'print msgget(7, 01600)'", 'cat /proc/sysvipc/msg | wc -l'],
    ['a connection', `perl -MIO::Socket::INET -e '${CONNECT}'`, 'cat /proc/net/tcp | wc -l'],
    ['the mode of a terminal', 'chmod 0 /dev/pts/ptmx', 'stat -c %a /dev/pts/ptmx'],
    ['a priority', 'renice -n 5 -p 2 >/dev/null', 'nice'],
    ['a limit', 'prlimit --pid 2 --nofile=40:40', 'ulimit -n'],
    ['processors', 'taskset -p 1 2 >/dev/null', 'taskset -p $$ | cut -d: -f2'],
  ])('of anything else: %s', async (_, leave, look) => {
    const { run } = await openRun()
    const untouched = await run(look)
    const first = await run(`${WHERE}; ${leave}`)
    expect(await run(look)).toBe(untouched)
    expect(await run(WHERE)).not.toBe(first.split('\n')[0])
  })

  it('of variables, working folders and open files', async () => {
    const { run } = await openRun()
    await run('cd /usr; export LEFT=1; umask 077; exec 5>&1', { env: { GIVEN: '1' } })
    expect(await run('pwd; umask; echo "[$LEFT$GIVEN$OLDPWD]"; ls /proc/$$/fd')).toMatch(/^\/.*\n0022\n\[\]\n0\n1\n2$/)
  })
})

describe('a folder of the owner that is mounted at /tmp', () => {
  it('is not listed, however many files it has, and what a command changes there does not end its sandbox', async () => {
    const [{ cwd, run }, shared] = [await openRun(), await workspace()]
    for (let file = 0; file < 2_500; file++) writeFileSync(join(shared, String(file)), '')
    const { args, key, ...rest } = reusableSandbox(cwd)
    const sandbox = {
      ...rest,
      key: `${key} shared`,
      args: args.toSpliced(args.indexOf('/tmp') - 1, 1, '--bind', shared),
    }
    const first = await run(WHERE, { sandbox })
    await run('echo text >/tmp/new', { sandbox })
    expect(await run(`cat /tmp/new; ${WHERE}`, { sandbox })).toBe(`text\n${first}`)
    // The rest of its memory is still its own.
    await run('echo secret >/dev/shm/left', { sandbox })
    expect(await run(WHERE, { sandbox })).not.toBe(first)
  })
})

describe('a sandbox with very many mount points in memory', () => {
  it('runs one command', async () => {
    const { cwd, run } = await openRun()
    const { args, key, ...rest } = reusableSandbox(cwd)
    const folders = Array.from({ length: 2_500 }, (_, index) => ['--dir', `/tmp/${index}`]).flat()
    const sandbox = { ...rest, key: `${key} many`, args: [...args, ...folders] }
    const first = await run(WHERE, { sandbox })
    expect(first).toMatch(/^mnt:/)
    expect(await run(WHERE, { sandbox })).not.toBe(first)
  })
})

describe('the supervisor', () => {
  it('cannot be read or written by a command', async () => {
    const { run } = await openRun()
    const files = ['mem', 'environ', 'maps', 'auxv', 'fd/0', 'cwd/', 'root/', 'syscall', 'stack']
    const tries = files.map((file) => `head -c 1 /proc/2/${file} >/dev/null 2>&1 && echo ${file}`)
    expect(await run(`${tries.join('; ')}; echo x >/proc/2/mem; echo 1 >/proc/2/oom_score_adj; true`)).toBe('')
    expect(await run('cat /proc/2/comm')).toBe('supervisor')
  })

  it.each(['STOP', 'KILL', 'TERM', 'HUP', 'CHLD', 'USR1'])(
    'does not keep its command from ending: %s',
    async (signal) => {
      const { run } = await openRun()
      await run(`kill -${signal} 2; exit 3`)
      expect(await run('echo works')).toBe('works')
    },
  )

  it('is continued if its command has stopped it, and reports how the command ended', async () => {
    const { run, start } = await openRun()
    await run(WHERE)
    const { exited } = await start('kill -STOP 2; exit 3')
    expect(await exited).toEqual({ exitCode: 3 })
  })

  it.each(['TERM', 'HUP', 'INT', 'USR2', '40'])(
    'survives signals to the process group of its command: %s',
    async (signal) => {
      const { run } = await openRun()
      const first = await run(WHERE)
      expect(await run(`${WHERE}; trap "echo heard" ${signal}; kill -${signal} 0; sleep 0`)).toBe(`${first}\nheard`)
      expect(await run(WHERE)).toBe(first)
    },
  )
})

it('one sandbox that cannot be created does not end the reuse of others', async () => {
  const { cwd, run } = await openRun()
  const { args, file, ...rest } = reusableSandbox(cwd)
  const failOnce = `case "$*" in *${SUPERVISOR}) ! mkdir ${cwd}/failed 2>/dev/null || exit 1; esac; exec "$@"`
  const sandbox = { ...rest, key: `fails ${cwd}`, file: '/bin/sh', args: ['-c', failOnce, 'sh', file, ...args] }
  await run('true', { sandbox })
  expect(existsSync(`${cwd}/failed`)).toBe(true)
  const first = await run(WHERE, { sandbox })
  expect(await run(WHERE, { sandbox })).toBe(first)
})

it('a hundred commands leave no descriptor and no process behind', async () => {
  const { run } = await openRun()
  const count = async () => Number(await run('ls /proc | grep -c "^[0-9]"'))
  const before = await count()
  for (let n = 0; n < 100; n++) expect(await run(`echo ${n}`)).toBe(String(n))
  // What the last command left is being ended while the next one starts.
  await expect.poll(count).toBeLessThanOrEqual(before)
})

it('many files in memory do not end the process that starts commands', async () => {
  const { run, start } = await openRun()
  const other = await start('exec sleep 1000', { run: 'another run' })
  await run(`perl -e 'for (1..300000) { open F, ">", "/tmp/".("n"x240).$_ or exit; close F }'`)
  expect(await run('echo works')).toBe('works')
  await other.stop()
  expect(await other.exited).toEqual({ signal: 'SIGTERM' })
})
