import { statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { needProgram } from '../host/host.ts'
import { runInSandbox } from '../probe/probe-sandbox.ts'
import { createStarter } from '../start/starter.ts'
import { buildSandbox } from './build-sandbox.ts'
import { inPrivateMounts, needsPrivateMounts } from './sandbox.ts'

const isRoot = process.geteuid?.() === 0
const OF_THE_MACHINE = ['/dev/null', '/dev/full', '/dev/urandom', '/usr/bin/bwrap', '/usr/bin/env', '/etc/ssl/certs']

/** Says what it could change, with values that leave everything as it is; and what a command must still be able to do. */
const CHANGES = `
for file in /proc/1/exe /proc/self/exe /proc/1/root/usr/bin/env /proc/uptime /proc/sys/kernel ${OF_THE_MACHINE.join(' ')}; do
  mode=$(stat -L -c %a "$file" 2>/dev/null) || continue
  chmod "$mode" "$file" 2>/dev/null && echo "changed $file"
done
echo x >/dev/null && head -c 4 /dev/urandom | wc -c
script -q -c 'test -t 0 && echo terminal' /dev/null </dev/null | tr -d '\\r'
echo inside >made && cat made
`
const DESCRIPTORS = `
for file in /proc/[0-9]*/fd/* /proc/[0-9]*/cwd; do
  case $(stat -L -c %F "$file" 2>/dev/null) in regular* | directory | character*) ;; *) continue ;; esac
  case $(readlink "$file") in "$PWD" | /proc/*) continue ;; esac
  chmod "$(stat -L -c %a "$file")" "$file" 2>/dev/null && echo "changed $file: $(readlink "$file")"
done
echo looked
`
const CAN = ['4', 'terminal', 'inside']

describe.each(['full', 'namespaces'] as const)('a sandbox of a user who owns the machine, at level %s', (level) => {
  it('changes no device, no program and nothing of /proc', async () => {
    const workspace = await folderWith()
    const before = OF_THE_MACHINE.map(stateOf)
    const sandbox = buildSandbox(sandboxSpec(workspace, { level }))
    const { stdout, stderr } = await runInSandbox(sandbox, ['/bin/sh', '-c', CHANGES], { cwd: workspace })
    expect({ lines: stdout.split('\n').filter(Boolean), stderr }).toEqual({ lines: CAN, stderr: '' })
    expect(OF_THE_MACHINE.map(stateOf)).toEqual(before)
  })

  it.runIf(isRoot)('also where root may make no mounts, as in a container', async () => {
    const workspace = await folderWith()
    const sandbox = buildSandbox(sandboxSpec(workspace, { level }))
    const words = inPrivateMounts(sandbox, [sandbox.file, ...sandbox.args])
    const weak = ['--bounding-set=-sys_admin', '--inh-caps=-sys_admin', '--', ...words]
    const contained = { ...sandbox, file: needProgram('setpriv', 'util-linux'), args: weak, hasPrivateMounts: false }
    const { stdout, stderr } = await runInSandbox(contained, ['/bin/sh', '-c', CHANGES], { cwd: workspace })
    expect({ lines: stdout.split('\n').filter(Boolean), stderr }).toEqual({ lines: CAN, stderr: '' })
  })
})

it.each(['full', 'namespaces'] as const)(
  'no descriptor of a command leads out of a sandbox at level %s',
  async (level) => {
    const workspace = await folderWith()
    const starter = createStarter({ prepared: 0 })
    onTestFinished(() => starter.close())
    const words = ['/bin/sh', '-c', DESCRIPTORS]
    const order = {
      sandbox: buildSandbox(sandboxSpec(workspace, { level })),
      words,
      cwd: workspace,
      env: {},
      pty: false,
    }
    const started = await starter.start(order, new AbortController().signal)
    expect(await text(started.stdout)).toBe('looked\n')
    expect(await started.exited).toEqual({ exitCode: 0 })
  },
)

it('starts only the sandboxes of root in mounts of their own', () => {
  expect(needsPrivateMounts({ uid: 0, gid: 7, isOther: false })).toBe(process.platform === 'linux')
  expect(needsPrivateMounts({ uid: 1, gid: 0, isOther: true })).toBe(false)
  expect(inPrivateMounts({}, ['a', 'b'])).toEqual(['a', 'b'])
  expect(inPrivateMounts({ hasPrivateMounts: false }, ['a', 'b'])).toEqual(['a', 'b'])
  const words = inPrivateMounts({ hasPrivateMounts: true }, ['a', 'b'])
  expect(words.slice(-3)).toEqual(['--', 'a', 'b'])
  expect([words[0], words[1], words[3], words[4]]).toEqual([
    '/bin/sh',
    '-c',
    'choose',
    needProgram('unshare', 'util-linux'),
  ])
})

function stateOf(path: string): string {
  const { mode, uid, gid, mtimeMs, ctimeMs } = statSync(path)
  return [path, mode, uid, gid, mtimeMs, ctimeMs].join()
}
