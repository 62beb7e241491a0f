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
