import { withFreeDescriptors } from '../../../disk/lazy-module.ts'
import { once } from '../../../value/once.ts'
import { openCgroups } from '../jail/cgroup.ts'
import type { CommandLimits } from '../jail/jail.ts'

const open = once(() => withFreeDescriptors('No cgroup can be made', openCgroups))

/** A group that bounds all processes of a command together, where the machine has groups to give. */
export function commandCgroup(limits: CommandLimits) {
  const group = open().then((groups) => groups.create(limits))
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
