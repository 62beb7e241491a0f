import { type Cgroups, openCgroups } from '../jail/cgroup.ts'
import type { CommandLimits } from '../jail/jail.ts'

let opened: Promise<Cgroups> | undefined

/** A group that bounds all processes of a command together, where the machine has groups to give. */
export function commandCgroup(limits: CommandLimits) {
  opened ??= openCgroups()
  const group = opened.then((groups) => groups.create(limits))
  return {
    /** Files in which a process writes 0 to be in it, with all that it starts from then on. */
    async entrances(): Promise<readonly string[]> {
      return (await group)?.entrances ?? []
    },
    async remove(): Promise<void> {
      await (await group)?.remove()
    },
  }
}
