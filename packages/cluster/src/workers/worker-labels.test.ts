import { join } from 'node:path'
import { defineTool, type Store } from '@tool-hub/core'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { createBareHub } from '../../../../test/support/create-bare-hub.ts'
import { sharedMemoryStore } from '../../../../test/support/local-queue.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { Hub } from '../../../runtime/src/hub/hub.ts'

const folder = temporaryFolder('worker-labels')
const opened: Hub[] = []
let counter = 0
afterEach(async () => {
  await Promise.all(opened.splice(0).map((hub) => hub.close({ abort: true })))
})

const mail = defineTool({
  name: 'mail.read',
  description: 'Reads mail.',
  input: z.strictObject({}),
  results: 'outside',
  execute: () => 'text of a stranger',
})

/** Tools for files that are executed in the process of the run, or on a worker. */
function fileTools(place: 'here' | 'there') {
  const common = { input: z.strictObject({ path: z.string() }), ...(place === 'there' && { where: 'worker:gpu' }) }
  return [
    defineTool({
      ...common,
      name: `${place}.read`,
      description: 'Reads a file.',
      capabilities: ['read:fs'],
      targets: ({ path }) => ({ 'read:fs': path }),
      execute: ({ path }, { fs }) => fs.readText(path),
    }),
    defineTool({
      ...common,
      name: `${place}.write`,
      description: 'Writes a file.',
      capabilities: ['write:fs'],
      targets: ({ path }) => ({ 'write:fs': path }),
      execute: ({ path }, { fs }) => fs.writeText(path, 'text'),
    }),
  ]
}

/** A machine with labels of its own, and a disk that it may share. */
function machine(store: Store, root: string): Hub {
  const id = ++counter
  const policy = [{ allow: 'read:fs' }, { allow: 'write:fs' }]
  const tools = [mail, ...fileTools('here'), ...fileTools('there')]
  const home = { runs: join(folder, `runs-${id}`), data: join(folder, `data-${id}`) }
  const hub = createBareHub({ store, tools, policy, sandbox: { root }, ...home })
  opened.push(hub)
  return hub
}

async function cluster() {
  const { store } = sharedMemoryStore()
  const root = temporaryFolder('disk')
  const service = machine(store, root)
  const worker = machine(store, root)
  await worker.work({ labels: ['gpu'] })
  const call = async (hub: Hub, tool: string, run: string) => {
    const result = await hub.callDynamic(tool, tool === 'mail.read' ? {} : { path: 'a.txt' }, { run })
    expect(result.error).toBeUndefined()
    return result.meta.labels ?? []
  }
  return { service, worker, call }
}

it('what a worker writes for a tainted run is labelled on both machines', async () => {
  const { service, worker, call } = await cluster()
  await call(service, 'mail.read', 'a')
  await call(service, 'there.write', 'a')
  expect(await call(service, 'here.read', 'b')).toEqual(['untrusted'])
  expect(await call(service, 'there.read', 'c')).toEqual(['untrusted'])
  // By its own labels alone.
  expect(await call(worker, 'here.read', 'd')).toEqual(['untrusted'])
})

it('what the process of a run has labelled taints a run that has it read by a worker', async () => {
  const { service, call } = await cluster()
  await call(service, 'mail.read', 'a')
  await call(service, 'here.write', 'a')
  expect(await call(service, 'there.read', 'b')).toEqual(['untrusted'])
})

it('what a worker writes for a clean run is not labelled', async () => {
  const { service, call } = await cluster()
  await call(service, 'there.write', 'a')
  expect(await call(service, 'here.read', 'b')).toEqual([])
  expect(await call(service, 'there.read', 'c')).toEqual([])
})
