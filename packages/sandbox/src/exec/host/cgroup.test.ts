import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../../test/support/sandbox-spec.ts'
import { layoutsFor, openCgroups, readLayouts } from './cgroup.ts'

const cgroups = await openCgroups()
const LIMITS = { memoryBytes: 64 * 1024 ** 2, processes: 12 }

describe.runIf(cgroups.version !== 'none')('a group of processes', () => {
  it('limits the number of processes, and kills all of them together', async () => {
    const group = (await cgroups.create(LIMITS))!
    // A shell that gives up immediately if it cannot fork; what it has started continues.
    const script = 'read line; i=0; while [ $i -lt 30 ]; do setsid sleep 1000 & i=$((i+1)); done'
    const child = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] })
    await group.add(child.pid!)
    child.stdin.end('\n')
    await once(child, 'exit')
    const members = await group.members()
    expect(members.length).toBeLessThanOrEqual(LIMITS.processes)
    expect(members.length).toBeGreaterThan(5)
    await group.kill()
    expect(await group.members()).toEqual([])
    await group.remove()
    expect(await group.members()).toEqual([])
  })

  it('bounds the memory of all together', async () => {
    const group = (await cgroups.create(LIMITS))!
    const script = 'set -o pipefail; read; head -c 200000000 /dev/zero | tail -c 190000000'
    const child = spawn('/bin/bash', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] })
    await group.add(child.pid!)
    child.stdin.end('\n')
    const [exitCode, signal] = await once(child, 'exit')
    await group.kill()
    await group.remove()
    expect(signal ?? exitCode).not.toBe(0)
  })

  it('of a hub that was killed is removed by the next', async () => {
    const [layout] = await readLayouts()
    const gone = spawn('/bin/true')
    await once(gone, 'exit')
    const folders = layout!.parents.map((parent) => join(parent, `tool-hub-${gone.pid}-1`))
    for (const folder of folders) await mkdir(folder)
    const left = spawn('/bin/sleep', ['1000'])
    for (const folder of folders) await writeFile(join(folder, 'cgroup.procs'), String(left.pid))
    await openCgroups()
    expect(left.signalCode ?? (await once(left, 'exit'))[1]).toBe('SIGKILL')
    for (const folder of folders) await expect(readFile(join(folder, 'cgroup.procs'))).rejects.toThrow('ENOENT')
  })
})

it('reports no cgroups where none can be created', async () => {
  const folder = await folderWith({ file: '' })
  const layout = { version: 'v2', parents: [join(folder, 'file')], limits: () => [] } as const
  expect(await openCgroups([layout])).toMatchObject({ version: 'none' })
})

describe('where groups can be made', () => {
  it('is the own group of version 2 where it hands its controllers down', async () => {
    const top = await folderWith({ 'user/hub/cgroup.subtree_control': 'memory pids\n' })
    const layouts = await layoutsFor('0::/user/hub\n', mount(top, 'cgroup2', 'rw'))
    expect(layouts).toMatchObject([{ version: 'v2', parents: [join(top, 'user/hub')] }])
  })

  it('is next to its own group if only the parent delegates', async () => {
    const top = await folderWith({ 'user/cgroup.subtree_control': 'cpu memory pids\n', 'user/hub/x': '' })
    const layouts = await layoutsFor('0::/user/hub\n', mount(top, 'cgroup2', 'rw'))
    expect(layouts).toMatchObject([{ version: 'v2', parents: [join(top, 'user')] }])
  })

  it('is nowhere when nobody hands anything down', async () => {
    const top = await folderWith({ 'user/hub/x': '' })
    expect(await layoutsFor('0::/user/hub\n', mount(top, 'cgroup2', 'rw'))).toEqual([])
    expect(await openCgroups([])).toMatchObject({ version: 'none' })
  })

  it('is in both trees of version 1', async () => {
    const own = '8:pids:/a\n4:cpu,memory:/b/c\n'
    const mounts = `${mount('/m', 'cgroup', 'rw,cpu,memory')}\n${mount('/p', 'cgroup', 'rw,pids')}`
    const [layout] = await layoutsFor(own, mounts)
    expect(layout).toMatchObject({ version: 'v1', parents: ['/m/b/c', '/p/a'] })
    expect(layout!.limits(1, LIMITS)).toEqual([['pids.max', '12']])
  })
})

describe('the limits of a group', () => {
  it('are those of version 2, with swap and the end of all together where the machine has them', async () => {
    const top = await folderWith({ 'cgroup.subtree_control': 'cpu pids memory\n' })
    const [layout] = await layoutsFor('0::/\n', mount(top, 'cgroup2', 'rw'))
    expect(layout!.limits(0, LIMITS)).toEqual([
      ['pids.max', '12'],
      ['memory.max', '67108864'],
      ['memory.swap.max?', '0'],
      ['memory.oom.group?', '1'],
    ])
  })

  it('are in one folder where version 1 has both controllers in one', async () => {
    const [layout] = await layoutsFor('4:memory,pids:/b\n', mount('/m', 'cgroup', 'rw,memory,pids'))
    expect(layout!.parents).toEqual(['/m/b'])
    const memory = [
      ['memory.limit_in_bytes', '67108864'],
      ['memory.memsw.limit_in_bytes?', '67108864'],
    ]
    expect(layout!.limits(0, LIMITS)).toEqual([...memory, ['pids.max', '12']])
    const apart = `${mount('/m', 'cgroup', 'rw,memory')}\n${mount('/p', 'cgroup', 'rw,pids')}`
    const [two] = await layoutsFor('4:memory:/b\n5:pids:/b\n', apart)
    expect(two!.limits(0, LIMITS)).toEqual(memory)
  })

  it('need both controllers', async () => {
    expect(await layoutsFor('4:memory:/b\n', mount('/m', 'cgroup', 'rw,memory'))).toEqual([])
    expect(await layoutsFor('4:pids:/b\n', mount('/m', 'cgroup', 'rw,pids'))).toEqual([])
    for (const controllers of ['memory', 'pids', 'memoryx pids']) {
      const top = await folderWith({ 'cgroup.subtree_control': controllers })
      const before = await readFile(join(top, 'cgroup.subtree_control'), 'utf8')
      const layouts = await layoutsFor('0::/\n', mount(top, 'cgroup2', 'rw'))
      // A real file takes what is asked for; the kernel would say no.
      expect([layouts, before]).toEqual([[], controllers])
    }
  })

  it.each([
    ['the whole hierarchy', '/', '0::/a/b', '/a/b'],
    ['the part of a container', '/a', '0::/a/b', '/b'],
    ['its own group', '/a', '0::/a', ''],
    ['a group that leads out of it', '/', '0::/../x', ''],
    ['a path with colons', '/', '0::/a:b', '/a:b'],
  ])('are made in %s', async (_, root, own, below) => {
    const names = ['', '/a/b', '/b', '/a:b'].map((name) => [`${name}/cgroup.subtree_control`, 'memory pids'])
    const top = await folderWith(Object.fromEntries(names))
    const line = `30 20 0:26 ${root} ${top} rw - cgroup2 cgroup2 rw`
    const [layout] = await layoutsFor(own, line)
    expect(layout!.parents).toEqual([`${top}${below}`])
  })
})

function mount(point: string, type: string, options: string): string {
  return `30 20 0:26 / ${point} rw,nosuid - ${type} ${type} ${options}`
}
