import { nearestNames } from '@tool-hub/core'
import { EvalFlags, Intrinsics, QuickJS, type Snapshot } from 'quickjs-wasi'
import type { EngineModule } from './messages.ts'

/** All memory of a guest. */
export interface GuestMemory {
  readonly buffer: ArrayBuffer
}

/** Without a clock and without weak references, whose values depend on the machine. */
const INTRINSICS = Intrinsics.ALL & ~Intrinsics.PERFORMANCE & ~Intrinsics.WEAK_REF

/** A guest in which guest.mjs has run, and nothing else: every script starts from a copy of its memory. */
export async function prepareGuest(module: EngineModule, guest: string): Promise<Snapshot> {
  const vm = await QuickJS.create({ ...guestOptions(module, 0), intrinsics: INTRINSICS })
  const loaded = vm.evalCode(guest, 'guest', EvalFlags.TYPE_MODULE)
  vm.executePendingJobs()
  const namespace = await vm.resolvePromise(loaded)
  if ('error' in namespace) throw new Error(namespace.error.toString())
  const host = ['call', 'log', 'finish', 'nearest'].map((name) => vm.newFunction(name, () => vm.undefined))
  vm.callFunction(namespace.value.getProp('install'), vm.undefined, ...host)
  vm.setProp(vm.global, '$guest', namespace.value)
  const snapshot = vm.snapshot()
  vm.dispose()
  return snapshot
}

/** A clock that stands still, no random numbers, no output, UTC. */
export function guestOptions(module: EngineModule, now: number) {
  return {
    wasm: module,
    timezoneOffset: 0,
    wasi: (memory: GuestMemory) => ({
      clock_time_get: (_clock: number, _precision: bigint, result: number) => {
        new DataView(memory.buffer).setBigUint64(result, BigInt(Math.trunc(now)) * 1_000_000n, true)
        return 0
      },
      random_get: (start: number, length: number) => {
        new Uint8Array(memory.buffer, start, length).fill(0)
        return 0
      },
      fd_write: () => 8,
    }),
  }
}

/** Names as the tree that guest.mjs walks: a tool is its name, or `$tool` in a branch that has others below it. */
export function toolTree(names: readonly string[]): object {
  const root = emptyTree()
  for (const name of names) {
    const path = name.split(/[./]/)
    const last = path.pop()!
    let branch = root
    for (const step of path) {
      const next = branch[step]
      branch = typeof next === 'object' ? next : addBranch(branch, step, next)
    }
    const known = branch[last]
    if (typeof known === 'object') known.$tool = name
    else branch[last] = name
  }
  return root
}

interface ToolTree {
  [step: string]: string | ToolTree
}

function addBranch(tree: ToolTree, step: string, tool: string | undefined): ToolTree {
  const branch = emptyTree()
  if (tool !== undefined) branch.$tool = tool
  tree[step] = branch
  return branch
}

/** Without a prototype: a part of a name may be `__proto__`. */
function emptyTree(): ToolTree {
  return Object.create(null)
}

/** Tools and namespaces with names like this path, as a script would write them. */
export function nearestTools(path: string, names: readonly string[]): string {
  const known = new Set<string>()
  for (const name of names) {
    const steps = name.split(/[./]/)
    for (let count = 1; count <= steps.length; count++) known.add(steps.slice(0, count).join('.'))
  }
  return nearestNames(path, known)
    .map((near) => `tools${near.split('.').map(accessTo).join('')}`)
    .join(', ')
}

function accessTo(step: string): string {
  return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `['${step}']`
}
