import { type Cgroups, openCgroups } from '../jail/cgroup.ts'
import type { CommandLimits } from '../jail/jail.ts'

let opened: Promise<Cgroups> | undefined

/** A group that bounds all processes of a command together, where the machine has groups to give. */
export function commandCgroup(limits: CommandLimits) {
  opened ??= openCgroups()
  const group = opened.then((groups) => groups.create(limits))
  return {
    /** Resolves when the process is in it; before that, what it starts is not bounded by the group. */
    async add(pid: number): Promise<void> {
      // One that has ended needs no bound, and one that cannot be taken in still has the limits of each process.
      await group.then((made) => made?.add(pid)).catch(() => {})
    },
    async remove(): Promise<void> {
      await (await group)?.remove()
    },
  }
}
