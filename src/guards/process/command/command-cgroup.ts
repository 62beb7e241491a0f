import { errnoOf } from '../../../disk/errno.ts'
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
      const made = await group
      await made?.add(pid).catch((error: unknown) => {
        // One that has ended needs no bound.
        if (errnoOf(error) !== 'ESRCH') throw error
      })
    },
    async remove(): Promise<void> {
      await (await group)?.remove()
    },
  }
}
